// Jobs whose candidates nvcc compiles, because NVRTC cannot read their source: files with host code and host headers.
// Skipped if there is no nvcc.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/base/elf_file.h"
#include "tuner/base/protocol.h"

#define NEEDS_NVCC()                                      \
    do {                                                  \
        if (system("command -v nvcc >/dev/null")) skip(); \
    } while (0)

static const char source[] =
    "#include <iostream>\n"
    "#include <vector>\n"
    "#include \"width.h\"\n"
    "namespace mine {\n"
    "struct pair { int a, b; };\n"
    "template <typename T, int N> __global__ void copy(const T *a, T *b, const pair *p, const pair *q)\n"
    "{ __shared__ T s[64]; s[threadIdx.x % 64] = a[threadIdx.x * N + p->a + q->b]; __syncthreads(); b[threadIdx.x] = "
    "s[WIDTH]; }\n"
    "}\n"
    "extern \"C\" __global__ void plain(int *p) { *p = SIZE; }\n"
    "__global__ void over(float *p) { *p = 1; }\n"
    "static __global__ void hidden(double *p) { *p = 1; }\n"
    "int main() { std::vector<int> v; mine::copy<float, 2><<<1, 1>>>(nullptr, nullptr, nullptr, nullptr);\n"
    "  plain<<<1, 1>>>(nullptr); hidden<<<1, 1>>>(nullptr); std::cout << v.size(); }\n";

static char *make_folder(const char *name)
{
    char *folder = e2e_folder(name);
    e2e_write(folder, "x.cu", source);
    e2e_write(folder, "width.h", "enum { WIDTH = 4 };\n");
    return folder;
}

// The worker's answers to a hello and to a request for these entries, one per line.
static struct e2e_result ask(const char *folder, const char *before, const char *entries, const char *more)
{
    struct e2e_result r = e2e_in(folder, "pwd");
    r.out[strcspn(r.out, "\n")] = 0;
    char *lines = test_text("{\"id\":1,\"op\":\"hello\",\"compiler\":\"nvcc\"}\n"
                            "{\"id\":2,\"op\":\"compile\",\"arch\":\"sm_90a\",\"source\":\"%s/"
                            "x.cu\",\"include\":[],\"entries\":[%s],\"options\":[],\"defines\":{\"SIZE\":\"4\"},"
                            "\"compiler\":\"nvcc\",\"alone\":true,\"cache\":\"%s/cache\",\"deadline\":100%s}\n",
                            r.out, entries, r.out, more);
    e2e_write(folder, "requests", lines);
    return e2e_run(folder, "%s $BIN/sweetspot-compile <$DIR/requests", before);
}

TEST(entries_are_found_under_their_names_in_the_cubin)
{
    NEEDS_NVCC();
    char *folder = make_folder("nvcc_names");
    struct e2e_result r =
        ask(folder, "", "\"plain\",\"mine::copy<float, SIZE>\",\"mine::copy<float, 2>\",\"over\",\"hidden\"", "");
    assert_contains(r.out, "{\"protocol\":2,\"compiler\":\"nvcc ", "\"status\":\"ok\"",
                    "\"entry\":\"plain\",\"symbol\":\"plain\"",
                    "\"entry\":\"mine::copy<float, SIZE>\",\"symbol\":\"_ZN4mine4copyIfLi4EEEvPKT_PS1_PKNS_4pairES7_\"",
                    "\"entry\":\"mine::copy<float, 2>\",\"symbol\":\"_ZN4mine4copyIfLi2EEEvPKT_PS1_PKNS_4pairES7_\"",
                    "\"entry\":\"over\",\"symbol\":\"_Z4overPf\"", "\"entry\":\"hidden\",\"symbol\":\"_Z",
                    "\"shared\":256", "\"cached\":false");
    r = ask(folder, "", "\"plain\",\"mine::copy<float, SIZE>\",\"mine::copy<float, 2>\",\"over\",\"hidden\"", "");
    assert_contains(r.out, "\"cached\":true");
    e2e_write(folder, "width.h", "enum { WIDTH = 5 };\n"); // part of the hash, like all of the user's headers
    r = ask(folder, "", "\"plain\"", ",\"source_hash\":\"00112233445566778899aabbccddeeff\"");
    assert_contains(r.out, "\"status\":\"source_changed\"");
}

TEST(what_nvcc_cannot_do_is_said)
{
    NEEDS_NVCC();
    char *folder = make_folder("nvcc_fails");
    struct e2e_result r = ask(folder, "SWEETSPOT_NVCC=/nonexistent/nvcc", "\"plain\"", "");
    assert_null(strstr(r.out, "\"compiler\":\"nvcc"));
    assert_contains(r.out, "/nonexistent/nvcc");
    assert_contains(ask(folder, "", "\"plane\"", "").out, "\"status\":\"compile_error\"", "plane");
}

// The kernels in the worker's cubin, for a source with this text before and after it.
static char *kernels_with(const char *folder, const char *before, const char *after)
{
    struct text names = {0};
    e2e_write(folder, "x.cu", test_text("%s%s%s", before, source, after));
    struct e2e_result r = ask(folder, "", "\"plain\"", "");
    const char *at = strstr(r.out, "\"cubin\":\"");
    if (!at) fail_msg("%s", r.out);
    at += strlen("\"cubin\":\"");
    size_t size;
    const char *symbol;
    autofree char *path = text_format("%.*s", (int)strcspn(at, "\""), at), *cubin = text_read_file(path, &size);
    for (size_t i = 0; (symbol = elf_kernel(cubin, size, i)); i++) text_add(&names, "%s ", symbol);
    return test_owned(names.text);
}

// Instances that only host code uses are not compiled, except when a macro turns out to hide device code.
TEST(kernels_that_only_the_host_needs_are_left_out)
{
    static const char instance[] = "_ZN4mine4copyIfLi2EE";
    NEEDS_NVCC();
    char *folder = make_folder("nvcc_host"), *kernels = kernels_with(folder, "", "");
    assert_contains(kernels, "plain ");
    assert_null(strstr(kernels, instance));
    kernels =
        kernels_with(folder, "#define DEVICE __device__\nDEVICE __noinline__ int three(int x) { return x + 3; }\n",
                     "__global__ void more(int *p) { *p = three(*p); }\n");
    assert_contains(kernels, "plain ", instance, "more");
}

TEST(a_job_with_host_code_compiles_by_nvcc_alone)
{
    NEEDS_NVCC();
    char *folder = make_folder("nvcc_job");
    static const char *const compilers[] = {"nvcc", "nvrtc"};
    for (int i = 0; i < 2; i++) {
        autofree char *job =
            text_format("kernel = { template = \"x.cu\"; entry = \"plain\"; compiler = \"%s\"; };\n"
                        "parameters = ( { name = \"SIZE\"; values = [4]; } );\nproblems = ( { n = 4; } );\n"
                        "launch = { grid = [ 1 ]; block = [ 1 ]; };\narguments = ( { buffer = \"p\"; type = \"i32\"; "
                        "shape = [ \"n\" ]; direction = \"out\"; } );\nverification = { enabled = false; };\n",
                        compilers[i]);
        e2e_write(folder, "job.cfg", job);
        struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check $DIR/job.cfg --compile 1 --cache $DIR/cache");
        if (r.status != i) fail_msg("%s: %s%s", compilers[i], r.out, r.err);
        assert_contains(r.out, i ? "compile_error" : "plain  SIZE=4");
    }
}

// nvcc reports kernels' parameters as NVRTC does.
TEST(check_compares_arguments_with_what_nvcc_says)
{
    static const struct {
        const char *entry, *arguments, *expected;
        int status;
    } cases[] = {
        {"plain", "{ buffer = \"p\"; type = \"i32\"; shape = [1]; direction = \"out\"; }", "no mistakes found", 0},
        {"mine::copy<float, SIZE>",
         "{ buffer = \"p\"; type = \"f32\"; shape = [1]; direction = \"out\"; }, { scalar = \"n\"; type = \"i32\"; "
         "value = 1; }",
         "kernel 'mine::copy<float, SIZE>' takes 4 arguments, (const float *, float *,", 2},
        {"over", "{ buffer = \"p\"; type = \"f64\"; shape = [1]; direction = \"out\"; }",
         "kernel 'over' takes 'float *', but the elements of buffer 'p' are f64", 0},
        {"plian", "{ buffer = \"p\"; type = \"i32\"; shape = [1]; direction = \"out\"; }", "did you mean 'plain'?", 2},
    };
    NEEDS_NVCC();
    char *folder = make_folder("nvcc_check");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *job = test_text("kernel = { template = \"x.cu\"; entry = \"%s\"; compiler = \"nvcc\"; };\n"
                              "parameters = ( { name = \"SIZE\"; values = [4]; } );\nproblems = ( { N = 1; } );\n"
                              "launch = { grid = [1]; block = [32]; };\narguments = ( %s );\n"
                              "verification = { enabled = false; };\n",
                              cases[i].entry, cases[i].arguments);
        e2e_write(folder, "job.cfg", job);
        struct e2e_result r = e2e_run(folder, "$BIN/sweetspot check $DIR/job.cfg --cache $DIR/cache");
        if (r.status != cases[i].status) fail_msg("%s: status %d\n%s%s", cases[i].entry, r.status, r.out, r.err);
        assert_contains(strstr(cases[i].expected, "no mistakes") ? r.out : r.err, cases[i].expected);
    }
}

// The GPU is scripted, the compile worker is real.
TEST(results_are_filed_under_the_version_of_nvcc)
{
    NEEDS_NVCC();
    char *folder = make_folder("nvcc_run");
    e2e_write(folder, "job.cfg",
              "kernel = { template = \"x.cu\"; entry = \"plain\"; compiler = \"nvcc\"; };\n"
              "parameters = ( { name = \"SIZE\"; values = [4, 8]; } );\nproblems = ( { n = 4; } );\n"
              "launch = { grid = [ 1 ]; block = [ 1 ]; };\narguments = ( { buffer = \"p\"; type = \"i32\"; shape = [ "
              "\"n\" ]; direction = \"out\"; } );\nverification = { enabled = false; };\n");
    struct e2e_result r = e2e_pass(
        folder, "export SWEETSPOT_GPU_WORKER=$BIN/fake_worker; cd $DIR && $BIN/sweetspot tune job.cfg --store job.db "
                "-q --no-final --workers 1 >/dev/null && $BIN/sweetspot status job.cfg --store job.db --format json");
    assert_contains(r.out, "\"compiler\": \"nvcc ");
    r = e2e_run(folder, "export SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_NVCC=/nonexistent/nvcc; cd $DIR && "
                        "$BIN/sweetspot tune job.cfg --store other.db -q");
    assert_int_equal(r.status, EXIT_ENVIRONMENT);
    assert_contains(r.err, "the job is compiled by nvcc: ");
}

// The answer to a request to build x.cu with these functions.
static struct e2e_result build(const char *folder, const char *text, const char *functions)
{
    e2e_write(folder, "y.cu", text);
    char *real = realpath(folder, NULL),
         *line = test_text("{\"id\":1,\"op\":\"build\",\"arch\":\"sm_90a\",\"source\":\"%s/y.cu\",\"functions\":[%s],"
                           "\"options\":[],\"cache\":\"%s/cache\",\"deadline\":100,\"host_headers\":false}\n",
                           real, functions, real);
    e2e_write(folder, "requests", line);
    free(real);
    return e2e_run(folder, "$BIN/sweetspot-compile <$DIR/requests");
}

TEST(a_source_becomes_a_library_with_the_functions_that_are_named)
{
    NEEDS_NVCC();
    static const char sound[] =
        "#include \"width.h\"\n"
        "__global__ void k(float *p) { *p = WIDTH; }\n"
        "extern \"C\" int f(void *stream, void **a, const long long *)\n"
        "{ k<<<1, 1, 0, (cudaStream_t)stream>>>(*(float **)a[0]); return cudaGetLastError(); }\n";
    char *folder = make_folder("nvcc_library");
    struct e2e_result r = build(folder, sound, "\"f\"");
    assert_contains(r.out, "\"status\":\"ok\"", ".so\"", "\"cached\":false");
    assert_contains(build(folder, sound, "\"f\"").out, "\"cached\":true");
    assert_contains(build(folder, sound, "\"ff\"").out, "has no function 'ff'; did you mean 'f'?");
    assert_contains(build(folder, "int f(void) { return 0; }\n", "\"f\"").out,
                    "only under C++'s name '_Z1fv': declare it extern \\\"C\\\"");
    assert_contains(build(folder, "\nint f(void) { return nothing; }\n", "\"f\"").out,
                    "y.cu(2): error: identifier \\\"nothing\\\" is undefined");
}

TEST(cub_is_built_for_the_shipped_jobs)
{
    NEEDS_NVCC();
    char *folder = make_folder("cub"), *cub = realpath("configs/cub.cu", NULL);
    e2e_write(folder, "requests",
              test_text("{\"id\":1,\"op\":\"build\",\"arch\":\"sm_90a\",\"source\":\"%s\",\"functions\":[\"cub_sum\","
                        "\"cub_sum_begin\",\"cub_scan\",\"cub_scan_begin\"],\"options\":[],\"cache\":\"cache\","
                        "\"deadline\":200,\"host_headers\":false}\n",
                        cub));
    free(cub);
    struct e2e_result r = e2e_in(folder, "mkdir cache; $BIN/sweetspot-compile <requests; SWEETSPOT_NVCC=none "
                                         "$BIN/sweetspot-compile <requests");
    assert_contains(r.out, "\"status\":\"ok\"", ".so\"", "\"cached\":false", "\"status\":\"environment\"",
                    "'none --version' does not report");
}

// The test runner hides nvcc; this makes it available.
static void use_nvcc(void)
{
    unsetenv("SWEETSPOT_NVCC");
}

TEST_MAIN(use_nvcc, NULL)
