// Tests that need a GPU: the ceilings of execution units, and shares of these ceilings. An H200 is checked against its
// own bounds. Other devices are checked only against bounds that hold for every device.
#include "tests/gpu.h"

#include "tuner/base/execution_unit.h"
#include "tuner/base/json.h"
#include "tuner/store/store.h"

// Measures the ceilings for a job with this pipe, or, if `pipe` is NULL, all ceilings for a few milliseconds each.
// Returns a new reference.
static json_t *ceilings_of(const char *pipe, bool *is_h200)
{
    struct error err;
    char *folder = e2e_folder("gpu_pipes"), *own = pipe ? text_format(" pipe = \"%s\";", pipe) : text_copy("");
    char *job = test_text("name = \"p\";\nkernel = { template = \"x.cu\"; entry = \"x\"; };\nparameters = ( { name = "
                          "\"X\"; values = [1]; } );\nproblems = ( { N = 1048576; } );\nlaunch = { grid = "
                          "[\"ceil_div(N, 256)\"]; block = [256]; };\narguments = ( { buffer = \"y\"; type = \"f32\"; "
                          "shape = [\"N\"]; direction = \"out\"; }, { scalar = \"N\"; type = \"i32\"; } "
                          ");\nverification = { enabled = false; };\nwork = { flops = \"N\"; bytes = \"4*N\";%s };\n",
                          own);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "x.cu",
              "extern \"C\" __global__ void x(float *y, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i < n) y[i] = X;\n}\n");
    struct e2e_result r = e2e_run(
        folder, "SWEETSPOT_COUNTERS=none $BIN/sweetspot profile $DIR/job.cfg --cache out/cache --trial X=1 -f json");
    json_t *document = test_json(json_parse(r.out, &err));
    if (!document) fail_msg("%s: %s\n%s", pipe ? pipe : "all", err.message, r.err);
    json_t *profile = json_object_get(document, "profile"),
           *ceilings = json_incref(json_object_get(profile, "ceilings"));
    const char *device = json_get_string(json_object_get(profile, "device"), "name", "");
    *is_h200 = strstr(device, "H200");
    if (pipe) assert_string_equal(json_get_string(profile, "pipe", ""), pipe);
    free(own);
    return test_json(ceilings);
}

static const struct {
    const char *pipe;
    double low, high; // tera-operations per second on an H200
} expected[] = {
    {"fp32 fma", 60, 67},       {"fp64 fma", 30, 34},     {"mma fp64", 55, 67.5},   {"mma bf16", 400, 800},
    {"mma f16", 400, 800},      {"mma tf32", 200, 420},   {"mma s8", 800, 1700},    {"wgmma bf16", 500, 1000},
    {"wgmma f16", 500, 1000},   {"wgmma tf32", 250, 500}, {"wgmma s8", 1000, 2000}, {"wgmma fp8", 1000, 2000},
    {"tensor bf16", 500, 1000}, {"int mad", 25, 34},      {"int add", 25, 70},      {"dpx s32", 25, 35},
    {"dpx s16x2", 50, 70},
};

GPU_TEST(every_pipe_has_a_ceiling_of_the_right_size)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        bool is_h200;
        json_t *ceilings = ceilings_of(expected[i].pipe, &is_h200);
        const struct execution_unit *p = pipe_find(expected[i].pipe, NULL);
        if (!p->key)
            p = &execution_units[p->either[json_object_get(ceilings, execution_units[p->either[1]].key) != NULL]];
        double rate = json_get_number(ceilings, p->key, NAN) / 1e12;
        const json_t *lasting = json_object_get(json_object_get(ceilings, "lasting"), p->key);
        print_message("  %-12s %8.1f T/s", expected[i].pipe, rate);
        if (lasting)
            print_message("  at %.0f MHz; first %.1f", json_get_number(lasting, "clock_mhz", NAN),
                          json_get_number(lasting, "first", NAN) / 1e12);
        print_message("  memory %.2f, copy %.2f TB/s\n", json_get_number(ceilings, "bytes_per_second", NAN) / 1e12,
                      json_get_number(ceilings, "copy_bytes_per_second", NAN) / 1e12);
        if (is_h200 && !(rate >= expected[i].low && rate <= expected[i].high)) {
            print_message("  %s: not between %g and %g\n", expected[i].pipe, expected[i].low, expected[i].high);
            bad++;
        }
        // Under load the clock falls or stays the same; it does not rise by more than noise.
        if (!isnan(rate) && p->lasts && !(rate <= 1.05e-12 * json_get_number(lasting, "first", NAN))) bad++;
        double copy = json_get_number(ceilings, "copy_bytes_per_second", NAN) / 1e12;
        if (is_h200 && !(copy >= 4.0 && copy <= 4.8)) bad++;
    }
    assert_int_equal(bad, 0);
}

// Without a pipe all ceilings are measured, for a few milliseconds each. Checks the relations that hold on every device
// with tensor cores.
GPU_TEST(tensor_ceilings_are_in_their_order)
{
    bool is_h200;
    json_t *ceilings = ceilings_of(NULL, &is_h200);
    double bf16 = json_get_number(ceilings, "tensor_bf16_flops_per_second", NAN),
           tf32 = json_get_number(ceilings, "tensor_tf32_flops_per_second", NAN),
           wgmma = json_get_number(ceilings, "wgmma_bf16_flops_per_second", NAN);
    assert_null(json_object_get(ceilings, "lasting"));
    assert_true(bf16 > 1.5 * tf32);
    assert_true(tf32 > 1.5 * json_get_number(ceilings, "flops_per_second", NAN));
    assert_true(json_get_number(ceilings, "tensor_fp64_flops_per_second", NAN) > 0);
    assert_true(json_get_number(ceilings, "tensor_int8_flops_per_second", NAN) > 1.3 * bf16);
    if (!isnan(wgmma)) { // sm_90a
        assert_true(wgmma > 0.95 * bf16);
        assert_true(wgmma > 1.3 * json_get_number(ceilings, "wgmma_tf32_flops_per_second", NAN));
        assert_true(json_get_number(ceilings, "wgmma_fp8_flops_per_second", NAN) > 1.3 * wgmma);
        assert_true(json_get_number(ceilings, "wgmma_int8_flops_per_second", NAN) > 1.3 * wgmma);
    }
}

// On its best problems, cuBLAS is near the ceiling of its pipe, and not above.
GPU_TEST(a_library_is_near_the_ceiling_of_its_pipe)
{
    static const struct {
        const char *job;
        double low, high;
    } jobs[] = {{"bgemm_8192", 0.6, 1.05},
                {"hgemm_nn", 0.6, 1.05},
                {"sgemm_2048", 0.6, 1.02},
                {"tf32gemm", 0.6, 1.05},
                {"dgemm", 0.6, 1.05}};
    int bad = 0;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *folder = e2e_folder("gpu_near");
        struct error err;
        struct e2e_result r = e2e_run(
            folder,
            "SWEETSPOT_COUNTERS=none $BIN/sweetspot profile configs/%s.cfg --cache out/cache --trial cublas -f json",
            jobs[i].job);
        json_t *document = test_json(json_parse(r.out, &err)), *profile = json_object_get(document, "profile");
        if (!document) fail_msg("%s: %s", jobs[i].job, r.err);
        const struct execution_unit *p = pipe_find(json_get_string(profile, "pipe", ""), NULL);
        const json_t *ceilings = json_object_get(profile, "ceilings");
        assert_non_null(p);
        if (!p->key)
            p = &execution_units[p->either[json_object_get(ceilings, execution_units[p->either[1]].key) != NULL]];
        double share = json_get_number(profile, "operations", NAN) / json_get_number(profile, "time", NAN) /
                       json_get_number(ceilings, p->key, NAN);
        print_message("  %-12s cublas %.3f of %s\n", jobs[i].job, share, p->name);
        bad += !(share >= jobs[i].low && share <= jobs[i].high);
    }
    assert_int_equal(bad, 0);
}

struct powers {
    int trials, known, energies;
    double lowest, highest;
};

static int look(void *user, const struct trial *t)
{
    struct powers *p = user;
    if (t->status != STATUS_OK) return 0;
    double power = t->problems[0].power, energy = t->problems[0].energy;
    p->trials++;
    if (!isnan(power)) {
        p->known++;
        p->lowest = fmin(p->lowest, power);
        p->highest = fmax(p->highest, power);
    }
    if (!isnan(energy)) {
        p->energies++;
        assert_true(fabs(energy / (power * t->problems[0].time) - 1) < 1e-6);
    }
    return 0;
}

GPU_TEST(trials_have_the_power_that_the_board_took)
{
    struct powers p = {.lowest = INFINITY};
    struct store *store;
    struct environment environment;
    struct error err;
    char *folder = e2e_folder("gpu_power"), *path = test_text("%s/job.db", folder);
    e2e_pass(folder,
             "$BIN/sweetspot tune configs/sgemm.cfg --store %s --cache out/cache -q --no-final --evaluations 24", path);
    assert_int_equal(store_open(&store, path, false, &err), 0);
    assert_int_equal(store_last_environment(store, &environment, &err), 0);
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, look, &p, &err), 0);
    store_close(store);
    print_message("  %d trials, %d with power (%.0f to %.0f W), %d with energy\n", p.trials, p.known, p.lowest,
                  p.highest, p.energies);
    assert_true(2 * p.known > p.trials && p.lowest > 30 && p.highest < 1200);
}

TEST_MAIN(NULL, NULL)
