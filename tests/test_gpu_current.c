// A job's current kernel on a GPU: a configuration, another kernel from another file, and kernels that do not pass.
#include "tests/gpu.h"

// y is twice x. The current kernel is in a separate file, and `body` is its loop.
static char *write_job(const char *current, const char *body)
{
    char *folder = e2e_folder("gpu_current");
    char *job = test_text(
        "name = \"twice\"; kernel = { template = \"x.cu\"; entry = \"twice\"; };\n"
        "parameters = ( { name = \"BLOCK\"; values = [64, 128, 256]; } );\n"
        "problems = ( { N = 4194304; } );\n"
        "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };\n"
        "arguments = ( { scalar = \"N\"; type = \"i32\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ \"N\" ]; }, "
        "{ buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"out\"; } );\n"
        "reference = { kernel = \"twice\"; launch = { grid = [ \"ceil_div(N, 64)\" ]; block = [ 64 ]; }; };\n"
        "verification = { problems = ( { N = 1001; } ); };\n%s\n",
        current);
    char *old = test_text("extern \"C\" __global__ void k_old(int n, const float *x, float *y)\n{\n    for (int i = "
                          "threadIdx.x; i < n; i += 1024) { %s }\n}\n",
                          body);
    e2e_write(folder, "job.cfg", job);
    e2e_write(folder, "x.cu",
              "extern \"C\" __global__ void twice(int n, const float *x, float *y)\n{\n"
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = 2 * x[i];\n}\n");
    e2e_write(folder, "old.cu", old);
    return folder;
}

static struct e2e_result tune(const char *folder)
{
    return e2e_in(folder, "$BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q --no-counters --no-checks 2>&1 "
                          "&& $BIN/sweetspot compare job.cfg --store job.db");
}

GPU_TEST(a_configuration_that_wins_is_in_the_final_as_both)
{
    char *folder = write_job("current = { BLOCK = 128; };", "");
    assert_contains(e2e_passed(tune(folder)).out, "x as fast as current (95% interval ", "ratio to current");
}

#define OLD                                                                   \
    "current = { template = \"old.cu\"; kernel = \"k_old\"; launch = { grid " \
    "= [ 1 ]; block = [ 1024 ]; }; };"

// A single block does the work of thousands.
GPU_TEST(a_slow_kernel_of_another_file_is_verified_and_many_times_slower)
{
    char *folder = write_job(OLD, "y[i] = 2 * x[i];");
    struct e2e_result r = e2e_passed(tune(folder));
    const char *at = strstr(r.out, "x as fast as current (95% interval ");
    if (!at) fail_msg("%s", r.out);
    while (at > r.out && at[-1] != ' ') at--;
    if (!(atof(at) > 5)) fail_msg("only %s", at);
}

GPU_TEST(one_that_is_wrong_or_writes_astray_is_left_out_and_named)
{
    static const struct {
        const char *body, *status;
    } cases[] = {{"y[i] = 2 * x[i] + (i == 1000);", "wrong: "}, {"y[i] = 2 * x[i]; y[n] = 1;", "out_of_bounds: "}};
    for (size_t i = 0; i < 2; i++) {
        char *folder = write_job(OLD, cases[i].body), *message;
        struct e2e_result r = e2e_passed(tune(folder));
        message = test_text("baseline current: not available: %s", cases[i].status);
        assert_contains(r.out, message);
        assert_null(strstr(r.out, "x as fast as current"));
    }
}

// The same computation as PTX, which the driver compiles.
static const char ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry k_old(.param .u32 n, .param .u64 x, .param .u64 y)\n{\n"
    "    .reg .pred %p;\n    .reg .f32 %f;\n    .reg .b32 %r<5>;\n    .reg .b64 %d<4>;\n"
    "    mov.u32 %r1, %ctaid.x;\n    mov.u32 %r2, %ntid.x;\n    mov.u32 %r3, %tid.x;\n"
    "    mad.lo.s32 %r1, %r1, %r2, %r3;\n    ld.param.u32 %r4, [n];\n    setp.ge.s32 %p, %r1, %r4;\n    @%p ret;\n"
    "    ld.param.u64 %d1, [x];\n    ld.param.u64 %d2, [y];\n    mul.wide.s32 %d3, %r1, 4;\n"
    "    add.s64 %d1, %d1, %d3;\n    add.s64 %d2, %d2, %d3;\n    ld.f32 %f, [%d1];\n    add.f32 %f, %f, %f;\n"
    "    st.f32 [%d2], %f;\n    ret;\n}\n";

#define LAUNCH "launch = { grid = [ \"ceil_div(N, 128)\" ]; block = [ 128 ]; };"

// The cubin is the job's own kernel, as compiled.
GPU_TEST(binaries_and_other_kernels_are_verified_and_timed)
{
    char *folder =
        write_job("current = { binary = \"old.ptx\"; kernel = \"k_old\"; " LAUNCH " };\n"
                  "baselines = ( { name = \"cubin\"; binary = \"old.cubin\"; kernel = \"twice\"; " LAUNCH " },\n"
                  "{ name = \"source\"; template = \"old.cu\"; kernel = \"k_old\"; launch = { grid = [ 1 ]; block = [ "
                  "1024 ]; }; },\n"
                  "{ name = \"damaged\"; binary = \"damaged.ptx\"; kernel = \"k_old\"; " LAUNCH " } );",
                  "y[i] = 2 * x[i];");
    e2e_write(folder, "old.ptx", ptx);
    e2e_write(folder, "damaged.ptx", ".version 7.8\n.target sm_80\n.entry k_old() { nonsense; }\n");
    struct e2e_result r = e2e_passed(e2e_in(
        folder, "grep -v '^current\\|^baselines\\|^{' job.cfg >first.cfg && $BIN/sweetspot check first.cfg "
                "--compile 1 --cache first && cp $(find first -name '*.cubin' | head -n 1) old.cubin && $BIN/sweetspot "
                "check job.cfg && $BIN/sweetspot tune job.cfg --store job.db --cache $CACHE -q --no-counters "
                "--no-checks 2>&1"));
    assert_contains(r.out, "x as fast as current (95% interval ", "x as fast as cubin (95% interval ",
                    "x as fast as source (95% interval ", "baseline damaged: not available: cannot compile the PTX");
}

GPU_TEST(judge_finds_one_instruction_that_was_changed_in_ptx)
{
    char *folder = write_job("", "");
    e2e_write(folder, "old.ptx", ptx);
    struct e2e_result r =
        e2e_in(folder, "sed 's/add.f32/mul.f32/' old.ptx >other.ptx; for k in old other; do "
                       "$BIN/sweetspot judge job.cfg --implementation $k.ptx --cache cache; done 2>&1");
    assert_contains(r.out, "twice: right\n", "/old.ptx  BLOCK=64\n", "twice: wrong\n", "/other.ptx  BLOCK=64\n");
}

// A register limit gives the same results, but from a different kernel, whose register count is stored.
GPU_TEST(an_option_is_tuned_like_any_parameter)
{
    char *folder = write_job("current = { BLOCK = 128; LIMIT = 0; FAST = 0; };", "");
    struct e2e_result r = e2e_passed(e2e_in(
        folder,
        "sed -i 's/parameters = (/parameters = ( { name = \"LIMIT\"; option = \"--maxrregcount=%%\"; values "
        "= [0, 16]; }, { name = \"FAST\"; option = \"-use_fast_math\"; values = [0, 1]; },/' job.cfg && $BIN/sweetspot "
        "tune job.cfg --store job.db --cache $CACHE -q --no-counters --no-checks 2>&1 && $BIN/sweetspot status job.cfg "
        "--store "
        "job.db && $BIN/sweetspot header job.cfg --store job.db -o x.h && grep OPTIONS_NV x.h"));
    assert_contains(r.out, "12 in all", "TWICE_OPTIONS_NVRTC");
}

TEST_MAIN(share_cache, NULL)
