// The execution pipes whose ceilings a job's work is compared with. Tests which pipe a job uses and which ceilings it
// needs. If the pipe is unknown, no share of a ceiling is reported.
#include "tests/e2e.h"
#include "tests/loaded_job.h"

#include "tuner/base/execution_unit.h"
#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/setup/work_bounds.h"
#include "tuner/store/store.h"

TEST(names_and_members_are_their_own)
{
    for (int i = 0; i < UNIT_COUNT; i++) {
        const char *nearest = NULL;
        assert_ptr_equal(pipe_find(execution_units[i].name, &nearest), &execution_units[i]);
        assert_true(execution_units[i].how && execution_units[i].gloss && execution_units[i].unit);
        for (int k = 0; k < i && execution_units[i].key; k++)
            if (execution_units[k].key) assert_string_not_equal(execution_units[i].key, execution_units[k].key);
        if (execution_units[i].key) continue;
        for (int k = 0; k < 2; k++) { // this unit stands for two units of one kind
            const struct execution_unit *one = &execution_units[execution_units[i].either[k]];
            assert_true(one->key && one->peak == execution_units[i].peak &&
                        !strcmp(one->unit, execution_units[i].unit));
        }
    }
    const char *nearest = NULL;
    assert_null(pipe_find("wgma bf16", &nearest));
    assert_string_equal(nearest, "wgmma bf16");
}

TEST(tensor_is_wgmma_where_there_is_one_else_mma_sync)
{
    const struct execution_unit *tensor = &execution_units[UNIT_TENSOR_BF16];
    assert_ptr_equal(pipe_on(tensor, 90), &execution_units[UNIT_WGMMA_BF16]);
    assert_ptr_equal(pipe_on(tensor, 80), &execution_units[UNIT_MMA_BF16]);
    assert_ptr_equal(pipe_on(tensor, 120), &execution_units[UNIT_MMA_BF16]);
    assert_null(pipe_on(tensor, 75));
    assert_null(pipe_on(&execution_units[UNIT_MMA_FP8], 80));
    assert_non_null(pipe_on(&execution_units[UNIT_MMA_FP8], 89));
    assert_true(pipe_peak(PEAK_HALF, 90) == 4096 && pipe_peak(PEAK_HALF, 80) == 2048 && pipe_peak(PEAK_NONE, 90) == 0);
}

static const struct {
    const char *job, *pipe; // NULL: unknown
    double times;           // operations of the pipe per operation in `flops`
} jobs[] = {
    {"sgemm", "fp32 fma", 1},
    {"sgemm_2048", "fp32 fma", 1},
    {"suite/fp32_batch_16", "fp32 fma", 1},
    {"tf32gemm", "tensor tf32", 1},
    {"sgemm_3xtf32", "tensor tf32", 3},
    {"bgemm_8192", "tensor bf16", 1},
    {"suite/bf16_4096", "tensor bf16", 1},
    {"hgemm_nn", "tensor f16", 1},
    {"dgemm", "mma fp64", 1},
    {"gemv", "fp32 fma", 1},
    {"sum", "fp32 fma", 1},
    {"smith_waterman", "dpx s16x2", 6},
    {"smith_waterman_unroll", "dpx s32", 6},
    {"stencil_5", "fp32 fma", 1},
    {"convolution_15", "fp32 fma", 1},
    {"transpose", NULL, 0},
};

TEST(every_job_is_measured_against_the_pipe_that_does_its_work)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *path = test_text("configs/%s.cfg", jobs[i].job);
        struct job *job = loaded_job(path);
        struct work_bounds w;
        struct error err;
        assert_int_equal(work_bounds(job, 0, NULL, &w, &err), 0);
        if (!jobs[i].pipe != !w.pipe || (w.pipe && strcmp(w.pipe->name, jobs[i].pipe) != 0))
            fail_msg("%s: %s, not %s", path, w.pipe ? w.pipe->name : "unknown", jobs[i].pipe);
        if (w.pipe && fabs(w.operations / w.flops - jobs[i].times) > 1e-9)
            fail_msg("%s: %g operations for %g", path, w.operations, w.flops);
        assert_true(isnan(w.floor)); // unknown without ceilings
    }
}

// A job with `work` and f32 buffers, verified by a kernel.
static struct job *job_of(const char *folder, const char *work)
{
    char *text =
        test_text("name = \"p\";\nkernel = { template = \"x.cu\"; entry = \"x\"; };\nparameters = ( { name = \"X\"; "
                  "values = [1]; } );\nproblems = ( { N = 1000000000; } );\nlaunch = { grid = [1]; block = [32]; "
                  "};\narguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } "
                  ");\nreference = { kernel = \"x\"; launch = { grid = [1]; block = [32]; }; };\n%s\n",
                  work);
    e2e_write(folder, "job.cfg", text);
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // X\n");
    text = test_text("%s/job.cfg", folder);
    struct job *job = loaded_job(text);
    return job;
}

static const char known[] =
    "{\"flops_per_second\":5e13,\"bytes_per_second\":4e12,\"tensor_bf16_flops_per_second\":6e14,\"wgmma_bf16_flops_per_"
    "second\":7e14,\"lasting\":{\"wgmma_bf16_flops_per_second\":{\"clock_mhz\":1400,\"first\":8e14,\"seconds\":0.3}}}";

TEST(the_floor_is_unknown_rather_than_wrong)
{
    static const struct {
        const char *work;
        double floor; // NaN: not reported
    } cases[] = {
        {"work = { flops = \"1000*N\"; bytes = \"8*N\"; pipe = \"fp32 fma\"; };", 1e12 / 5e13},
        {"work = { flops = \"1000*N\"; bytes = \"8*N\"; pipe = \"wgmma bf16\"; };", 8e9 / 4e12},
        {"work = { flops = \"100000*N\"; bytes = \"8*N\"; pipe = \"wgmma bf16\"; };", 1e14 / 7e14},
        {"work = { flops = \"100000*N\"; bytes = \"8*N\"; pipe = \"tensor bf16\"; };", 1e14 / 7e14}, // the faster
        {"work = { flops = \"100000*N\"; operations = \"300000*N\"; pipe = \"mma bf16\"; };", 3e14 / 6e14},
        {"work = { flops = \"100000*N\"; bytes = \"8*N\"; };", NAN},                         // the pipe is not known
        {"work = { flops = \"2*N\"; bytes = \"8*N\"; };", 8e9 / 4e12},                       // hardly any arithmetic
        {"work = { flops = \"1000*N\"; bytes = \"8*N\"; pipe = \"memory\"; };", 8e9 / 4e12}, // the job says so
        {"work = { flops = \"1000*N\"; bytes = \"8*N\"; pipe = \"dpx s32\"; };", NAN},       // not measured
        {"work = { bytes = \"8*N\"; };", 8e9 / 4e12},
        {"work = { flops = \"1000*N\"; };", NAN},
        {"", NAN},
    };
    struct error err;
    json_t *ceilings = test_json(json_parse(known, &err));
    char *folder = e2e_folder("pipes");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job *job = job_of(folder, cases[i].work);
        struct work_bounds w;
        assert_int_equal(work_bounds(job, 0, ceilings, &w, &err), 0);
        bool same = isnan(cases[i].floor) ? isnan(w.floor) : fabs(w.floor / cases[i].floor - 1) < 1e-9;
        if (!same) fail_msg("%s: %g, not %g", cases[i].work, w.floor, cases[i].floor);
    }
    char *words = test_owned(work_ceiling_text(ceilings, &execution_units[UNIT_TENSOR_BF16]));
    assert_string_equal(words, "wgmma bf16 700 TFLOP/s, at 1400 MHz, the sustained clock");
    words = test_owned(work_ceiling_text(ceilings, &execution_units[UNIT_MMA_BF16])); // measured by an older version
    assert_string_equal(words, "mma bf16 600 TFLOP/s, only for a few milliseconds");
    assert_string_equal(test_owned(work_ceiling_text(ceilings, &execution_units[UNIT_DPX])), "");
}

TEST(work_is_doubted_by_the_pipe_that_it_names)
{
    static const struct {
        const char *work;
        double time;
        bool doubted;
    } cases[] = {
        {"work = { flops = \"1000*N\"; pipe = \"fp32 fma\"; };", 1e12 / 4.9e13, false},
        {"work = { flops = \"1000*N\"; pipe = \"fp32 fma\"; };", 1e12 / 5.5e13, true},
        {"work = { flops = \"1000*N\"; pipe = \"wgmma bf16\"; };", 1e12 / 8.2e14, false}, // short: initial clock
        {"work = { flops = \"1000*N\"; pipe = \"wgmma bf16\"; };", 1e12 / 9e14, true},
        {"work = { flops = \"1000*N\"; pipe = \"int mad\"; };", 1e12 / 9e16, false}, // not measured
    };
    struct error err, warning;
    json_t *ceilings = test_json(json_parse(known, &err));
    char *folder = e2e_folder("pipes_doubted");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job *job = job_of(folder, cases[i].work);
        if (work_is_doubtful(job, 0, cases[i].time, ceilings, &warning) != cases[i].doubted)
            fail_msg("case %zu: %s", i, warning.message);
        if (cases[i].doubted) assert_non_null(strstr(warning.message, "of the execution unit '"));
    }
}

static bool asks(const json_t *request, const char *name)
{
    json_array_each(json_object_get(request, "pipes"), i, each)
        if (!strcmp(json_string_value(each), name)) return true;
    return false;
}

TEST(a_job_needs_its_own_pipe_and_memory_and_asks_once)
{
    struct error err;
    char *folder = e2e_folder("pipes_asked");
    struct job *job = job_of(folder, "work = { flops = \"N\"; pipe = \"wgmma bf16\"; };");
    json_t *request = test_json(job_ceilings_request(job, NULL));
    assert_true(asks(request, "wgmma bf16") && asks(request, "memory") && asks(request, "l2"));
    assert_int_equal(json_array_size(json_object_get(request, "pipes")), 5); // the other two: copy and shared memory
    assert_true(json_get_bool(request, "lasting", false));
    // The device has no wgmma, so this ceiling is not requested again.
    json_t *answer = test_json(json_parse("{\"id\":3,\"status\":\"ok\",\"bytes_per_second\":4e12}", &err));
    json_t *document = test_json(job_ceilings_merge(NULL, request, answer));
    assert_null(json_object_get(document, "id"));
    assert_null(job_ceilings_request(job, document));
    // A rate that an older version measured for a few milliseconds cannot replace a sustained rate.
    json_t *older = test_json(json_parse(known, &err));
    request = test_json(job_ceilings_request(job, older));
    assert_true(asks(request, "wgmma bf16") && !asks(request, "memory"));
    document = test_json(job_ceilings_merge(older, request, answer));
    assert_true(json_get_number(document, "flops_per_second", 0) == 5e13); // kept
    // FP32 needs no tensor cores and no sustained rate.
    job = job_of(folder, "work = { flops = \"N\"; pipe = \"fp32 fma\"; };");
    request = test_json(job_ceilings_request(job, NULL));
    assert_true(asks(request, "fp32 fma") && !asks(request, "wgmma bf16") && !asks(request, "mma bf16"));
    // If the pipe is unknown, request every ceiling that is available to all jobs.
    job = job_of(folder, "");
    request = test_json(job_ceilings_request(job, NULL));
    assert_true(asks(request, "wgmma fp8") && asks(request, "fp64 fma") && !asks(request, "dpx s32"));
    assert_false(json_get_bool(request, "lasting", true));
}

TEST(kernels_of_rare_pipes_are_compiled_for_jobs_that_name_them)
{
    static const struct {
        const char *pipe, *macro;
    } cases[] = {{"fp32 fma", NULL},
                 {"wgmma bf16", NULL},
                 {"wgmma f16", "CEILING_F16"},
                 {"tensor f16", "CEILING_F16"},
                 {"int add", "CEILING_INTEGER"},
                 {"dpx s16x2", "CEILING_DPX"}};
    char *folder = e2e_folder("pipes_compiled");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job *job = job_of(folder, test_text("work = { flops = \"N\"; pipe = \"%s\"; };", cases[i].pipe));
        json_t *defines = test_json(job_ceilings_defines(job));
        assert_int_equal(json_object_size(defines), cases[i].macro ? 1 : 0);
        if (cases[i].macro) assert_string_equal(json_get_string(defines, cases[i].macro, ""), "1");
    }
}

// A recording has ceilings, and so does an export of a run that replayed it.
TEST(recorded_ceilings_come_through_replay_and_export)
{
    char *folder = e2e_folder("pipes_replayed");
    e2e_pass(folder, "f=$DIR; run() { $BIN/sweetspot tune configs/branch.cfg --device \"replay:$1\" --store $2 "
                     "--evaluations 4 -q --no-final; }; run tests/spaces/branch_h200.json.gz $f/a.db && $BIN/sweetspot "
                     "export configs/branch.cfg --store $f/a.db -o $f/a.json && run $f/a.json $f/b.db");
    for (const char *name = "ab"; *name; name++) {
        struct store *store;
        struct environment environment;
        struct error err;
        char *path = test_text("%s/%c.db", folder, *name);
        assert_int_equal(store_open(&store, path, false, &err), 0);
        assert_int_equal(store_last_environment(store, &environment, &err), 0);
        json_t *document = test_json(store_get_document(store, 0, "ceilings", NULL, &err));
        if (!document) fail_msg("%s has no ceilings", path);
        assert_true(work_ceiling(document, &execution_units[UNIT_FP32]) > 6e13);
        struct job *job = loaded_job("configs/branch.cfg");
        assert_null(job_ceilings_request(job, document));
        store_close(store);
    }
}

TEST_MAIN(NULL, NULL)
