// Whole jobs, tuned by the real driver and the real GPU worker on a fake device, whose memory is host memory
// (emulated_gpu.c). Only the compiler is a script. Correct kernels pass and win. Each wrong kernel, although twice as
// fast, is caught by the check designed for its fault.
#include "tests/e2e.h"
#include "tests/opened_store.h"
#include "tests/testing.h"
#include "tuner/base/protocol.h"

static const char common[] = "budget = { evaluations = 20; };\n"
                             "measure = { race = 100; min_samples = 3; max_samples = 5; final = { candidates = 2; "
                             "rounds = 5; processes = 1; }; };\n";
enum { FAULTS = 3 };
struct expectation {
    const char *fault, *status, *said; // of the trial
};
#define REDUCTION(operation, ...)                                                                          \
    {                                                                                                      \
        operation, "{ N = 30000; }",                                                                       \
            "{ buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; }, { scalar = \"N\"; type = \"i64\"; },\n" \
            "{ buffer = \"partial\"; type = \"f32\"; shape = [4]; direction = \"scratch\"; },\n"           \
            "{ buffer = \"out\"; type = \"f32\"; shape = [1]; direction = \"out\"; }",                     \
            "reference = { operation = \"" operation "\"; x = \"x\"; result = \"out\"; n = \"N\"; };\n"    \
            "verification = { problems = ( { N = 1; }, { N = 1007; } ); deterministic = false; };",        \
            "winner: ",                                                                                    \
        {                                                                                                  \
            __VA_ARGS__                                                                                    \
        }                                                                                                  \
    }
static const struct family {
    const char *name, *problems, *arguments, *more, *logged;
    struct expectation faults[FAULTS];
} families[] = {
    {"axpy",
     "{ N = 20000; }",
     "{ scalar = \"N\"; type = \"i64\"; }, { scalar = \"a\"; type = \"f32\"; value = 2.5; },\n"
     "{ buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; },\n"
     "{ buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"inout\"; }",
     "reference = { kernel = \"axpy\"; launch = { grid = [1]; block = [32]; }; };\n"
     "verification = { problems = ( { N = 1; }, { N = 1003; } ); relative = 1e-6; };",
     "winner: ",
     {{"aligned", "wrong", "in one loaded module"},
      {"stray", "out_of_bounds", "past its end"},
      {"input", "wrong", ""}}},
    REDUCTION("sum", {"forgets", "wrong", "never written"}, {"past", "wrong", "problem N=1"},
              {"adds", "wrong", "problem N="}),
    REDUCTION("nrm2", {"past", "wrong", "problem N=1"}),
    {"softmax",
     "{ ROWS = 50; COLS = 128; }",
     "{ buffer = \"x\"; type = \"f32\"; shape = [\"ROWS\", \"COLS\"]; },\n"
     "{ buffer = \"y\"; type = \"f32\"; shape = [\"ROWS\", \"COLS\"]; direction = \"out\"; },\n"
     "{ scalar = \"ROWS\"; type = \"i32\"; }, { scalar = \"COLS\"; type = \"i32\"; }",
     "reference = { operation = \"softmax\"; rows = \"ROWS\"; cols = \"COLS\"; };\n"
     "verification = { problems = ( { ROWS = 33; COLS = 130; } ); };",
     "winner: ",
     {{"rest", "wrong", "never written"},
      {"shift", "wrong", "with sizes and values that the header accepts"},
      {"keeps", "wrong", "problem ROWS="}}},
    {"twice",
     "{ N = 5000; }",
     "{ buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"inout\"; }, { scalar = \"N\"; type = \"i64\"; }",
     "reference = { kernel = \"twice\"; launch = { grid = [1]; block = [32]; }; };\n"
     "verification = { problems = ( { N = 1000; } ); };",
     "winner: ",
     {{"keeps", "wrong", "problem N="}}},
    {"rows",
     "{ ROWS = 6; N = 3000; }",
     "{ scalar = \"p\"; members = ( { name = \"rows\"; type = \"i32\"; value = \"ROWS\"; },\n"
     "{ name = \"shift\"; type = \"u64\"; value = \"&x[N]\"; }, { name = \"y\"; type = \"u64\"; value = \"&y\"; },\n"
     "{ name = \"cols\"; type = \"i64\"; value = \"N\"; } ); },\n"
     "{ buffer = \"list\"; type = \"u64\"; shape = [\"2 * ROWS\"]; fill = (\"&x\", 0); }",
     "buffers = ( { buffer = \"x\"; type = \"f32\"; shape = [\"ROWS\", \"N\"]; },\n"
     "{ buffer = \"y\"; type = \"f32\"; shape = [\"ROWS\", \"N\"]; direction = \"out\"; } );\n"
     "reference = { kernel = \"direct\"; launch = { grid = [1]; block = [32]; };\n"
     "arguments = ( { buffer = \"x\"; }, { buffer = \"y\"; }, { scalar = \"ROWS\"; type = \"i64\"; },\n"
     "{ scalar = \"N\"; type = \"i64\"; } ); };\nverification = { problems = ( { ROWS = 2; N = 1003; } ); };",
     "winner: ",
     {{"keeps", "wrong", ""}, {"writes", "wrong", "changed the input list, which holds addresses"}}},
    {"power",
     "{ N = 5000; }",
     "{ buffer = \"x\"; type = \"f32\"; shape = [\"N\"]; },\n"
     "{ buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; }, { scalar = \"N\"; type = \"i64\"; }",
     "reference = { kernel = \"power\"; launch = { grid = [1]; block = [32]; }; };\n"
     "verification = { problems = ( { N = 1000; } ); values = [\"scaled\"]; };",
     "results exceed the range of their type: these values, divided by 16, are tried next",
     {{"large", "wrong", "with sizes and values that the header accepts"}}},
};

static void write_job(const char *folder, const struct family *f)
{
    struct text faults = {0};
    for (int i = 0; i < FAULTS && f->faults[i].fault; i++) text_add(&faults, ", \"%s\"", f->faults[i].fault);
    e2e_write(folder, "job.cfg",
              test_text("name = \"%s\"; kernel = { template = \"x.cu\"; entry = \"%s\"; };\n"
                        "parameters = ( { name = \"FAULT\"; values = [\"none\"%s]; }, { name = \"X\"; values = [1, 2]; "
                        "} );\nproblems = ( %s ); launch = { grid = [1]; block = [32]; };\narguments = ( %s );\n%s\n%s",
                        f->name, f->name, faults.text, f->problems, f->arguments, f->more, common));
    e2e_write(folder, "x.cu", test_text("extern \"C\" __global__ void %s() {}\n", f->name));
    free(faults.text);
}

struct seen {
    const struct family *family;
    int right, wrong;
    double longest; // s, of the correct kernels
};

static int look_at_trial(void *user, const struct trial *trial)
{
    struct seen *s = user;
    const struct expectation *e = s->family->faults;
    int i = 0;
    while (i < FAULTS && e[i].fault && !strstr(trial->config, e[i].fault)) i++;
    const bool right = i == FAULTS || !e[i].fault;
    if (strcmp(status_name(trial->status), right ? "ok" : e[i].status) || (!right && !strstr(trial->reason, e[i].said)))
        fail_msg("%s: %s: %s", trial->config, status_name(trial->status), trial->reason);
    if (right) s->longest = fmax(s->longest, trial->problems[0].time);
    s->right += right;
    s->wrong += !right;
    return 0;
}

TEST(whole_jobs_are_tuned_and_wrong_kernels_are_found_without_a_gpu)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char *folder = e2e_folder(families[i].name);
        struct seen seen = {&families[i], 0, 0, 0};
        struct error err;
        write_job(folder, &families[i]);
        struct e2e_result r = e2e_pass(
            folder,
            "sed 1d tests/fuzz/corpus/cubin/variables >$DIR/cubin; cd $DIR; export SWEETSPOT_NVCC=none "
            "SWEETSPOT_SANITIZER=none FAKE_CUBIN=cubin SWEETSPOT_GPU_WORKER=$BIN/emulated_gpu "
            "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; $BIN/sweetspot tune job.cfg --store job.db --no-counters");
        assert_contains(r.out, "winner: trial ", "FAULT=none");
        char *log = test_owned(text_read_file(test_text("%s/job.log", folder), NULL));
        if (!strstr(log, families[i].logged)) fail_msg("%s is not in:\n%s", families[i].logged, log);
        struct store *store = opened_store("%s/job.db", folder);
        if (store_each(store, false, 0, STORE_WHOLE, look_at_trial, &seen, &err)) fail_msg("%s", err.message);
        store_close(store);
        int faults = 0;
        while (faults < FAULTS && families[i].faults[faults].fault) faults++;
        assert_int_equal(seen.right, 2);
        assert_int_equal(seen.wrong, 2 * faults);
    }
}

// A stage that is not timed, one that clears the output, and the kernel. A kernel that destroys the first stage's
// results must be found wrong, and so must a kernel whose output is not cleared. The measured time must be the kernel's
// 1 ms.
TEST(a_stage_that_is_not_timed_runs_before_every_launch_and_one_clears_the_output)
{
    static const struct family staged = {
        "staged", "", "", "", "", {{"spoils", "nondeterministic", "in one loaded module"}, {"uncleared", "wrong", ""}}};
    char *folder = e2e_folder("staged");
    struct seen seen = {&staged, 0, 0, 0};
    struct error err;
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void addition() {}\nextern \"C\" __global__ void table() {}\n");
    e2e_write(
        folder, "job.cfg",
        test_text("name = \"staged\"; kernel = { template = \"x.cu\"; };\n"
                  "parameters = ( { name = \"FAULT\"; values = [\"none\", \"spoils\", \"uncleared\"]; }, { name = "
                  "\"X\"; values = [1, 2]; } );\nproblems = ( { N = 3000; } );\nstages = (\n"
                  "{ entry = \"table\"; timed = false; launch = { grid = [1]; block = [32]; }; arguments = ( { buffer "
                  "= \"x\"; type = \"f32\"; shape = [\"N\"]; }, { buffer = \"t\"; type = \"f32\"; shape = [\"N\"]; "
                  "direction = \"scratch\"; }, { scalar = \"N\"; type = \"i64\"; } ); },\n"
                  "{ operation = \"clear\"; by = \"memset\"; x = \"y\"; when = \"FAULT != \\\"uncleared\\\"\"; },\n"
                  "{ entry = \"addition\"; launch = { grid = [1]; block = [32]; }; arguments = ( { buffer = \"t\"; }, "
                  "{ buffer = \"y\"; }, { scalar = \"N\"; type = \"i64\"; } ); } );\n"
                  "buffers = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
                  "reference = { kernel = \"table\"; launch = { grid = [1]; block = [32]; }; arguments = ( { buffer = "
                  "\"x\"; }, { buffer = \"y\"; }, { scalar = \"N\"; type = \"i64\"; } ); };\n%s",
                  common));
    e2e_pass(folder,
             "sed 1d tests/fuzz/corpus/cubin/variables >$DIR/cubin; cd $DIR; export SWEETSPOT_NVCC=none "
             "SWEETSPOT_SANITIZER=none FAKE_CUBIN=cubin SWEETSPOT_GPU_WORKER=$BIN/emulated_gpu "
             "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; $BIN/sweetspot tune job.cfg --store job.db --no-counters");
    struct store *store = opened_store("%s/job.db", folder);
    if (store_each(store, false, 0, STORE_WHOLE, look_at_trial, &seen, &err)) fail_msg("%s", err.message);
    store_close(store);
    assert_true(seen.right == 2 && seen.wrong == 4);
    assert_true(seen.longest > 0.9e-3 && seen.longest < 1.1e-3);
}

// The counter constantly grows at 300 W. Graphs take no time on the emulated device, so by chance the repetitions
// without the kernel take longer than those with it, and then the energy is unknown. The command is therefore tried up
// to six times.
TEST(the_worker_measures_energy)
{
    char *folder = e2e_folder("energy");
    write_job(folder, &families[0]);
    struct e2e_result r = e2e_passed(e2e_run(
        folder,
        "sed 1d tests/fuzz/corpus/cubin/variables >'%s/cubin'; cd '%s'; sed -i 's/processes = 1/processes = 1; "
        "minimize = \"energy\"/' job.cfg; export FAKE_NVML=1 SWEETSPOT_NVCC=none SWEETSPOT_SANITIZER=none "
        "FAKE_CUBIN=cubin SWEETSPOT_GPU_WORKER=$BIN/emulated_gpu SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; "
        "for try in 1 2 3 4 5 6; do rm -f job.db*; $BIN/sweetspot tune job.cfg --store job.db --no-counters >printed;"
        " ! grep -q 'decided by energy' printed || break; done; cat printed; $BIN/sweetspot compare job.cfg --store "
        "job.db",
        folder, folder));
    assert_contains(r.out, "decided by energy", "J at ", " W and 1755 MHz, flush and restore (", "at the power limit");
    double watts = atof(strstr(r.out, "J at ") + strlen("J at ")); // the counter is read at least every 50 ms
    if (!(fabs(watts - 300) <= 300 * 0.05 / 2)) fail_msg("%g W", watts);
}

// cublasLt's 32 algorithms race. The three baselines exclude algorithms that do not run, that equal another one, or
// that were fast only at first. The second process of the final uses the choice of the first, and a stage makes its own
// choice.
TEST(the_fastest_three_ways_of_cublaslt_are_baselines_of_their_own)
{
    char *folder = e2e_folder("cublaslt");
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void gemm() {}\n");
    e2e_write(folder, "job.cfg",
              test_text("name = \"product\"; kernel = { template = \"x.cu\"; };\n"
                        "parameters = ( { name = \"BY\"; values = [\"own\", \"lt\"]; } );\n"
                        "problems = ( { N = 24; } );\n"
                        "stages = ( { entry = \"gemm\"; when = \"BY == \\\"own\\\"\"; launch = { grid = [1]; block = "
                        "[32]; };\narguments = ( { buffer = \"A\"; type = \"f32\"; shape = [\"N\", \"N\"]; }, { buffer "
                        "= \"B\"; type = \"f32\"; shape = [\"N\", \"N\"]; }, { buffer = \"C\"; type = \"f32\"; shape = "
                        "[\"N\", \"N\"]; direction = \"out\"; }, { scalar = \"N\"; type = \"i32\"; } ); },\n"
                        "{ name = \"multiply\"; operation = \"gemm\"; by = \"cublasLt\"; when = \"BY == \\\"lt\\\"\"; "
                        "A = \"A\"; B = \"B\"; C = \"C\"; M = \"N\"; K = \"N\"; } );\n"
                        "reference = { operation = \"gemm\"; M = \"N\"; K = \"N\"; by = \"cpu\"; };\n%s",
                        common));
    struct e2e_result r = e2e_pass(
        folder,
        "sed 1d tests/fuzz/corpus/cubin/variables >$DIR/cubin; cd $DIR; sed -i 's/processes = 1/processes = 2/' "
        "job.cfg; export SWEETSPOT_NVCC=none SWEETSPOT_SANITIZER=none FAKE_CUBIN=cubin FAKE_NVML=1 FAKE_CUBLAS=asked "
        "SWEETSPOT_GPU_WORKER=$BIN/emulated_gpu SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; $BIN/sweetspot tune "
        "job.cfg --store job.db --no-counters --no-checks 2>&1; $BIN/sweetspot compare job.cfg --store job.db; "
        "$BIN/sweetspot status job.cfg --store job.db; grep -c 32 asked; cat job.log");
    static const char *const places[] = {
        "heuristic 5: algorithm 64, tile 128x256, stages 1, cluster 2x1x1, split-K 1; place 1 of ",
        "heuristic 10: algorithm 69, tile 128x256, stages 1, cluster 2x1x1, split-K 1; place 2 of ",
        "heuristic 13: algorithm 72, tile 128x256, stages 1, cluster 2x1x1, split-K 1; place 3 of "};
    for (int i = 0; i < 3; i++) {
        const char *number = i ? test_text("_%d", i + 1) : "";
        assert_contains(r.out, test_text("cublasLt%s: %s", number, places[i]), // of `compare`
                        test_text(", ratio to cublasLt%s", number) + 2, places[i],
                        " rounds at 1755 MHz\n"); // 10, or fewer if 5 s are over
        assert_non_null(strstr(strstr(r.out, test_text("against cublasLt%s ", number)), places[i])); // of `status`
    }
    assert_contains(r.out, "rounds in process 2 on gpu 0", "\n1\n"); // the algorithms were requested only once
}

TEST(the_worker_names_its_device_without_a_job)
{
    struct e2e_result r =
        e2e_pass(e2e_folder("identify"), "echo '{\"id\":1,\"op\":\"identify\"}' | FAKE_NVML=1 $BIN/emulated_gpu");
    assert_contains(r.out, "\"status\":\"ok\"", "\"id\":1", "\"device\":{\"name\":\"Fake\",\"driver\":\"");
}

TEST_MAIN(NULL, NULL)
