// Tests that need a GPU. Small jobs are tuned and their winners' binaries are embedded. Programs in C, C++ and CUDA
// launch these binaries through the driver API and the runtime API. The programs (tests/launch/gpu_*.c) compare the
// results with the CPU's and check that wrong sizes and misaligned addresses are refused. The examples are built and
// run with their own commands.
#include "tests/examples.h"
#include "tests/gpu.h"

static const struct {
    const char *name, *job; // a command that writes the job file to standard output
    const char *options;
} jobs[] = {
    {"sgemm",
     "sed 's|\"\\.\\./templates|\"'$PWD'/templates|; s/name = \"sgemm_2048\"/name = \"sgemm\"/; "
     "s/^problems .*/problems = ( { M = 512; N = 384; K = 256; } );/; "
     "s/^verification .*/verification = { problems = ( { M = 256; N = 128; K = 128; } ); };/' configs/sgemm_2048.cfg",
     "-n 24"},
    {"wgmma",
     "{ echo 'name = \"wgmma\";'; echo 'problems = ( { M = 512; N = 512; K = 512; } );'; "
     "echo 'verification = { problems = ( { M = 391; N = 520; K = 712; }, { M = 1; N = 8; K = 8; } ); };'; "
     "sed 's|\"\\.\\./\\.\\./templates|\"'$PWD'/templates|' configs/suite/bf16_gemm.inc; }",
     "-n 24"},
    {"sums",
     "sed 's|\"\\.\\./templates|\"'$PWD'/templates|; s/name = \"column_sums\"/name = \"sums\"/; s/ROWS = 32768; COLS = "
     "16384/ROWS = 4096; COLS = 1024/; s/values = \\[1, 4, 8/values = [4, 8/' configs/column_sums.cfg",
     "-n 24"},
};

#define INCLUDES "-I%1$s -Itests/launch -isystem " TEST_CUDA_HOME "/include "
#define FILES "tests/launch/gpu_%2$s.c %1$s/%2$s_best_binary.c -o %1$s/program "
#define STRICT "-O2 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror "
#define DRIVER "-L" TEST_CUDA_HOME "/lib64/stubs -L" TEST_CUDA_HOME "/lib/stubs -lcuda"
#define RUNTIME "-L" TEST_CUDA_HOME "/lib64 -L" TEST_CUDA_HOME "/lib -lcudart_static -ldl -lrt -lpthread"

// Each command builds %1$s/program from %2$s.
static const char *const builds[] = {
    "gcc -std=c99 " STRICT INCLUDES FILES DRIVER,
    "g++ -std=c++11 -x c++ " STRICT INCLUDES FILES DRIVER,
    "gcc -std=c99 " STRICT "-DRUNTIME " INCLUDES FILES RUNTIME,
    "if command -v nvcc >/dev/null; then nvcc -std=c++17 -x cu -DRUNTIME -I%1$s -Itests/launch " FILES "; fi",
};

GPU_TEST(an_embedded_binary_is_launched_and_right)
{
    char *folder = e2e_folder("gpu_header");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const char *name = jobs[i].name;
        struct e2e_result r =
            e2e_run(folder,
                    "%s >$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store $DIR/%s.db --cache "
                    "$DIR/cache -q --no-counters --no-checks --strategy random %s && rm -rf $DIR/cache && "
                    "$BIN/sweetspot header $DIR/job.cfg --store $DIR/%s.db -o $DIR/%s_best.h --embed",
                    jobs[i].job, name, jobs[i].options, name, name);
        if (r.status) fail_msg("%s: status %d: %.3000s%.3000s", name, r.status, r.out, r.err);
        for (size_t k = 0; k < sizeof builds / sizeof *builds; k++) {
            char *build = test_text(builds[k], folder, name); // a constant format with two arguments
            r = e2e_run(folder, "%s && $DIR/program", build);
            if (r.status || *r.err) fail_msg("%s: status %d: %s\n%.3000s", name, r.status, build, r.err);
            assert_contains(r.out, "right on ");
        }
    }
}

// The FP32 job's kernel, embedded and from a file in a folder, chosen at run time.
GPU_TEST(the_runtime_launches_what_it_chooses)
{
    char *folder = e2e_folder("gpu_runtime");
    struct e2e_result r = e2e_run(
        folder,
        "%s >$DIR/job.cfg && cd $DIR && $BIN/sweetspot tune job.cfg --store s.db --cache cache -q --no-counters "
        "--no-checks "
        "--strategy random -n 24 && $BIN/sweetspot header job.cfg --store s.db -o sgemm_best.h --embed && (umask 022; "
        "$BIN/sweetspot header job.cfg --store s.db -o kernels/sgemm.sweetspot) && echo 'extern \"C\" __global__ "
        "void gemm_simt() {}' >k.cu && echo '{\"id\":1,\"op\":\"compile\",\"arch\":\"sm_80\",\"source\":\"k.cu\","
        "\"entries\":[\"gemm_simt\"],\"cache\":\"cache\"}' | $BIN/sweetspot-compile | sed -n "
        "'s/.*\"cubin\":\"\\([^\"]*\\)\".*/\\1/p' | xargs -I{} cp {} old.cubin",
        jobs[0].job);
    if (r.status) fail_msg("status %d: %.3000s%.3000s", r.status, r.out, r.err);
    r = e2e_run(
        folder,
        "gcc -std=c99 " STRICT "-I$DIR -Itests/launch -isystem " TEST_CUDA_HOME
        "/include tests/launch/gpu_runtime.c $DIR/sweetspot_runtime.c $DIR/sgemm_best_binary.c -o $DIR/program " DRIVER
        " -lpthread && cd $DIR && ./program kernels old.cubin");
    if (r.status || *r.err) fail_msg("status %d: %.3000s%.3000s", r.status, r.out, r.err);
    assert_contains(r.out, "right\n");
}

static void tune(const char *folder, const char *job, const char *store, int evaluations)
{
    struct e2e_result r = e2e_in(
        folder,
        "$BIN/sweetspot tune configs/%s.cfg --store out/%s.db -q --no-counters --no-checks --strategy random -n %d",
        job, store, evaluations);
    if (r.status) fail_msg("%s: status %d: %.3000s%.3000s", job, r.status, r.out, r.err);
}

static char *tuned_examples(void)
{
    char *folder = examples_folder("gpu_examples");
    tune(folder, "sgemm_2048", "sgemm_2048", 24);
    return folder;
}

static void run_example(const char *folder, const char *example)
{
    struct e2e_result r = example_build(folder, example, "");
    if (r.status) fail_msg("%s: status %d: %.3000s%.3000s", example, r.status, r.out, r.err);
    r = example_run(folder, example, "");
    if (r.status) fail_msg("%s: status %d: %s%.3000s", example, r.status, r.out, r.err);
    assert_contains(r.out, ": right\n");
    assert_null(strstr(r.out, "Elsewhere"));
}

GPU_TEST(the_examples_are_right)
{
    static const char *const embedded[] = {"driver_embedded.c", "two_devices.c"}, *const by_nvcc[] = {
                                                                                      "runtime_source.cu",
                                                                                      "runtime_embedded.cu",
                                                                                      "two_jobs.cu"};
    char *folder = tuned_examples();
    example_replay(folder, "out/one.db", "NVIDIA Elsewhere", "sm_80");
    struct e2e_result r = e2e_run(folder, "cp $DIR/out/sgemm_2048.db $DIR/out/two.db");
    example_done(&r);
    for (size_t i = 0; i < sizeof embedded / sizeof *embedded; i++) run_example(folder, embedded[i]);
    if (example_have("nvcc")) {
        tune(folder, "example", "example", 8);
        for (size_t i = 0; i < sizeof by_nvcc / sizeof *by_nvcc; i++) run_example(folder, by_nvcc[i]);
    }
}

// This includes jobs with a C++ entry, a library's stage or tensor maps, because only the cubin differs.
GPU_TEST(nvccs_build_of_the_winner_is_raced_and_right)
{
    if (system("command -v nvcc >/dev/null 2>&1")) skip();
    char *folder = e2e_folder("gpu_builds");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const char *name = jobs[i].name;
        struct e2e_result r = e2e_run(folder,
                                      "%s >$DIR/job.cfg && unset SWEETSPOT_NVCC && $BIN/sweetspot tune $DIR/job.cfg "
                                      "--store $DIR/%s.db --cache $DIR/cache -q --no-counters --strategy random %s && "
                                      "$BIN/sweetspot compare $DIR/job.cfg --store $DIR/%s.db --format json",
                                      jobs[i].job, name, jobs[i].options, name);
        if (r.status) fail_msg("%s: status %d: %.3000s%.3000s", name, r.status, r.out, r.err);
        assert_contains(r.out, "  built by nvcc ");
        struct error err;
        json_t *document = test_json(json_parse(strstr(r.out, "\n{"), &err)),
               *early_stop = json_object_get(document, "nvcc");
        if (!document) fail_msg("%s: %s", err.message, r.out);
        double ratio = json_number_value(json_array_get(json_object_get(early_stop, "ratio"), 0));
        double error = json_get_number(early_stop, "error", 2);
        if (!(ratio > 0.5 && ratio < 2) || !(error <= 1)) fail_msg("%s: %.3000s", name, r.out);
    }
}

GPU_TEST(without_a_binary_for_the_device_nothing_is_launched)
{
    char *folder = examples_folder("gpu_elsewhere");
    example_replay(folder, "out/one.db", "NVIDIA Elsewhere", "sm_80");
    struct e2e_result r = e2e_run(folder, "cp $DIR/out/one.db $DIR/out/two.db");
    example_done(&r);
    r = example_build(folder, "two_devices.c", "");
    example_done(&r);
    r = example_run(folder, "two_devices.c", "");
    assert_contains(r.out, "device 0: no binary for this device\n");
    assert_null(strstr(r.out, "right"));
    assert_int_equal(r.status, 1);
}

GPU_TEST(the_script_agrees_with_torch)
{
    if (system("python3 -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1")) skip();
    char *folder = tuned_examples();
    run_example(folder, "embedded_cubin.py");
}

// Results, torch.compile, graphs, streams, threads, devices and wrong arrays. The host's times are only printed.
GPU_TEST(the_python_file_agrees_with_torch)
{
    static const char *const products[] = {"bgemm_1024", "sgemm_2048"};
    if (system("python3 -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1")) skip();
    char *folder = e2e_folder("gpu_python");
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct e2e_result r = e2e_run(folder,
                                      "TIME=10s UNTIMED=1 PYTHONDONTWRITEBYTECODE=1 python3 "
                                      "tests/measure/python_launch.py configs/%s.cfg",
                                      products[i]);
        if (r.status) fail_msg("%s: status %d: %.6000s%.3000s", products[i], r.status, r.out, r.err);
    }
}

GPU_TEST(the_program_with_several_kernels_is_right)
{
    if (!example_have("nvcc")) skip();
    char *folder = examples_folder("gpu_each");
    tune(folder, "sgemm_each", "sgemm_each", 40);
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot header configs/sgemm_each.cfg && env -u "
                                                    "MAKEFLAGS make -C examples && out/examples/sgemm"));
    assert_contains(r.out, "4096 x 4096 x 4096: kernel ");
    assert_null(strstr(r.out, "WRONG"));
}

// A fallback with a tenth of the winner's speed is still measured in full and is in the header.
GPU_TEST(a_fallback_is_verified_and_written)
{
    char *folder = e2e_folder("gpu_fallback");
    struct e2e_result r = e2e_pass(
        folder,
        "sed 's|\"\\.\\./templates|\"'$PWD'/templates|' configs/example.cfg >$DIR/job.cfg && $BIN/sweetspot tune "
        "$DIR/job.cfg --store $DIR/job.db --cache $DIR/cache -q --no-counters --no-checks --strategy random -n 8 && "
        "$BIN/sweetspot "
        "header $DIR/job.cfg --store $DIR/job.db -o $DIR/best.h && grep -A 1 'any other device' $DIR/best.h");
    assert_contains(r.out, "any other device: BLOCK_SIZE=256,VECTOR=1,UNROLL=0,GRID=stride",
                    "the job's fallback, not tuned; verified on ");
}

TEST_MAIN(NULL, NULL)
