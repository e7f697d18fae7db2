// The header compiles on its own in C, C++ and CUDA, computes the job's launch geometry, keeps other devices' sections,
// and detects a changed template.
#include "tests/finished_header.h"
#include "tests/shared_job.h"
#include "tests/testing.h"

#include "tuner/cli/commands.h"
#include "tuner/header/header.h"

static char *make_header(void)
{
    assert_contains(finished_says(&job, 0, "header JOB --store STORE --output HEADER").out, job.header);
    return test_file("%s", job.header);
}

// Compiles a program that includes the header, and runs it. Any output of the compiler is a failure. Returns the
// program's exit status, or -1 if there is no such compiler.
static int compile_and_run(const char *compiler, const char *suffix, const char *program)
{
    char *source = test_text("%s/program.%s", job.folder, suffix);
    finished_write(source, program);
    return finished_program(&job, compiler, source, "", "");
}

static const char c99[] = "gcc -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror";
static const char cpp[] = "g++ -std=c++11 -pedantic -Wall -Wextra -Wshadow -Wconversion -Wundef -Werror";

// Macros have the same names as sizes on purpose. Each wrong answer has its own exit status.
static const char geometry_program[] =
    "#define M 1\n#define N 1\n#define grid 1\n#define size 1\n"
    "#undef grid\n#undef size\n"
    "#include \"include/mini_best.h\"\n"
    "#undef M\n#undef N\n"
    "int main(void)\n{\n"
    "    const struct mini_gemm_result *row; int count;\n"
    "    if (MINI_GEMM_BLOCK_M != 64 || MINI_GEMM_UNROLL_K != 4) return 1;\n"
    "    if (mini_gemm_grid_x(4096, 4096) != 1056) return 2;           /* min(64 * 64, 132 * 8) */\n"
    "    if (mini_gemm_grid_x(65, 1) != 2 || mini_gemm_grid_y(65, 7) != 4 || mini_gemm_grid_z(65, 7) != 1) return 3;\n"
    "    if (mini_gemm_grid_y(1, 8589934602LL) != 4294967295U) return 18; /* not 5 */\n"
    "    if (mini_gemm_block_x(1, 1) != 64 || mini_gemm_block_y(1, 1) != 1) return 4;\n"
    "    if (mini_gemm_shared_bytes(1, 1) != 64 * 4 * 64 + 16) return 5;\n"
    "    if (mini_gemm_cluster_x(1, 1) != 2 || mini_gemm_cluster_z(1, 1) != 1) return 6;\n"
    "    if (!mini_gemm_geometry(1, 1).used || mini_gemm_geometry(1, 1).cooperative || mini_gemm_geometry(1, "
    "1).overlap) return 7;\n"
    "    if (mini_gemm_geometry_on(-1, 1, 1).used) return 8;\n"
    "    if (mini_gemm_section_of(\"NVIDIA H200\", 0) != 0 || mini_gemm_section_of(\"NVIDIA H100\", 90) != 0) return "
    "9;\n"
    "    if (mini_gemm_section_of(\"NVIDIA A100\", 80) != -1) return 10;\n"
    "    row = mini_gemm_results(&count);\n"
    "    if (count != 2 || row[0].size[0] != 4096 || row[1].size[0] != 1000) return 11;\n"
    "    if (row[0].seconds < 1.2e-3) return 12;\n"
    "    if (!MINI_GEMM_DECIDED_IN_FINAL || MINI_GEMM_FINAL_ROUNDS != 40 || MINI_GEMM_COMPUTE != 90) return 13;\n"
    "    if (MINI_GEMM_RATIO_CUBLAS < 1.19 || MINI_GEMM_RATIO_CUBLAS_HIGH > 1.21 || MINI_GEMM_ERROR != 0.5) return "
    "14;\n"
    "    if (MINI_GEMM_VERIFIED_PROBLEMS != 2 || MINI_GEMM_SOURCE_HASH == 0) return 16;\n"
    "    if (MINI_GEMM_REDUCTION[2] != 'a') return 17;                  /* \"shared\" */\n"
    "    return 0;\n}\n";

TEST_WITH(it_compiles_without_warnings_and_computes_the_launch, setup, teardown)
{
    finished_decided(&job);
    char *text = make_header();
    assert_contains(text, ": 40 registers, 8 bytes spilled, ");
    assert_int_equal(compile_and_run(c99, "c", geometry_program), 0);
    assert_int_equal(compile_and_run(cpp, "cpp", geometry_program), 0);
    int clang =
        compile_and_run("clang -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror", "c", geometry_program);
    assert_true(clang == 0 || clang == -1);
}

TEST_WITH(it_compiles_as_cuda, setup, teardown)
{
    static const char program[] =
        "#include \"include/mini_best.h\"\n"
        "__global__ void kernel(unsigned *out, long long m) { *out = mini_gemm_grid_x(m, 1) + mini_gemm_geometry(m, "
        "1).block[0]; }\n"
        "int main() { return mini_gemm_section_of(\"NVIDIA H200\", 0) + (mini_gemm_block_x(1, 1) == 64 ? 0 : 1); }\n";
    finished_decided(&job);
    make_header();
    if (compile_and_run("nvcc -std=c++17 -arch=sm_90 -Werror all-warnings", "cu", program) == -1) skip();
}

// The job's x as a tensor map over 4 by N/4 columns per row. Its sizes, strides and boxes depend on sizes and
// parameters (BLOCK_M is 64).
TEST_WITH(it_says_how_tensor_maps_are_made, setup, teardown)
{
    static const char program[] =
        "#include \"include/mini_best.h\"\n"
        "int main(void)\n{\n"
        "    struct mini_gemm_tensor_map t = mini_gemm_tensor_map_0(1000, 77);\n"
        "    if (t.type != 7 || t.rank != 2 || !t.used || t.fill != 1) return 1;\n"
        "    if (t.size[0] != 77 || t.size[1] != 1000 || t.size[2] != 1) return 2;\n"
        "    if (t.stride[0] != 320 || t.stride[1] != 0) return 3;\n"
        "    if (t.box[0] != 32 || t.box[1] != 32 || t.box[2] != 1 || t.element_stride[0] != 1) return 4;\n"
        "    if (t.swizzle != 3 || t.interleave != 0 || t.promotion != 2) return 5;\n"
        "    t = mini_gemm_tensor_map_2(1000, 77);\n"
        "    if (t.rank != 3 || t.size[0] != 4 || t.size[1] != 20 || t.size[2] != 1000 || t.stride[0] != 16 || "
        "t.stride[1] != 320 || t.type != 11) return 6;\n"
        "    return mini_gemm_tensor_map_0_on(7, 1, 1).used;\n}\n";
    char *text = test_owned(text_copy(finished_job_text)), *at = strstr(text, "{ buffer = \"x\"");
    char *rest = test_owned(text_copy(strstr(at, ", { buffer = \"y\"")));
    *at = 0;
    char *end = strstr(rest, " );");
    *end = 0;
    autofree char *changed = text_format(
        "%s{ buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; ld = \"round_up(N, 4)\"; tma = { box = "
        "[\"BLOCK_M / 2\", \"32\"];\n"
        "  swizzle = \"BLOCK_M > 32 ? 128 : 64\"; promotion = 128; out_of_bounds = \"nan\"; }; }%s,\n"
        "  { buffer = \"x\"; tma = { view = [\"M\", \"ceil_div(N, 4)\", \"4\"]; box = [8, 4, 4]; convert = "
        "\"tf32\"; }; } );%s",
        text, rest, end + 3);
    finished_write(job.job, changed);
    finished_decided(&job);
    make_header();
    assert_int_equal(compile_and_run(c99, "c", program), 0);
    assert_int_equal(compile_and_run(cpp, "cpp", program), 0);
}

TEST_WITH(on_request_the_parameters_have_the_templates_own_names, setup, teardown)
{
    static const char program[] =
        "#define TEXT_(...) #__VA_ARGS__\n#define TEXT(...) TEXT_(__VA_ARGS__)\n"
        "#include \"include/mini_best.h\"\n"
        "#ifdef BLOCK_M\n#error too early\n#endif\n"
        "#define MINI_GEMM_DEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n#include \"include/mini_best.h\"\n"
        "int printf(const char *, ...);\n"
        "int main(void) { printf(\"%s|%s|%s|%s\\n\", TEXT(BLOCK_M), TEXT(UNROLL_K), TEXT(REDUCTION), TEXT(ALPHA)); "
        "return ALPHA; }\n";
    finished_trials(&job);
    char *text = make_header();
    assert_contains(text, "#define UNROLL_K _Pragma(\"unroll 4\")\n", "#define REDUCTION shuffle\n");
    assert_int_equal(compile_and_run("gcc -std=c99 -Wall -Wextra -Wno-unknown-pragmas", "c", program), 2);
}

// Two jobs in one unit: the parameters of the first job are undefined before those of the second job are defined.
TEST_WITH(parameters_can_be_undefined_again, setup, teardown)
{
    static const char program[] =
        "#define MINI_GEMM_DEFINE_PARAMETERS\n#include \"include/mini_best.h\"\nstatic int first = BLOCK_M;\n"
        "#define MINI_GEMM_UNDEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n"
        "#if defined(BLOCK_M) || defined(UNROLL_K) || defined(REDUCTION) || defined(ALPHA)\n#error left "
        "behind\n#endif\n"
        "#define OTHER_DEFINE_PARAMETERS\n#include \"include/other_best.h\"\n"
        "int main(void) { return first == 64 && BLOCK_M == 64 && MINI_GEMM_BLOCK_M == OTHER_BLOCK_M ? 7 : 8; }\n";
    finished_decided(&job);
    make_header();
    char *command = test_text(
        "cd %s/include && sed 's/mini_gemm/other/g; s/MINI_GEMM/OTHER/g' mini_best.h >other_best.h", job.folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(compile_and_run(c99, "c", program), 7);
    assert_int_equal(compile_and_run(cpp, "cpp", program), 7);
}

TEST_WITH(an_unknown_device_is_an_error, setup, teardown)
{
    finished_trials(&job);
    make_header();
    static const char *const devices[] = {"NVIDIA_H100", "1", "H200"};
    for (size_t i = 0; i < 3; i++) {
        char *command = test_text("echo '#include \"%s\"' | gcc -x c -fsyntax-only -DMINI_GEMM_DEVICE=%s - 2>&1 | "
                                  "grep -q '#error.*MINI_GEMM_DEVICE must be one of: NVIDIA_H200'",
                                  job.header, devices[i]);
        assert_int_equal(system(command), 0);
    }
}

// Replaces a string in the job file.
static void change_job(const char *old, const char *new)
{
    char *text = test_owned(text_copy(finished_job_text)), *at = strstr(text, old);
    assert_non_null(at);
    *at = 0;
    finished_write(job.job, test_text("%s%s%s", text, new, at + strlen(old)));
}

// The header contains everything that a build of the template needs: with its options, nvcc compiles the entry and
// warns about another architecture.
TEST_WITH(the_header_says_how_the_template_is_built, setup, teardown)
{
    change_job("entry = \"mini\";",
               "entry = \"mini<float, BLOCK_M>\"; options = [\"-use_fast_math\", \"-default-device\"];");
    finished_decided(&job);
    char *text = make_header();
    assert_contains(
        text, "#define MINI_GEMM_STD \"c++17\"\n",
        "#define MINI_GEMM_OPTIONS_NVRTC \"--gpu-architecture=sm_90a -std=c++17 -use_fast_math -default-device\"\n",
        "#define MINI_GEMM_OPTIONS_NVCC \"-gencode=arch=compute_90a,code=sm_90a -std=c++17 -use_fast_math\"\n",
        "#define MINI_GEMM_ENTRY \"mini<float, BLOCK_M>\"\n",
        "#define MINI_GEMM_BUFFERS(X) X(in, f32, x) X(out, f32, y)\n");
    const char *people = strstr(text, "entry mini<float, BLOCK_M>; its arguments"),
               *evidence = strstr(text, "The evidence"), *machines = strstr(text, "/* sweetspot-section ");
    assert_true(people && evidence && machines && people < evidence && evidence < machines);
    if (system("command -v nvcc >/dev/null 2>&1")) skip();
    char *unit = test_text("%s/unit.cu", job.folder);
    finished_write(unit, "#define MINI_GEMM_DEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n"
                         "template <class T, int N> __global__ void mini(const T *x, T *y)\n{\n"
                         "#if MINI_GEMM_COMPUTE == 90 && defined(OWN)\n"
                         "    asm volatile(\"wgmma.fence.sync.aligned;\"); // sm_90a alone has it\n#endif\n"
                         "    y[0] = x[0] * T(N);\n}\nMINI_GEMM_INSTANTIATE\n");
    static const char own[] =
        "-DOWN $(sed -n 's/^#define MINI_GEMM_OPTIONS_NVCC \"\\(.*\\)\"/\\1/p' include/mini_best.h)";
    static const struct {
        const char *arch, *warning;
    } cases[] = {{own, ""},
                 {"-arch=sm_80", "this section was tuned for sm_90a and is compiled for another architecture"},
                 {"-arch=sm_90", "this section was tuned for sm_90a and is compiled for another architecture"}};
    for (size_t i = 0; i < 3; i++) {
        char *command = test_text("cd %1$s && nvcc %2$s -cubin unit.cu -o unit.cubin >messages 2>&1 && "
                                  "nvcc %2$s -c unit.cu -o unit.o >>messages 2>&1 && strings unit.cubin | "
                                  "grep -q '_Z4miniIfLi64EEvPKT_PS0_'",
                                  job.folder, cases[i].arch);
        if (system(command)) fail_msg("%s", command);
        char *path = test_text("%s/messages", job.folder), *messages = test_owned(text_read_file(path, NULL));
        if (*cases[i].warning)
            assert_contains(messages, cases[i].warning);
        else
            assert_string_equal(messages, "");
    }
}

// The template is launched with the winner's geometry and arguments, even where the parameters' macros are undefined.
// Sizes that were not verified are refused. The test replaces the runtime's functions.
static const char call_program[] =
    "#include <cuda_runtime.h>\n#include <cstring>\n"
    "static cudaLaunchConfig_t seen; static cudaLaunchAttribute attribute; static const void *kernel; static int "
    "allowed;\n"
    "static unsigned char values[4][8];\n"
    "static cudaError_t fake_set(const void *, cudaFuncAttribute, int value) { allowed = value; return cudaSuccess; }\n"
    "static cudaError_t fake_launch(const cudaLaunchConfig_t *config, const void *k, void **arguments)\n{\n"
    "    static const int bytes[] = {8, 8, 8, 4};\n"
    "    seen = *config, attribute = config->attrs[0], kernel = k;\n"
    "    for (int i = 0; i < 4; i++) memcpy(values[i], arguments[i], bytes[i]);\n    return cudaSuccess;\n}\n"
    "#define cudaLaunchKernelExC fake_launch\n#define cudaFuncSetAttribute fake_set\n"
    "#define MINI_GEMM_DEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n"
    "template <class T, int B> __global__ void mini(const T *x, T *y, long long m, float alpha) { y[0] = x[m] * alpha "
    "* B; }\n"
    "#define MINI_GEMM_UNDEFINE_PARAMETERS\n#include \"include/mini_best.h\"\n"
    "int main()\n{\n"
    "    float *x = (float *)64, *y = (float *)128, alpha;\n    long long m;\n"
    "    if (mini_gemm_launch((cudaStream_t)7, 1000, 77, x, y) != cudaSuccess) return 1;\n"
    "    if (kernel != (const void *)mini<float, 64> || seen.stream != (cudaStream_t)7) return 2;\n"
    "    if (seen.gridDim.x != mini_gemm_grid_x(1000, 77) || seen.blockDim.x != 64) return 3;\n"
    "    if (seen.dynamicSmemBytes != 64 * 4 * 64 + 16 || allowed) return 4;\n"
    "    if (seen.numAttrs != 1 || attribute.val.clusterDim.x != 2) return 5;\n"
    "    if (memcmp(values[0], &x, 8) || memcmp(values[1], &y, 8)) return 6;\n"
    "    memcpy(&m, values[2], 8), memcpy(&alpha, values[3], 4);\n"
    "    if (m != 1000 || alpha != 0.5f) return 7;\n"
    "    return mini_gemm_launch(0, 1000, 76, x, y) != cudaErrorInvalidValue;\n}\n";

TEST_WITH(the_template_is_launched_by_a_function, setup, teardown)
{
    char *text = test_owned(text_replaced(finished_job_text, "entry = \"mini\"", "entry = \"mini<float, BLOCK_M>\""));
    finished_write(job.job, test_owned(text_replaced(
                                text, "direction = \"out\"; } );",
                                "direction = \"out\"; }, { scalar = \"M\"; type = \"i64\"; }, { scalar = \"alpha\"; "
                                "type = \"f32\"; value = 0.5; } );")));
    finished_decided(&job);
    text = make_header();
    assert_contains(text, "or call mini_gemm_launch(stream, sizes, buffers).");
    assert_null(strstr(text, "mini_gemm_fn_log2")); // nothing calls it
    int result = compile_and_run("nvcc -std=c++17 -gencode=arch=compute_90a,code=sm_90a -Werror all-warnings", "cu",
                                 call_program);
    if (result == -1) skip();
    assert_int_equal(result, 0);
}

TEST_WITH(sizes_and_buffers_are_listed, setup, teardown)
{
    static const char program[] =
        "#include \"include/mini_best.h\"\n"
        "int main(void)\n{\n"
        "    if (!mini_gemm_supported(4096, 4096) || !mini_gemm_supported(1000, 77) || !mini_gemm_supported(1008, 78)) "
        "return 1;\n"
        "    if (mini_gemm_supported(1004, 77) || mini_gemm_supported(992, 77) || mini_gemm_supported(4104, 77)) "
        "return 2;\n"
        "    if (mini_gemm_supported(1000, 76) || mini_gemm_supported(1000, 4097)) return 3;\n"
        "    if (mini_gemm_bytes_x(1000, 77) != 4 * 1000 * 80 || mini_gemm_bytes_y(1, 1) != 4) return 4;\n"
        "    if (mini_gemm_argument_2(1000, 77) != 80 * 64 || mini_gemm_argument_3(1, 1) != 0.5) return 5;\n"
        "    return mini_gemm_supported_on(7, 1000, 77) || MINI_GEMM_ALIGNMENT != 16;\n}\n";
    change_job("{ buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; }, { buffer = \"y\"; type = \"f32\"; shape = "
               "[1]; direction = \"out\"; }",
               "{ buffer = \"x\"; type = \"f32\"; shape = [\"M\", \"N\"]; ld = \"round_up(N, 4)\"; }, { buffer = "
               "\"y\"; type = \"f32\"; shape = [1]; direction = \"out\"; }, { scalar = \"ld\"; type = \"i32\"; value = "
               "\"round_up(N, 4) * BLOCK_M\"; }, { scalar = \"alpha\"; type = \"f32\"; value = 0.5; }");
    finished_decided(&job);
    char *text = make_header();
    assert_contains(text, " 2  i32  ld = round_up(N, 4) * BLOCK_M: mini_gemm_argument_2(sizes)\n");
    assert_int_equal(compile_and_run(c99, "c", program), 0);
    assert_int_equal(compile_and_run(cpp, "cpp", program), 0);
}

TEST_WITH(a_header_of_another_interface_is_not_merged, setup, teardown)
{
    finished_decided(&job);
    make_header();
    static const char *const changes[][2] = {
        {"entry = \"mini\";", "entry = \"mini_naive\";"},
        {"shape = [1]; direction = \"out\"", "shape = [1]; direction = \"inout\""}};
    for (size_t i = 0; i < 2; i++) {
        change_job(changes[i][0], changes[i][1]);
        if (!i) finished_trials_on(&job, "NVIDIA A100", "sm_80", 132);
        assert_contains(finished_says(&job, 2, "header JOB --store STORE -o HEADER").err,
                        "other entries or buffers than the job");
    }
}

TEST_WITH(without_a_final_it_says_that_none_decided, setup, teardown)
{
    finished_trials(&job);
    char *text = make_header();
    assert_contains(text, "NOT decided in a final", "#define MINI_GEMM_DECIDED_IN_FINAL 0\n",
                    "#define MINI_GEMM_BLOCK_M 128\n"); // the best of the search
    finished_final(&job);
    text = make_header();
    assert_null(strstr(text, "NOT decided"));
    assert_contains(text, "#define MINI_GEMM_BLOCK_M 64\n"); // the final's winner
    assert_contains(text, "tied with BLOCK_M=128,UNROLL_K=4,REDUCTION=shuffle\n",
                    "1.200 [1.200, 1.200] times the speed of cublas; largest error ",
                    "verified on M=4096,N=4096; M=1000,N=77; largest error 0.5 of what is allowed\n");
}

TEST_WITH(a_header_for_a_new_device_is_merged_into_the_old_one, setup, teardown)
{
    static const char program[] =
        "#include \"include/mini_best.h\"\n"
        "int main(void)\n{\n"
        "    int h200 = mini_gemm_section_of(\"NVIDIA H200\", 90), a100 = mini_gemm_section_of(\"NVIDIA A100\", 80), "
        "count;\n"
        "    mini_gemm_results(&count);\n"
        "    if (h200 == a100 || h200 < 0 || a100 < 0 || count != 4) return 1;\n"
        "    if (mini_gemm_geometry_on(h200, 1, 1).block[0] != 64 || mini_gemm_geometry_on(a100, 1, 1).block[0] != "
        "128) return 2;\n"
        "    return MINI_GEMM_BLOCK_M == 64 ? 10 : MINI_GEMM_BLOCK_M == 128 && MINI_GEMM_COMPUTE == 80 ? 20 : 30;\n}\n";
    finished_decided(&job);
    make_header();
    finished_trials_on(&job, "NVIDIA A100", "sm_80", 132); // becomes the last environment; has no final
    char *both = make_header();
    assert_int_equal(compile_and_run(c99, "c", program), 20); // the newest one is the default
    assert_int_equal(compile_and_run(test_text("%s -DMINI_GEMM_DEVICE=NVIDIA_H200", c99), "c", program), 10);
    assert_int_equal(compile_and_run(cpp, "cpp", program), 20);
    char *again = make_header(); // replaces its own section only
    assert_string_equal(both, again);
}

// All devices that are not in the header share one fallback: the newest store's, placed after the other sections.
TEST_WITH(two_devices_share_a_fallback, setup, teardown)
{
    static const char program[] = "#include \"include/mini_best.h\"\n"
                                  "int main(void)\n{\n"
                                  "    if (mini_gemm_section_of(\"NVIDIA A100\", 80) != 0 || "
                                  "mini_gemm_section_of(\"NVIDIA H200\", 90) != 1) return 1;\n"
                                  "    if (mini_gemm_section_of(\"NVIDIA T4\", 75) != 2 || "
                                  "mini_gemm_section_of(\"NVIDIA H100\", 90) != 1) return 2;\n"
                                  "    if (mini_gemm_geometry_on(2, 4096, 4096).block[0] != 64) return 3;\n"
                                  "    return MINI_GEMM_SECTION * 10 + MINI_GEMM_FALLBACK + 20;\n}\n";
    static const struct {
        const char *device;
        int status;
    } cases[] = {{"NVIDIA_A100", 20}, {"NVIDIA_H200", 30}, {"FALLBACK", 41}, {"NVIDIA_T4", 41}};
    change_job("problems = (", "fallback = { BLOCK_M = 64; UNROLL_K = 4; REDUCTION = \"shared\"; };\nproblems = (");
    finished_decided(&job);
    make_header();
    finished_trials_on(&job, "NVIDIA A100", "sm_80", 132);
    finished_final(&job);
    char *text = make_header();
    const char *one = strstr(text, "\"verified_on\":\"");
    assert_non_null(one);
    assert_null(strstr(one + 1, "\"verified_on\":\""));
    assert_contains(one, "\"verified_on\":\"NVIDIA A100\"");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *compiler = test_text("%s -DMINI_GEMM_DEVICE=%s", i % 2 ? cpp : c99, cases[i].device);
        assert_int_equal(compile_and_run(compiler, i % 2 ? "cpp" : "c", program), cases[i].status);
    }
}

TEST_WITH(a_file_that_is_not_a_header_of_this_job_is_left_alone, setup, teardown)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"int precious;\n", "was not written by sweetspot"},
        {"/* sweetspot-section {\"version\":2,\"job\":\"other\",\"device\":\"X\",\"sizes\":[\"M\",\"N\"]} */\n",
         "another job, 'other'"},
        {"/* sweetspot-section {\"version\":2,\"job\":\"mini_gemm\",\"device\":\"NVIDIA H200\"} */\n", // its own device
         "another job, 'mini_gemm'"},
        {"/* sweetspot-section {\"version\":2,\"job\":\"mini-gemm\",\"device\":\"X\",\"sizes\":[\"M\"]} */\n",
         "other problem sizes"},
        {"/* sweetspot-section {\"version\":9} */\n", "version 9"},
        {"/* sweetspot-section {\"version\":1,\"job\":\"mini-gemm\",\"device\":\"X\",\"sizes\":[\"M\",\"N\"]} */\n",
         "a section of version 1, but this sweetspot writes version 2"},
        {"/* sweetspot-section {\"version\": */\n", "mini_best.h:1: not JSON"},
    };
    finished_trials(&job);
    assert_int_equal(mkdir(test_owned(text_directory(job.header)), 0777), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        finished_write(job.header, cases[i].text);
        assert_contains(finished_says(&job, 2, "header JOB --store STORE --output HEADER").err, cases[i].message,
                        "it was not changed (remove it, or give another --output)");
        char *text = test_owned(text_read_file(job.header, NULL));
        assert_string_equal(text, cases[i].text);
    }
}

TEST_WITH(a_changed_template_is_noticed, setup, teardown)
{
    finished_trials(&job);
    make_header();
    assert_contains(finished_says(&job, 0, "header JOB --check HEADER").out, "is the one that was tuned");
    // If nothing has changed, the number that the build passes is the number in the header.
    char *out = finished_says(&job, 0, "header JOB --hash").out;
    out[strcspn(out, "\n")] = 0;
    char *same = test_text("%s -DSWEETSPOT_SOURCE_HASH=%s", c99, out);
    assert_int_equal(compile_and_run(same, "c", "#include \"include/mini_best.h\"\nint main(void) { return 0; }\n"), 0);
    finished_write(job.template, "// another kernel\n");
    assert_contains(finished_says(&job, 1, "header JOB --check HEADER").out, "the template has changed");
    out = finished_says(&job, 0, "header JOB --hash").out;
    out[strcspn(out, "\n")] = 0;
    char *command = test_text("echo '#include \"%s\"' | gcc -x c -fsyntax-only -DSWEETSPOT_SOURCE_HASH=%s - 2>&1 | "
                              "grep -q '#error.*template has changed' && echo 1",
                              job.header, out);
    FILE *pipe = popen(command, "r");
    assert_int_equal(fgetc(pipe), '1');
    pclose(pipe);
    assert_contains(finished_says(&job, 0, "header JOB --store STORE --output HEADER").err,
                    ": source; to measure the best again: sweetspot tune ");
}

TEST_WITH(an_expression_without_a_value_is_named, setup, teardown)
{
    finished_decided(&job);
    change_job("block = [ \"BLOCK_M\" ]", "block = [ \"64 / (BLOCK_M - 64)\" ]");
    assert_contains(finished_says(&job, 2, "header JOB --store STORE -o HEADER").err,
                    "stage 'mini': cannot write '64 / (BLOCK_M - 64)' as C: division by zero");
}

TEST_WITH(what_would_break_the_header_is_refused_or_made_harmless, setup, teardown)
{
    struct error err = {""};
    static const char *const jobs[] = {"[{\"job\":\"a\",\"device\":\"D\",\"sizes\":[],\"parameters\":[{\"name\":"
                                       "\"DEVICE\",\"value\":1}],\"problems\":[{}]}]",
                                       "[{\"job\":\"a\",\"device\":\"D\",\"sizes\":[],\"parameters\":[{\"name\":\"X\","
                                       "\"value\":1},{\"name\":\"x\",\"value\":1}],\"problems\":[{}]}]",
                                       "[{\"job\":\"a\",\"device\":\"D 1\",\"sizes\":[],\"problems\":[{}]},"
                                       "{\"job\":\"a\",\"device\":\"D-1\",\"sizes\":[],\"problems\":[{}]}]"};
    for (size_t i = 0; i < 3; i++) {
        json_t *sections = test_json(json_parse(jobs[i], &err));
        err.message[0] = 0;
        assert_int_equal(header_write(job.header, sections, &err), HEADER_COLLISION);
        assert_contains(err.message, "would be defined twice");
        assert_int_equal(access(job.header, F_OK), -1); // no file is left behind
    }
    json_t *section = json_parse(
        "{\"version\":2,\"job\":\"3 */ x\",\"device\":\"*/ \\\"evil\\\" \\\\ /*/ ?"
        "?/\",\"driver\":\"a*/b\",\"sizes\":[],\"problems\":[{\"name\":\"*/\"}],"
        "\"stages\":[{\"name\":\"s\"}],\"verified\":[\"*/\"],\"ties\":[\"/*\"],\"configuration\":\"*/ ?\?/\"}",
        &err);
    assert_non_null(section);
    json_t *sections = test_json(json_pack("[o]", section));
    assert_int_equal(header_write(job.header, sections, &err), 0);
    assert_int_equal(compile_and_run(c99, "c",
                                     "#include \"include/mini_best.h\"\nint main(void) { return "
                                     "K_3____X_DEVICE_NAME[0] == '*' && k_3____x_grid_x() == 1 ? 5 : 6; }\n"),
                     5);
    autojson json_t *back = header_read(job.header, &err);
    assert_true(json_equal(sections, back));
}

TEST_MAIN(NULL, NULL)
