// A job's current kernel. Invalid ones are refused, and a valid one is measured first in a run. It is a baseline of the
// final whether or not the search finds it. Also baselines that are programs.
#include "tests/scripted.h"
#include "tests/testing.h"

#define WORKERS "export SWEETSPOT_NVCC=none; export " SCRIPTED ";"

static char *write_job(const char *current)
{
    char *folder = e2e_folder("current");
    char *more = test_text("constraints = ( \"X < 7 || MODE == \\\"good\\\"\" );\n%s\n"
                           "measure = { final = { candidates = 2; rounds = 20; }; }; "
                           "strategy = \"exhaustive\";",
                           current);
    SCRIPTED_JOB(folder, .name = "some", .problems = "{ N = 1024; }, { N = 4096; }", .more = more,
                 .parameters =
                     "{ name = \"X\"; values = [1, 2, 3, 5, 6, 7, 8]; }, { name = \"MODE\"; values = [\"good\", "
                     "\"wrong\"]; }");
    e2e_write(folder, "old.cu", "\n");
    e2e_write(folder, "old.ptx", ".version 8.0\n.visible .entry k_old(\n)\n{\n}\n.entry k_other() { ret; }\n");
    e2e_write(folder, "broken.cu", "\n");
    assert_int_equal(system(test_text("tail -c +3 tests/fuzz/corpus/cubin/small >%s/small", folder)), 0);
    return folder;
}

TEST(a_mistaken_present_kernel_is_refused_with_file_and_line)
{
    static const struct {
        const char *current, *message; // NULL: valid
    } cases[] = {
        {"current = { X = 1; MODE = \"good\"; };", NULL},
        {"current = { X = 1; };", "job.cfg:6: 'current' lacks parameter 'MODE'\n"},
        {"current = { X = 4; MODE = \"good\"; };", "'X' has no such value (it has: 1, 2, 3, 5, 6, 7, 8)\n"},
        {"\ncurrent = { X = 7; MODE = \"wrong\"; };",
         "job.cfg:7: 'current' violates the constraint \"X < 7 || MODE == \"good\"\"\n"},
        {"current = { template = \"old.cu\"; kernel = \"k\"; launch = { grid = [ \"N\" ]; block = [ 64 ]; }; };", NULL},
        {"current = { kernel = \"k\"; launch = { grid = [ \"N\" ]; block = [ "
         "64 ]; }; arguments = ( { buffer = \"y\"; }, { buffer = \"t\"; type = \"u32\"; shape = [ \"N\" ]; direction = "
         "\"scratch\"; } ); };",
         NULL},
        {"current = { kernel = \"k\"; };", "job.cfg:6: 'launch' is missing"},
        {"current = { template = \"old.cu\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: 'current' lacks 'kernel', the kernel's name\n"},
        {"current = { template = \"older.cu\"; kernel = \"k\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: cannot read 'older.cu'\n"},
        {"current = { kernel = \"k\"; X = 1; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: unknown setting 'X' in 'current'"},
        {"current = { kernel = \"k\"; launch = { grid = [ \"N / X\" ]; block = [ 64 ]; }; };",
         "job.cfg:6: 'current' depends on 'X', but another kernel cannot use the job's parameters: \"N / X\"\n"},
        {"current = { kernel = \"k\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; arguments = ( { buffer = \"z\"; type "
         "= "
         "\"f32\"; shape = [ \"N\" ]; direction = \"out\"; } ); };",
         "job.cfg:6: 'current' declares the output 'z', which the job does not have\n"},
        {"current = { binary = \"old.ptx\"; kernel = \"k_old\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };", NULL},
        {"current = { binary = \"old.ptx\"; kernel = \"k_odl\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: unknown kernel 'k_odl'; did you mean 'k_old'? (known: k_old, k_other)\n"},
        {"current = { binary = \"small\"; kernel = \"k_old\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: unknown kernel 'k_old' (known: k)\n"},
        {"current = { binary = \"old.cu\"; kernel = \"k\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "old.cu' has no kernel: it must be a cubin or PTX\n"},
        {"current = { binary = \".\"; kernel = \"k\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "': Is a directory\n"},
        {"current = { binary = \"/dev/zero\"; kernel = \"k\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: '/dev/zero' is not a regular file\n"},
        {"current = { binary = \"old.ptx\"; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: 'current' lacks 'kernel', the kernel's name\n"},
        {"current = { binary = \"old.ptx\"; template = \"old.cu\"; kernel = \"k\"; launch = { grid = [ 1 ]; block = [ "
         "64 "
         "]; }; };",
         "job.cfg:6: unknown setting 'template' in 'current'"},
        {"current = { kernel = \"k\"; defines = { A = 3; }; launch = { grid = [ 1 ]; block = [ 64 ]; }; };",
         "job.cfg:6: setting 'defines' in 'current' was removed: write a '#define' into the source"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job(cases[i].current);
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot check job.cfg --compile 0");
        if (r.status != (cases[i].message ? 2 : 0)) fail_msg("%s: %s", cases[i].current, r.err);
        if (cases[i].message) assert_contains(r.err, cases[i].message);
    }
}

static struct e2e_result tune(const char *folder)
{
    return e2e_in(
        folder, WORKERS
        " FAKE_LOG=log FAKE_LIBRARY=/fake.so $BIN/sweetspot tune job.cfg --store job.db -j 1 -q 2>&1 && head -n 1 log");
}

// X = 2 takes 1.25 ms; X = 7 takes 1 ms and wins.
TEST(a_configuration_is_measured_first_and_compared_with_the_winner)
{
    char *folder = write_job("current = { X = 2; MODE = \"good\"; };");
    struct e2e_result r = e2e_passed(tune(folder));
    assert_contains(r.out, "  1.250x as fast as current (95% interval 1.250 to 1.250, 14 rounds)\n",
                    "\nX=2,MODE=good\n"); // the log's first trial
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db && $BIN/sweetspot compare job.cfg "
                                  "--store job.db --format json | grep -c 'name\": \"current' && $BIN/sweetspot "
                                  "compare job.cfg --store job.db --format json && $BIN/sweetspot status job.cfg "
                                  "--store job.db && $BIN/sweetspot header job.cfg --store job.db -o x.h && cat x.h"));
    assert_contains(r.out, "ratio to current", "1.250 [1.250, 1.250]", "\n2\n"); // a line for each problem
    assert_contains(r.out, "\"current\": [", "against current", "times the speed of current",
                    "SOME_RATIO_CURRENT 1.25");
}

TEST(one_that_the_search_finds_races_once_and_is_shown_as_both)
{
    char *folder = write_job("current = { X = 7; MODE = \"good\"; };");
    struct e2e_result r = e2e_passed(tune(folder));
    assert_contains(r.out, "  1.000x as fast as current (95% interval 1.000 to 1.000, 14 rounds)\n");
    r = e2e_passed(e2e_in(folder, "$BIN/sweetspot compare job.cfg --store job.db --format json | python3 -c 'import "
                                  "json, sys; [print(e[\"name\"], e[\"trial\"], e[\"winner\"], round(e[\"time\"][0], "
                                  "6)) for e in json.load(sys.stdin)[\"problems\"][0][\"entries\"]]'"));
    assert_contains(r.out, "candidate 1 True 0.001001\n"); // the winner, measured first
    assert_contains(r.out, "current None False 0.001001\n");
}

TEST(another_kernel_is_compiled_from_its_own_file)
{
    char *folder = write_job("current = { template = \"old.cu\"; kernel = \"k_old\"; launch = { "
                             "grid = [ \"N / 2\" ]; block = [ 64 ]; }; };");
    struct e2e_result r = e2e_passed(e2e_in(
        folder, WORKERS " FAKE_HELPERS=1 FAKE_LOG=log $BIN/sweetspot tune job.cfg --store job.db -q 2>&1 && cat log"));
    assert_contains(r.out, "helper reference {}\n",
                    "  1.490x as fast as current (95% interval 1.490 to 1.490, 14 rounds)\n");
}

// The current kernel and the baseline are measured without a compiler: the log names their files.
TEST(a_binary_is_sent_as_it_is)
{
    char *folder = write_job(
        "current = { binary = \"old.ptx\"; kernel = \"k_old\"; launch = { grid = [ \"N / 2\" ]; block = [ 64 ]; }; };\n"
        "baselines = ( { name = \"program\"; binary = \"old.ptx\"; kernel = \"k_other\"; launch = { grid = [ 1 ]; "
        "block "
        "= "
        "[ "
        "64 ]; }; } );");
    struct e2e_result r = e2e_passed(e2e_in(
        folder, WORKERS
        " FAKE_LOG_FILES=1 FAKE_LOG=log $BIN/sweetspot tune job.cfg --store job.db -q 2>&1 && grep -c old.ptx log"));
    assert_contains(r.out, "x as fast as current (95% interval ", "x as fast as program (95% interval ");
}

TEST(one_that_is_wrong_is_named_and_left_out)
{
    char *folder = write_job("current = { X = 2; MODE = \"wrong\"; };");
    struct e2e_result r = e2e_passed(tune(folder));
    assert_contains(r.out, "baseline current: not available: wrong: scripted\n");
    assert_null(strstr(r.out, "x as fast as current"));
}

TEST(one_that_does_not_compile_ends_the_run_with_its_name)
{
    char *folder = write_job("current = { kernel = \"k_old\"; launch = { grid = [ \"N\" ]; block = [ 64 ]; }; };");
    struct e2e_result r =
        e2e_in(folder, WORKERS " FAKE_HELPER_ERROR=reference $BIN/sweetspot tune job.cfg --store job.db -q");
    assert_int_equal(r.status, 2);
    assert_contains(r.err, "current kernel 'k_old': scripted");
}

#define PROGRAM(name, function) "{ name = \"" name "\"; library = \"old.cu\"; function = \"" function "\"; }"

TEST(mistaken_programs_are_refused_with_file_and_line)
{
    static const struct {
        const char *baselines, *message; // NULL: valid
    } cases[] = {
        {PROGRAM("mine", "f"), NULL},
        {"{ name = \"k\"; kernel = \"k\"; launch = { grid = [ \"N\" ]; block = [ 64 ]; }; }", NULL},
        {"{ name = \"k\"; template = \"old.cu\"; launch = { grid = [ \"N\" ]; block = [ 64 ]; }; }",
         "job.cfg:6: a baseline lacks 'kernel', the kernel's name\n"},
        {PROGRAM("mine", "f") ", " PROGRAM("mine", "g"), "job.cfg:6: there is another baseline 'mine'\n"},
        {PROGRAM("my baseline", "f"), "job.cfg:6: a baseline's name begins with a letter"},
        {"{ name = \"a\"; library = \"old.cu\"; }", "job.cfg:6: a baseline lacks 'function'\n"},
        {"{ name = \"a\"; library = \"nosuch.cu\"; function = \"f\"; }",
         "job.cfg:6: cannot read library 'nosuch.cu'\n"},
        {"{ name = \"a\"; library = \"job.cfg\"; function = \"f\"; }", "job.cfg' is not a shared library\n"},
        {"{ name = \"a\"; library = \"old.cu\"; function = \"f\"; arguments = ( { buffer = \"z\"; type = \"f32\"; "
         "shape "
         "= [ \"N\" ]; direction = \"out\"; } ); }",
         "job.cfg:6: 'a' declares the output 'z', which the job does not have\n"},
        {"{ name = \"a\"; library = \"old.cu\"; function = \"f\"; arguments = ( { scalar = \"X\"; type = \"i32\"; } ); "
         "}",
         "job.cfg:6: 'a' depends on 'X', but another kernel cannot use the job's parameters: \"X\"\n"},
        {"{ name = \"a\"; library = \"old.cu\"; function = \"f\"; arguments = ( { buffer = \"y\"; }, { buffer = \"c\"; "
         "} "
         "); } ); constants = ( { name = \"c\"; type = \"i32\"; direction = \"out\"; }",
         NULL},
        {PROGRAM("mine", "f") " ); constants = ( { name = \"c\"; type = \"i32\"; direction = \"out\"; }",
         "job.cfg:6: baseline 'mine' is not given the output 'c': add { buffer = \"c\"; } to its 'arguments'\n"},
        {"{ name = \"a\"; library = \"old.cu\"; function = \"f\"; arguments = ( { buffer = \"y\"; }, { buffer = "
         "\"s\"; "
         "type = \"f32\"; shape = [8]; direction = \"scratch\"; surface = { }; }, { buffer = \"s\"; } ); }",
         "job.cfg:6: 's' is written, so kernels cannot see it both by its address in memory and as a surface"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *baselines = test_text("baselines = ( %s );", cases[i].baselines), *folder = write_job(baselines);
        struct e2e_result r = e2e_in(folder, "$BIN/sweetspot check job.cfg --compile 0");
        if (r.status != (cases[i].message ? 2 : 0)) fail_msg("%s: %s", cases[i].baselines, r.err);
        if (cases[i].message) assert_contains(r.err, cases[i].message);
    }
}

// One program is correct, one does not compile, one crashes the worker while the job is set up, and one crashes it in
// the final.
TEST(a_program_that_fails_costs_its_own_figure_and_the_others_are_compared)
{
    char *folder = write_job("baselines = ( " PROGRAM("program", "f") ", " PROGRAM(
        "early_crash", "crash") ", "
                                "{ name = \"bad\"; library = \"broken.cu\"; function = \"f\"; }, " PROGRAM("late_crash",
                                                                                                           "f") " );");
    struct e2e_result r = e2e_passed(tune(folder));
    assert_contains(r.out, "baseline early_crash: not available: it crashed: scripted\n",
                    "baseline bad: not available: broken.cu(2): error: scripted\n",
                    "baseline late_crash: it crashes in the final, which continues without it: it crashed: scripted\n",
                    "x as fast as program (95% interval ");
    assert_null(strstr(r.out, "times late_crash"));
    r = e2e_in(folder, "grep -c fake.so log; $BIN/sweetspot compare job.cfg --store job.db");
    assert_contains(r.out, "ratio to program");
}

// This way a compiler cannot use up the command's time.
TEST(a_program_has_a_quarter_of_the_time_to_be_built)
{
    static const struct {
        const char *time, *said;
    } cases[] = {{"16s", "baseline program: not available: it was not built in time (at most a quarter of --time"},
                 {"24s", "x as fast as program"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = write_job("baselines = ( { name = \"program\"; library = \"slow.cu\"; function = \"f\"; } );");
        e2e_write(folder, "slow.cu", "\n");
        struct e2e_result r = e2e_passed(e2e_in(
            folder, WORKERS " FAKE_LIBRARY=/fake.so $BIN/sweetspot tune job.cfg --store job.db -j 1 -q --time %s 2>&1",
            cases[i].time));
        assert_contains(r.out, cases[i].said);
    }
}

TEST_MAIN(NULL, NULL)
