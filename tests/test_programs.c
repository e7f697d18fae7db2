// The user's programs in the GPU worker: functions of a reference library that compute, generate and verify, a
// reference command, and baselines. They run on a fake device with host memory, where kernels do nothing.
#include "tests/e2e.h"

#include <math.h>
#include <sys/mman.h>

#define FAKE_CUDA_WITH_LIBRARIES
#include "tests/fuzz/fake_cuda.h"

#define main gpu_main
#include "tuner/gpu/main_gpu.c" // NOLINT: includes the source for its static functions
#undef main

#include "kernels/npy.h"

static char *folder, *cubin;

// Writes the kernels' cubin: any image that has a name known to the fake device.
static void set_up(void)
{
    size_t size;
    char *file = test_owned(text_read_file("tests/fuzz/corpus/cubin/variables", &size)),
         *image = file ? strchr(file, '\n') : NULL;
    assert_non_null(image);
    folder = e2e_folder("programs");
    cubin = test_text("%s/k.cubin", folder);
    FILE *to = fopen(cubin, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(image + 1, size - (size_t)(image + 1 - file), 1, to), 1);
    assert_int_equal(fclose(to), 0);
}

// Sends requests, one per line, to a worker in a separate process. Returns the answers. *status: its exit status.
static char *ask(const char *lines, int *status)
{
    int answers = memfd_create("answers", 0);
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        struct gpu_worker w = {.out = answers};
        char *text = text_copy(lines), *rest = text;
        int ended = -1;
        parallel_watch(tell_reference, &w);
        while (rest && *rest && ended < 0) ended = handle(&w, strsep(&rest, "\n"));
        _exit(ended < 0 ? 0 : ended);
    }
    waitpid(pid, status, 0);
    off_t size = lseek(answers, 0, SEEK_END);
    char *text = test_calloc((size_t)size + 1, 1);
    assert_int_equal(pread(answers, text, (size_t)size, 0), size);
    close(answers);
    return text;
}

// A job that computes y = 2*x for 16 elements, in rows of `ld`.
static char *job_with(const char *reference, const char *baselines, int ld)
{
    autofree char *path = realpath(folder, NULL);
    char *text = text_format(
        "{\"id\":2,\"op\":\"job\",\"support\":\"%s\",\"ceilings\":\"%s\",\"seed\":1,\"problems\":[{\"name\":\"N=16\","
        "\"tune\":true,\"weight\":1.0,\"sizes\":{\"N\":16},\"roles\":{\"N\":16,\"a\":2},\"flops\":32,\"bytes\":64,"
        "\"buffers\":[{\"name\":\"x\",\"type\":\"f32\",\"rows\":1,\"cols\":16,\"ld\":%d,\"direction\":\"in\",\"fill\":{"
        "\"kind\":\"uniform\",\"low\":-1,\"high\":1}},{\"name\":\"y\",\"type\":\"f32\",\"rows\":1,\"cols\":16,\"ld\":"
        "16,\"direction\":\"out\"}]}],\"objective\":\"geomean\",\"reference\":{%s,\"folder\":\"%s\",\"cache\":\"%s\"},"
        "\"verify\":{\"enabled\":true,\"guard_bytes\":64},\"measure\":{\"min_samples\":3,\"max_samples\":5,\"cache\":"
        "\"cold\",\"warmup\":1,\"max_time\":0.01},\"counters\":null,\"baselines\":[%s]}\n",
        cubin, cubin, ld, reference, path, path, baselines);
    return test_owned(text);
}

static char *library(const char *functions)
{
    autofree char *bin = realpath(e2e_bin(), NULL);
    char *text =
        text_format("\"kind\":\"library\",\"path\":\"%s/reference_library.so\",\"timeout\":0.5,%s", bin, functions);
    return test_owned(text);
}

// Checks that the answer to a job that uses these library functions contains `words`.
static void expect_of_library(const char *functions, int ld, const char *words)
{
    int status;
    char *reference = library(functions), *request = job_with(reference, "", ld), *answer = ask(request, &status);
    assert_contains(answer, words);
    test_free(answer);
}

TEST(inputs_are_made_by_the_library_before_its_reference_sees_them)
{
    expect_of_library("\"function\":\"scale_reference\"", 16, "reports failure");
    expect_of_library("\"function\":\"scale_reference\",\"generate\":\"make_x\"", 16, "\"status\":\"ok\"");
}

TEST(a_generator_that_does_not_repeat_itself_or_writes_too_far_is_named)
{
    expect_of_library("\"function\":\"scale_reference\",\"generate\":\"make_other\"", 16,
                      "'make_other' makes different values for x when it is called again with the same seed");
    expect_of_library("\"function\":\"scale_reference\",\"generate\":\"make_wide\"", 20,
                      "'make_wide' wrote after the 16 columns of row 0 of x");
}

TEST(functions_that_crash_end_or_hang_are_named_and_the_worker_lives)
{
    static const struct {
        const char *functions, *words;
    } cases[] = {
        {"\"function\":\"crash\"", "crashed in 'crash' (Segmentation fault): about to crash"},
        {"\"function\":\"scale_reference\",\"generate\":\"crash\"", "crashed in 'crash' (Segmentation fault)"},
        {"\"function\":\"leave\"", "ended its process in 'leave' (status 3)"},
        {"\"function\":\"hang\"", "did not return from 'hang' within 0.5 s (reference.timeout)"},
        {"\"function\":\"scale_referense\"", "has no function 'scale_referense'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *reference = library(cases[i].functions), *request = job_with(reference, "", 16);
        int status;
        char *twice = test_text("%s%s", request, request), *answer = ask(twice, &status);
        assert_contains(answer, cases[i].words);
        assert_non_null(strstr(strchr(answer, '\n') + 1, cases[i].words)); // the worker answers the second request
        assert_int_equal(status, 0);
        test_free(answer);
    }
}

static const char program[] =
    "{\"kind\":\"library\",\"name\":\"mine\",\"detail\":\"f\",\"timeout\":%s,\"problems\":[{\"problem\":0,\"stages\":[{"
    "\"library\":"
    "\"%s/reference_library.so\",\"function\":\"%s\",%s\"args\":[{\"scalar\":\"i32\",\"value\":16},{\"scalar\":\"f32\","
    "\"value\":2},{\"buffer\":\"x\"},{\"buffer\":\"y\"}],\"sizes\":[16]}]}]}";

// The answer to a job with a baseline that a function of the library verifies.
static char *with_baseline(const char *verify, const char *function, const char *init, const char *timeout, int *status)
{
    char *bin = realpath(e2e_bin(), NULL), *functions = test_text("\"generate\":\"make_x\",\"verify\":\"%s\"", verify),
         *reference = library(functions), *baseline = test_text(program, timeout, bin, function, init),
         *request = job_with(reference, baseline, 16), *answer = ask(request, status);
    free(bin);
    return answer;
}

TEST(a_baseline_that_is_a_program_is_called_judged_and_timed)
{
    int status;
    char *answer = with_baseline("judge", "scale", "\"init\":\"scale_begin\",", "60", &status);
    json_t *all = test_json(json_loads(answer, 0, NULL)), *one = json_array_get(json_object_get(all, "baselines"), 0);
    if (strcmp(json_get_string(one, "reason", "?"), "") != 0) fail_msg("%s", answer);
    assert_string_equal(json_get_string(one, "name", ""), "mine");
    assert_true(json_get_number(json_array_get(json_object_get(one, "problems"), 0), "time", 0) > 0);
    test_free(answer);
}

// The struct is { int n = 16; float a = 2; }.
TEST(a_baseline_takes_structs_and_textures_from_its_first_call_on)
{
    static const char plain[] =
        "\"args\":[{\"scalar\":\"i32\",\"value\":16},{\"scalar\":\"f32\",\"value\":2},{\"buffer\":\"x\"},",
                      other[] = "\"args\":[{\"bytes\":\"1000000000000040\"},{\"texture\":\"x\"},",
                      x[] = "{\"name\":\"x\",";
    static const char *const memories[] = {"linear", "array"};
    for (int i = 0; i < 2; i++) {
        int status;
        char *bin = realpath(e2e_bin(), NULL), *reference = library("\"generate\":\"make_x\",\"verify\":\"judge\"");
        char *at = strstr(program, plain);
        assert_non_null(at);
        char *form = test_text("%.*s%s%s", (int)(at - program), program, other, at + strlen(plain)),
             *baseline = test_text(form, "60", bin, "scale_placed", "\"init\":\"scale_placed_begin\","),
             *request = job_with(reference, baseline, 16);
        at = strstr(request, x);
        char *with_image = test_text("%.*s%s\"image\":{\"memory\":\"%s\",\"size\":[16]},%s", (int)(at - request),
                                     request, x, memories[i], at + strlen(x)),
             *answer = ask(with_image, &status);
        json_t *all = test_json(json_loads(answer, 0, NULL)),
               *one = json_array_get(json_object_get(all, "baselines"), 0);
        if (strcmp(json_get_string(one, "reason", "?"), "") != 0) fail_msg("%s", answer);
        test_free(answer);
        free(bin);
    }
}

TEST(a_baseline_that_is_wrong_or_refuses_costs_its_own_figure_alone)
{
    static const struct {
        const char *verify, *function, *words;
    } cases[] = {
        {"judge", "scale_wrongly", "wrong: problem N=16: judge: y[0] is not a*x"},
        {"judge_silently", "scale_wrongly", "judge_silently: it gives no reason"},
        {"crash", "scale", "crashed in 'crash' (Segmentation fault)"},
        {"judge", "scale_refuse", "the function 'scale_refuse' returns 7"},
        {"judge", "scaly", "has no function 'scaly'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        char *answer = with_baseline(cases[i].verify, cases[i].function, "", "60", &status);
        assert_contains(answer, cases[i].words, "{\"id\":2,\"status\":\"ok\"");
        assert_int_equal(status, 0);
        test_free(answer);
    }
}

TEST(a_baseline_that_crashes_or_hangs_is_named_by_the_worker_s_last_words)
{
    int status;
    char *answer = with_baseline("judge", "scale_crash", "", "60", &status);
    assert_string_equal(answer,
                        "{\"id\":2,\"status\":\"crashed\",\"baseline\":\"mine\",\"reason\":\"its own code crashed "
                        "(SIGSEGV)\"}\n");
    test_free(answer);
    answer = with_baseline("judge", "scale_hang", "", "0.3", &status);
    assert_contains(answer,
                    "\"baseline\":\"mine\",\"reason\":\"it did not end within its time (four times measure.timeout)\"");
    test_free(answer);
}

TEST(outputs_that_were_judged_are_not_judged_again)
{
    int status;
    char *calls = test_text("%s/calls", folder);
    setenv("CALLS", calls, 1);
    char *answer = with_baseline("judge_and_count", "scale", "\"init\":\"scale_begin\",", "60", &status);
    assert_contains(answer, "\"reason\":\"\"");
    size_t size = 0;
    free(text_read_file(calls, &size));
    assert_int_equal(size, 2); // one call per set of data
    unsetenv("CALLS");
    test_free(answer);
}

// ---- a command ------------------------------------------------------------------------------------------------------

// The answer to a job whose reference is this shell script.
static char *with_command(const char *script)
{
    int status;
    e2e_write(folder, "ref.sh", script);
    char *request = job_with("\"kind\":\"command\",\"command\":\"sh ref.sh\",\"timeout\":0.7", "", 16);
    char *answer = ask(request, &status);
    assert_int_equal(status, 0);
    return answer;
}

// Writes the files that the scripts copy: one file with two elements, and two files with sixteen elements, the second
// of which contains a NaN.
static void write_values(void)
{
    static const struct {
        const char *name;
        int count;
        float last;
    } files[] = {{"two.npy", 2, 0}, {"nan.npy", 16, NAN}, {"good.npy", 16, 1}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        float values[16] = {[3] = files[i].last};
        struct error err;
        char *path = test_text("%s/%s", folder, files[i].name);
        assert_int_equal(npy_write(path, ELEMENT_F32, 1, files[i].count, files[i].count, values, &err), 0);
    }
}

TEST(a_command_reads_files_and_writes_what_is_expected_once)
{
    // The script keeps a copy of its job.json.
    write_values();
    static const char script[] =
        "cp good.npy \"$1/out/y.npy\" && test -s \"$1/in/x.npy\" && cat \"$1/job.json\" >told && echo x >>runs\n";
    for (int i = 0; i < 2; i++) {
        char *answer = with_command(script);
        assert_contains(answer, "\"status\":\"ok\"");
        test_free(answer);
    }
    struct e2e_result r = e2e_run(folder, "cat $DIR/told; wc -l <$DIR/runs");
    assert_contains(r.out, "\"problem\": \"N=16\"", "\"a\": 2", "\"file\": \"in/x.npy\"", "\"file\": \"out/y.npy\"",
                    "}2\n");                                // one run per set of data, none for the second job
    e2e_write(folder, "other.sh", "# beside the script\n"); // changes the key
    test_free(with_command(script));
    r = e2e_run(folder, "wc -l <$DIR/runs");
    assert_int_equal(atoi(r.out), 4);
}

TEST(a_command_that_fails_is_named_with_what_it_said)
{
    static const struct {
        const char *script, *words;
    } cases[] = {
        {"echo one; echo no such thing >&2; exit 3\n", "'sh ref.sh' failed with status 3:\\none\\nno such thing"},
        {"echo waiting; sleep 100 & sleep 100\n", "did not end within 0.7 s (reference.timeout):\\nwaiting"},
        {"kill -9 $$\n", "was ended by a signal (Killed)"},
        {"true\n", "has ended, but there is no out/y.npy; it printed nothing"},
        {"cp ref.sh \"$1/out/y.npy\"\n", "y.npy' is not a .npy file"},
        {"cp two.npy \"$1/out/y.npy\"\n", "out/y.npy has the shape 2, but y has 1 x 16"},
        {"cp nan.npy \"$1/out/y.npy\"\n", "out/y.npy: element 3 is NaN"},
        {"cp good.npy \"$1/out/y.npy\"; echo >>\"$1/in/x.npy\"\n", "changed its input in/x.npy"},
        {"exec nosuchprogram\n", "nosuchprogram: not found"},
    };
    write_values();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer = with_command(cases[i].script);
        assert_contains(answer, cases[i].words, "\"status\":\"error\"");
        test_free(answer);
    }
    struct e2e_result r = e2e_run(folder, "ls -d ${TMPDIR:-/tmp}/sweetspot-reference-* 2>/dev/null | wc -l");
    assert_int_equal(atoi(r.out), 0); // its folders were removed
}

// ---- built from its source ------------------------------------------------------------------------------------------

// The worker's answer to a request to build x.c.
static struct e2e_result build(const char *text, const char *before, const char *more)
{
    e2e_write(folder, "x.c", text);
    char *path = realpath(folder, NULL),
         *line = test_text("{\"id\":1,\"op\":\"build\",\"source\":\"%s/x.c\",\"functions\":[\"f\"],\"options\":["
                           "\"-DTWO=2\"],\"cache\":\"%s/cache\",\"deadline\":%s}\n",
                           path, path, more);
    e2e_write(folder, "requests", line);
    free(path);
    return e2e_run(folder, "%s $BIN/sweetspot-compile <$DIR/requests", before);
}

TEST(a_c_source_is_built_and_kept_by_what_it_includes)
{
    static const char sound[] = "#include <math.h>\n#include \"n.h\"\nint f(int x) { return x * TWO * N; }\n";
    static const struct {
        const char *text, *before, *deadline, *words;
    } cases[] = {
        {sound, "", "60", "\"cached\":false"},
        {sound, "", "60", "\"cached\":true"},
        {"\nint f(void) { return nothing; }\n", "", "60", "x.c:2:22: error: 'nothing' undeclared"},
        {"int g(void) { return 0; }\n", "", "60", "has no function 'f'"},
        {"#include \"nosuch.h\"\n", "", "60", "nosuch.h"},
        {"#include \"sweetspot_reference.h\"\nint f(sweetspot_reference *r) { return r != 0; }\n", "", "60",
         "\"status\":\"ok\""},
        {sound, "PATH=/nowhere", "60", "there is no compiler 'cc' on the PATH"},
    };
    e2e_write(folder, "n.h", "enum { N = 3 };\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct e2e_result r = build(cases[i].text, i < 5 ? "export LC_ALL=C;" : cases[i].before, cases[i].deadline);
        assert_contains(r.out, cases[i].words);
    }
    e2e_write(folder, "n.h", "enum { N = 4 };\n");
    assert_contains(build(sound, "", "60").out, "\"cached\":false");
}

TEST(arrays_of_every_type_are_written_and_read_back)
{
    char *path = test_text("%s/t.npy", folder);
    for (int type = 0; type < ELEMENT_COUNT; type++) {
        unsigned char data[2 * 4 * 8];
        struct error err;
        struct npy npy;
        size_t size = element_size((enum element)type);
        for (size_t i = 0; i < 8; i++) element_store((enum element)type, (double)i, data + i * size);
        assert_int_equal(npy_write(path, (enum element)type, 2, 3, 4, data, &err), 0);
        assert_int_equal(npy_read(&npy, path, &err), 0);
        assert_int_equal(npy.dimensions, 2);
        assert_true(npy.shape[0] == 2 && npy.shape[1] == 3);
        for (size_t i = 2; i <= 3; i++) // skips the padding
            assert_true(npy_value(&npy, i, (enum element)type) == (double)(2 * i - 2));
        npy_release(&npy);
    }
}

TEST_MAIN(set_up, NULL)
