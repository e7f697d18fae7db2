// Constants, textures and surfaces on a GPU: correct kernels pass against several kinds of reference, and kernels that
// misuse these objects are caught.
#include "tests/gpu.h"

// Tunes a job with the kernel `x` and the reference `right`. `job` contains constants, arguments and more settings.
static struct e2e_result tune(const char *job, const char *source, const char *options)
{
    char *folder = e2e_folder("gpu_constants");
    char *text = test_text("name = \"t\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                           "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\n"
                           "problems = ( { H = 500; W = 700; } );\n"
                           "launch = { grid = [ \"ceil_div(H * W, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\n%s\n",
                           job);
    e2e_write(folder, "job.cfg", text);
    e2e_write(folder, "x.cu", source);
    e2e_write(
        folder, "ref.c",
        "#include \"sweetspot_reference.h\"\n"
        "#include <math.h>\n"
        "static const float *find(int n, const struct sweetspot_array *a, const char *name)\n"
        "{\n    for (int i = 0; i < n; i++) if (a[i].name[0] == name[0]) return a[i].data;\n    return 0;\n}\n"
        // Centres of texels are at i + 0.5. Weights have 8 fractional bits.
        "static double at(const float *t, double x, double y)\n"
        "{\n    double fx = floor(x - 0.5), fy = floor(y - 0.5), u = x - 0.5 - fx, v = y - 0.5 - fy, sum = 0;\n"
        "    for (int k = 0; k < 4; k++) {\n"
        "        double c = fmin(fmax(fx + k % 2, 0), 699), r = fmin(fmax(fy + k / 2, 0), 499);\n"
        "        sum += (k % 2 ? u : 1 - u) * (k / 2 ? v : 1 - v) * t[(int)r * 700 + (int)c];\n    }\n"
        "    return sum;\n}\n"
        "int filtered(int n, const struct sweetspot_array *a, int m, const struct sweetspot_value *v)\n"
        "{\n    const float *t = find(n, a, \"t\");\n    double *y = (double *)find(n, a, \"y\");\n"
        "    (void)m, (void)v;\n    if (!t || !y) return 1;\n"
        "    for (int i = 0; i < 500 * 700; i++) y[i] = at(t, i % 700 + 0.25, i / 700 + 0.75);\n    return 0;\n}\n");
    struct e2e_result r =
        e2e_run(folder,
                "R=$PWD; cd $DIR && cc -O2 -shared -fPIC -I$R/kernels ref.c -o ref.so -lm && "
                "$BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q %s 2>&1; $BIN/sweetspot "
                "status job.cfg --store job.db; $BIN/sweetspot export job.cfg --store job.db -o -",
                options);
    return r;
}

#define QUICK "--no-counters --no-final"

// Both configurations are correct; the slower one may end early.
static bool both_right(const char *status)
{
    return strstr(status, "2 ok") || strstr(status, "1 ok, 1 slow");
}

struct placed {
    const char *what, *job, *source, *said; // NULL: both configurations are correct
};

static void run_cases(const struct placed *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct e2e_result r = tune(cases[i].job, cases[i].source, QUICK);
        if (cases[i].said ? !strstr(r.out, cases[i].said) : !both_right(r.out))
            fail_msg("%s: expected %s in:\n%s%s", cases[i].what, cases[i].said ? cases[i].said : "2 ok", r.out, r.err);
    }
}
#define RUN(cases) run_cases(cases, sizeof cases / sizeof *cases)

#define INDEX "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= 350000) return; "
#define KERNEL(name, arguments, body) "extern \"C\" __global__ void " name "(" arguments ")\n{\n    " INDEX body "\n}\n"
#define REFERENCE \
    "reference = { kernel = \"right\"; launch = { grid = [ \"ceil_div(H * W, 256)\" ]; block = [ 256 ]; }; };\n"
#define REFERENCE_OF(arguments)                                                                              \
    "reference = { kernel = \"right\"; launch = { grid = [ \"ceil_div(H * W, 256)\" ]; block = [ 256 ]; }; " \
    "arguments = ( " arguments " ); };\n"
#define X "{ buffer = \"x\"; type = \"f32\"; shape = [ \"H * W\" ]; }"
#define Y "{ buffer = \"y\"; type = \"f32\"; shape = [ \"H * W\" ]; direction = \"out\"; }"

// A filter with five taps in constant memory, in a namespace. The reference gets the filter's address.
#define FILTER                                                                                                      \
    "constants = ( { name = \"taps::coef\"; type = \"f32\"; shape = [ 5 ]; }, { name = \"count\"; type = \"i32\"; " \
    "fill = \"H * W\"; } );\narguments = ( " X ", " Y                                                               \
    " );\n" REFERENCE_OF("{ buffer = \"x\"; }, { buffer = \"y\"; }, { buffer = \"taps::coef\"; }")
#define FILTER_SOURCE(body)                                                             \
    "namespace taps { __constant__ float coef[5]; }\n__constant__ int count;\n" KERNEL( \
        "x", "const float *x, float *y", body)                                          \
        KERNEL("right", "const float *x, float *y, const float *c",                     \
               "float s = 0; for (int k = 0; k < 5; k++) s += c[k] * x[min(i + k, 349999)]; y[i] = s;")

#define TOTAL                                                                                   \
    "constants = ( { name = \"total\"; type = \"i32\"; direction = \"inout\"; fill = 7; } );\n" \
    "arguments = ( { buffer = \"x\"; type = \"i32\"; shape = [ \"H * W\" ]; } );\n" REFERENCE
#define TOTAL_SOURCE(body)                                      \
    "__device__ int total;\n" KERNEL("x", "const int *x", body) \
        KERNEL("right", "const int *x", "atomicAdd(&total, x[i]);")

#define SCALED                                                                        \
    "constants = ( { name = \"scale\"; type = \"f32\"; } );\narguments = ( " X ", " Y \
    " );\n" REFERENCE_OF("{ buffer = \"x\"; }, { buffer = \"y\"; }, { buffer = \"scale\"; }")
#define SCALED_SOURCE(body)                                                                          \
    "__device__ float scale;\n__device__ int calls;\n" KERNEL("x", "const float *x, float *y", body) \
        KERNEL("right", "const float *x, float *y, const float *s", "y[i] = *s * x[i];")

GPU_TEST(constants_and_device_variables_are_set_and_judged)
{
    static const struct placed cases[] = {
        {"a constant filter", FILTER,
         FILTER_SOURCE("float s = 0; for (int k = 0; k < 5; k++) s += taps::coef[k] * x[min(i + k, count - 1)]; "
                       "y[i] = s;"),
         NULL},
        {"a filter with a wrong tap", FILTER,
         FILTER_SOURCE("float s = 0; for (int k = 0; k < 5; k++) s += taps::coef[k == 4 ? 3 : k] * x[min(i + k, count "
                       "- 1)]; y[i] = s;"),
         "2 wrong"},
        {"a device scalar", TOTAL, TOTAL_SOURCE("atomicAdd(&total, x[i]);"), NULL},
        {"a device scalar that is off by one", TOTAL, TOTAL_SOURCE("atomicAdd(&total, x[i] + (i == 5));"), "2 wrong"},
        {"a device scalar that is not written", TOTAL, TOTAL_SOURCE("if (x[i] > 1000) total = 0;"), "2 wrong"},
        {"a device scalar as input", SCALED, SCALED_SOURCE("y[i] = scale * x[i];"), NULL},
        {"an input that changes after it was read", SCALED,
         SCALED_SOURCE("float s = scale; y[i] = s * x[i]; if (i == 349999) scale = s + 1;"), "changed the input scale"},
        {"state in a variable that the job does not name", SCALED,
         SCALED_SOURCE("y[i] = scale * x[i] + (calls > 0 && i == 9); if (i == 349999) calls = calls + 1;"),
         "keep their values between launches"},
        {"a constant that the source lacks",
         "constants = ( { name = \"scael\"; type = \"f32\"; } );\narguments = ( " X ", " Y
         " );\n" REFERENCE_OF("{ buffer = \"x\"; }, { buffer = \"y\"; }, { buffer = \"scael\"; }"),
         SCALED_SOURCE("y[i] = scale * x[i];"), "no variable 'scael' (did you mean 'scale'?)"},
        {"a constant that is larger than the variable",
         "constants = ( { name = \"scale\"; type = \"f32\"; shape = [ 2 ]; } );\narguments = ( " X ", " Y
         " );\n" REFERENCE_OF("{ buffer = \"x\"; }, { buffer = \"y\"; }, { buffer = \"scale\"; }"),
         SCALED_SOURCE("y[i] = scale * x[i];"),
         "constant 'scale' has 8 bytes, but the variable of the compiled code 4"},
    };
    RUN(cases);
}

#define IMAGE(more) "{ buffer = \"t\"; type = \"f32\"; shape = [ \"H\", \"W\" ]; texture = { " more " }; }"
#define LINEAR "tex2D<float>(t, i % 700 + 0.25f, i / 700 + 0.75f)"
#define READ "const float *t, float *y"
#define SAMPLED "cudaTextureObject_t t, float *y"

GPU_TEST(textures_are_read_as_the_job_says)
{
    static const struct placed cases[] = {
        {"an interpolated image against a kernel that interpolates by the texture",
         "arguments = ( " IMAGE("filter = \"linear\";") ", " Y " );\n" REFERENCE,
         KERNEL("x", SAMPLED, "y[i] = " LINEAR ";") KERNEL("right", SAMPLED, "y[i] = " LINEAR ";"), NULL},
        {"an interpolated image against a function on the CPU",
         "arguments = ( " IMAGE("filter = \"linear\";") ", " Y " );\nreference = { library = \"ref.so\"; function = "
                                                        "\"filtered\"; }; verification = { absolute = 0.01; };\n",
         KERNEL("x", SAMPLED, "y[i] = " LINEAR ";"), NULL},
        {"the nearest texel against that function",
         "arguments = ( " IMAGE("") ", " Y " );\nreference = { library = \"ref.so\"; function = \"filtered\"; }; "
                                    "verification = { absolute = 0.01; };\n",
         KERNEL("x", SAMPLED, "y[i] = " LINEAR ";"), "2 wrong"},
        {"an image against a kernel that takes its address",
         "arguments = ( " IMAGE("") ", " Y " );\n" REFERENCE_OF("{ buffer = \"t\"; }, { buffer = \"y\"; }"),
         KERNEL("x", SAMPLED, "y[i] = tex2D<float>(t, i % 700, i / 700);") KERNEL("right", READ, "y[i] = t[i];"), NULL},
        {"a mirrored image in normalized coordinates",
         "arguments = ( " IMAGE("address = \"mirror\"; normalized = true;") ", " Y " );\n" REFERENCE_OF(
             "{ buffer = \"t\"; }, { buffer = \"y\"; }"),
         KERNEL("x", SAMPLED, "y[i] = tex2D<float>(t, 1 + (i % 700 + 0.5f) / 700, (i / 700 + 0.5f) / 500);")
             KERNEL("right", READ, "y[i] = t[i / 700 * 700 + 699 - i % 700];"),
         NULL},
        {"a line of linear memory",
         "arguments = ( { buffer = \"t\"; type = \"f32\"; shape = [ \"H * W\" ]; texture = { memory = \"linear\"; }; "
         "}, " Y " );\n" REFERENCE_OF("{ buffer = \"t\"; }, { buffer = \"y\"; }"),
         KERNEL("x", SAMPLED, "y[i] = tex1Dfetch<float>(t, 349999 - i);")
             KERNEL("right", READ, "y[i] = t[349999 - i];"),
         NULL},
        {"rows of linear memory, with a gap",
         "arguments = ( { buffer = \"t\"; type = \"f32\"; shape = [ \"H\", \"W\" ]; ld = 704; texture = { memory = "
         "\"pitch\"; address = \"border\"; }; }, " Y " );\n" REFERENCE_OF("{ buffer = \"t\"; }, { buffer = \"y\"; }"),
         KERNEL("x", SAMPLED, "y[i] = tex2D<float>(t, i % 700 + 1.5f, i / 700 + 0.5f);")
             KERNEL("right", READ, "y[i] = i % 700 == 699 ? 0 : t[i / 700 * 704 + i % 700 + 1];"),
         NULL},
        {"three dimensions",
         "arguments = ( { buffer = \"t\"; type = \"f32\"; shape = ( 10, \"H / 10\", \"W\" ); texture = { }; }, " Y
         " );\n" REFERENCE_OF("{ buffer = \"t\"; }, { buffer = \"y\"; }"),
         KERNEL("x", SAMPLED, "y[i] = tex3D<float>(t, i % 700, i / 700 % 50, i / 35000);")
             KERNEL("right", READ, "y[i] = t[i];"),
         NULL},
        {"bytes as fractions, four at a time",
         "arguments = ( { buffer = \"t\"; type = \"u8\"; shape = [ \"H\", \"W\" ]; texture = { channels = 4; read = "
         "\"normalized\"; }; fill = { kind = \"integer\"; high = 255; }; }, " Y
         " );\n" REFERENCE_OF("{ buffer = \"t\"; }, { buffer = \"y\"; }") "verification = { absolute = 1e-6; };\n",
         KERNEL("x", SAMPLED, "float4 v = tex2D<float4>(t, i % 700, i / 700); y[i] = v.x + v.w;")
             KERNEL("right", "const unsigned char *t, float *y", "y[i] = (t[4 * i] + t[4 * i + 3]) / 255.0f;"),
         NULL},
        {"a row too long",
         "arguments = ( { buffer = \"t\"; type = \"f32\"; shape = [ \"H * W\" ]; texture = { }; }, " Y
         " );\n" REFERENCE_OF("{ buffer = \"t\"; }, { buffer = \"y\"; }"),
         KERNEL("x", SAMPLED, "y[i] = tex1D<float>(t, i);") KERNEL("right", READ, "y[i] = t[i];"),
         "its width is 350000; the device accepts 1 to "},
    };
    RUN(cases);
}

#define OUT "{ buffer = \"s\"; type = \"f32\"; shape = [ \"H\", \"W\" ]; direction = \"out\"; surface = { }; }"
#define WRITTEN "arguments = ( " X ", " OUT " );\n" REFERENCE_OF("{ buffer = \"x\"; }, { buffer = \"s\"; }")
#define WRITES "const float *x, cudaSurfaceObject_t s"
#define RIGHT_SURFACE KERNEL("right", "const float *x, float *s", "s[i] = 2 * x[i];")

GPU_TEST(surfaces_are_judged_by_what_is_in_them)
{
    static const struct placed cases[] = {
        {"an image", WRITTEN, KERNEL("x", WRITES, "surf2Dwrite(2 * x[i], s, i % 700 * 4, i / 700);") RIGHT_SURFACE,
         NULL},
        {"the first row alone", WRITTEN,
         KERNEL("x", WRITES, "if (i < 700) surf2Dwrite(2 * x[i], s, i * 4, 0);") RIGHT_SURFACE, "never written"},
        {"all but one texel", WRITTEN,
         KERNEL("x", WRITES, "if (i != 123456) surf2Dwrite(2 * x[i], s, i % 700 * 4, i / 700);") RIGHT_SURFACE,
         "2 wrong"},
        {"one that keeps what an earlier launch wrote", WRITTEN,
         "__device__ int calls;\n" KERNEL("x", WRITES,
                                          "if (!calls) surf2Dwrite(2 * x[i], s, i % 700 * 4, i / 700); if (i == "
                                          "349999) calls = 1;") RIGHT_SURFACE,
         "wrong"},
        {"a surface that is read and written, and a texture of it in the next stage",
         "stages = ( { entry = \"x\"; launch = { grid = [ \"ceil_div(H * W, BLOCK)\" ]; block = [ \"BLOCK\" ]; }; "
         "arguments = ( " X ", { buffer = \"s\"; type = \"f32\"; shape = [ \"H\", \"W\" ]; direction = \"scratch\"; "
         "surface = { }; } ); },\n"
         "{ entry = \"second\"; launch = { grid = [ \"ceil_div(H * W, BLOCK)\" ]; block = [ \"BLOCK\" ]; }; arguments "
         "= ( { buffer = \"s\"; texture = { }; }, " Y
         " ); } );\n" REFERENCE_OF("{ buffer = \"x\"; }, { buffer = \"y\"; }"),
         KERNEL("x", WRITES, "surf2Dwrite(2 * x[i], s, i % 700 * 4, i / 700);")
             KERNEL("second", SAMPLED, "y[i] = tex2D<float>(t, i % 700, i / 700);") RIGHT_SURFACE,
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool stages = strstr(cases[i].job, "stages") != NULL;
        if (!stages) run_cases(&cases[i], 1);
    }
    // In a job with stages, each stage has its own `launch`.
    const struct placed *last = &cases[sizeof cases / sizeof *cases - 1];
    char *folder = e2e_folder("gpu_stages"),
         *job = test_text("name = \"t\"; kernel = { template = \"x.cu\"; };\n"
                          "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\n"
                          "problems = ( { H = 500; W = 700; } );\n%s",
                          last->job);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "x.cu", last->source);
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q " QUICK
                                         " 2>&1; $BIN/sweetspot status job.cfg --store job.db");
    if (!both_right(r.out)) fail_msg("%s: %s", last->what, r.out);
}

// A whole run: counters, the final with nvcc's build if there is nvcc, and the sanitizers.
GPU_TEST(a_job_with_all_of_them_passes_counters_and_the_final)
{
    struct e2e_result r =
        tune("constants = ( { name = \"coef\"; type = \"f32\"; shape = [ 4 ]; }, { name = \"total\"; type = \"i32\"; "
             "direction = \"out\"; } );\n"
             "arguments = ( " IMAGE("") ", " OUT " );\n" REFERENCE "budget = { evaluations = 2; };\n",
             "__constant__ float coef[4];\n__device__ int total;\n" KERNEL(
                 "x", "cudaTextureObject_t t, cudaSurfaceObject_t s",
                 "surf2Dwrite(coef[i % 4] * tex2D<float>(t, i % 700, i / 700), s, i % 700 * 4, i / 700); if (i == 0) "
                 "total = BLOCK * 0 + 350000;") KERNEL("right", "cudaTextureObject_t t, cudaSurfaceObject_t s",
                                                       "surf2Dwrite(coef[i % 4] * tex2D<float>(t, i % 700, i / 700), "
                                                       "s, i % 700 * 4, i / 700); if (i == 0) total = 350000;"),
             "; cat *.log");
    if (!both_right(r.out)) fail_msg("%s%s", r.out, r.err);
    assert_contains(r.out, "s is in an array, which has no guards");
}

TEST_MAIN(share_cache, NULL)
