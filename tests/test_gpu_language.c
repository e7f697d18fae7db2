// The job file's language on a GPU: macros of single stages, stages in loops, decimals. Each is tested with correct
// kernels and with a job that must be found wrong.
#include "tests/gpu.h"

// Tunes a job with this source. `options` are passed to `tune`, and the output includes the table of `status`.
static struct e2e_result tune(const char *name, const char *job, const char *source, const char *options)
{
    char *folder = e2e_folder(name);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "x.cu", source);
    struct e2e_result r = e2e_in(
        folder,
        "{ $BIN/sweetspot check job.cfg && $BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q %s; "
        "} 2>&1; $BIN/sweetspot status job.cfg --store job.db; $BIN/sweetspot header job.cfg --store job.db -o best.h "
        "--embed && $BIN/sweetspot header job.cfg --store job.db --check best.h && echo embedded",
        options);
    return r;
}

static const char quick[] = "--no-counters --no-final";

// The number before a word, in the status line that counts trials.
static int number_of(const char *line, const char *word)
{
    const char *at = strstr(line, word), *end = strchr(line, '\n');
    if (!at || (end && at > end)) return 0;
    while (at > line && at[-1] >= '0' && at[-1] <= '9') at--;
    return atoi(at);
}

// Slower candidates may end early, but no candidate may fail.
static void all_right(struct e2e_result *r, int count)
{
    const char *line = strstr(r->out, "\ntrials ");
    int ok = line ? number_of(line + 1, " ok") : 0, slow = line ? number_of(line + 1, " slow") : 0;
    if (!ok || ok + slow != count) fail_msg("%d ok and %d slow of %d: %s%s", ok, slow, count, r->out, r->err);
}

#define LAUNCH "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };"

static const char phases_job[] =
    "name = \"phases\"; kernel = { template = \"x.cu\"; };\n"
    "parameters = ( { name = \"BLOCK\"; values = [64, 128, 256]; } );\n"
    "problems = ( { N = 1000000; } );\nverification = { problems = ( { N = 777; } ); };\n"
    "stages = (\n"
    "  { name = \"up\"; entry = \"step\"; defines = { PHASE = 1; FACTOR = 0.5; }; " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
    "      { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; } ); },\n"
    "  { name = \"down\"; entry = \"step\"; defines = { PHASE = 2; FACTOR = \"3.0f\"; }; " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; }, { buffer = \"y\"; } ); }\n"
    ");\n"
    "reference = { kernel = \"right\"; template = \"x.cu\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; "
    "};\n"
    "  arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; }, { buffer = \"y\"; } ); };\n"
    "measure = { final = { rounds = 5; processes = 1; candidates = 2; }; };\n";
// Each module has a variable with the same name, which every launch must find in its initial state.
static const char phases_source[] =
    "#ifndef PHASE\n#define PHASE 0\n#define FACTOR 1\n#endif\n"
    "__device__ int launches = PHASE;\n"
    "extern \"C\" __global__ void step(int n, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "#if PHASE == 1\n    if (i < n) y[i] = x[i] * FACTOR + (launches - 1);\n    __syncthreads();\n"
    "    if (i == 0 && gridDim.x == 1) launches = 1;\n"
    "#else\n    if (i < n) y[i] += FACTOR + (launches - 2);\n#endif\n}\n"
    "extern \"C\" __global__ void right(int n, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i] * 0.5f + 3.0f;\n}\n";

GPU_TEST(stages_with_macros_of_their_own_run_from_units_of_their_own)
{
    struct e2e_result r = tune("gpu_phases", phases_job, phases_source, "--no-checks");
    if (r.status || !strstr(r.out, "embedded")) fail_msg("%s%s", r.out, r.err);
    all_right(&r, 3);
    char *wrong = test_owned(text_copy(phases_job)), *three = strstr(wrong, "3.0f");
    three[0] = '4';
    assert_contains(tune("gpu_phases", wrong, phases_source, quick).out, "3 wrong");
}

// Clearing the output is timed, but making the table is not. LEAVE keeps the table for the next launch.
static const char table_job[] =
    "name = \"table\"; kernel = { template = \"x.cu\"; };\n"
    "parameters = ( { name = \"BLOCK\"; values = [64, 128, 256]; } );\n"
    "problems = ( { N = 1000000; } );\nverification = { problems = ( { N = 777; } ); };\n"
    "buffers = ( { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; } );\n"
    "stages = (\n"
    "  { entry = \"make\"; timed = false; " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
    "      { buffer = \"t\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"scratch\"; } ); },\n"
    "  { operation = \"clear\"; by = \"memset\"; x = \"y\"; },\n"
    "  { entry = \"add\"; " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"t\"; }, { buffer = \"y\"; } ); }\n"
    ");\n"
    "reference = { kernel = \"right\"; template = \"x.cu\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; "
    "};\n"
    "  arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; }, { buffer = \"y\"; } ); };\n"
    "work = { bytes = \"8*N\"; }; measure = { final = { rounds = 5; processes = 1; candidates = 2; }; };\n";
// The kernel that makes the table takes a millisecond, which must not be part of the measured time.
static const char table_source[] =
    "#define LEAVE 1\n"
    "extern \"C\" __global__ void make(int n, const float *x, float *t)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i == 0) __nanosleep(1000000);\n"
    "    if (i < n) t[i] = sqrtf(fabsf(x[i]));\n}\n"
    "extern \"C\" __global__ void add(int n, float *t, float *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] += 2 * t[i];\n"
    "    if (!LEAVE && i < n) t[i] = 0;\n}\n"
    "extern \"C\" __global__ void right(int n, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * sqrtf(fabsf(x[i]));\n}\n";

GPU_TEST(a_stage_that_is_not_timed_does_not_count_and_one_that_clears_does)
{
    struct e2e_result r = tune("gpu_table", table_job, table_source, "--no-checks");
    if (r.status || !strstr(r.out, "embedded")) fail_msg("%s%s", r.out, r.err);
    all_right(&r, 3);
    r = tune("gpu_table", table_job, table_source, quick);
    const char *best = strstr(r.out, "\nbest so far "), *unit = best ? strstr(best, " us ") : NULL;
    if (!unit || unit > strchr(best + 1, '\n')) fail_msg("not in microseconds: %s", r.out);
    char *wrong = test_owned(text_copy(table_source));
    wrong[strlen("#define LEAVE ")] = '0';
    r = tune("gpu_table", table_job, wrong, quick);
    if (!strstr(r.out, "3 wrong") && !strstr(r.out, "3 nondeterministic")) fail_msg("%s%s", r.out, r.err);
    wrong = test_owned(text_copy(table_job));
    char *clear = strstr(wrong, "  { operation"), *end = strchr(clear, '\n');
    memset(clear, ' ', (size_t)(end - clear));
    assert_contains(tune("gpu_table", wrong, table_source, quick).out, "3 wrong");
}

// RADIX determines the number of runs, and so whether t and u are exchanged an even or an odd number of times.
static const char reduction_job[] =
    "name = \"halving\"; kernel = { template = \"x.cu\"; };\n"
    "parameters = ( { name = \"BLOCK\"; values = [128, 256]; }, { name = \"RADIX\"; values = [2, 4, 8, 32]; } );\n"
    "problems = ( { N = 1048576; } );\nverification = { problems = ( { N = 1000003; }, { N = 1; } ); };\n"
    "stages = (\n"
    "  { entry = \"copy\"; " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
    "      { buffer = \"t\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"scratch\"; } ); },\n"
    "  { entry = \"fold\"; repeat = { name = \"LEFT\"; from = \"N\"; while = \"LEFT > 1\"; next = \"ceil_div(LEFT, "
    "RADIX)\"; };\n"
    "    swap = [ \"t\", \"u\" ]; launch = { grid = [ \"ceil_div(ceil_div(LEFT, RADIX), BLOCK)\" ]; block = [ "
    "\"BLOCK\" ]; };\n"
    "    arguments = ( { scalar = \"LEFT\"; type = \"i32\"; }, { buffer = \"t\"; },\n"
    "      { buffer = \"u\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"scratch\"; } ); },\n"
    "  { entry = \"take\"; launch = { grid = [ 1 ]; block = [ 1 ]; };\n"
    "    arguments = ( { buffer = \"t\"; }, { buffer = \"y\"; type = \"f32\"; shape = [ 1 ]; direction = \"out\"; } ); "
    "}\n"
    ");\n"
    "reference = { operation = \"sum\"; result = \"y\"; x = \"x\"; n = \"N\"; };\n"
    "measure = { final = { rounds = 5; processes = 1; candidates = 2; }; };\n";
static const char reduction_source[] =
    "extern \"C\" __global__ void copy(int n, const float *x, float *t)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) t[i] = x[i];\n}\n"
    "extern \"C\" __global__ void fold(int left, const float *t, float *u)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, rest = (left + RADIX - 1) / RADIX;\n    float sum = 0;\n"
    "    for (int k = 0; i < rest && k < RADIX && i + k * rest < left; k++) sum += t[i + k * rest];\n"
    "    if (i < rest) u[i] = sum;\n}\n"
    "extern \"C\" __global__ void take(const float *t, float *y) { *y = *t; }\n";

GPU_TEST(a_reduction_of_log_n_launches_with_exchanged_buffers_is_right)
{
    struct e2e_result r = tune("gpu_halving", reduction_job, reduction_source, "--no-checks");
    if (r.status || !strstr(r.out, "embedded")) fail_msg("%s%s", r.out, r.err);
    all_right(&r, 8);
    // Without the exchange, every run adds up the same numbers again.
    char *wrong = test_owned(text_copy(reduction_job)), *swap = strstr(wrong, "swap = [ \"t\", \"u\" ];");
    memset(swap, ' ', strlen("swap = [ \"t\", \"u\" ];"));
    assert_contains(tune("gpu_halving", wrong, reduction_source, quick).out, "8 wrong");
}

static const char sort_job[] =
    "name = \"bitonic\"; kernel = { template = \"x.cu\"; };\n"
    "parameters = ( { name = \"BLOCK\"; values = [64, 128, 256]; } );\n"
    "problems = ( { N = 4096; } );\n"
    "verification = { problems = ( { N = 256; } ); supported = ( \"(N & (N - 1)) == 0\" ); };\n"
    "stages = (\n"
    "  { entry = \"copy\"; " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; },\n"
    "      { buffer = \"x\"; type = \"u32\"; shape = [ \"N\" ]; fill = { kind = \"integer\"; low = 0; high = 1000000; "
    "}; },\n"
    "      { buffer = \"y\"; type = \"u32\"; shape = [ \"N\" ]; direction = \"out\"; } ); },\n"
    "  { entry = \"exchange\";\n"
    "    repeat = ( \"K = 2; K <= N; K = 2 * K\",\n"
    "               \"J = K / 2; J > 0; J = J / 2\" );\n"
    "    " LAUNCH "\n"
    "    arguments = ( { scalar = \"N\"; type = \"i32\"; }, { scalar = \"K\"; type = \"i32\"; }, { scalar = \"J\"; "
    "type = \"i32\"; }, { buffer = \"y\"; } ); }\n"
    ");\n"
    "reference = { kernel = \"rank\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; };\n"
    "  arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; }, { buffer = \"y\"; } ); };\n";
static const char sort_source[] =
    "extern \"C\" __global__ void copy(int n, const unsigned *x, unsigned *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n"
    "extern \"C\" __global__ void exchange(int n, int k, int j, unsigned *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;\n    if (i >= n || other <= i) return;\n"
    "    unsigned a = y[i], b = y[other];\n    if ((a > b) == ((i & k) == 0)) { y[i] = b; y[other] = a; }\n}\n"
    "extern \"C\" __global__ void rank(int n, const unsigned *x, unsigned *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, place = 0;\n    if (i >= n) return;\n"
    "    for (int k = 0; k < n; k++) place += x[k] < x[i] || (x[k] == x[i] && k < i);\n    y[place] = x[i];\n}\n";

GPU_TEST(a_bitonic_sort_by_two_loops_is_right_and_is_counted_as_one_stage)
{
    struct e2e_result r = tune("gpu_bitonic", sort_job, sort_source, "--no-final");
    all_right(&r, 3);
    char *wrong = test_owned(text_copy(sort_job)), *from = strstr(wrong, "K <= N");
    memcpy(from, "K <  N", 6); // the last merge is missing
    assert_contains(tune("gpu_bitonic", wrong, sort_source, quick).out, "3 wrong");
}

static const char values_job[] =
    "name = \"values\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
    "parameters = ( { name = \"BLOCK\"; values = [64, 128]; },\n"
    "  { name = \"SCALE\"; values = [0.5, 0.25, 2.0]; }, { name = \"EACH\"; values = [1, 4]; } );\n"
    "derived = { TILE = \"BLOCK * EACH\"; };\nproblems = ( { N = 100003; } );\n"
    "launch = { grid = [ \"ceil_div(N, TILE)\" ]; block = [ \"BLOCK\" ]; };\n"
    "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
    "  { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; } );\n"
    "reference = { kernel = \"right\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; }; };\n"
    "verification = { exact = true; };\n";
static const char values_source[] =
    "#define TILE (BLOCK * EACH)\n"
    "static_assert(SCALE == 0.5 || SCALE == 0.25 || SCALE == 2.0, \"a decimal\");\n"
    "extern \"C\" __global__ void x(int n, const float *x, float *y)\n{\n"
    "    for (int i = blockIdx.x * TILE + threadIdx.x; i < (blockIdx.x + 1) * TILE && i < n; i += BLOCK)\n"
    "        y[i] = x[i] * (float)SCALE * (float)(1 / SCALE);\n}\n"
    "extern \"C\" __global__ void right(int n, const float *x, float *y)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = x[i];\n}\n";

GPU_TEST(decimals_reach_the_kernel)
{
    struct e2e_result r = tune("gpu_values", values_job, values_source, quick);
    all_right(&r, 12);
}

TEST_MAIN(share_cache, NULL)
