// The final on a GPU. Rounds come in parts, between which the worker keeps its modules and graphs. Tests which
// candidates leave, which algorithms of a library take part, and how much time a whole command takes.
// tests/measure/final_statistics.sh measures the statistics.
#include "tests/gpu.h"
#include "tests/testing.h"

#include <stdio.h>

#include "tuner/base/clock.h"

// A chain of multiply-adds with one and zero, whose time is proportional to LENGTH.
static const char source[] =
    "#ifndef LENGTH\n#define LENGTH 1\n#endif\n#ifndef NAME\n#define NAME 0\n#endif\n"
    "extern \"C\" __global__ void chain(int n, float one, float zero, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i >= n) return;\n    float value = x[i];\n"
    "#pragma unroll 20\n    for (int k = 0; k < LENGTH; k++) value = value * one + zero;\n    y[i] = value;\n}\n"
    "extern \"C\" __global__ void expected(int n, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n";

static char *write_job(const char *name, const char *parameters, int n, const char *measure)
{
    char *folder = e2e_folder(name);
    e2e_write(folder, "chain.cu", source);
    e2e_write(
        folder, "job.cfg",
        test_text("name = \"chain\"; kernel = { template = \"chain.cu\"; entry = \"chain\"; };\n"
                  "parameters = ( %s ); problems = ( { n = %d; } );\n"
                  "launch = { grid = [ \"ceil_div(n, 256)\" ]; block = [ 256 ]; };\n"
                  "arguments = ( { scalar = \"n\"; type = \"i32\"; }, { scalar = \"one\"; type = \"f32\"; value = 1.0; "
                  "}, { scalar = \"zero\"; type = \"f32\"; value = 0.0; }, { buffer = \"x\"; type = \"f32\"; shape = [ "
                  "\"n\" ]; }, { buffer = \"y\"; type = \"f32\"; shape = [ \"n\" ]; direction = \"out\"; } );\n"
                  "reference = { kernel = \"expected\"; template = \"chain.cu\"; launch = { grid = [ \"ceil_div(n, "
                  "256)\" ]; block = [ 256 ]; }; arguments = ( { scalar = \"n\"; type = \"i32\"; }, { buffer = \"x\"; "
                  "}, { buffer = \"y\"; } ); };\n"
                  "strategy = \"exhaustive\"; measure = { %s };\n",
                  parameters, n, measure));
    return folder;
}

static char *tune(const char *folder)
{
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot tune job.cfg --store job.db --cache cache -q "
                                                    "--no-counters --no-checks 2>&1; s=$?; cat job.log; exit $s"));
    puts(r.out); // longer than print_message allows
    return r.out;
}

// A kernel that is 10% slower leaves the final after the first part of the second process at the latest.
GPU_TEST(a_slower_kernel_leaves_the_final)
{
    char *out = tune(write_job("gpu_leaves", "{ name = \"LENGTH\"; values = [4000, 4400, 8000]; }", 1000000, ""));
    assert_contains(out, "leaves the final after ", ", fastest\n  LENGTH=4000");
}

// The kernels take a few microseconds and are timed in graphs. They are tied or their order is undecided, so more
// rounds follow in the same process. No kernel is "slow", although a single launch takes several times as long as a
// launch in a graph.
GPU_TEST(short_kernels_that_are_the_same_tie)
{
    char *out =
        tune(write_job("gpu_short", "{ name = \"NAME\"; values = [1, 2, 3]; }, { name = \"LENGTH\"; values = [40]; }",
                       100000, "slow_factor = 1.5;"));
    assert_contains(out, "  ok: 3\n");
    assert_contains(out, ", tied with ", " rounds in process 2");
}

// A race decides the places of the algorithms, and the final's processes use the same algorithms. Therefore the first
// algorithm is hardly slower than the third, and all three differ.
GPU_TEST(the_three_fastest_algorithms_of_cublaslt_are_compared)
{
    static const char *const sizes[] = {"M = 512; N = 512; K = 512", "M = 1024; N = 2048; K = 4096"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *folder = e2e_folder("cublaslt");
        struct e2e_result r = e2e_pass(
            folder,
            "sed 's|\"\\.\\./templates|\"'$PWD'/templates|; s/^problems.*/problems = ( { %s; } );/' "
            "configs/sgemm_2048.cfg "
            ">$DIR/job.cfg && $BIN/sweetspot tune $DIR/job.cfg --store $DIR/g.db -q -n 3 --no-counters --no-checks "
            ">$DIR/said && $BIN/sweetspot compare $DIR/job.cfg --store $DIR/g.db -f json",
            sizes[i]);
        json_t *document = test_json(json_loads(r.out, 0, NULL)),
               *entries = json_object_get(json_array_get(json_object_get(document, "problems"), 0), "entries");
        const char *detail[3] = {"", "", ""};
        double time[3] = {0};
        json_array_each(entries, k, entry)
            for (int place = 0; place < 3; place++) {
                const char *name = place ? test_text("cublasLt_%d", place + 1) : "cublasLt";
                if (strcmp(json_get_string(entry, "name", ""), name) != 0) continue;
                detail[place] = json_get_string(entry, "detail", "");
                assert_true(json_is_number(json_object_get(entry, "error_rms_ratio")));
                time[place] = json_number_value(json_array_get(json_object_get(entry, "time"), 0));
                print_message("  %-10s %8.2f us  %s\n", name, 1e6 * time[place], detail[place]);
                assert_contains(detail[place], "heuristic ", ": algorithm ", test_text("; place %d of ", place + 1),
                                " in 10 rounds");
            }
        if (!(time[0] > 0 && time[0] < 1.1 * time[2])) fail_msg("%g and %g s", time[0], time[2]);
        for (int place = 0; place < 3; place++) // the text before the place
            assert_false(strncmp(detail[place], detail[(place + 1) % 3], strcspn(detail[place], ";")) == 0);
    }
}

// The time covers search, final, sanitizer and nvcc.
GPU_TEST(a_command_keeps_to_its_time)
{
    static const char *const jobs[] = {"sgemm_2048", "transpose", "sum", "softmax", "prefix_sum"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        char *folder = e2e_folder("gpu_time");
        double begin = clock_now();
        struct e2e_result r =
            e2e_pass(folder,
                     "$BIN/sweetspot tune configs/%s.cfg --store $DIR/job.db --cache $DIR/cache --time 10s -q 2>&1 && "
                     "cat $DIR/job.log",
                     jobs[i]);
        double took = clock_now() - begin;
        printf("%s: %.1f s\n%s\n", jobs[i], took, r.out);
        assert_contains(r.out, "winner: trial ");
        if (took > 12) fail_msg("%s took %.1f s instead of 10", jobs[i], took);
    }
}

TEST_MAIN(NULL, NULL)
