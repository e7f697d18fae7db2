// Drawn sizes on a GPU: kernels that are correct only on the problems that the job names. Each is the only candidate of
// a job.
#include "tests/gpu.h"

static const char source[] = "extern \"C\" __global__ void k(int n, const float *x, float *y)\n{\n"
                             "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "#if WAY == 1\n" // only the sizes of the job
                             "    if (n != 65536 && n != 1000 && i == n - 1) return;\n"
                             "#elif WAY == 2\n"
                             "    if (n % 3 != 1 && i == 0) return;\n"
                             "#elif WAY == 3\n" // whole blocks, except for the job's sizes
                             "    if (n != 65536 && n != 1000) { y[i] = 2 * x[i]; return; }\n"
                             "#elif WAY == 4\n" // only values in the range that the job fills
                             "    if (i < n && (x[i] > 2 || x[i] < -2)) { y[i] = 0; return; }\n"
                             "#endif\n"
                             "    if (i < n) y[i] = 2 * x[i];\n}\n"
                             "extern \"C\" __global__ void right(int n, const float *x, float *y)\n{\n"
                             "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = 2 * x[i];\n}\n"
                             "extern \"C\" __global__ void careless(int n, const float *x, float *y)\n{\n"
                             "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n || (n != 65536 && n != 1000)) y[i] = 2 * x[i];\n}\n";

static const char job[] =
    "name = \"sizes\"; kernel = { template = \"k.cu\"; entry = \"k\"; };\n"
    "parameters = ( { name = \"WAY\"; values = [%d]; } );\n"
    "problems = ( { N = 65536; } );\n"
    "launch = { grid = [ \"ceil_div(N, 256)\" ]; block = [ 256 ]; };\n"
    "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
    "  { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; } );\n"
    "reference = { kernel = \"%s\"; launch = { grid = [ \"ceil_div(N, 256)\" ]; block = [ 256 ]; }; };\n"
    "verification = { exact = true; problems = ( { N = 1000; } ); %s };\n";

static const struct {
    int way;
    const char *reference, *verification, *said[2];
} cases[] = {
    {0, "right", "", {"1 ok"}},
    {1, "right", "", {"1 wrong", "with sizes and values that the header accepts"}},
    {2, "right", "", {"1 wrong", "'verification.supported' says which sizes a kernel is made for"}},
    {2, "right", "supported = ( \"N % 3 == 1\" );", {"1 ok"}},
    {3, "right", "", {"1 out_of_bounds", "with sizes and values"}},
    {4, "right", "", {"1 ok"}},
    {4, "right", "values = ( \"shifted\" );", {"1 wrong", "with sizes and values"}},
    {0, "right", "values = ( \"scaled\", \"zero\", \"negative\", \"shifted\" );", {"1 ok"}},
    {0, "careless", "", {"1 ok", "no drawn sizes are verified"}},
};

GPU_TEST(a_new_best_is_right_on_sizes_that_the_job_does_not_name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("gpu_sizes"),
             *text = test_text(job, cases[i].way, cases[i].reference, cases[i].verification);
        e2e_write(folder, "k.cu", source);
        e2e_write(folder, "job.cfg", text);
        struct e2e_result r =
            e2e_in(folder, "$BIN/sweetspot tune job.cfg --store job.db --cache $CACHE --no-counters "
                           "--no-final 2>&1; $BIN/sweetspot status job.cfg --store job.db; cat job.log");
        printf("case %zu: %s\n", i, r.out);
        for (int k = 0; k < 2; k++)
            if (cases[i].said[k]) assert_contains(r.out, cases[i].said[k]);
    }
}

// The final verifies the winner on all sizes. The time that this takes is printed.
GPU_TEST(a_final_verifies_drawn_sizes_of_a_shipped_job)
{
    char *folder = e2e_folder("gpu_sizes");
    struct e2e_result r =
        e2e_run(folder, "$BIN/sweetspot tune configs/transpose.cfg --store $DIR/job.db --cache $CACHE --no-counters "
                        "--no-checks --evaluations 12 --time 60s 2>&1; $BIN/sweetspot status configs/transpose.cfg "
                        "--store $DIR/job.db");
    printf("%s\n", r.out);
    assert_null(strstr(r.out, "sizes and values"));
    assert_contains(r.out, " ok");
}

TEST_MAIN(share_cache, NULL)
