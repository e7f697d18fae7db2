// Tests that need a GPU: random candidates of the jobs whose templates have most ways through them, at sizes that no
// tile divides.
#include "tests/gpu.h"

#include <math.h>

#include "tests/opened_store.h"

static const struct {
    const char *job, *sizes;
} jobs[] = {
    {"smith_waterman", "s/COUNT = 216268; LENGTH_A = 64; LENGTH_B = 64/COUNT = 1002; LENGTH_A = 150; LENGTH_B = 90/; "
                       "s/COUNT = 432536; LENGTH_A = 64; LENGTH_B = 64/COUNT = 63; LENGTH_A = 64; LENGTH_B = 300/; "
                       "s/COUNT = 648804; LENGTH_A = 64; LENGTH_B = "
                       "64/COUNT = 5; LENGTH_A = 1; LENGTH_B = 40/; "
                       "s/COUNT = 865072; LENGTH_A = 64; LENGTH_B = 64/COUNT = 2000; LENGTH_A = 65; LENGTH_B = 33/"},
    {"stencil_25", "s/HEIGHT = 16384; WIDTH = 16384/HEIGHT = 333; WIDTH = 516/"},
    {"stencil_5", "s/HEIGHT = 16384; WIDTH = 16384/HEIGHT = 333; WIDTH = 514/"},
    {"prefix_sum", "s/N = 134217728/N = 5000012/"},
    {"average_matvec", "s/N = 1024; M = 1024; L = 1024/N = 1001; M = 41; L = 515/"},
    {"average_matvec_own", "s/N = 1024; M = 1024; L = 1024/N = 1000; M = 41; L = 516/"},
    {"average_matvec_own", "s/N = 1024; M = 1024; L = 1024/N = 1001; M = 41; L = 515/"},
    {"transpose",
     "s/ROWS = 16384; COLS = 16384/ROWS = 1028; COLS = 2052/; s/ROWS = 16383; COLS = 16383/ROWS = 1027; COLS = 2051/"},
};

static void random_candidates_are_right_at_odd_sizes(void **state)
{
    NEEDS_GPU();
    char *folder = e2e_folder("odd");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        struct outcome_of_command r = e2e_run(
            folder,
            "awk '/^@include/ { gsub(/\"/, \"\", $2); while ((getline line < (\"configs/\" $2)) > 0) print line; next "
            "} 1' configs/%s.cfg | "
            "sed 's|\"\\.\\./templates|\"'$PWD'/templates|; %s' >%s/job.cfg && "
            "$BIN/sweetspot tune %s/job.cfg --store %s/%s.db -q --no-counters --no-final --strategy random -n 150 && "
            "$BIN/sweetspot status %s/job.cfg --store %s/%s.db",
            jobs[i].job, jobs[i].sizes, folder, folder, folder, jobs[i].job, folder, folder, jobs[i].job);
        if (r.status) fail_msg("%s: status %d: %.3000s", jobs[i].job, r.status, r.err);
        static const char *const bad[] = {" wrong",        " out_of_bounds",    " crashed",    " timeout",
                                          " launch_error", " nondeterministic", " implausible"};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            if (strstr(r.out, bad[k])) fail_msg("%s: %.3000s", jobs[i].job, r.out);
        e2e_done(&r);
    }
    e2e_remove(folder);
}

struct told {
    int64_t counts[STATUS_COUNT];
    double best;      // s
    int screened_odd; // screened trials that have an objective, or no time on the guide
};

static int look_at(void *user, const struct trial *trial)
{
    struct told *told = user;
    if (trial->status == STATUS_OK && !(trial->objective > told->best)) told->best = trial->objective;
    told->screened_odd += trial->status == STATUS_SCREENED && (!isnan(trial->objective) || !(trial->guide_seconds > 0));
    return 0;
}

static struct told what_is_stored(const char *folder)
{
    struct store *store = opened_store("%s/g.db", folder);
    struct told told = {.best = INFINITY};
    struct error err;
    assert_int_equal(store_counts(store, told.counts, &err), 0);
    assert_int_equal(store_each(store, false, 0, look_at, &told, &err), 0);
    store_close(store);
    return told;
}

// FP32 products of 4096 cubed, with 2048 cubed as the guide: part of the candidates are screened out there. Then the
// guide is taken away, and the same candidates are proposed again: what was screened out is measured, and none of it is
// better than the best of the others by more than two times may differ.
static void what_a_guide_screens_out_would_not_have_won(void **state)
{
    NEEDS_GPU();
    char *folder = e2e_folder("guide");
    static const char tune[] = "$BIN/sweetspot tune %s/job.cfg --store %s/g.db -q --no-counters --no-final --no-stores "
                               "--strategy random --seed 5 -n 150";
    struct outcome_of_command r =
        e2e_run(folder,
                "{ cat configs/suite/fp32_4096.cfg configs/suite/fp32_gemm.inc | sed '/^@include/d; "
                "s|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|'; "
                "echo 'name = \"g\"; guide = { M = 2048; N = 2048; K = 2048; };'; } >%s/job.cfg",
                folder);
    assert_int_equal(r.status, 0);
    e2e_done(&r);
    r = e2e_run(folder, tune, folder, folder);
    if (r.status) fail_msg("status %d: %.3000s", r.status, r.err);
    e2e_done(&r);
    char *path = text_format("%s/g.log", folder), *log = text_read_file(path, NULL);
    assert_non_null(log);
    e2e_expect(log, "its ranks agree");
    struct told before = what_is_stored(folder);
    int64_t screened = before.counts[STATUS_SCREENED];
    print_message("%lld of 150 screened out\n", (long long)screened);
    assert_in_range(screened, 5, 140);
    assert_int_equal(before.screened_odd, 0);
    r = e2e_run(folder, "sed -i '/^name = .*guide/d' %s/job.cfg && echo 'name = \"g\";' >>%s/job.cfg", folder, folder);
    e2e_done(&r);
    r = e2e_run(folder, tune, folder, folder);
    if (r.status) fail_msg("status %d: %.3000s", r.status, r.err);
    e2e_done(&r);
    struct told after = what_is_stored(folder);
    print_message("best %.4g ms with the guide, %.4g ms of all\n", 1e3 * before.best, 1e3 * after.best);
    assert_true(after.counts[STATUS_SCREENED] < screened);
    assert_true(before.best < 1.02 * after.best);
    free(log);
    free(path);
    e2e_remove(folder);
}

// On the guide the kernel writes behind its buffer, where another candidate's guards would be. All are measured and
// right.
static void a_kernel_that_is_wrong_on_the_guide_alone_is_measured_and_right(void **state)
{
    NEEDS_GPU();
    char *folder = e2e_folder("guide_stray");
    e2e_write(folder, "x.cu",
              "extern \"C\" __global__ void x(int n, const float *in, float *out)\n"
              "{\n"
              "    for (int r = 0; r < ROUNDS; r++) {\n"
              "        int i = (r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;\n"
              "        if (i < n) out[i] = 2 * in[i];\n"
              "        if (i < 100 && n < 1 << 20) out[n + i] = 1;\n"
              "    }\n"
              "}\n");
    e2e_write(folder, "y.cu",
              "extern \"C\" __global__ void y(int n, const float *in, float *out)\n"
              "{\n"
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i < n) out[i] = 2 * in[i];\n"
              "}\n");
    e2e_write(folder, "job.cfg",
              "name = \"g\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
              "parameters = ( { name = \"ROUNDS\"; values = [1, 2, 4, 8]; }, { name = \"BLOCK\"; values = [64, 128, "
              "256]; } );\n"
              "problems = ( { N = 4194304; } ); guide = { N = 1000; };\n"
              "launch = { grid = [\"ceil_div(N, BLOCK * ROUNDS)\"]; block = [\"BLOCK\"]; };\n"
              "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"in\"; type = \"f32\"; shape = [\"N\"]; "
              "},\n"
              "  { buffer = \"out\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
              "reference = { kernel = \"y\"; template = \"y.cu\"; launch = { grid = [\"ceil_div(N, 256)\"]; block = "
              "[256]; }; };\n"
              "search = { strategy = \"exhaustive\"; };\n");
    struct outcome_of_command r =
        e2e_run(folder, "$BIN/sweetspot tune %s/job.cfg --store %s/g.db -q --no-counters --no-final", folder, folder);
    if (r.status) fail_msg("status %d: %.3000s", r.status, r.err);
    e2e_done(&r);
    struct told told = what_is_stored(folder);
    assert_int_equal(told.counts[STATUS_OK] + told.counts[STATUS_SLOW] + told.counts[STATUS_SCREENED], 12);
    assert_true(told.counts[STATUS_OK] > 0);
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_candidates_are_right_at_odd_sizes),
        cmocka_unit_test(what_a_guide_screens_out_would_not_have_won),
        cmocka_unit_test(a_kernel_that_is_wrong_on_the_guide_alone_is_measured_and_right),
    };
    cmocka_set_test_filter(getenv("TEST_FILTER")); // a pattern such as "*ragged*"; all without
    return cmocka_run_group_tests(tests, NULL, NULL);
}
