// After a final, nvcc's build of the winner races NVRTC's. A scripted GPU shows the effects of every outcome. The real
// compilers (no GPU needed) show that this build is the one that the header tells its users to make.
#include "tests/opened_store.h"
#include "tests/scripted.h"

#include "tuner/store/builds.h"
#include "tuner/store/store.h"

#define WORKERS "export SWEETSPOT_NVCC=; export " SCRIPTED ";"

// A job with parameters X and MODE; `problems` may be NULL for a single problem.
static char *write_job(const char *name, const char *modes, const char *problems, const char *more)
{
    char *folder = e2e_folder(name), *settings = test_text("strategy = \"exhaustive\";\n%s", more);
    char *parameters = test_text("{ name = \"X\"; values = [1, 7]; }, { name = \"MODE\"; values = [%s]; }", modes);
    SCRIPTED_JOB(folder, .name = "built", .parameters = parameters, .problems = problems, .more = settings);
    return folder;
}

#define TWO "measure = { final = { candidates = 2; rounds = 20; }; };"

static struct e2e_result tune(const char *folder, const char *variables, const char *options)
{
    return e2e_in(folder, WORKERS " %s $BIN/sweetspot tune job.cfg --store job.db -q %s", variables, options);
}

// Returns the stored document, or NULL if there is none.
static json_t *builds_document(const char *folder)
{
    struct store *store = opened_store("%s/job.db", folder);
    struct error err = {""};
    json_t *document = store_get_document(store, 0, BUILDS_DOCUMENT, NULL, &err);
    store_close(store);
    return document;
}

TEST(the_race_of_builds_is_reported_everywhere)
{
    static const struct {
        const char *mode, *factor; // factor NULL: there is no nvcc
        const char *verdict, *tune, *compare, *top, *evidence;
    } cases[] = {
        {"good", "1.03", BUILDS_SLOWER,
         "built by nvcc 13.1.2: 1.031ms, 1.030 times that of NVRTC's build (95% interval 1.030 to 1.030): slower: "
         "`sweetspot header --embed`",
         "built by nvcc 13.1.2 with the header's options: 1.030 [1.030, 1.030] times the time of fake 1.0's build: "
         "slower\n",
         "nvcc 13.1.2 makes a SLOWER kernel of the template: 1.030 [1.030, 1.030] times the time below. Launch the "
         "binary that was measured",
         "#define BUILT_NVCC_VERDICT \"slower\"\n"},
        {"good", "1.009", BUILDS_SAME, "1.009 times that of NVRTC's build (95% interval 1.009 to 1.009): the same",
         "times the time of fake 1.0's build: the same within 1%\n", NULL,
         "#define BUILT_NVCC_RATIO 1.009\n#define BUILT_NVCC_RATIO_LOW 1.009\n"},
        {"good", "0.95", BUILDS_FASTER,
         "(95% interval 0.950 to 0.950): faster: build the template with nvcc as the header says\n",
         "fake 1.0's build: faster\n", NULL, "#define BUILT_NVCC \"nvcc 13.1.2\"\n"},
        {"nvcc_two_times", "1", BUILDS_UNDECIDED,
         "times that of NVRTC's build (95% interval 1.000 to 1.050): not decided: the interval is too wide",
         "1.000 [1.000, 1.050] times the time of fake 1.0's build: undecided, the interval is too wide to tell", NULL,
         "#define BUILT_NVCC_VERDICT \"undecided\"\n"},
        {"nvcc_wrong", "1", BUILDS_FAILED,
         "nvcc's build of the winner failed in its final: nvcc 13.1.2: wrong: scripted", "failed: nvcc 13.1.2: wrong",
         "nvcc 13.1.2 makes a kernel of the template that FAILED", "#define BUILT_NVCC_VERDICT \"failed\"\n"},
        {"nvcc_crash", "1", BUILDS_FAILED, "failed in its final: nvcc 13.1.2: worker 'gpu 0'", "failed: nvcc 13.1.2",
         "that FAILED", "built by nvcc 13.1.2 with BUILT_OPTIONS_NVCC: failed: nvcc 13.1.2: worker"},
        {"nvcc_error", "1", BUILDS_MISSING,
         "nvcc's build of the winner is not timed: nvcc 13.1.2: unit.cu(3): error: scripted\n",
         "not timed: nvcc 13.1.2: unit.cu(3): error: scripted\n", NULL,
         "built by nvcc 13.1.2 with BUILT_OPTIONS_NVCC: not timed: nvcc 13.1.2: unit.cu(3): error: scripted\n"},
        {"good", NULL, BUILDS_MISSING, "nvcc's build of the winner is not timed: there is no nvcc\n",
         "built by nvcc with the header's options: not timed: there is no nvcc\n", NULL,
         "built by nvcc with BUILT_OPTIONS_NVCC: not timed: there is no nvcc\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *mode = test_text("\"%s\"", cases[i].mode), *folder = write_job("builds", mode, NULL, TWO);
        autofree char *variables = cases[i].factor ? text_format("FAKE_NVCC=%s", cases[i].factor) : text_copy("");
        struct e2e_result r = e2e_passed(tune(folder, variables, "2>&1"));
        assert_contains(r.out, cases[i].tune);
        autojson json_t *document = builds_document(folder);
        assert_string_equal(json_get_string(document, "verdict", ""), cases[i].verdict);
        assert_contains(e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db").out, cases[i].compare);
        r = e2e_passed(e2e_in(folder, "$BIN/sweetspot header job.cfg --store job.db -o -"));
        char *body = strstr(r.out, "#ifndef SWEETSPOT_BUILT_BEST_H");
        assert_contains(r.out, cases[i].evidence);
        assert_non_null(body);
        body[0] = 0;
        if (cases[i].top)
            assert_contains(r.out, cases[i].top);
        else if (strstr(r.out, " makes a "))
            fail_msg("%s: %s", cases[i].verdict, r.out);
    }
}

// The race takes two processes, whose results agree. The loser of the final drops out after the final's first process.
TEST(the_race_goes_by_the_finals_protocol)
{
    char *folder = write_job("protocol", "\"good\"", NULL, TWO), *path = test_text("%s/log", folder);
    e2e_passed(tune(folder, "FAKE_NVCC=1 FAKE_LOG=log FAKE_LOG_FINALS=1", ""));
    char *log = test_owned(text_read_file(path, NULL)), *line = log;
    static const char *const expected[] = {"final 0.0: 7 rounds, 2 ", "final 1.0: 7 rounds, 1 ",
                                           "race 0.0: 7 rounds, 2 ", "race 1.0: 7 rounds, 2 "};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        line = strstr(line, expected[i]);
        if (!line) fail_msg("no '%s' in its place:\n%s", expected[i], log);
    }
    autojson json_t *document = builds_document(folder);
    assert_int_equal(json_get_integer(document, "rounds", 0), 14);
    assert_string_equal(json_get_string(document, "nvcc", ""), "nvcc 13.1.2");
    struct e2e_result r = e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db --format json");
    assert_contains(r.out, "\"verdict\": \"same\"", "\"compiler\": \"nvcc 13.1.2\"");
}

TEST(it_can_be_switched_off)
{
    static const struct {
        const char *variables, *options, *measure;
        bool postponed;
    } cases[] = {{"FAKE_NVCC=1", "--no-checks", TWO, true}, {"SWEETSPOT_NVCC=none FAKE_NVCC=1", "", TWO, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job("off", "\"good\"", NULL, cases[i].measure);
        struct e2e_result r = e2e_passed(tune(folder, cases[i].variables, cases[i].options));
        assert_null(strstr(r.out, "built by"));
        assert_true(!strstr(r.out, "nvcc's build and energy are left out; to decide with them: ") ==
                    !cases[i].postponed);
        assert_null(strstr(r.err, "nvcc"));
        assert_null(builds_document(folder));
    }
}

// A race of builds applies only to the winner of its own final, not to the winner of a later final.
TEST(an_older_race_is_not_shown)
{
    char *folder = write_job("older", "\"good\"", NULL, TWO);
    tune(folder, "FAKE_NVCC=1", "");
    sleep(1); // finals are dated to the second
    e2e_passed(tune(folder, "FAKE_NVCC=1", "--no-checks"));
    struct e2e_result r =
        e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db && $BIN/sweetspot header job.cfg --store job.db "
                       "-o - | grep -v OPTIONS_NVCC");
    assert_null(strstr(r.out, "nvcc 13"));
}

// If NVRTC's build of the winner is found wrong in the race, it is excluded, and another final decides.
TEST(a_winner_that_fails_in_the_race_of_builds_is_out)
{
    char *folder = write_job("falls", "\"race_wrong\", \"good\"", NULL,
                             "constraints = ( \"(X == 7) == (MODE == \\\"race_wrong\\\")\" );"
                             "measure = { final = { candidates = 1; rounds = 20; }; };");
    struct e2e_result r = e2e_passed(tune(folder, "FAKE_NVCC=1", "2>&1"));
    assert_contains(r.out, "X=7,MODE=race_wrong", "is out of the final: wrong: scripted");
    r = e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db");
    assert_contains(r.out, "X=1,MODE=good", "the same within 1%");
}

// Each of two problems has its own kernel. Both kernels are built, and each problem has the times of its own kernel.
TEST(every_kernel_of_a_set_is_raced)
{
    char *folder = e2e_folder("set");
    SCRIPTED_JOB(folder, .name = "built", .problems = "{ N = 1024; }, { N = 2048; }",
                 .parameters = "{ name = \"X\"; values = [7, 12]; }, { name = \"MODE\"; values = [\"good\"]; }",
                 .more = "strategy = \"exhaustive\"; objective = \"each\";" TWO);
    struct e2e_result r =
        e2e_passed(tune(folder, "FAKE_NVCC=1.02 FAKE_OTHER_WAY=1 FAKE_LOG=log FAKE_LOG_FINALS=1", "2>&1"));
    assert_contains(r.out, "2 kernels for 2 problems",
                    "1.020 times that of NVRTC's build (95% interval 1.020 to 1.020): slower");
    char *path = test_text("%s/log", folder), *log = test_owned(text_read_file(path, NULL));
    assert_contains(log, "race 0.0: 7 rounds, 4 candidates");
    r = e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db --format json | grep -A 4 '\"nvcc\": \\['");
    assert_contains(r.out, "0.00102", "0.00081");
    r = e2e_in(folder, "$BIN/sweetspot header job.cfg --store job.db -o - | grep -c 'a SLOWER kernel'");
    assert_string_equal(r.out, "2\n");
}

// With the real compilers ---------------------------------------------------------------------------------------------

static bool no_nvcc(void)
{
    return system("command -v nvcc >/dev/null 2>&1") != 0;
}

// Forms of a job's kernel and of its settings. X has only one value, which wins.
static const struct {
    const char *what, *kernel, *source, *symbol;
} forms[] = {
    {"an extern \"C\" entry with options and macros",
     "entry = \"x\"; options = [\"-use_fast_math\", \"--maxrregcount=32\", \"-default-device\"]; defines = { FACTOR = "
     "3; };",
     "extern \"C\" __global__ void x(float *y) { UNROLL for (int i = 0; i < X; i++) y[i] = __expf(y[i]) / FACTOR + "
     "y[i + 64]; }\n",
     "x"},
    {"a C++ entry that is a template", "entry = \"ns::x<float, X>\";",
     "namespace ns { template <class T, int n> __global__ void x(T *y) { UNROLL for (int i = 0; i < n; i++) y[i] *= "
     "T(n); } }\n",
     "_ZN2ns1xIfLi6EEEvPT_"},
    {"a C++ entry in a file with includes", "entry = \"x\"; include = [\"more\"];",
     "#include \"part.h\"\n__global__ void x(float *y) { y[threadIdx.x] = PART * X; UNROLL }\n", "_Z1xPf"},
};

// Follows the header's instructions by hand, with the options from NAME_OPTIONS_NVCC.
static const char by_hand[] =
    "cd %s && $BIN/sweetspot header job.cfg --store job.db -o built_best.h && { echo '#define "
    "BUILT_DEFINE_PARAMETERS'; "
    "echo '#include \"built_best.h\"'; echo '#include \"x.cu\"'; grep -q BUILT_INSTANTIATE built_best.h && echo "
    "BUILT_INSTANTIATE; echo; } >by_hand.cu && eval \"nvcc $(sed -n 's/^#define BUILT_OPTIONS_NVCC "
    "\"\\(.*\\)\"$/\\1/p' "
    "built_best.h)\" -Imore -cubin by_hand.cu -o by_hand.cubin 2>&1";

TEST(the_build_is_what_the_header_tells_its_users_to_make)
{
    if (no_nvcc() || system("command -v readelf >/dev/null 2>&1")) skip();
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *folder = e2e_folder("exact"), *more = test_text("%s/more", folder);
        assert_int_equal(mkdir(more, 0777), 0);
        e2e_write(more, "part.h", "#define PART 5\n");
        autofree char *job =
            text_format("name = \"built\"; kernel = { template = \"x.cu\"; %s };\n"
                        "parameters = ( { name = \"X\"; values = [6]; }, { name = \"UNROLL\"; unroll = [2]; } );\n"
                        "launch = { grid = [\"N\"]; block = [32]; }; problems = ( { N = 1024; } );"
                        "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"inout\"; } );"
                        "verification = { enabled = false; }; " TWO,
                        forms[i].kernel);
        e2e_write(folder, "job.cfg", job);
        e2e_write(folder, "x.cu", forms[i].source);
        struct e2e_result r = e2e_in(folder, "export SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_NVCC= FAKE_NVCC=1 "
                                             "&& $BIN/sweetspot tune job.cfg --store job.db --cache cache -q 2>&1");
        if (r.status || !strstr(r.out, "built by nvcc ")) fail_msg("%s: %s", forms[i].what, r.out);
        r = e2e_run(folder, by_hand, folder);
        if (r.status) fail_msg("%s: %s%s", forms[i].what, r.out, r.err);
        // The bytes of the kernel must be the same.
        r = e2e_in(folder,
                   "for cubin in by_hand.cubin $(find cache -name '*.cubin' | xargs grep -L debug_line); do readelf -x "
                   "'.text.%s' $cubin | grep 0x | md5sum; done | sort | uniq -c | grep -c '^ *[2-9]'",
                   forms[i].symbol);
        assert_string_equal(r.out, "1\n");
    }
}

// nvcc compiles the likely winner during the rounds, and in this test the rounds wait for nvcc. Its binary is used, so
// it compiles only once.
TEST(nvcc_compiles_while_rounds_go_on)
{
    if (no_nvcc()) skip();
    char *folder = write_job("ahead", "\"good\"", NULL, TWO);
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) { y[0] = 1; }\n");
    e2e_write(folder, "nvcc",
              "#!/bin/sh\ncase $1 in --version) ;; *) echo begun >>\"$0.begun\"; sleep 1;; esac\n"
              "exec \"$REAL\" \"$@\"\n");
    struct e2e_result r = e2e_passed(
        e2e_in(folder, "chmod +x nvcc; export REAL=$(command -v nvcc || echo $CUDA_HOME/bin/nvcc) FAKE_LOG=log "
                       "FAKE_WAITS=\"final nvcc.begun\" SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_NVCC=$PWD/nvcc "
                       "FAKE_NVCC=1; timeout 50 $BIN/sweetspot tune job.cfg --store job.db --cache cache; cat "
                       "nvcc.begun"));
    assert_contains(r.out, "winner: trial ", "  built by nvcc ");
    assert_string_equal(strstr(r.out, "begun"), "begun\n");
}

// Stand-ins for nvcc. Most of them answer --version. Each misbehaves in its own way.
#define VERSION "case $1 in --version) echo 'Cuda compilation tools, release 9.9, V9.9.1'; exit 0;; esac\n"
static const struct {
    const char *script, *reason; // NULL: there is no nvcc on the PATH or in $CUDA_HOME
} bad[] = {
    {NULL, "is not timed: there is no nvcc on the PATH or in $CUDA_HOME/bin; set SWEETSPOT_NVCC to its path\n"},
    {"exit 3\n", "--version' does not report its version\n"},
    {VERSION "echo \"nvcc fatal   : Value 'sm_90a' is not defined for option 'gpu-architecture'\" >&2; exit 1\n",
     "is not timed: nvcc 9.9.1: nvcc fatal   : Value 'sm_90a' is not defined for option 'gpu-architecture'\n"},
    {VERSION "exit 5\n", "is not timed: nvcc 9.9.1: nvcc failed with status 5\n"},
    {VERSION "kill -SEGV $$\n", "is not timed: nvcc 9.9.1: nvcc was killed by signal 11\n"},
    {VERSION "exit 0\n", "is not timed: nvcc 9.9.1: nvcc made no cubin"},
    {VERSION "sleep 100 & echo $! >pid; wait\n",
     "is not timed: nvcc 9.9.1: still compiling at the deadline: raise the job's compile.timeout if it is too short\n"},
    {VERSION "exec >&- 2>&-; exec sleep 100\n",
     "is not timed: nvcc 9.9.1: still compiling at the deadline: raise the job's compile.timeout if it is too short\n"},
    {VERSION "while [ $# -gt 0 ]; do [ $1 = -o ] && echo nothing >$2; shift; done\n",
     "is not timed: nvcc 9.9.1: nvcc's build has no kernel 'x' under the name 'x'\n"},
};

TEST(a_bad_nvcc_is_reported_in_one_line_and_harms_nothing)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *folder = write_job("bad", "\"good\"", NULL, TWO "compile = { timeout = \"2s\"; };");
        e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) { y[0] = 1; }\n");
        char *script = test_text("#!/bin/sh\n%s", bad[i].script ? bad[i].script : "");
        e2e_run(folder, "mkdir -p $DIR/bin $DIR/tmp");
        e2e_write(folder, "bin/nvcc", script);
        struct e2e_result r =
            e2e_in(folder,
                   "%s && export SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_NVCC= FAKE_NVCC=1 TMPDIR=$PWD/tmp "
                   "CUDA_HOME=/nowhere PATH=$PWD/bin:/usr/bin:/bin && $BIN/sweetspot tune job.cfg --store job.db "
                   "--cache cache -q 2>&1; echo status $?; find tmp; [ ! -e pid ] || sed -n "
                   "'/^State:[^Z]*$/s/.*/alive/p' /proc/$(cat pid)/status 2>/dev/null || true",
                   bad[i].script ? "chmod +x bin/nvcc" : "rm bin/nvcc");
        assert_contains(r.out, bad[i].reason, "winner: trial ", "status 0\ntmp\n"); // nothing is left there
        if (!strstr(r.out, "tmp\n") || strcmp(strstr(r.out, "status 0\ntmp\n"), "status 0\ntmp\n") != 0)
            fail_msg("left behind: %s", r.out);
    }
}

TEST_MAIN(NULL, NULL)
