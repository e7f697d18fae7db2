// tuner/base: durations, edit distances, paths, and files that may be compressed or truncated.
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "search/space/random.h"
#include "tests/testing.h"
#include "tuner/base/gzip.h"
#include "tuner/base/input_file.h"
#include "tuner/base/json.h"

TEST(durations_are_read_in_every_unit)
{
    static const struct {
        const char *text;
        double seconds; // NaN: refused
    } cases[] = {
        {"90", 90},          {"0.5", 0.5},  {"90s", 90},     {"8h", 28800},   {"1h30m", 5400}, {"2d", 172800},
        {"1d1h1m1s", 90061}, {"3min", 180}, {"250ms", 0.25}, {"20us", 20e-6}, {"5ns", 5e-9},   {"1.5h", 5400},
        {"1m250ms", 60.25},  {"", NAN},     {"h", NAN},      {"5x", NAN},     {"-3s", NAN},    {"5s ", NAN},
        {" 5s", NAN},        {"5s6", NAN},  {"inf", NAN},    {"1e999", NAN},  {"1h-30m", NAN}, {"1e305d", NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = -1;
        int failed = text_duration(cases[i].text, &seconds);
        if (!!failed != !!isnan(cases[i].seconds)) fail_msg("'%s': %d", cases[i].text, failed);
        if (!failed && fabs(seconds - cases[i].seconds) > 1e-12 * cases[i].seconds)
            fail_msg("'%s': %.17g, expected %.17g", cases[i].text, seconds, cases[i].seconds);
    }
}

TEST(durations_are_shown_short)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{6.14e-5, "61.4us"}, {0.25, "250ms"},     {42, "42s"},        {1e-9, "1ns"},
                 {9.9999e-7, "1us"},  {9.99999e-4, "1ms"}, {0.999999, "1s"},   {59.97, "1m00s"},
                 {3599.7, "1h00m"},   {0, "0us"},          {59.5, "59.5s"},    {90, "1m30s"},
                 {3599, "59m59s"},    {5400, "1h30m"},     {180000, "50h00m"}, {7.2e12 + 1800, "2000000000h30m"},
                 {1e300, "1e+300s"},  {NAN, "-"},          {INFINITY, "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[32];
        assert_string_equal(text_show_duration(cases[i].seconds, shown, sizeof shown), cases[i].text);
    }
}

TEST(distances_count_edits_and_swaps)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},         {"", "abc", 3},           {"same", "same", 0},
                 {"Same", "sAME", 0}, {"kitten", "sitting", 3}, {"random", "randon", 1},
                 {"tune", "tuen", 1}, {"abc", "acb", 1},        {"compare", "comare", 1},
                 {"ca", "abc", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(text_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(text_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
    static const char *const words[] = {"tune", "header", "compare", NULL};
    assert_string_equal(text_nearest("tun", words), "tune");
    assert_string_equal(text_nearest("comprae", words), "compare");
    assert_null(text_nearest("profile", words));
    assert_null(text_nearest("x", words));
}

TEST(paths_are_joined_and_normalised)
{
    static const char *const cases[][3] = {
        {"/a/b", "c", "/a/b/c"}, {"/a/b", "/c/./d", "/c/d"},        {"/a/b", "../c", "/a/c"},
        {"/a", "../../..", "/"}, {"/a//b/", "./c//d/", "/a/b/c/d"}, {"/", "x", "/x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(test_owned(text_join_path(cases[i][0], cases[i][1])), cases[i][2]);
}

TEST(only_a_regular_file_of_bounded_size_is_read)
{
    char folder[] = "/tmp/sweetspot-base-XXXXXX", pipe[64], file[64];
    struct error err = {""};
    size_t size;
    assert_non_null(mkdtemp(folder));
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(file, sizeof file, "%s/file", folder);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    alarm(10); // ends a program that waits for the pipe
    const char *const others[] = {pipe, "/dev/zero", "/dev/null"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_null(input_file_read(others[i], 0, NULL, &err));
        if (!strstr(err.message, "is not a regular file")) fail_msg("%s", err.message);
        assert_null(gzip_read_file(others[i], NULL, &err));
        if (!strstr(err.message, "is not a regular file")) fail_msg("%s", err.message);
    }
    alarm(0);
    assert_null(input_file_read(folder, 0, NULL, &err));
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    for (int i = 0; i < 100000; i++) fputc('x', out);
    fclose(out);
    autofree char *text = input_file_read(file, 100000, &size, &err);
    assert_non_null(text);
    assert_true(size == 100000 && strlen(text) == size);
    assert_null(input_file_read(file, 99999, NULL, &err));
    if (!strstr(err.message, "File too large")) fail_msg("%s", err.message);
    assert_null(input_file_read("/nothing/here", 0, NULL, &err));
    assert_int_equal(errno, ENOENT);
    unlink(pipe);
    unlink(file);
    rmdir(folder);
}

TEST(a_file_that_unpacks_to_too_much_is_an_error)
{
    enum { BOMB = 128 << 20, PLAIN = 768 << 20 };
    char folder[] = "/tmp/sweetspot-base-XXXXXX", bomb[64], plain[64], *zeros = calloc(BOMB, 1);
    struct error err = {""};
    assert_non_null(mkdtemp(folder));
    snprintf(bomb, sizeof bomb, "%s/bomb.gz", folder);
    snprintf(plain, sizeof plain, "%s/plain", folder);
    if (gzip_write_file(bomb, zeros, BOMB, &err)) fail_msg("%s", err.message);
    assert_null(gzip_read_file(bomb, NULL, &err));
    assert_contains(err.message, "it unpacks to more than 100 times its size");
    free(zeros);
#ifndef __SANITIZE_ADDRESS__ // the sanitizer's own memory would count as well
    int fd = open(plain, O_WRONLY | O_CREAT, 0600), status;
    assert_true(fd >= 0 && !ftruncate(fd, PLAIN));
    close(fd);
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_AS, &(struct rlimit){PLAIN, PLAIN});
        bool refused = !gzip_read_file(plain, NULL, &err) && strstr(err.message, "memory");
        _exit(refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    unlink(plain);
#endif
    unlink(bomb);
    rmdir(folder);
}

TEST(a_file_comes_back_packed_or_plain_and_cut_off_it_is_an_error)
{
    enum { SIZE = 3 << 20 };
    char folder[] = "/tmp/sweetspot-base-XXXXXX", path[2][64], *data = malloc(SIZE);
    struct random rng;
    struct error err = {""};
    size_t size;
    assert_non_null(mkdtemp(folder));
    random_seed(&rng, 4);
    for (int i = 0; i < SIZE; i++) data[i] = (char)('a' + random_below(&rng, 20));
    for (int packed = 0; packed < 2; packed++) {
        snprintf(path[packed], sizeof path[0], "%s/file%s", folder, packed ? ".gz" : "");
        if (gzip_write_file(path[packed], data, SIZE, &err)) fail_msg("%s", err.message);
        autofree char *back = gzip_read_file(path[packed], &size, &err);
        if (!back) fail_msg("%s", err.message);
        assert_int_equal(size, SIZE);
        assert_memory_equal(back, data, SIZE);
        assert_int_equal(back[SIZE], 0);
    }
    char *file = test_owned(text_read_file(path[1], &size));
    assert_true(size < SIZE * 3 / 4);
    static const double shares[] = {0.9999999, 0.75, 0.5, 0.01};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        assert_int_equal(truncate(path[1], (off_t)((double)size * shares[i])), 0);
        assert_null(gzip_read_file(path[1], NULL, &err));
        if (!strstr(err.message, "truncated")) fail_msg("%s", err.message);
    }
    // A byte that changed in transit.
    FILE *out = fopen(path[1], "w");
    assert_non_null(out);
    file[size / 2] ^= 1;
    assert_int_equal(fwrite(file, 1, size, out), size);
    fclose(out);
    assert_null(gzip_read_file(path[1], NULL, &err));
    assert_null(gzip_read_file("/nothing/here", NULL, &err));
    assert_contains(err.message, "/nothing/here");
    assert_int_equal(gzip_write_file("/nothing/here", "x", 1, &err), -1);
    for (int i = 0; i < 2; i++) unlink(path[i]);
    rmdir(folder);
    free(data);
}

TEST(a_real_beyond_integers_is_no_integer)
{
    static const struct {
        const char *text;
        int64_t read;
    } cases[] = {{"{\"x\": 7}", 7},
                 {"{\"x\": -7.9}", -7},
                 {"{\"x\": 1e300}", -1},
                 {"{\"x\": -9223372036854775808.0}", INT64_MIN},
                 {"{\"x\": 9223372036854775808.0}", -1},
                 {"{\"x\": \"7\"}", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *object = test_json(json_parse(cases[i].text, NULL));
        assert_true(json_get_integer(object, "x", -1) == cases[i].read);
    }
}

TEST(an_architecture_is_read_to_its_number_and_anything_else_to_none)
{
    static const struct {
        const char *text;
        int number;
    } cases[] = {{"sm_90a", 90},      {"sm_90", 90},      {"sm_120f", 120}, {"", 0},
                 {"90", 0},           {"sm_", 0},         {"sm_-9", 0},     {"sm_99999999999999999999", 0},
                 {"sm_470493184", 0}, {"sm_80,sm_90", 0}, {"sm_90ab", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (text_architecture(cases[i].text) != cases[i].number)
            fail_msg("'%s': %d", cases[i].text, text_architecture(cases[i].text));
}

TEST_MAIN(NULL, NULL)
