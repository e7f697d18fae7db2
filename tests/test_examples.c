// The examples are built by their own instructions, with the compilers' strictest warnings, and run as far as is
// possible without a GPU. Headers come from replayed runs; the binaries in them are compiled here. One program with
// binaries for two devices runs on simulated devices (tests/launch/fake_gpus.c). test_gpu_header checks the results on
// a GPU.
#include "tests/examples.h"
#include "tests/testing.h"

#include <math.h>

static char *folder;

// One parameter of a job, and the values that it keeps.
struct part {
    const char *name, *values; // as JSON, which is also valid as a job file's list
};

// Reduces a job's space to these values, and tunes on a recording of it. Problems and trials are JSON. A trial has the
// parameters' values, then status, time and samples.
static void tune_part(const char *job, const struct part *parts, const char *problems, const char *trials)
{
    const char *cut = "/^fallback/d\n", *parameters = "", *columns = "";
    for (const struct part *p = parts; p->name; p++) {
        cut = test_text("%s/name = \"%s\"/s/\\(values\\|unroll\\) = \\[[^]]*\\]/\\1 = %s/\n", cut, p->name, p->values);
        parameters = test_text("%s%s{\"name\":\"%s\",\"kind\":\"%s\",\"values\":%s}", parameters,
                               *parameters ? "," : "", p->name,
                               !strncmp(p->name, "UNROLL", 6) ? "unroll"
                               : strchr(p->values, '"')       ? "string"
                                                              : "int",
                               p->values);
        columns = test_text("%s\"%s\",", columns, p->name);
    }
    char *recording = test_text("{\"format\":\"sweetspot-space\",\"version\":1,\"job\":\"%s\",\"device\":{\"name\":"
                                "\"NVIDIA H200\",\"arch\":\"sm_90a\",\"sm_count\":132,\"max_shared\":232448},"
                                "\"problems\":%s,\"parameters\":[%s],\"columns\":[%s\"status\",\"time\","
                                "\"samples\"],\"trials\":%s}",
                                job, problems, parameters, columns, trials);
    e2e_write(folder, "cut.sed", cut);
    e2e_write(folder, "part.json", recording);
    struct e2e_result r = e2e_run(folder,
                                  "cd %1$s && sed -i -f cut.sed configs/%2$s.cfg && $BIN/sweetspot tune "
                                  "configs/%2$s.cfg --device replay:part.json --strategy exhaustive -q",
                                  folder, job);
    example_done(&r);
}

static void setup(void)
{
    folder = examples_folder("examples");
    example_replay(folder, "out/one.db", "NVIDIA A100", "sm_80");
    example_replay(folder, "out/two.db", "NVIDIA H200", "sm_90a");
    struct e2e_result r = e2e_run(folder, "cp $DIR/out/two.db $DIR/out/sgemm_2048.db");
    example_done(&r);
    static const struct part parts[] = {
        {"BLOCK_SIZE", "[256]"}, {"VECTOR", "[4]"}, {"UNROLL", "[0]"}, {"GRID", "[\"once\"]"}, {0}};
    tune_part("example", parts, "[{\"name\":\"N=16777216\",\"sizes\":{\"N\":16777216}}]",
              "[[256,4,0,\"once\",\"ok\",4.6e-5,[4.6e-5,4.6e-5,4.6e-5]]]");
}

static void teardown(void)
{
}

// The commands in the examples' comments call gcc, which these functions replace.
#define STRICT "-pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror"
static const char gcc[] = "gcc() { command gcc " STRICT " \"$@\"; }",
                  clang[] = "gcc() { command clang " STRICT " \"$@\"; }",
                  gxx[] = "gcc() { command g++ -x c++ " STRICT " \"${@/-std=c99/-std=c++11}\"; }",
                  nvcc_for_c[] = "gcc() { command nvcc -x cu -Werror all-warnings -Xcompiler -Wall,-Wextra "
                                 "\"${@/-std=c99/-std=c++17}\"; }",
                  nvcc[] = "nvcc() { command nvcc -Werror all-warnings -Xcompiler -Wall,-Wextra \"$@\"; }";

static const struct {
    const char *file, *compiler, *prelude;
    const char *says; // on stderr, without a GPU
} programs[] = {
    {"runtime_source.cu", "nvcc", nvcc, "cudaMallocManaged"},
    {"runtime_embedded.cu", "nvcc", nvcc, "cudaMallocManaged"},
    {"two_jobs.cu", "nvcc", nvcc, "cudaMallocManaged"},
    {"driver_embedded.c", "gcc", gcc, "cuInit(0): status "},
    {"driver_embedded.c", "g++", gxx, "cuInit(0): status "},
    {"driver_embedded.c", "clang", clang, "cuInit(0): status "},
    {"driver_embedded.c", "nvcc", nvcc_for_c, "cuInit(0): status "},
    {"two_devices.c", "gcc", gcc, "cudaGetDeviceCount(&count): status "},
    {"two_devices.c", "g++", gxx, "cudaGetDeviceCount(&count): status "},
    {"two_devices.c", "nvcc", nvcc_for_c, "cudaGetDeviceCount(&count): status "},
};

// If there is no driver, the toolkit's stub, whose functions all fail, replaces it.
static const char no_gpu[] = "if ! ldconfig -p | grep -q libcuda.so.1; then mkdir -p stub; ln -sf $(ls "
                             "$CUDA_HOME/lib64/stubs/libcuda.so $CUDA_HOME/lib/stubs/libcuda.so 2>/dev/null | head -n "
                             "1) stub/libcuda.so.1; export LD_LIBRARY_PATH=stub; fi; CUDA_VISIBLE_DEVICES=";

TEST(each_is_built_by_its_own_instructions_and_says_that_there_is_no_gpu)
{
    size_t built = 0;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        if (!example_have(programs[i].compiler)) continue;
        struct e2e_result r = example_build(folder, programs[i].file, programs[i].prelude);
        if (r.status || strstr(r.err, "warning"))
            fail_msg("%s by %s: status %d: %s%s", programs[i].file, programs[i].compiler, r.status, r.out, r.err);
        r = example_run(folder, programs[i].file, no_gpu);
        if (r.status != 1) fail_msg("%s: status %d: %s%s", programs[i].file, r.status, r.out, r.err);
        assert_contains(r.err, programs[i].file, programs[i].says);
        built++;
    }
    assert_true(built > 3);
}

// The header knows two of the three devices by name. Every product is computed from the kernel's arguments.
TEST(two_devices_take_their_own_binaries)
{
    static const char fake[] = "gcc() { command gcc " STRICT
                               " -O3 -march=native -DSGEMM_2048_ALLOW_UNVERIFIED -I'%s'/tests/launch '%s'/tests/launch/"
                               "fake_gpus.c \"${@/-lcudart_static/-lm}\"; }";
    char *project = getcwd(NULL, 0), *prelude = test_text(fake, project, project);
    struct e2e_result r = example_build(folder, "two_devices.c", prelude);
    example_done(&r);
    r = example_run(folder, "two_devices.c", "");
    assert_string_equal(r.out, "device 0: the binary for NVIDIA H200: right\ndevice 1: no binary for this device\n"
                               "device 2: the binary for NVIDIA A100: right\n");
    example_done(&r);
    r = example_run(folder, "two_devices.c", "WRONG=1");
    assert_contains(r.out, "device 0: the binary for NVIDIA H200: WRONG\n");
    assert_int_equal(r.status, 1);
    free(project);
}

TEST(the_script_says_what_it_lacks)
{
    if (!example_have("python3")) skip();
    struct e2e_result r = example_build(folder, "embedded_cubin.py", "");
    example_done(&r);
    r = e2e_ended(77, example_run(folder, "embedded_cubin.py", "CUDA_VISIBLE_DEVICES="));
    if (!strstr(r.err, "embedded_cubin.py: PyTorch is not installed: ") &&
        !strstr(r.err, "embedded_cubin.py: PyTorch finds no CUDA device"))
        fail_msg("%s", r.err);
    r = e2e_ended(77, example_run(folder, "embedded_cubin.py", "CC=no_such_compiler"));
    assert_contains(r.err, "embedded_cubin.py: no C compiler: ");
    r = example_run(folder, "embedded_cubin.py", "rm out/include/*;");
    assert_true(r.status != 0 && r.status != 77);
}

// Tunes the job of examples/Makefile: one kernel for aligned rows and one for unaligned ones.
static void tune_each(void)
{
    static const struct part parts[] = {{"BLOCK_M", "[64]"},      {"BLOCK_N", "[128]"},     {"BLOCK_K", "[8]"},
                                        {"WARP_M", "[32]"},       {"WARP_N", "[64]"},       {"LANE_ROWS", "[4]"},
                                        {"LANE_PAIRS", "[0]"},    {"TILE_ROW_SIZE", "[4]"}, {"TILE_COL_SIZE", "[4]"},
                                        {"STAGES", "[2]"},        {"A_ASYNC", "[0]"},       {"UNROLL_K", "[1]"},
                                        {"DOUBLE_BUFFER", "[0]"}, {"COLUMN_WISE", "[0]"},   {"RASTER", "[8]"},
                                        {"MIN_BLOCKS", "[1]"},    {"VECTOR", "[1, 4]"},     {0}};
    static const int sizes[] = {256, 512, 1024, 2048, 4096, 511, 1023, 2049, 4095, 384, 1536, 3072, 1535, 3001};
    json_t *problems = test_json(json_array()), *trials = test_json(json_array());
    for (size_t p = 0; p < sizeof sizes / sizeof *sizes; p++) {
        char *name = test_text("M=%1$d,N=%1$d,K=%1$d", sizes[p]);
        json_array_append_new(problems, json_pack("{s:s, s:{s:i, s:i, s:i}}", "name", name, "sizes", "M", sizes[p], "N",
                                                  sizes[p], "K", sizes[p]));
    }
    for (int vector = 1; vector <= 4; vector += 3) {
        json_t *times = json_array(), *samples = json_array();
        for (size_t p = 0; p < sizeof sizes / sizeof *sizes; p++) {
            bool fits = (sizes[p] % 4 == 0) == (vector == 4);
            double t = pow(sizes[p], 3) * (fits ? 4e-14 : 5e-14);
            json_array_append_new(times, json_real(t));
            json_array_append_new(samples, json_pack("[f, f, f]", t, t, t));
        }
        json_array_append_new(trials, json_pack("[i,i,i,i,i,i,i,i,i,i,i,i,i,i,i,i,i,s,o,o]", 64, 128, 8, 32, 64, 4, 0,
                                                4, 4, 2, 0, 1, 0, 0, 8, 1, vector, "ok", times, samples));
    }
    char *problems_text = test_owned(json_dumps(problems, JSON_COMPACT)),
         *trials_text = test_owned(json_dumps(trials, JSON_COMPACT));
    tune_part("sgemm_each", parts, problems_text, trials_text);
}

TEST(the_program_with_several_kernels_is_made)
{
    if (!example_have("nvcc")) skip();
    tune_each();
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot header configs/sgemm_each.cfg && env -u "
                                         "MAKEFLAGS make -C examples && ls out/examples");
    assert_contains(r.out, "kernel_1.o");
    example_done(&r);
    r = e2e_ended(1, e2e_in(folder, "CUDA_VISIBLE_DEVICES= out/examples/sgemm"));
    assert_contains(r.err, "cublasCreate(&blas): status ");
}

TEST_MAIN(setup, teardown)
