// Parameters that are compiler options: invalid ones are refused, candidates are compiled with them, and the header's
// instructions contain the winner's options.
#include "tests/scripted.h"
#include "tests/testing.h"

#define FAKE "export SWEETSPOT_NVCC=none; export " SCRIPTED ";"

static char *write_job(const char *parameters, const char *options)
{
    char *folder = e2e_folder("options");
    autofree char *job =
        text_format("name = \"some\"; kernel = { template = \"x.cu\"; entry = \"x\"; options = [ %s ]; };\n"
                    "parameters = ( { name = \"X\"; values = [5, 7]; },\n  %s );\n"
                    "problems = ( { N = 1024; } ); launch = { grid = [\"N\"]; block = [32]; };\n"
                    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
                    "verification = { enabled = false; }; measure = { final = { candidates = 2; rounds = 20; }; };\n"
                    "strategy = \"exhaustive\";\n",
                    options, parameters);
    e2e_write(folder, "job.cfg", job);
    // Forty values are live at once, and -use_fast_math approximates the division.
    e2e_write(folder, "x.cu",
              "extern \"C\" __global__ void x(float *y)\n{\n#ifdef LIMIT\n#error an option is no macro\n#endif\n"
              "    float a[40];\n#pragma unroll\n    for (int i = 0; i < 40; i++) a[i] = y[i] / y[i + 64];\n"
              "    __syncthreads();\n#pragma unroll\n    for (int i = 0; i < 40; i++) y[threadIdx.x + 40 * i] = "
              "a[i] * a[39 - i] * X;\n}\n");
    return folder;
}

TEST(a_mistaken_option_is_refused_with_file_and_line)
{
    static const struct {
        const char *parameters, *options, *message; // NULL: valid
    } cases[] = {
        {"{ name = \"LIMIT\"; option = \"--maxrregcount=%\"; values = [0, 32]; }", "\"-use_fast_math\"", NULL},
        {"{ name = \"ANY\"; option = \"%\"; values = [\"\", \"-use_fast_math\", \"--fmad=false\"]; }", "", NULL},
        {"{ name = \"FAST\"; option = \"-use_fast_math\"; values = [0, 1]; }", "", NULL},
        {"{ name = \"FAST\"; option = \"-use_fast_math\"; values = [0, 2]; }", "",
         "job.cfg:3: the option of 'FAST' has no '%' for its value: the values can only be 0, without it, and 1, with "
         "it\n"},
        {"{ name = \"U\"; option = \"-x=%\"; unroll = [0, 2]; }", "",
         "job.cfg:3: 'U' is a pragma and cannot be an 'option' too\n"},
        {"{ name = \"U\"; option = \"-x=%%\"; values = [0, 2]; }", "",
         "job.cfg:3: the option of 'U' has more than one '%' for its value\n"},
        {"{ name = \"U\"; option = \"maxrregcount=%\"; values = [0, 2]; }", "",
         "job.cfg:3: 'maxrregcount=2' is not an option of the compiler: it does not begin with '-'\n"},
        {"{ name = \"U\"; option = \"%\"; values = [\"\", \"-o x\"]; }", "",
         "job.cfg:3: the option '-o x' is refused: the program names the output\n"},
        {"{ name = \"U\"; option = \"--gpu-architecture=sm_%\"; values = [80, 90]; }", "",
         "job.cfg:3: the option '--gpu-architecture=sm_80' is refused: the architecture is the device's\n"},
        {"{ name = \"U\"; values = [1]; }", "\"-I/opt/x\"", "job.cfg:1: the option '-I/opt/x' is refused: use "},
        {"{ name = \"U\"; values = [1]; }", "\"--fmad=true\", \"--generate-code=arch=compute_90\"",
         "job.cfg:1: the option '--generate-code=arch=compute_90' is refused: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job(cases[i].parameters, cases[i].options);
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot check job.cfg");
        if (r.status != (cases[i].message ? 2 : 0)) fail_msg("%s: %s", cases[i].parameters, r.err);
        if (cases[i].message) assert_contains(r.err, cases[i].message);
    }
}

// The number of registers that a configuration of the job uses.
static int registers_of(const char *out, const char *config)
{
    const char *at = strstr(out, config);
    if (!at) fail_msg("no %s in %s", config, out);
    while (at > out && at[-1] != '\n') at--;
    return atoi(at + strlen("ok"));
}

TEST(candidates_are_compiled_with_the_option_unless_the_value_leaves_it_out)
{
    char *folder = write_job("{ name = \"LIMIT\"; option = \"--maxrregcount=%\"; values = [0, 32]; }, { name = \"O\"; "
                             "option = \"--ptxas-options=-O%\"; values = [\"\", \"1\"]; }",
                             "");
    struct e2e_result r = e2e_passed(e2e_in(folder, "$BIN/sweetspot check job.cfg --compile 8 --cache cache"));
    int free = registers_of(r.out, "X=5,LIMIT=0,O=\n"), limited = registers_of(r.out, "X=5,LIMIT=32,O=\n");
    if (limited > 32 || free <= 32) fail_msg("%d and %d registers: %s", free, limited, r.out);
    registers_of(r.out, "X=7,LIMIT=32,O=1\n");
}

TEST(the_header_has_the_winners_options_and_no_macro_for_them)
{
    char *folder = write_job("{ name = \"LIMIT\"; option = \"--maxrregcount=%\"; values = [64]; }, { name = \"FAST\"; "
                             "option = \"-use_fast_math\"; values = [0]; }",
                             "\"--fmad=false\"");
    struct e2e_result r =
        e2e_passed(e2e_in(folder, FAKE " $BIN/sweetspot tune job.cfg --store job.db -j 1 -q >/dev/null && "
                                       "$BIN/sweetspot header job.cfg --store job.db -o x.h && cat x.h"));
    assert_contains(r.out, "X=7,LIMIT=64,FAST=0", "--fmad=false --maxrregcount=64", "#define SOME_LIMIT 64\n",
                    "#define X 7\n");
    assert_null(strstr(r.out, "use_fast_math"));
    assert_null(strstr(r.out, "#define LIMIT"));
    assert_null(strstr(r.out, "#undef LIMIT"));
    // A different option under the same name gives a different environment, so earlier results are not used.
    r = e2e_passed(e2e_in(folder, "sed -i s/--maxrregcount=/--split-compile=/ job.cfg && " FAKE
                                  " $BIN/sweetspot tune job.cfg --store job.db -j 1 -q"));
    assert_contains(r.err, "2 new trials");
}

TEST_MAIN(NULL, NULL)
