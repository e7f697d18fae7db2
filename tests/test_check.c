// sweetspot check on jobs with one mistake each: the message, with the line of the job file, and the exit status. Few
// cases need the compiler (NVRTC, no GPU), because each of these takes a third of a second.
#include "tests/e2e.h"
#include "tests/testing.h"

#include "tuner/check/check.h"

static const char job[] = "name = \"t\";\n"
                          "kernel = {\n"
                          "  template = \"k.cu\";\n"
                          "  entry = \"scale\";\n"
                          "  defines = { FACTOR = 2; };\n" // 5
                          "};\n"
                          "parameters = (\n"
                          "  { name = \"BLOCK\"; values = [32, 64, 128]; },\n"
                          "  { name = \"UNROLL\"; values = [1, 2]; }\n"
                          ");\n" // 10
                          "constraints = ( \"BLOCK * UNROLL <= 128\" );\n"
                          "problems = ( { N = 1000; } );\n"
                          "launch = { grid = [ \"ceil_div(N, BLOCK * UNROLL)\" ];\n"
                          "  block = [ \"BLOCK\" ]; };\n"
                          "arguments = (\n" // 15
                          "  { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; },\n"
                          "  { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; },\n"
                          "  { scalar = \"count\"; type = \"i32\"; value = \"N\"; }\n"
                          ");\n"
                          "reference = {\n" // 20
                          "  kernel = \"plain\";\n"
                          "  launch = { grid = [ \"ceil_div(N, 256)\" ]; block = [ 256 ]; };\n"
                          "};\n";

static const char kernel[] = "#ifndef BLOCK\n"
                             "#define BLOCK 64\n"
                             "#endif\n"
                             "extern \"C\" __global__ void scale(const float *x, float *y, int n)\n"
                             "{\n" // 5
                             "    for (int k = 0; k < UNROLL; k++) {\n"
                             "        int i = (blockIdx.x * UNROLL + k) * BLOCK + threadIdx.x;\n"
                             "        if (i < n) y[i] = FACTOR * x[i];\n"
                             "    }\n"
                             "}\n" // 10
                             "extern \"C\" __global__ void plain(const float *x, float *y, int n)\n"
                             "{\n"
                             "    int i = blockIdx.x * 256 + threadIdx.x;\n"
                             "    if (i < n) y[i] = 2 * x[i];\n"
                             "}\n" // 15
                             "template <class T> __global__ void generic(const T *x, T *y, int n) { y[n] = x[n]; }\n"
                             "namespace inner { __global__ void scale(const float *x, double *y) { y[0] = x[0]; } }\n";

struct wrong {
    const char *what, *job, *kernel; // sed scripts; NULL: unchanged
    const char *arguments;
    int status;
    const char *said[4]; // on stdout or stderr
};

#define CASE(what, job, kernel, arguments, status, ...) \
    {                                                   \
        what, job, kernel, arguments, status,           \
        {                                               \
            __VA_ARGS__                                 \
        }                                               \
    }
// Without a compiler.
#define QUICK(what, job, kernel, status, ...) CASE(what, job, kernel, "--compile 0", status, __VA_ARGS__)
#define LIBRARY_OF(function) "21,22d; 20s/$/ library = \"library.so\";\\n  function = \"" function "\";/"
#define COMMAND_OF(command) "21,22d; 20s/$/ command = \"" command "\";/"
#define FILES_OF(file) "21,22d; 20s/$/ files = { y = \"" file "\"; };/"
#define FILL_OF(file) "16s/; }/; fill = \"" file "\"; }/"

static void write_npy(const char *folder, const char *name, const char *shape, size_t floats)
{
    FILE *file = fopen(test_text("%s/%s", folder, name), "wb");
    assert_non_null(file);
    fputs("\x93NUMPY\x01", file);
    fputc(0, file);
    fputc(118, file);
    fputc(0, file);
    assert_int_equal(fprintf(file, "{'descr': '<f4', 'fortran_order': False, 'shape': %-60s}", shape), 111);
    for (int i = 0; i < 7; i++) fputc(i < 6 ? ' ' : '\n', file);
    for (size_t i = 0; i < 4 * floats; i++) fputc(0, file);
    fclose(file);
}

static void run(const struct wrong *cases, size_t count)
{
    char *folder = e2e_folder("check");
    write_npy(folder, "sound.npy", "(1000,)", 1000);
    write_npy(folder, "half.npy", "(250, 2)", 500);
    write_npy(folder, "cut.npy", "(1000,)", 999);
    e2e_write(folder, "broken.c", "int f(void) { return nothing; }\n");
    e2e_pass(folder, "cp $BIN/reference_library.so $DIR/library.so");
    for (size_t i = 0; i < count; i++) {
        const struct wrong *w = &cases[i];
        e2e_write(folder, "sound.cfg", job);
        e2e_write(folder, "sound.cu", kernel);
        struct e2e_result r =
            e2e_in(folder, "sed '%s' sound.cfg >job.cfg && sed '%s' sound.cu >k.cu && $BIN/sweetspot check job.cfg %s",
                   w->job ? w->job : "", w->kernel ? w->kernel : "", w->arguments);
        if (r.status != w->status) fail_msg("%s: status %d\n%s%s", w->what, r.status, r.out, r.err);
        char *all = test_text("%s%s", r.out, r.err);
        for (size_t k = 0; k < 4 && w->said[k]; k++)
            if (!strstr(all, w->said[k])) fail_msg("%s: expected '%s' in:\n%s", w->what, w->said[k], all);
        if (!w->said[0] && *r.err) fail_msg("%s: %s", w->what, r.err);
    }
}
#define RUN(cases) run(cases, sizeof cases / sizeof *cases)

TEST(what_kernels_take_is_compared_with_the_job)
{
    static const struct wrong cases[] = {
        CASE("sound", NULL, NULL, "", 0, NULL),
        CASE("a misspelt kernel and a misspelt reference", "s/\"scale\"/\"scael\"/; s/\"plain\"/\"plian\"/", NULL, "",
             2, "job.cfg:4: unknown kernel 'scael'; did you mean 'scale'?",
             "job.cfg:21: unknown kernel 'plian'; did you mean 'plain'?"),
        CASE("a template without its arguments", "s/\"scale\"/\"generic\"/", NULL, "", 2,
             "job.cfg:4: kernel 'generic' (",
             "k.cu:16) is a template: name an instance, e.g. entry = \"generic<float>\""),
        CASE("a template's instance",
             "s/\"scale\"/\"generic<float>\"/; /UNROLL\"; v/s/UNROLL/BLOCK2/;s/UNROLL/1/g; "
             "s/BLOCK2/UNROLL/; /constraints/d",
             NULL, "", 0, "job.cfg: job 't'"),
        CASE("a kernel in a namespace with two arguments of the three, and one of another type",
             "s/\"scale\"/\"inner::scale\"/; s/, value = \"N\"; }/&/", NULL, "", 2,
             "job.cfg:15: kernel 'inner::scale' takes 2 arguments, (const float *, double *), but the job gives 3"),
        CASE("wrong types everywhere", "16s/f32/f64/; 18s/i32/f64/; 20i\\\n",
             "4s/float \\*y/const float *y/; 8s/y.i. =/((float *)y)[i] =/", "", 2,
             "job.cfg:16: warning: argument 1: kernel 'scale' takes 'const float *', but the elements of buffer 'x' "
             "are f64",
             "job.cfg:17: warning: argument 2: kernel 'scale' takes 'const float *', so it cannot write buffer 'y'",
             "job.cfg:18: argument 3: kernel 'scale' takes int of 4 bytes, but scalar 'count' of type f64 has 8: write "
             "type = \"i32\""),
        CASE(
            "a scalar for a pointer, and a float of the same size for an int",
            "16,17s/.*/&/; 18s/i32/f32/; 18s/\"N\"/1.5/; 16s/.*/  { scalar = \"a\"; type = \"i64\"; value = 1; },/; "
            "17s/.*/&/; 20,22d; 23s/.*/verification = { enabled = false; };/",
            NULL, "", 2,
            "job.cfg:16: argument 1: kernel 'scale' takes a pointer, 'const float *', but the job gives the scalar 'a'",
            "job.cfg:18: argument 3: kernel 'scale' takes int, but scalar 'count' is of type f32, whose bits would "
            "be read as another number: write type = \"i32\""),
        CASE(
            "a null pointer",
            "18s/$/,/; 19s/^/  { scalar = \"bias\"; type = \"u64\"; value = 0; }\\n/; s/\"scale\"/\"biased\"/; 20,22d; "
            "23s/.*/verification = { enabled = false; };/",
            "$a extern \"C\" __global__ void biased(const float *x, float *y, int n, const float *bias) { int i = "
            "blockIdx.x * BLOCK * UNROLL + threadIdx.x; if (i < n) y[i] = FACTOR * x[i] + (bias ? bias[i] : 0); }",
            "", 0, "no mistakes found"),
        CASE("a buffer for an int", "18s/.*/  { buffer = \"z\"; type = \"f32\"; shape = [ \"N\" ]; }/", NULL, "", 2,
             "job.cfg:18: argument 3: kernel 'scale' takes int, but the job gives the address of buffer 'z'"),
    };
    RUN(cases);
}

#define PLACED_KERNEL                                                                                       \
    "4i __constant__ float coef[3]; namespace ns { __device__ int total; } __device__ float big[4096];\n; " \
    "4s/int n/int n, cudaTextureObject_t t/; 8s/x.i./x[i] * coef[0] * tex1D<float>(t, i)/; "                \
    "11s/int n/int n, cudaTextureObject_t t/"
#define TEXTURE "18s/$/, { buffer = \"t\"; type = \"f32\"; shape = [ \"N\" ]; texture = { }; }/; "
#define CONSTANT(text) "12s/$/ constants = ( " text " );/; "

TEST(constants_and_textures_are_compared_with_the_source)
{
    static const struct wrong cases[] = {
        CASE("sound",
             TEXTURE CONSTANT("{ name = \"coef\"; type = \"f32\"; shape = [ 3 ]; }, "
                              "{ name = \"ns::total\"; type = \"i32\"; direction = \"out\"; }"),
             PLACED_KERNEL, "", 0, NULL),
        CASE("a misspelt constant, one that is too large, one of another namespace, one that cannot be written",
             TEXTURE CONSTANT("{ name = \"ceof\"; type = \"f32\"; shape = [ 3 ]; }, { name = \"coef\"; type = \"f32\"; "
                              "shape = [ \"N\" ]; direction = \"scratch\"; }, { name = \"total\"; type = \"i32\"; }, { "
                              "name = \"none\"; type = \"i32\"; optional = true; }"),
             PLACED_KERNEL, "", 2,
             "job.cfg:12: there is no __constant__ or __device__ variable 'ceof' in k.cu; did you mean 'coef'?",
             "job.cfg:12: constant 'coef' has 4000 bytes, but the source's variable 12",
             "job.cfg:12: there is no __constant__ or __device__ variable 'total' in k.cu",
             "job.cfg:12: constant 'coef' has direction \"scratch\", but kernels cannot write a __constant__ variable"),
        CASE("a constant that is smaller, and too many of them",
             TEXTURE CONSTANT("{ name = \"big\"; type = \"f32\"; shape = [ 16 ]; }"),
             PLACED_KERNEL "; 1i __constant__ char table[70000];", "", 2,
             "job.cfg:12: warning: constant 'big' has 64 bytes, but the source's variable 16384: the rest keeps",
             "job.cfg:3: the __constant__ variables of the source take 70012 bytes; a device has 65536"),
        CASE("a texture for a float, and a size that no device takes",
             "18s/$/, { buffer = \"t\"; type = \"f32\"; shape = [ \"N * 200\" ]; texture = { }; }/; ",
             "4s/int n/int n, float t/; 8s/x.i./x[i] * t/; 11s/int n/int n, float t/", "", 2,
             "job.cfg:18: argument 4: kernel 'scale' takes float, but the job gives a texture of 't', which a kernel "
             "declares as cudaTextureObject_t",
             "job.cfg:18: problem N=1000, 't': its width is 200000; the device accepts 1 to 131072 for a texture of 1 "
             "dimension"),
        QUICK("a value that its type does not hold", CONSTANT("{ name = \"small\"; type = \"i8\"; fill = \"N\"; }"),
              NULL, 2, "job.cfg:12: fill of buffer 'small' is 1000, more than an i8 holds"),
        QUICK("a constant's file of another length",
              CONSTANT("{ name = \"coef\"; type = \"f32\"; shape = [ 3 ]; fill = \"half.npy\"; }"), NULL, 2,
              "job.cfg:12: '", "half.npy' has 500 elements (250 x 2), but buffer 'coef' of problem N=1000 has 1 x 3"),
        CASE("texture references", NULL, "4i texture<float, 2> image;", "", 1, "error: texture is not a template",
             "hint: texture references are no longer part of CUDA"),
    };
    RUN(cases);
}

TEST(a_hint_is_for_the_first_error)
{
    static const char two[] = "k.cu(1): error: expected a type\n\nk.cu(2): error: identifier \"x\" is undefined\n";
    assert_null(compile_hint(two));
    assert_non_null(strstr(compile_hint(strchr(two, '\n') + 2), "does not declare this name"));
    assert_null(compile_hint("nvcc made no cubin: No such file or directory"));
    assert_non_null(compile_hint("k.cu:1:10: fatal error: x.h: No such file or directory\n"));
}

TEST(compile_errors_are_whole_and_explained)
{
    static const struct wrong cases[] = {
        CASE("a host header", NULL, "1i #include <iostream>", "", 1, "compile_error  the reference",
             "k.cu:1: catastrophic error: cannot open source file \"iostream\"",
             "hint: NVRTC has only the usual C headers", "more failed in the same way"),
        CASE("host code", NULL, "$a int main() { float *p; cudaMalloc(\\&p, 4); return 0; }", "", 1,
             "k.cu:18: error: A function without execution space annotations", "hint: NVRTC compiles only device code"),
        CASE("an error in the kernel, and another", NULL, "8s/y.i./undeclared/; 14s/y.i./another/", "", 1,
             "k.cu:8: error: identifier \"undeclared\" is undefined", "(and 1 more error)"),
        CASE("a kernel that only some configurations have", NULL, "4s/^/#if UNROLL == 1\\n/; 10s/$/\\n#endif/", "-c 9",
             1, "error: the source has no kernel 'scale'", "hint: check the kernel's name and namespace"),
        CASE("an entry that a macro names",
             "4s/scale/VARIANT/; 9s/.*/  { name = \"UNROLL\"; values = [1, 2]; }, { name = \"VARIANT\"; values = "
             "[\"scale\", \"other\"]; }/",
             "$a extern \"C\" __global__ void other(const float *x, float *y, int n) { int i = blockIdx.x * BLOCK * "
             "UNROLL + threadIdx.x; if (i < n) y[i] = FACTOR * x[i]; }",
             "--compile 2", 0, "no mistakes found"),
        CASE("an entry that a macro of the source names", "4s/scale/CHOSEN/", "1i #define CHOSEN scale", "", 0,
             "no mistakes found"),
        CASE("a function that is not a kernel", "s/\"scale\"/\"helper\"/",
             "$a __device__ void helper(const float *x, float *y, int n) { y[n] = BLOCK * UNROLL; }", "", 2,
             "job.cfg:4: 'helper' is not a kernel: only a __global__ function can be launched"),
    };
    RUN(cases);
}

TEST(parameters_that_change_nothing_are_named)
{
    static const struct wrong cases[] = {
        QUICK("a parameter that is nowhere",
              "9s/.*/  { name = \"UNROLL\"; values = [1, 2]; }, { name = \"TILE\"; values = [1, 2]; }/", NULL, 2,
              "job.cfg:9: parameter 'TILE' changes nothing: neither the source nor a launch uses it"),
        QUICK("a parameter in a comment, a string and a constraint",
              "9s/.*/  { name = \"UNROLL\"; values = [1, 2]; }, { name = \"TILE\"; values = [1, 2]; }/; 11s/)/, \"TILE "
              "< 3\" )/",
              "1i // TILE\\nstatic const char *const name = \"TILE\";", 0,
              "job.cfg:9: warning: parameter 'TILE' only affects which configurations are valid"),
        CASE("a parameter that only an include uses", NULL, "s/UNROLL/COUNT/; 1i #include \"other.h\"",
             "--compile 0; rm -f other.h; echo \"#define COUNT UNROLL\" >other.h; $BIN/sweetspot check job.cfg "
             "--compile 0",
             0, "no mistakes found"),
        QUICK("a parameter that the source defines", NULL, "1d; 3d", 2, "job.cfg:8: ",
              "k.cu:1 defines 'BLOCK', so the job's values of this parameter have no effect there: put "
              "'#ifndef BLOCK' and '#endif' around that line"),
        QUICK("a define that the source defines", NULL, "1i #define FACTOR 3", 2,
              "job.cfg:5: ", "k.cu:1 defines 'FACTOR', so the job's values of this macro"),
        QUICK("a definition that the job's own macro leaves out", NULL, "2a #define UNROLL 8", 0, NULL),
        QUICK("a macro that is also an argument", "s/FACTOR = 2;/FACTOR = 2; n = 4;/", NULL, 0,
              "job.cfg:5: warning: ", "k.cu:4 declares 'n', but the macro replaces that name by its value"),
        CASE("a parameter whose values make the same code", "9s/UNROLL/TWICE/; s/BLOCK . UNROLL/BLOCK/",
             "s/UNROLL/(TWICE > 0)/", "--compile 100", 0,
             "job.cfg:9: warning: parameter 'TWICE' seems to change nothing: the code is the same in all 3 pairs"),
        CASE("a parameter of the template that nothing uses",
             "4s/scale/wide<BLOCK, TWICE>/; 9s/UNROLL/TWICE/; s/BLOCK . UNROLL/BLOCK/",
             "s/UNROLL/1/; $a template <int B, int T> __global__ void wide(const float *x, float *y, int n) { int i = "
             "blockIdx.x * B + threadIdx.x; if (i < n) y[i] = FACTOR * x[i]; }",
             "--compile 100", 0,
             "job.cfg:9: warning: parameter 'TWICE' seems to change nothing: the code is the same in all 3 pairs"),
        CASE("a parameter that chooses one of the source's kernels",
             "4s/scale/WHICH/; 9s/.*/  { name = \"WHICH\"; values = [\"scale\", \"twice\"]; }/; s/BLOCK . "
             "UNROLL/BLOCK/; 11d",
             "s/UNROLL/1/; $a __global__ void twice(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x "
             "+ threadIdx.x; if (i < n) y[i] = x[i] + x[i]; }",
             "--compile 100", 0, NULL),
    };
    RUN(cases);
}

TEST(launches_that_do_not_fit_are_counted)
{
    static const struct wrong cases[] = {
        QUICK("no block fits", "14s/\"BLOCK\"/\"BLOCK * 64\"/", NULL, 2,
              "job.cfg:14: no configuration can be launched on sm_90, e.g. BLOCK=32,UNROLL=1: problem N=1000: block "
              "dimension 0 is 2048"),
        QUICK("some blocks do not fit", "14s/\"BLOCK\"/\"BLOCK * 16\"/", NULL, 0,
              "job.cfg:14: warning: 1 of 5 configurations cannot be launched on sm_90, e.g. BLOCK=128,UNROLL=1"),
        CASE("a cluster on an older device", "14s/};/cluster = [ 2 ]; };/; 13s/ceil_div(N, BLOCK . UNROLL)/2/", NULL,
             "--compile 0 --arch sm_89", 2, "job.cfg:14: no configuration can be launched on sm_89",
             "cluster of 2 blocks; the device allows 1"),
        CASE("a tensor map on an older device", "16s/; }/; tma = { box = [ 64 ]; }; }/", NULL,
             "--compile 0 --arch sm_86", 0,
             "job.cfg:16: warning: a tensor map needs compute capability 9.0 (sm_90); sm_86 has none"),
        CASE("an instruction of a newer device", NULL, "8s/if/asm volatile(\"cp.async.wait_all;\"); if/",
             "--arch sm_75", 1, "Feature 'cp.async.wait_all' requires .target sm_80 or higher", "on a T4"),
        CASE("shared memory for each architecture", "14s/};/shared = 102400; };/", NULL,
             "--compile 0 --arch sm_120a; $BIN/sweetspot check job.cfg --compile 0 --arch sm_100a", 0,
             "102400 bytes of shared memory per block; the device allows 101376", "on a B200\n"),
    };
    RUN(cases);
}

TEST(files_of_values_and_libraries_are_read)
{
    static const struct wrong cases[] = {
        QUICK("a function of the library", LIBRARY_OF("axpy_reference"), NULL, 0, NULL),
        QUICK("a library that is a text", "21,22d; 20s/$/ library = \"sound.cfg\"; function = \"f\";/", NULL, 2,
              "job.cfg:20: '", "sound.cfg' is not a shared library"),
        QUICK("a function that the library lacks", LIBRARY_OF("axpy_referense"), NULL, 2, "job.cfg:21: library '",
              "' has no function 'axpy_referense'; did you mean 'axpy_reference'?"),
        QUICK("functions of the library that make inputs and judge, one of which it lacks",
              "21,22d; 20s/$/ library = \"library.so\"; generate = \"make_x\"; verify = \"jugde\";/", NULL, 2,
              "job.cfg:20: library '", "' has no function 'jugde'; did you mean 'judge'?"),
        QUICK("a baseline that the library lacks",
              "$s/$/\\nbaselines = ( { name = \"b\"; library = \"library.so\"; function = \"scale\"; init = "
              "\"scale_begn\"; } );/",
              NULL, 2, "' has no function 'scale_begn'; did you mean 'scale_begin'?"),
        CASE("a source that does not compile", "21,22d; 20s/$/ library = \"broken.c\"; function = \"f\";/", NULL, "", 2,
             "job.cfg:20: '", "broken.c' cannot be built:", "broken.c:1:"),
        QUICK("a command", COMMAND_OF("true"), NULL, 0, NULL),
        QUICK("expected values", FILES_OF("sound.npy"), NULL, 0, NULL),
        QUICK("expected values of another shape", FILES_OF("half.npy"), NULL, 2, "job.cfg:20: '",
              "half.npy' has 500 elements (250 x 2), but buffer 'y' of problem N=1000 has 1 x 1000"),
        QUICK("no expected values for an output", "21,22d; 20s/$/ files = { x = \"sound.npy\"; };/", NULL, 2,
              "job.cfg:20: no file has the expected values of buffer 'y'"),
        QUICK("inputs of another shape", FILL_OF("half.npy"), NULL, 2, "job.cfg:16: '",
              "half.npy' has 500 elements (250 x 2), but buffer 'x'"),
        QUICK("inputs that are transposed",
              "s/\"x\"; type = \"f32\"; shape = . \"N\" ./\"x\"; type = \"f32\"; shape = [ 2, 250 ]; fill = "
              "\"half.npy\"/",
              NULL, 0, "job.cfg:16: warning: '", "half.npy' is 250 x 2, but buffer 'x' of problem N=1000 is 2 x 250"),
        QUICK("fractions for integers", "16s/f32/i32/; " FILL_OF("sound.npy"), NULL, 0, "job.cfg:16: warning: '",
              "sound.npy' has floating-point numbers, which lose their fraction in buffer 'x'"),
        QUICK("a file that is not one of numpy's", FILL_OF("cut.npy"), NULL, 2, "job.cfg:16: '",
              "cut.npy' is truncated"),
    };
    RUN(cases);
}

TEST(words_of_other_tuners_are_translated)
{
    static const struct wrong cases[] = {
        CASE("restrictions", "s/^constraints/restrictions/", NULL, "", 2,
             "job.cfg:11: unknown setting 'restrictions' in the job file: it is 'constraints' here"),
        CASE("tune_params", "s/^parameters/tune_params/", NULL, "", 2,
             "job.cfg:7: unknown setting 'tune_params' in the job file: it is 'parameters' here"),
        CASE("block_size_x", "14s/block/block_size_x/", NULL, "", 2,
             "job.cfg:14: unknown setting 'block_size_x' in 'launch': a block's size is a parameter"),
        CASE("lang", "s/^name.*/& lang = \"cuda\";/", NULL, "", 2, "kernels are CUDA C++ here; leave it out"),
        CASE("ceil", "13s/ceil_div(N, BLOCK . UNROLL)/ceil(N \\/ BLOCK)/", NULL, "", 2,
             "job.cfg:13: unknown function at column 1: 'ceil(", "'; for 'ceil(a / b)' write 'ceil_div(a, b)'"),
        CASE("and", "11s/<= 128/<= 128 and BLOCK > 1/", NULL, "", 2, "job.cfg:11: expected an operator at column 23: '",
             "; for 'and' write '&&'"),
        CASE("not", "11s/BLOCK . UNROLL/not BLOCK/", NULL, "", 2, "unknown name 'not' at column 1: '",
             "'; for 'not' write '!'"),
        CASE("power", "11s/BLOCK . UNROLL/BLOCK ** 2/", NULL, "", 2, " at column 8: '",
             "'; for '2 ** n' write '1 << n'"),
        CASE("floor division", "11s/BLOCK . UNROLL/BLOCK \\/\\/ 2/", NULL, "", 2, "for '//' write '/'"),
        CASE("an assignment", "11s/<=/=/", NULL, "", 2, "for equality write '=='"),
    };
    RUN(cases);
}

TEST(samples_are_different_configurations)
{
    char *folder = e2e_folder("samples");
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "k.cu", kernel);
    struct e2e_result r =
        e2e_in(folder, "$BIN/sweetspot check job.cfg --compile 4 | grep '^ok.*BLOCK=' | sort -u | wc -l");
    assert_string_equal(r.out, "4\n");
}

TEST(configurations_beyond_64_bits_are_counted)
{
    char *folder = e2e_folder("large");
    e2e_write(folder, "sound.cfg", job);
    e2e_write(folder, "k.cu", kernel);
    struct e2e_result r = e2e_in(
        folder,
        "sed \"9s/$/, $(seq -s ', ' -f '{ name = \\\"P%%g\\\"; range = [1, 8]; }' 22)/\" sound.cfg >job.cfg && "
        "$BIN/sweetspot list space job.cfg; $BIN/sweetspot list space job.cfg -f json; $BIN/sweetspot check job.cfg "
        "--compile 0; $BIN/sweetspot check job.cfg --compile 0 -f json");
    assert_contains(r.out, "valid size  3.68935e20  (83.3%)", "\"valid\": 3.6893488147419103e20,",
                    "\"configurations\": 3.6893488147419103e20,",
                    "3.68935e20 valid configurations of 442721857769029238784");
}

TEST(without_a_compiler_the_rest_is_checked)
{
    char *folder = e2e_folder("none");
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "k.cu", kernel);
    struct e2e_result r = e2e_passed(e2e_in(
        folder, "export SWEETSPOT_COMPILE_WORKER=/none/such; $BIN/sweetspot check job.cfg && find * -type f | sort"));
    assert_contains(r.err, "sweetspot check: nothing was compiled: ");
    assert_contains(r.out, "no mistakes found\njob.cfg\nk.cu\nstderr\nstdout\n"); // no file was written
    e2e_ended(3, e2e_in(folder, "export SWEETSPOT_COMPILE_WORKER=/none/such; $BIN/sweetspot check job.cfg -c 2"));
    r = e2e_in(folder, "$BIN/sweetspot check job.cfg && find * -type f | sort");
    assert_contains(r.out, "compiles for sm_90a: the first configuration and the reference\nno mistakes found\n"
                           "job.cfg\nk.cu\nstderr\nstdout\n");
    // Without nvcc, which only a baseline needs.
    e2e_write(folder, "other.cfg",
              test_text("%s\nbaselines = ( { name = \"b\"; library = \"k.cu\"; function = \"f\"; } );\n", job));
    r = e2e_passed(e2e_in(folder, "export SWEETSPOT_NVCC=/none/nvcc; $BIN/sweetspot check other.cfg"));
    assert_contains(r.err, "warning: '", "k.cu' cannot be built:\n");
}

// Replaces line 18 of the job, and the type of the kernels' last parameter.
#define PASSED(what, job_argument, type, status, ...)                                                    \
    CASE(what, "18s/.*/  " job_argument "/",                                                             \
         "1s/^/struct params { int n; double scale; }; struct wide { float v[4]; };\\n/; s/int n)/" type \
         " n_)/; s/^{/{ int n = 1000;/",                                                                 \
         "", status, __VA_ARGS__)

TEST(what_is_passed_by_value_is_compared_with_the_job)
{
#define PARAMS "{ scalar = \"p\"; members = ( { scalar = \"n\"; type = \"i32\"; value = \"N\"; }, "
    static const struct wrong cases[] = {
        PASSED("a struct", PARAMS "{ scalar = \"scale\"; type = \"f64\"; value = 0.5; } ); }", "struct params", 0,
               "job.cfg: job"),
        PASSED("a struct with a smaller member", PARAMS "{ scalar = \"scale\"; type = \"f32\"; value = 0.5; } ); }",
               "struct params", 2,
               "job.cfg:18: argument 3: kernel 'scale' takes a type of 16 bytes, but 'p' has 8: n at 0, scale at 4"),
        PASSED("a struct for a number", PARAMS "{ scalar = \"scale\"; type = \"f32\"; value = 0.5; } ); }", "long long",
               2,
               "job.cfg:18: argument 3: kernel 'scale' takes 'long long', but the job gives the struct 'p' by value"),
        PASSED("a number for a struct", "{ scalar = \"N\"; type = \"i32\"; }", "struct params", 2,
               "job.cfg:18: argument 3: kernel 'scale' takes a type of 16 bytes, but scalar 'N' of type i32 has 4: "
               "describe it with 'members'"),
        PASSED("a vector", "{ scalar = \"v\"; type = \"float4\"; value = 1; }", "float4", 0, "job.cfg: job"),
        PASSED("a vector of other elements", "{ scalar = \"v\"; type = \"int4\"; value = 1; }", "float4", 2,
               "job.cfg:18: argument 3: kernel 'scale' takes float4, but the numbers of 'v' are of another type, x at "
               "0, y at "
               "4, z at 8, w at 12: write type = \"float4\""),
        PASSED("a number for a vector", "{ scalar = \"N\"; type = \"i32\"; }", "float3", 2,
               "takes float3 of 12 bytes, but scalar 'N' of type i32 has 4: write type = \"float3\""),
        CASE("a pointer to vectors", NULL,
             "1,15s/const float \\*x/const float4 *x_/; s/^{/{ const float *x = (const float *)x_;/", "", 0, NULL),
        CASE("a pointer to vectors of integers", NULL,
             "1,15s/const float \\*x/const int4 *x_/; s/^{/{ const float *x = (const float *)x_;/", "", 0, NULL),
        CASE("a pointer to vectors of other elements", NULL,
             "1,15s/const float \\*x/const double2 *x_/; s/^{/{ const float *x = (const float *)x_;/", "", 0,
             "job.cfg:16: warning: argument 1: kernel 'scale' takes 'const double2 *', but the elements of buffer 'x' "
             "are f32"),
        CASE("a pointer to FP8", NULL,
             "1s/^/#include <cuda_fp8.h>\\n/; 1,15s/const float \\*x/const __nv_fp8x4_e4m3 *x_/; s/^{/{ const float *x "
             "= (const float *)x_;/",
             "", 0, "takes 'const __nv_fp8x4_e4m3 *', but the elements of buffer 'x' are f32"),
        CASE("FP8", "16s/f32/e4m3/",
             "1s/^/#include <cuda_fp8.h>\\n/; 1,15s/const float \\*x/const __nv_fp8_e4m3 *x/; s/= FACTOR \\* "
             "x\\[i\\]/= float(x[i])/; s/= 2 \\* x\\[i\\]/= float(x[i])/",
             "", 0, NULL),
    };
    RUN(cases);
}

TEST_MAIN(NULL, NULL)
