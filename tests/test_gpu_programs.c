// The user's programs on a GPU: a reference command, a library that makes inputs and judges outputs, and baselines.
// The baselines are CUB's sum, a wrong sum, programs that crash on the host or on the device, and a program that hangs.
#include "tests/gpu.h"

static const char sum[] =
    "extern \"C\" __global__ void sum(int n, const float *x, float *y)\n{\n"
    "    __shared__ float s[BLOCK];\n    float mine = 0;\n"
    "    for (int i = threadIdx.x; i < n; i += BLOCK) mine += x[i];\n"
    "    s[threadIdx.x] = mine;\n    __syncthreads();\n"
    "    for (int k = BLOCK / 2; k; k /= 2) {\n"
    "        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];\n        __syncthreads();\n    }\n"
    "    if (!threadIdx.x) *y = s[0];\n}\n";

static const char cub[] =
    "#include <cub/device/device_reduce.cuh>\n#include <cstdlib>\n#include <unistd.h>\n"
    "static void *space; static size_t bytes;\n"
    "extern \"C\" int begin(void *stream, void **a, const long long *sizes)\n{\n"
    "    size_t need = 0;\n"
    "    cub::DeviceReduce::Sum(nullptr, need, *(float **)a[1], *(float **)a[2], (int)sizes[0], "
    "(cudaStream_t)stream);\n"
    "    if (need <= bytes) return 0;\n    bytes = need;\n    return cudaMalloc(&space, need);\n}\n"
    "extern \"C\" int by_cub(void *stream, void **a, const long long *sizes)\n{\n"
    "    return cub::DeviceReduce::Sum(space, bytes, *(float **)a[1], *(float **)a[2], *(int *)a[0], "
    "(cudaStream_t)stream);\n}\n"
    "__global__ void set(float *y) { *y = 1e30f; }\n"
    "extern \"C\" int wrong(void *stream, void **a, const long long *)\n"
    "{ set<<<1, 1, 0, (cudaStream_t)stream>>>(*(float **)a[2]); return cudaGetLastError(); }\n"
    "extern \"C\" int crash(void *, void **, const long long *) { std::abort(); }\n"
    "extern \"C\" int device_crash(void *stream, void **, const long long *)\n"
    "{ set<<<1, 1, 0, (cudaStream_t)stream>>>((float *)8); return cudaGetLastError(); }\n"
    "extern \"C\" int hang(void *, void **, const long long *) { for (;;) pause(); }\n"
    "extern \"C\" int refuse(void *, void **, const long long *) { return 7; }\n";

// Inputs are whole numbers, so that sums are exact. The judge relies on exact sums.
static const char functions[] =
    "#include <stdio.h>\n#include <string.h>\n"
    "struct array { const char *name, *type; int output; long long rows, cols, ld; void *data; };\n"
    "struct value { const char *name; double value; };\n"
    "static const struct array *find(int n, const struct array *a, const char *name)\n"
    "{ for (int i = 0; i < n; i++) if (!strcmp(a[i].name, name)) return &a[i]; return 0; }\n"
    "int make(int n, const struct array *a, int m, const struct value *v, unsigned long long seed)\n{\n"
    "    const struct array *x = find(n, a, \"x\");\n    (void)m; (void)v;\n"
    "    for (long long i = 0; i < x->cols; i++)\n"
    "        ((float *)x->data)[i] = (float)((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 60);\n"
    "    return 0;\n}\n"
    "int judge(int n, const struct array *a, int m, const struct value *v, char *message, int room)\n{\n"
    "    const struct array *x = find(n, a, \"x\"), *y = find(n, a, \"y\");\n    double sum = 0;\n    (void)m; "
    "(void)v;\n"
    "    for (long long i = 0; i < x->cols; i++) sum += ((float *)x->data)[i];\n"
    "    if (*(float *)y->data == sum) return 0;\n"
    "    snprintf(message, room, \"the sum is %g and not %g\", sum, *(float *)y->data);\n    return 1;\n}\n"
    "int never(int n, const struct array *a, int m, const struct value *v, char *message, int room)\n"
    "{ (void)n; (void)a; (void)m; (void)v; snprintf(message, room, \"never right\"); return 1; }\n"
    "int expect(int n, const struct array *a, int m, const struct value *v)\n{\n"
    "    const struct array *x = find(n, a, \"x\");\n    double sum = 0;\n    (void)m; (void)v;\n"
    "    for (long long i = 0; i < x->cols; i++) sum += ((float *)x->data)[i];\n"
    "    *(double *)find(n, a, \"y\")->data = sum;\n    return 0;\n}\n";

static char *write_job(const char *reference, const char *more)
{
    char *folder = e2e_folder("gpu_programs");
    char *job = test_text("name = \"sum\"; kernel = { template = \"sum.cu\"; entry = \"sum\"; };\n"
                          "parameters = ( { name = \"BLOCK\"; values = [128, 256, 512]; } );\n"
                          "problems = ( { N = 100000; } );\n"
                          "launch = { grid = [ 1 ]; block = [ \"BLOCK\" ]; };\n"
                          "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape "
                          "= [ \"N\" ]; }, { buffer = \"y\"; type = \"f32\"; shape = [ 1 ]; direction = \"out\"; } );\n"
                          "reference = %s;\nverification = { absolute = 0.5; problems = ( { N = 1001; } ); };\n%s\n",
                          reference, more);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "sum.cu", sum);
    e2e_write(folder, "cub.cu", cub);
    e2e_write(folder, "functions.c", functions);
    return folder;
}

static struct e2e_result tune(const char *folder)
{
    return e2e_run(folder,
                   "cd $DIR; $BIN/sweetspot tune job.cfg --store job.db --cache cache -q --no-counters --no-checks "
                   "2>&1 && $BIN/sweetspot compare job.cfg --store job.db; status=$?; cat job.log; exit $status");
}

GPU_TEST(a_python_script_is_a_reference_and_runs_once)
{
    if (system("python3 -c 'import numpy' 2>/dev/null")) skip();
    char *folder = write_job("{ command = \"python3 ref.py\"; }", "");
    e2e_write(folder, "ref.py",
              "import json, sys, numpy\n"
              "open('runs', 'a').write('x')\n"
              "f = sys.argv[1]\nj = json.load(open(f + '/job.json'))\n"
              "x = numpy.load(f + '/in/x.npy')\nassert x.shape == (j['values']['N'],)\n"
              "numpy.save(f + '/out/y.npy', numpy.array([x.astype('f8').sum()]))\n");
    for (int i = 0; i < 2; i++) e2e_passed(tune(folder));
    struct e2e_result r = e2e_run(folder, "wc -c <$DIR/runs");
    // The job's two problems have two sets of data each in the search, and other data in the final. Each run also draws
    // two sizes with two sets of data each. The second run calls the reference only for the drawn sizes.
    if (atoi(r.out) > 16) fail_msg("%s runs", r.out);
}

GPU_TEST(a_command_that_expects_something_else_finds_every_candidate_wrong)
{
    if (system("python3 -c 'import numpy' 2>/dev/null")) skip();
    char *folder = write_job("{ command = \"python3 ref.py\"; }", "");
    e2e_write(folder, "ref.py", "import sys, numpy\nnumpy.save(sys.argv[1] + '/out/y.npy', numpy.array([1e9]))\n");
    assert_contains(e2e_ended(1, tune(folder)).out, "wrong 3");
}

GPU_TEST(a_library_from_its_source_makes_inputs_and_judges_outputs)
{
    static const struct {
        const char *reference;
        int status;
        const char *said;
    } cases[] = {
        {"{ library = \"functions.c\"; generate = \"make\"; verify = \"judge\"; }", 0, ""},
        {"{ library = \"functions.c\"; function = \"expect\"; generate = \"make\"; verify = \"judge\"; }", 0, ""},
        {"{ library = \"functions.c\"; generate = \"make\"; verify = \"never\"; }", 1, "never right"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job(cases[i].reference, "");
        struct e2e_result r = tune(folder);
        if (r.status != cases[i].status) fail_msg("%s: %s%s", cases[i].reference, r.out, r.err);
        assert_contains(r.out, cases[i].said);
    }
}

#define JUDGED "{ library = \"functions.c\"; generate = \"make\"; verify = \"judge\"; }"
#define BASELINE(name, more) "{ name = \"" name "\"; library = \"cub.cu\"; function = \"" name "\";" more " }"

GPU_TEST(cub_is_verified_timed_and_compared_with_the_winner)
{
    if (system("command -v nvcc >/dev/null")) skip();
    char *folder = write_job(JUDGED, "baselines = ( " BASELINE("by_cub", " init = \"begin\";") " );");
    assert_contains(e2e_passed(tune(folder)).out, "x as fast as by_cub (95% interval ", "ratio to by_cub");
}

// The shipped jobs, at smaller sizes. Without nvcc they are tuned nevertheless.
GPU_TEST(shipped_jobs_are_compared_with_cub_where_there_is_nvcc)
{
    bool have_nvcc = !system("command -v nvcc >/dev/null");
    static const char *const jobs[] = {"sum", "prefix_sum"};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        for (int with = 0; with < 1 + have_nvcc; with++) {
            char *folder = e2e_folder(jobs[i]);
            struct e2e_result r = e2e_pass(
                folder,
                "sed 's|\\.\\./templates|'$PWD'/templates|; s|cub.cu|'$PWD'/configs/&|; s|^problems = ( { N = "
                "[0-9]*|problems = ( { N = 16777216|' configs/%s.cfg >$DIR/job.cfg; cd $DIR; %s $BIN/sweetspot tune "
                "job.cfg --store job.db --cache cache -n 5 -q --no-counters --no-checks 2>&1 && $BIN/sweetspot compare "
                "job.cfg --store job.db",
                jobs[i], with ? "" : "SWEETSPOT_NVCC=none");
            assert_contains(r.out, with ? "ratio to cub  " : "baseline cub: not available: ", "winner: trial ");
            if (with) assert_contains(r.out, "x as fast as cub (95% interval ");
            printf("%s\n", r.out);
        }
}

GPU_TEST(baselines_that_fail_are_named_and_cost_their_own_figures_alone)
{
    if (system("command -v nvcc >/dev/null")) skip();
    char *folder = write_job(
        JUDGED,
        "baselines = ( " BASELINE("wrong", "") ", " BASELINE("crash", "") ", " BASELINE(
            "device_crash",
            "") ", " BASELINE("hang", "") ", " BASELINE("refuse",
                                                        "") ", " BASELINE("by_cub",
                                                                          " init = \"begin\";") " );\nmeasure = { "
                                                                                                "timeout = 1.0; };");
    struct e2e_result r = e2e_passed(tune(folder));
    assert_contains(
        r.out,
        "baseline wrong: not available: wrong: ", "baseline crash: not available: its own code crashed (SIGABRT)",
        "baseline device_crash: not available: ", "baseline hang: not available: it did not end within its time",
        "baseline refuse: not available: launch_error: the function 'refuse' returns 7",
        "x as fast as by_cub (95% interval ");
}

static void use_nvcc(void)
{
    unsetenv("SWEETSPOT_NVCC"); // the test runner sets it to "none"
}

TEST_MAIN(use_nvcc, NULL)
