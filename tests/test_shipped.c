// Headers from the winners that are shipped with a job. They are made with the real compiler but without a GPU or a
// store. A header is made only if the compiled kernel is the kernel that was measured.
#include "tests/e2e.h"

#include "tuner/base/protocol.h"

#define TUNED "configs/tuned/transpose.json"

static json_t *winner_of(json_t *shipped)
{
    return json_array_get(json_object_get(shipped, "winners"), 0);
}

static struct e2e_result header(const char *folder, const char *job, const char *options)
{
    return e2e_in(folder, "mkdir -p .git && $BIN/sweetspot header %s --shipped %s", job, options);
}

// Copies a shipped job and gives its winner the identity of the present source, job and code.
static char *copy_job(const char *name)
{
    char *folder = e2e_folder(name);
    e2e_pass(folder, "mkdir -p $DIR/configs/tuned && cp configs/transpose.cfg configs/dot.cfg $DIR/configs && cp -r "
                     "templates $DIR && cp " TUNED " $DIR/configs/tuned");
    struct e2e_result r = e2e_passed(e2e_in(folder, "CACHE=out/cache $BIN/shipped_build sm_90a configs/transpose.cfg"));
    char source[64], job[64], code[64];
    assert_int_equal(sscanf(r.out, "transpose %63s %63s %63s", source, job, code), 3);
    json_t *shipped = json_parse(test_file(TUNED), NULL);
    json_object_set_new(
        winner_of(shipped), "identity",
        json_pack("{s:s, s:s, s:s, s:s}", "arch", "sm_90a", "source", source, "job", job, "code", code));
    e2e_write_json(folder, TUNED, shipped);
    return folder;
}

TEST(a_header_says_whose_winner_it_has_and_that_nothing_was_verified_here)
{
    char *folder = copy_job("shipped_header");
    struct e2e_result r = e2e_passed(header(folder, "configs/transpose.cfg", ""));
    assert_string_equal(r.out, "out/include/transpose_best.h\n");
    char *text = test_file("%s/out/include/transpose_best.h", folder);
    json_t *shipped = test_json(json_parse(test_file(TUNED), NULL)), *winner = winner_of(shipped);
    assert_contains(text, "NOTHING was verified or measured on this machine; times and checks are those of that GPU",
                    test_text("%s (sm_90a, driver %s, %s), %s", json_get_string(winner, "device", "?"),
                              json_get_string(winner, "driver", "?"), json_get_string(winner, "compiler", "?"),
                              json_get_string(winner, "date", "?")),
                    "decided in a final of 40 rounds", "the same code as ", " registers, ",
                    "#define TRANSPOSE_SECONDS ", "#define TRANSPOSE_VERIFIED_PROBLEMS 0\n");
    e2e_write(folder, "program.c",
              "#include \"out/include/transpose_best.h\"\n"
              "int main(void) { return !transpose_supported(16384, 16384) || transpose_supported(16385, 1) ||\n"
              "    transpose_block_x(16384, 16384) * transpose_block_y(16384, 16384) < 32; }\n");
    e2e_passed(e2e_in(folder, "gcc -std=c99 -pedantic -Wall -Wextra -Werror -I. program.c -o program && ./program"));
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot header configs/transpose.cfg --check out/include/transpose_best.h"));
    assert_contains(r.out, "the template is the one that was tuned");
}

static const struct {
    const char *change; // a command that changes the copy
    const char *said;
} changes[] = {
    {"echo '// a comment' >>templates/transpose.cu",
     "transpose: its sources have changed since the winner that comes "},
    {"sed -i 's/ROWS = 16383/ROWS = 16382/' configs/transpose.cfg",
     "transpose: the job has changed since the winner that comes with it was measured (NVIDIA H200, "},
    {"sed -i 's/\"code\":\"./\"code\":\"x/' " TUNED, "transpose: its code has changed since "},
    {"sed -i 's/\"identity\"/\"other\"/' " TUNED, "transpose: the job or its sources have changed since "},
    {"sed -i 's/\"configuration\":\"[A-Z_]*=/&9/' " TUNED, "transpose: the winner that comes with it: "},
    {"rm " TUNED, "no winner comes with transpose; on a GPU: sweetspot tune configs/transpose.cfg"},
};

TEST(a_winner_of_another_job_source_or_code_has_no_header)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *folder = copy_job("shipped_changed");
        e2e_passed(e2e_in(folder, "%s", changes[i].change));
        struct e2e_result r = e2e_ended(EXIT_NOTHING, header(folder, "configs/transpose.cfg", "-o best.h"));
        assert_contains(r.err, changes[i].said);
        e2e_ended(1, e2e_in(folder, "test -e best.h"));
    }
}

// A newer compiler may generate different code from the same sources.
TEST(code_of_another_compiler_is_said_to_be_other_code)
{
    char *folder = copy_job("shipped_compiler");
    e2e_passed(e2e_in(
        folder, "sed -i 's/\"compiler\":\"[^\"]*/\"compiler\":\"nvrtc 1.0/; s/\"code\":\"./\"code\":\"x/' " TUNED));
    json_t *shipped = json_parse(test_file("%s/" TUNED, folder), NULL);
    struct e2e_result r = e2e_in(folder, "CACHE=out/cache $BIN/shipped_build sm_90a configs/transpose.cfg");
    char job[64];
    assert_int_equal(sscanf(r.out, "transpose %*s %63s", job), 1); // it includes the winner's compiler
    json_object_set_new(json_object_get(winner_of(shipped), "identity"), "job", json_string(job));
    e2e_write_json(folder, TUNED, shipped);
    r = e2e_passed(header(folder, "configs/transpose.cfg", "-o -"));
    assert_contains(r.out, ": OTHER code than nvrtc 1.0 generates from the measured sources");
}

TEST(options_of_a_store_do_not_go_with_it)
{
    static const char *const options[] = {"--embed", "--python", "--store x.db", "--device 0", "--hash"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct e2e_result r = header(e2e_folder("shipped_options"), "job.cfg", options[i]);
        e2e_ended(EXIT_USAGE, r);
        assert_contains(r.err, test_text("%.*s", (int)strcspn(options[i], " "), options[i]));
    }
}

TEST_MAIN(NULL, NULL)
