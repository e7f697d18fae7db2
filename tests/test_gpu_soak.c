// The soak on a GPU: kernels that are correct only while data, size and addresses stay the same. Each is the only
// candidate of a job, so it is always a new best. (tests/hostile has many more; this file tests the messages.)
#include "tests/gpu.h"

static const char source[] =
    "__device__ const float *seen;\n__device__ float kept, first[8], sums[8];\n__device__ unsigned launches;\n"
    "__device__ int last_n;\n"
    // The sum of 256 elements. Each block computes it.
    "__device__ float total(const float *x, int n)\n{\n"
    "    float sum = 0;\n    for (int k = 0; k < 256; k++) sum += x[(long long)k * n / 256];\n    return sum;\n}\n"
    "extern \"C\" __global__ void k(int n, const float *x, float *y, float *scratch)\n{\n"
    "    __shared__ float t;\n    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    const bool leader = i == 0;\n"
    "    const int before = *(volatile int *)&last_n;\n"
    "#if WAY == 1\n"
    "    const bool known = *(const float *volatile *)&seen == x;\n"
    "#elif WAY == 2\n"
    "    int at = 7;\n    while (at >= 0 && *(volatile float *)&first[at] != x[0]) at--;\n"
    "    const bool known = at >= 0;\n"
    "#else\n"
    "    const bool known = false;\n"
    "#endif\n"
    "    __threadfence();\n"
    "#if WAY == 2\n"
    "    if (threadIdx.x == 0) t = known ? *(volatile float *)&sums[at] : total(x, n);\n"
    "#else\n"
    "    if (threadIdx.x == 0) t = known ? *(volatile float *)&kept : total(x, n);\n"
    "#endif\n"
    "    __syncthreads();\n"
    "    if (leader) {\n"
    "        kept = t;\n        __threadfence();\n        seen = x;\n"
    "        sums[launches % 8] = t;\n        __threadfence();\n        first[launches % 8] = x[0];\n"
    "        launches++;\n"
    "    }\n"
    "#if WAY == 3\n"
    "    y = (float *)((unsigned long long)y & ~63ull);\n"
    "#endif\n"
    "    float add = t;\n"
    "#if WAY == 4\n"
    "    if (*(volatile unsigned *)&launches > 60 && i == n - 1) add = 0;\n"
    "#elif WAY == 5\n"
    "    if (before > n && i == n - 1) add = 0;\n"
    "#elif WAY == 6\n"
    "    if (i < n && scratch[i] != 0) add = 0;\n"
    "    if (i < n) y[i] = x[i] + add, scratch[i] = 1;\n"
    "    if (i >= 0) return;\n"
    "#endif\n"
    "    if (i < n) y[i] = x[i] + add, scratch[i] = add;\n"
    "    if (i == n - 1) last_n = n;\n"
    "}\n"
    "extern \"C\" __global__ void right(int n, const float *x, float *y, float *)\n{\n"
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i] + total(x, n);\n}\n";

static const char job[] =
    "name = \"soak\"; kernel = { template = \"k.cu\"; entry = \"k\"; };\n"
    "parameters = ( { name = \"WAY\"; values = [%d]; } );\n"
    "problems = ( { N = 1000003; } );\n"
    "launch = { grid = [ \"ceil_div(N, 256)\" ]; block = [ 256 ]; };\n"
    "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
    "  { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; },\n"
    "  { buffer = \"scratch\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"scratch\"; } );\n"
    "reference = { kernel = \"right\"; launch = { grid = [ \"ceil_div(N, 256)\" ]; block = [ 256 ]; }; };\n"
    "verification = { absolute = 1e-6; problems = ( { N = 70001; } ); };\n";

static const struct {
    int way;
    const char *status, *said; // `said` is in the reason; NULL: it may be found earlier
    const char *other;         // another status that is acceptable; NULL: none
} cases[] = {
    {0, "1 ok", NULL, NULL},
    {1, "1 wrong", NULL, NULL},
    {2, "1 wrong", NULL, NULL},
    {3, "1 out_of_bounds", "bytes outside y", NULL},
    {4, "1 wrong", NULL, "1 nondeterministic"}, // of two runs on the same data, one may be correct
    {5, "1 wrong", NULL, NULL},
    {6, "1 wrong", "'scratch' holds zeros before the launch: if the kernel needs these zeros, write fill = \"zero\"",
     NULL},
};

GPU_TEST(what_has_only_seen_one_state_is_found_in_the_soak)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("gpu_soak"), *text = test_text(job, cases[i].way);
        e2e_write(folder, "k.cu", source);
        e2e_write(folder, "job.cfg", text);
        struct e2e_result r =
            e2e_in(folder, "$BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q --no-counters "
                           "--no-final 2>&1; $BIN/sweetspot status job.cfg --store job.db; cat job.log");
        printf("way %d: %s\n", cases[i].way, r.out);
        if (!cases[i].other || !strstr(r.out, cases[i].other)) assert_contains(r.out, cases[i].status);
        if (cases[i].said) assert_contains(r.out, cases[i].said);
    }
}

TEST_MAIN(share_cache, NULL)
