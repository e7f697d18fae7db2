// Tests that need a GPU: small jobs are tuned, their winners' binaries embedded, and programs in C, C++ and CUDA launch
// them through the driver API and the runtime API. The programs (tests/launch/gpu_*.c) compare with the CPU and see
// that wrong sizes and misaligned addresses are refused.
#include "tests/gpu.h"

static const struct {
    const char *name, *job; // what makes the job file, into standard output
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
     "sed 's|\"\\.\\./templates|\"'$PWD'/templates|; s/name = \"column_sums\"/name = \"sums\"/; "
     "s/ROWS = 32768; COLS = 16384/ROWS = 4096; COLS = 1024/; s/values = \\[1, 4, 8/values = [4, 8/' "
     "configs/column_sums.cfg",
     "-n 24"},
};

#define INCLUDES "-I%1$s -Itests/launch -isystem " TEST_CUDA_HOME "/include "
#define FILES "tests/launch/gpu_%2$s.c %1$s/%2$s_best_binary.c -o %1$s/program "
#define STRICT "-O2 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror "
#define DRIVER "-L" TEST_CUDA_HOME "/lib64/stubs -L" TEST_CUDA_HOME "/lib/stubs -lcuda"
#define RUNTIME "-L" TEST_CUDA_HOME "/lib64 -L" TEST_CUDA_HOME "/lib -lcudart_static -ldl -lrt -lpthread"

// Each builds %1$s/program of %2$s.
static const char *const builds[] = {
    "gcc -std=c99 " STRICT INCLUDES FILES DRIVER,
    "g++ -std=c++11 -x c++ " STRICT INCLUDES FILES DRIVER,
    "gcc -std=c99 " STRICT "-DRUNTIME " INCLUDES FILES RUNTIME,
    "if command -v nvcc >/dev/null; then nvcc -std=c++17 -x cu -DRUNTIME -I%1$s -Itests/launch " FILES "; fi",
};

static void an_embedded_binary_is_launched_and_right(void **state)
{
    NEEDS_GPU();
    char *folder = e2e_folder("gpu_header");
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const char *name = jobs[i].name;
        struct outcome_of_command r =
            e2e_run(folder,
                    "%s >%s/job.cfg && $BIN/sweetspot tune %s/job.cfg --store %s/%s.db --cache %s/cache -q "
                    "--no-counters --strategy random %s && rm -rf %s/cache && "
                    "$BIN/sweetspot header %s/job.cfg --store %s/%s.db -o %s/%s_best.h --embed",
                    jobs[i].job, folder, folder, folder, name, folder, jobs[i].options, folder, folder, folder, name,
                    folder, name);
        if (r.status) fail_msg("%s: status %d: %.3000s%.3000s", name, r.status, r.out, r.err);
        e2e_done(&r);
        for (size_t k = 0; k < sizeof builds / sizeof *builds; k++) {
            char *build = text_format(builds[k], folder, name); // a constant text with two places
            r = e2e_run(folder, "%s && %s/program", build, folder);
            if (r.status || *r.err) fail_msg("%s: status %d: %s\n%.3000s", name, r.status, build, r.err);
            e2e_expect(r.out, "right on ");
            e2e_done(&r);
            free(build);
        }
    }
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_embedded_binary_is_launched_and_right),
    };
    cmocka_set_test_filter(getenv("TEST_FILTER"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
