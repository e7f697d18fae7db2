// Data on a GPU: FP8, vectors and structs by value, fills with relations, restored inputs, and outputs that are
// compared in part. Each kernel has a reference that computes the same in another way, and a wrong variant that must be
// found.
#include "tests/gpu.h"

// Tunes a job with the parameter BLOCK and N = 100003. Returns the output of `tune` and `status`.
static struct e2e_result tune(const char *arguments, const char *reference, const char *source)
{
    char *folder = e2e_folder("gpu_data");
    char *job = test_text(
        "name = \"t\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
        "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\nproblems = ( { N = 100003; M = 1000; } );\n"
        "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\narguments = ( %s );\n"
        "reference = { kernel = \"right\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; }; %s };\n",
        arguments, reference);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "x.cu", source);
    struct e2e_result r =
        e2e_in(folder, "$BIN/sweetspot check job.cfg --compile 2 2>&1; $BIN/sweetspot tune job.cfg --store job.db "
                       "--cache $CACHE -q --no-counters --no-final 2>&1; $BIN/sweetspot status job.cfg --store job.db");
    return r;
}

// `found` is the status of both candidates ("wrong"); NULL: both are correct, and the slower one may end early.
static void hold(const char *what, const char *arguments, const char *reference, const char *source, const char *found)
{
    struct e2e_result r = tune(arguments, reference, source);
    char *both = test_text("2 %s", found ? found : "ok");
    bool good = strstr(r.out, both) || (!found && strstr(r.out, "1 ok, 1 slow"));
    if (!good) fail_msg("%s: expected '%s' in: %s%s", what, both, r.out, r.err);
}

#define INDEX "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
#define BUFFER(name, type) "{ buffer = \"" name "\"; type = \"" type "\"; shape = [ \"N\" ]; }, "
#define OUTPUT(name, type, more) \
    "{ buffer = \"" name "\"; type = \"" type "\"; shape = [ \"N\" ]; direction = \"out\"; " more "}"
#define N_ARGUMENT "{ scalar = \"N\"; type = \"i32\"; }, "

// The reference decodes FP8 from its bits. FP8 results are correct or off by two steps.
GPU_TEST(fp8_is_what_cuda_says)
{
    static const char source[] =
        "#include <cuda_fp8.h>\n"
        "__device__ float by_bits(unsigned char b, int digits, int bias)\n{\n"
        "    int code = b & 127, e = code >> digits, m = code & ((1 << digits) - 1);\n"
        "    float size = e ? ldexpf((float)(m + (1 << digits)), e - bias - digits) : ldexpf((float)m, 1 - bias - "
        "digits);\n"
        "    return b & 128 ? -size : size;\n}\n"
        "extern \"C\" __global__ void x(int n, const __nv_fp8_e4m3 *a, const __nv_fp8_e5m2 *b, float *y, __nv_fp8_e4m3 "
        "*z,\n"
        "                             __nv_fp8_e5m2 one)\n{\n" INDEX
        "    if (i >= n) return;\n    y[i] = float(a[i]) * float(b[i]) * float(one);\n"
        "    z[i] = __nv_fp8_e4m3(300.0f * float(b[i]) * FACTOR);\n}\n"
        "extern \"C\" __global__ void right(int n, const unsigned char *a, const unsigned char *b, float *y, unsigned "
        "char *z,\n"
        "                                 __nv_fp8_e5m2)\n{\n" INDEX
        "    if (i >= n) return;\n    y[i] = by_bits(a[i], 3, 7) * by_bits(b[i], 2, 15) * 1.5f;\n"
        "    z[i] = __nv_cvt_float_to_fp8(300.0f * by_bits(b[i], 2, 15), __NV_SATFINITE, __NV_E4M3);\n}\n";
    static const char arguments[] = N_ARGUMENT
        "{ buffer = \"a\"; type = \"e4m3\"; shape = [ \"N\" ]; fill = \"normal\"; }, { buffer = \"b\"; type = "
        "\"e5m2\"; shape = [ \"N\" ]; fill = { kind = \"uniform\"; low = -2; high = 2; }; }, " OUTPUT(
            "y", "f32", "") ", " OUTPUT("z", "e4m3", "") ", { scalar = \"one\"; type = \"e5m2\"; value = 1.5; }";
    char *right = test_text("#define FACTOR 1\n%s", source), *wrong = test_text("#define FACTOR 1.5f\n%s", source);
    hold("FP8", arguments, "", right, NULL);
    hold("FP8, two steps off", arguments, "", wrong, "wrong");
}

GPU_TEST(structs_and_vectors_arrive_by_value)
{
    static const char source[] =
        "struct inner { signed char sign; double offset; };\n"
        "struct params { int width; float scale[2]; long long large; struct inner inner; short last; };\n"
        "extern \"C\" __global__ void x(struct params p, float4 v, const float4 *a, float4 *y, int3 k)\n{\n" INDEX
        "    if (i >= p.width) return;\n    float4 r = a[i];\n    float f = p.scale[0] + p.scale[1] + (float)(p.large "
        ">> 40);\n"
        "    r.x = r.x * f + v.x; r.y = r.y * f + v.y; r.z = r.z * f + v.z + k.z; r.w = r.w * f + v.w + p.last;\n"
        "    r.x += (float)(p.inner.sign * p.inner.offset);\n    y[i] = r;\n}\n"
        "extern \"C\" __global__ void right(int n, const float *a, float *y)\n{\n" INDEX
        "    if (i >= n) return;\n    for (int k = 0; k < 4; k++) {\n        float more = k == 0 ? -0.5f : k == 2 ? 9 "
        ": k == 3 ? 128 : 0;\n        y[4 * i + k] = a[4 * i + k] * 5.75f + (k + 1) + more;\n    }\n}\n";
    static const char scalars[] = "{ scalar = \"large\"; type = \"i64\"; value = %s; }";
    for (int wrong = 0; wrong < 2; wrong++) {
        char *large = test_text(scalars, wrong ? "\"4 << 40\"" : "\"5 << 40\"");
        char *arguments = test_text(
            "{ scalar = \"p\"; members = ( { scalar = \"width\"; type = \"i32\"; value = \"N\"; }, { scalar = "
            "\"scale\"; "
            "type = \"f32\"; shape = [2]; value = [0.5, 0.25]; }, %s, { scalar = \"inner\"; members = ( { scalar = "
            "\"sign\"; "
            "type = \"i8\"; value = -1; }, { scalar = \"offset\"; type = \"f64\"; value = 0.5; } ); }, { scalar = "
            "\"last\"; type = \"i16\"; value = 128; } ); }, { scalar = \"v\"; type = \"float4\"; value = (1, 2, 3, 4); "
            "}, { buffer = \"a\"; type = \"f32\"; shape = (\"N\", 4); }, { buffer = \"y\"; type = \"f32\"; shape = "
            "(\"N\", 4); direction = \"out\"; }, { scalar = \"k\"; type = \"int3\"; value = [7, 8, 9]; }",
            large);
        hold(wrong ? "a struct with another member" : "a struct", arguments,
             "arguments = ( " N_ARGUMENT "{ buffer = \"a\"; }, { buffer = \"y\"; } );", source, wrong ? "wrong" : NULL);
    }
}

// A matrix given by the addresses of its 4 rows, and a struct with addresses of the output and of the second row.
// Addresses kept from one launch must not work in the next.
GPU_TEST(addresses_lead_to_the_buffers_of_each_launch)
{
    static const char source[] =
        "struct params { int n; const float *second; float *y; };\n__device__ const float *first;\n"
        "extern \"C\" __global__ void x(struct params p, const float **rows)\n{\n" INDEX
        "    const float *at = rows[0];\n    if (i >= p.n) return;\n"
        "    if (KEEP && i == 0 && !first) first = at;\n    if (KEEP && first) at = first;\n"
        "    p.y[i] = at[i] + 2 * rows[1][i] + rows[2][i] * rows[3][i] - p.second[i] + (rows[4] ? 1 : 0);\n"
        "    if (WRITE && i == 0) rows[4] = rows[0];\n}\n"
        "extern \"C\" __global__ void right(int n, const float *a, float *y)\n{\n" INDEX
        "    if (i < n) y[i] = a[i] + a[n + i] + a[2 * n + i] * a[3 * n + i];\n}\n";
    static const struct {
        const char *what, *macros, *found;
    } cases[] = {{"addresses", "#define KEEP 0\n#define WRITE 0\n", NULL},
                 {"addresses that are kept", "#define KEEP 1\n#define WRITE 0\n", "wrong"},
                 {"addresses that are changed", "#define KEEP 0\n#define WRITE 1\n", "wrong"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        hold(cases[i].what,
             "{ scalar = \"p\"; members = ( { name = \"n\"; type = \"i32\"; value = \"N\"; }, { name = \"second\"; "
             "type = "
             "\"u64\"; value = \"&a[N]\"; }, { name = \"y\"; type = \"u64\"; value = \"&y\"; } ); }, { buffer = "
             "\"rows\"; type "
             "= \"u64\"; shape = [5]; fill = (\"&a\", \"&a[N]\", \"&a[2*N]\", \"&a[3*N]\", 0); } ); buffers = ( { "
             "buffer = "
             "\"a\"; type = \"f32\"; shape = (4, \"N\"); }, " OUTPUT("y", "f32", ""),
             "arguments = ( " N_ARGUMENT "{ buffer = \"a\"; }, { buffer = \"y\"; } );",
             test_text("%s%s", cases[i].macros, source), cases[i].found);
}

// A stencil whose border differs with every launch.
GPU_TEST(what_is_not_compared_may_be_anything)
{
    static const struct {
        const char *what, *compare, *inside, *found;
    } cases[] = {
        {"the inside alone", "compare = (1, \"N - 2\");", "0", NULL},
        {"all", "", "0", "nondeterministic"},
        {"an error inside", "compare = (1, \"N - 2\");", "i == 1", "wrong"},
        {"an error at the end", "compare = (1, \"N - 2\");", "i == n - 2", "wrong"},
        {"a write outside", "compare = (1, \"N - 2\");", "(i == 5 && (y[n] = 1))", "out_of_bounds"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *source = test_text(
            "extern \"C\" __global__ void x(int n, const float *a, float *y)\n{\n" INDEX "    if (i >= n) return;\n"
            "    if (i == 0 || i == n - 1) y[i] = (float)clock64();\n"
            "    else y[i] = a[i - 1] + a[i + 1] + (%s ? 1.0f : 0.0f);\n}\n"
            "extern \"C\" __global__ void right(int n, const float *a, float *y)\n{\n" INDEX
            "    if (i > 0 && i < n - 1) y[i] = a[i - 1] + a[i + 1];\n    else if (i < n) y[i] = 7;\n}\n",
            cases[i].inside);
        char *arguments =
            test_text(N_ARGUMENT BUFFER("a", "f32") "{ buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = "
                                                    "\"out\"; %s }",
                      cases[i].compare);
        hold(cases[i].what, arguments, "", source, cases[i].found);
    }
}

// A stencil in two dimensions, with padding, whose reference leaves the border unwritten.
GPU_TEST(a_border_in_two_dimensions_is_left_out)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        char *source = test_text(
            "extern \"C\" __global__ void x(int m, const float *a, float *y)\n{\n" INDEX
            "    int r = i / 90, c = i %% 90;\n"
            "    if (r >= m) return;\n    bool border = r == 0 || r == m - 1 || c < 2 || c >= 88;\n"
            "    y[r * 96 + c] = border ? (float)BLOCK : a[r * 96 + c] * (r == m - 2 && c == 87 ? %s : 2.0f);\n}\n"
            "extern \"C\" __global__ void right(int m, const float *a, float *y)\n{\n" INDEX
            "    int r = i / 90, c = i %% 90;\n"
            "    if (r > 0 && r < m - 1 && c >= 2 && c < 88) y[r * 96 + c] = a[r * 96 + c] * 2.0f;\n}\n",
            wrong ? "2.01f" : "2.0f");
        hold(wrong ? "an error in the last corner of the inside" : "the inside of a matrix",
             "{ scalar = \"M\"; type = \"i32\"; }, { buffer = \"a\"; type = \"f32\"; shape = (\"M\", 90); ld = 96; }, "
             "{ buffer = \"y\"; type = \"f32\"; shape = (\"M\", 90); ld = 96; direction = \"out\"; "
             "compare = (1, \"M - 2\", 2, 86); }",
             "}; verification = { relative = 1e-6;", source, wrong ? "wrong" : NULL);
    }
}

GPU_TEST(an_input_that_is_destroyed_is_restored_if_the_job_says_so)
{
    static const char source[] = "extern \"C\" __global__ void x(int n, float *a, float *y)\n{\n" INDEX
                                 "    if (i < n) { y[i] = 2 * a[i]; a[i] = -1; }\n}\n"
                                 "extern \"C\" __global__ void right(int n, const float *a, float *y)\n{\n" INDEX
                                 "    if (i < n) y[i] = 2 * a[i];\n}\n";
    hold("an input without restore", N_ARGUMENT BUFFER("a", "f32") OUTPUT("y", "f32", ""), "", source, "wrong");
    hold("an input with restore",
         N_ARGUMENT
         "{ buffer = \"a\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"restored\"; }, " OUTPUT("y", "f32", ""),
         "", source, NULL);
    hold("a filled input with restore",
         N_ARGUMENT
         "{ buffer = \"a\"; type = \"f32\"; shape = [ \"N\" ]; fill = \"sorted\"; direction = \"restored\"; }, " OUTPUT(
             "y", "f32", ""),
         "", source, NULL);
}

// Here, rows and columns beyond the matrix give infinities; in a real kernel they would be out of bounds.
GPU_TEST(a_sparse_product_gets_rows_and_columns_that_fit)
{
    static const char source[] =
        "extern \"C\" __global__ void x(int m, int n, const int *rows, const int *columns, const float *values, const "
        "float *v,\n                             float *y)\n{\n" INDEX "    if (i >= m) return;\n    double sum = 0;\n"
        "    if (rows[0] != 0 || rows[m] != n || rows[i] > rows[i + 1]) sum = 1.0 / 0.0;\n"
        "    else for (int k = rows[i]; k < rows[i + 1]; k++)\n"
        "        sum += columns[k] >= 0 && columns[k] < m ? (double)values[k] * v[columns[k]] : 1.0 / 0.0;\n"
        "    y[i] = (float)sum;\n}\n"
        "extern \"C\" __global__ void right(int m, int n, const int *rows, const int *columns, const float *values,\n"
        "                                 const float *v, float *y)\n{\n" INDEX
        "    if (i >= m) return;\n    double sum = 0;\n"
        "    for (int k = min(rows[i + 1], n) - 1; k >= max(rows[i], 0); k--)\n"
        "        sum += (double)values[k] * v[min(max(columns[k], 0), m - 1)];\n    y[i] = (float)sum;\n}\n";
    hold(
        "a sparse product",
        "{ scalar = \"M\"; type = \"i32\"; }, " N_ARGUMENT
        "{ buffer = \"rows\"; type = \"i32\"; shape = [ \"M + 1\" ]; fill = { kind = \"offsets\"; high = \"N\"; }; }, "
        "{ buffer = \"columns\"; type = \"i32\"; shape = [ \"N\" ]; fill = { kind = \"integer\"; low = 0; high = \"M - "
        "1\"; }; }, " BUFFER("values", "f32") "{ buffer = \"v\"; type = \"f32\"; shape = [ \"M\" ]; }, { buffer = "
                                              "\"y\"; type = \"f32\"; shape = [ \"M\" ]; direction = \"out\"; }",
        "", source, NULL);
}

// The kernel reports whether the relations hold; the reference says that they do.
GPU_TEST(relations_hold_on_the_device)
{
    static const char kernels[] =
        "extern \"C\" __global__ void x(int n, const float *s, const int *p, int *y, int *z)\n{\n" INDEX
        "    if (i >= n) return;\n"
        "    y[i] = (i == 0 || s[i - 1] <= s[i]) && s[i] >= 2 && s[i] <= 5 && i < 100000;\n"
        "    if (p[i] >= 0 && p[i] < n) z[p[i]] = 1;\n}\n"
        "extern \"C\" __global__ void right(int n, const float *s, const int *p, int *y, int *z)\n{\n" INDEX
        "    if (i < n) y[i] = z[i] = 1;\n}\n";
    hold("relations",
         "{ scalar = \"n\"; type = \"i32\"; value = 100000; }, { buffer = \"s\"; type = \"f32\"; shape = [ 100000 ]; "
         "fill = { kind = \"sorted\"; low = 2; high = 5; }; }, { buffer = \"p\"; type = \"i32\"; shape = [ 100000 ]; "
         "fill = \"permutation\"; }, { buffer = \"y\"; type = \"i32\"; shape = [ 100000 ]; direction = \"out\"; }, { "
         "buffer = \"z\"; type = \"i32\"; shape = [ 100000 ]; direction = \"out\"; }",
         "", kernels, NULL);
}

TEST_MAIN(share_cache, NULL)
