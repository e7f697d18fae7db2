// The integer types on a GPU: inputs, scalars and results of each type, and one element that is off by one.
#include "tests/gpu.h"

static const struct {
    const char *type, *c, *offset; // results are near `offset`
} types[] = {{"i8", "signed char", "-100"},        {"u8", "unsigned char", "200"},
             {"i16", "short", "-30000"},           {"u16", "unsigned short", "60000"},
             {"i32", "int", "-2000000000"},        {"u32", "unsigned", "4000000000u"},
             {"i64", "long long", "-(1ll << 62)"}, {"u64", "unsigned long long", "(3ull << 62)"}};

static struct e2e_result tune(const char *type, const char *c, const char *offset, const char *wrong)
{
    char *folder = e2e_folder("gpu_types");
    char *job = test_text(
        "name = \"t\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
        "parameters = ( { name = \"BLOCK\"; values = [64, 128]; } );\nproblems = ( { N = 100003; } );\n"
        "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\n"
        "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { scalar = \"step\"; type = \"%s\"; value = 3; }, "
        "{ buffer = \"a\"; type = \"%s\"; shape = [ \"N\" ]; }, "
        "{ buffer = \"y\"; type = \"%s\"; shape = [ \"N\" ]; direction = \"out\"; } );\n"
        "reference = { kernel = \"right\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; }; };\n",
        type, type, type);
    char *source =
        test_text("extern \"C\" __global__ void x(int n, %s step, const %s *a, %s *y)\n{\n    int i = blockIdx.x * "
                  "blockDim.x + threadIdx.x;\n    if (i < n) y[i] = (%s)(a[i] * step + %s%s);\n}\n"
                  "extern \"C\" __global__ void right(int n, %s step, const %s *a, %s *y)\n{\n    int i = blockIdx.x * "
                  "blockDim.x + threadIdx.x;\n    if (i < n) y[i] = (%s)(a[i] * step + %s);\n}\n",
                  c, c, c, c, offset, wrong, c, c, c, c, offset);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "x.cu", source);
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q --no-counters "
                                         "--no-final 2>&1; $BIN/sweetspot status job.cfg --store job.db");
    return r;
}

// Both are correct; the slower one may end early.
static bool both_right(const char *status)
{
    return strstr(status, "2 ok") || strstr(status, "1 ok, 1 slow");
}

GPU_TEST(every_integer_type_is_right_and_one_element_off_by_one_is_wrong)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct e2e_result r = tune(types[i].type, types[i].c, types[i].offset, "");
        if (strstr(r.out, "wrong") || !both_right(r.out)) fail_msg("%s: %s", types[i].type, r.out);
        r = tune(types[i].type, types[i].c, types[i].offset, " + (i == 70001)");
        if (!strstr(r.out, "2 wrong")) fail_msg("%s: %s", types[i].type, r.out);
    }
}

TEST_MAIN(share_cache, NULL)
