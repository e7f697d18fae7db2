// sweetspot judge on real kernels: the ways in which published harnesses were fooled, and faults that only
// compute-sanitizer detects. The kernels are cases of jobs in tests/hostile/.
//
// To run one by hand: sweetspot judge tests/hostile/fooled.cfg --set CASE=kept_for_address
#include "tests/gpu.h"

#include "tuner/base/json.h"

// GAINLESS: the kernel may be accepted if it gains nothing. It gains nothing if it takes at least `enough` times the
// time of the case `plain`.
enum expected { RIGHT, WRONG, GAINLESS };
static const double enough = 0.85;

static const struct {
    const char *way, *job, *name;
    enum expected expected;
} cases[] = {
    {"a right kernel", "fooled", "plain", RIGHT},
    {"outputs cached by address", "fooled", "kept_for_address", GAINLESS},
    {"outputs cached by address", "fooled", "kept_for_sample", GAINLESS},
    {"outputs cached by address", "leftovers", "kept_by_address", GAINLESS},
    {"outputs cached by address", "sums", "total_kept_for_pointer", GAINLESS},
    {"answers read from the reference's memory", "judge", "copies_expected_ahead", WRONG},
    {"answers read from the reference's memory", "judge", "copies_answers_back", WRONG},
    {"zeros within an absolute tolerance", "tiny", "zeros", WRONG},
    {"zeros within an absolute tolerance", "fooled", "smallest_zero", WRONG},
    {"work moved to where it is not timed", "fooled", "left_to_the_next", WRONG},
    {"work moved to where it is not timed", "fooled", "answers_in_warm_up", WRONG},
    {"work moved to where it is not timed", "stages", "rest_left_to_next", WRONG},
    {"inputs of one distribution", "fooled", "constant_answer", WRONG},
    {"inputs of one distribution", "fooled", "assumes_positive", WRONG},
    {"inputs of one distribution", "sums", "constant_mean", WRONG},
    {"inputs of one distribution", "data", "seed_by_sum", WRONG},
    {"precision just inside a loose bound", "fooled", "half_precision", WRONG},
    {"precision just inside a loose bound", "product", "f16_accumulator", WRONG},
    {"sleeping in the warm-up", "fooled", "sleeps_at_first", GAINLESS},
    {"sleeping in the warm-up", "fooled", "fast_at_first", GAINLESS},
    {"sleeping in the warm-up", "timing", "sleeps_first", GAINLESS},
};

#define NO_COUNTERS "export SWEETSPOT_COUNTERS=none;"

static json_t *judge(const char *folder, const char *before, const char *job, const char *name, int *status)
{
    struct e2e_result r =
        e2e_run(folder, "%s $BIN/sweetspot judge tests/hostile/%s.cfg --set CASE=%s --cache $DIR/cache -f json", before,
                job, name);
    struct error err;
    json_t *document = r.status <= 1 ? json_parse(r.out, &err) : NULL;
    if (!document) fail_msg("%s/%s: status %d\n%s\n%s", job, name, r.status, r.out, r.err);
    *status = r.status;
    return test_json(document);
}

static double time_of(const json_t *document)
{
    const json_t *problem = json_array_get(json_object_get(document, "problems"), 0),
                 *time = json_array_get(json_object_get(problem, "time"), 0);
    return json_is_number(time) ? json_number_value(time) : NAN;
}

// The time of the same job's plain case.
static double plain_time(const char *folder, const char *job)
{
    int status;
    json_t *document = judge(folder, NO_COUNTERS, job, "plain", &status);
    double time = time_of(document);
    if (status || !isfinite(time)) fail_msg("%s/plain: %s", job, json_get_string(document, "reason", ""));
    return time;
}

GPU_TEST(no_known_way_to_fool_a_harness_fools_the_judge)
{
    char *folder = e2e_folder("gpu_judge");
    int bad = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        json_t *document = judge(folder, NO_COUNTERS, cases[i].job, cases[i].name, &status);
        double time = time_of(document), plain = NAN;
        bool right = json_get_bool(document, "right", false), good;
        if (cases[i].expected == GAINLESS && right) plain = plain_time(folder, cases[i].job);
        good = right == !status && (cases[i].expected == RIGHT   ? right && time > 0
                                    : cases[i].expected == WRONG ? !right
                                                                 : !right || time >= enough * plain);
        bad += !good;
        print_message("%s%-42s %s/%s: %s %.120s", good ? "" : "FOOLED: ", cases[i].way, cases[i].job, cases[i].name,
                      json_get_string(document, "status", "?"), json_get_string(document, "reason", ""));
        print_message(isfinite(plain) ? " %.3g us, plain %.3g us\n" : "\n", 1e6 * time, 1e6 * plain);
    }
    assert_int_equal(bad, 0);
}

GPU_TEST(the_document_of_a_real_kernel_is_complete)
{
    char *folder = e2e_folder("gpu_judge_document");
    int status;
    json_t *document = judge(folder, "", "product", "plain", &status);
    const json_t *problem = json_array_get(json_object_get(document, "problems"), 0),
                 *baseline = json_array_get(json_object_get(problem, "baselines"), 0);
    assert_int_equal(status, 0);
    assert_int_equal(json_get_integer(document, "version", 0), 1);
    assert_int_equal(json_array_size(json_object_get(document, "problems")), 2);
    assert_int_equal(json_array_size(json_object_get(problem, "samples")), 12);
    assert_true(json_get_number(document, "error", 2) <= 1);
    assert_true(json_number_value(json_array_get(json_object_get(baseline, "ratio"), 0)) > 0);
    const json_t *counters = json_array_get(json_object_get(document, "counters"), 0);
    // Without permission for counters there is a note instead of values.
    if (!json_object_size(json_object_get(counters, "values")))
        assert_true(json_array_size(json_object_get(document, "notes")) > 0);
}

#define REAL_TOOL "unset SWEETSPOT_SANITIZER;"

// Whether there is a compute-sanitizer; otherwise the test is skipped.
static bool have_sanitizer(const char *folder)
{
    int status;
    json_t *document = judge(folder, REAL_TOOL NO_COUNTERS, "sanitized", "plain", &status);
    bool ran = json_array_size(json_object_get(document, "sanitizers")) > 0;
    for (size_t i = 0; i < json_array_size(json_object_get(document, "sanitizers")); i++) {
        const json_t *tool = json_array_get(json_object_get(document, "sanitizers"), i);
        if (strcmp(json_get_string(tool, "status", ""), "clean"))
            fail_msg("plain, %s: %s %s%s", json_get_string(tool, "tool", ""), json_get_string(tool, "status", ""),
                     json_get_string(tool, "first", ""), json_get_string(tool, "reason", ""));
        print_message("%s: %.1f s\n", json_get_string(tool, "tool", ""), json_get_number(tool, "seconds", NAN));
    }
    assert_int_equal(status, 0);
    return ran;
}

static const struct {
    const char *name, *status, *reason; // beginning of the reason; "": correct
    const char *advice;                 // part of racecheck's first message
} sanitized[] = {
    {"scratch_used", "ok", "", ""},
    {"reads_past", "out_of_bounds", "compute-sanitizer's memcheck: Invalid __global__ read", ""},
    {"reads_unwritten", "wrong", "compute-sanitizer's initcheck: Uninitialized __global__ memory read", ""},
    {"same_value_race", "ok", "", "Race"},
};

GPU_TEST(what_only_a_sanitizer_sees_is_seen)
{
    char *folder = e2e_folder("gpu_judge_sanitized");
    if (!have_sanitizer(folder)) skip();
    for (size_t i = 0; i < sizeof sanitized / sizeof *sanitized; i++) {
        int status;
        json_t *document = judge(folder, REAL_TOOL NO_COUNTERS, "sanitized", sanitized[i].name, &status);
        const char *word = json_get_string(document, "status", ""), *reason = json_get_string(document, "reason", "");
        const json_t *early_stop = json_array_get(json_object_get(document, "sanitizers"), 3);
        print_message("%s: %s %s\n", sanitized[i].name, word, reason);
        if (strcmp(word, sanitized[i].status) || strncmp(reason, sanitized[i].reason, strlen(sanitized[i].reason)))
            fail_msg("%s is %s: %s", sanitized[i].name, word, reason);
        if (*reason && !strstr(reason, "sanitized.cu:")) fail_msg("no source line: %s", reason);
        if (!strstr(json_get_string(early_stop, "first", ""), sanitized[i].advice))
            fail_msg("%s: racecheck: %s", sanitized[i].name, json_get_string(early_stop, "first", ""));
    }
}

// The correct kernel copies through scratch, so the wrong ones are faster and win first.
GPU_TEST(a_finalist_with_a_hidden_mistake_does_not_win)
{
    char *folder = e2e_folder("gpu_final_sanitized");
    if (!have_sanitizer(folder)) skip();
    struct e2e_result r =
        e2e_pass(folder, REAL_TOOL "cp tests/hostile/*.cu tests/hostile/*.h tests/hostile/*.inc $DIR && sed "
                                   "'/CASE/,/;/s/\\[.*/[/; s/\"plain\", //; "
                                   "s/\"reads_far.*race\", //' tests/hostile/sanitized.cfg >$DIR/sanitized.cfg && "
                                   "$BIN/sweetspot tune $DIR/sanitized.cfg --store $DIR/s.db --cache $DIR/cache -q "
                                   "--no-counters && $BIN/sweetspot compare $DIR/sanitized.cfg --store $DIR/s.db");
    assert_contains(r.err, "is out of the final: out_of_bounds: compute-sanitizer's memcheck",
                    "is out of the final: wrong: compute-sanitizer's initcheck");
    assert_contains(r.out, "memcheck, initcheck, synccheck", " on n=5003: ");
    if (strstr(r.out, "CASE=reads_")) fail_msg("%s", r.out);
}

// Functions in a shared library instead of a kernel: one calls cuBLAS, one leaves out a row, one crashes, and one never
// returns.
static const char library[] =
    "#include <cublas_v2.h>\n#include <unistd.h>\n"
    "static int product(void *stream, void **a, const long long *sizes, int less)\n{\n"
    "    static cublasHandle_t handle;\n    int m = sizes[0], n = sizes[1], k = sizes[2];\n"
    "    const float one = 1, zero = 0, *A = *(float **)a[0], *B = *(float **)a[1];\n    float *C = *(float **)a[2];\n"
    "    if (!handle && cublasCreate(&handle)) return 1;\n    if (cublasSetStream(handle, stream)) return 1;\n"
    "    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m - less, k, &one, B, n, A, k, &zero, C, n);\n}\n"
    "int right(void *s, void **a, const long long *z) { return product(s, a, z, 0); }\n"
    "int leaves_a_row(void *s, void **a, const long long *z) { return product(s, a, z, 1); }\n"
    "int crashes(void *s, void **a, const long long *z) { return *(volatile int *)8; }\n"
    "int hangs(void *s, void **a, const long long *z) { for (;;) pause(); }\n";

GPU_TEST(a_function_of_a_shared_library_is_judged)
{
    static const struct {
        const char *function, *status, *reason;
    } functions[] = {{"right", "ok", ""},
                     {"leaves_a_row", "wrong", ""},
                     {"crashes", "crashed", "its own code crashed (SIGSEGV)"},
                     {"hangs", "timeout", ""}};
    char *folder = e2e_folder("gpu_judge_library");
    e2e_write(folder, "library.c", library);
    e2e_write(folder, "job.cfg",
              "name = \"product\"; kernel = { template = \"none.cu\"; entry = \"none\"; };\n"
              "problems = ( { M = 1000; N = 512; K = 256; } ); launch = { grid = 1; block = 32; };\n"
              "arguments = ( { buffer = \"A\"; type = \"f32\"; shape = [\"M\", \"K\"]; }, { buffer = \"B\"; type = "
              "\"f32\"; shape = [\"K\", \"N\"]; }, { buffer = \"C\"; type = \"f32\"; shape = [\"M\", \"N\"]; "
              "direction = \"out\"; } );\nreference = { operation = \"gemm\"; }; measure = { timeout = 10; };\n");
    e2e_write(folder, "none.cu", "extern \"C\" __global__ void none(const float *, const float *, float *) {}\n");
    e2e_pass(folder, "cc -O2 -shared -fPIC -I" TEST_CUDA_HOME "/include -L" TEST_CUDA_HOME
                     "/lib64 $DIR/library.c -o $DIR/library.so -lcublas");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct e2e_result r = e2e_run(folder,
                                      "$BIN/sweetspot judge $DIR/job.cfg --implementation $DIR/library.so --entry %s "
                                      "--cache $DIR/cache -f json",
                                      functions[i].function);
        struct error err;
        json_t *document = test_json(json_parse(r.out, &err));
        if (!document) fail_msg("%s: status %d\n%s\n%s", functions[i].function, r.status, r.out, r.err);
        const char *status = json_get_string(document, "status", ""), *reason = json_get_string(document, "reason", "");
        print_message("%s: %s %.200s, %.3g us\n", functions[i].function, status, reason, 1e6 * time_of(document));
        if (strcmp(status, functions[i].status) || !strstr(reason, functions[i].reason))
            fail_msg("%s is %s: %s", functions[i].function, status, reason);
        assert_contains(r.out, "trusted host code");
    }
}

TEST_MAIN(NULL, NULL)
