// compute-sanitizer's logs (tests/sanitizer has samples), and the driver's reaction to them. A script replaces the
// tool, and the worker is scripted.
#include "tests/scripted.h"
#include "tests/testing.h"

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/setup/sanitize.h"
#include "tuner/setup/sanitizer_log.h"
#include "tuner/store/store.h"

static const struct {
    const char *file;
    bool ended, out_of_bounds;
    int errors, warnings, elsewhere, unprinted;
    const char *error, *warning, *trouble; // the beginnings of the log's texts
} logs[] = {
    {"clean", true, false, 0, 0, 0, 0, "", "", ""},
    {"memcheck", true, true, 2, 0, 1, 0,
     "Invalid __global__ read of size 4 bytes, at x+0x120 in x.cu:1, by thread (31,0,0) in block (7,0,0)", "", ""},
    {"misaligned", true, false, 1, 0, 0, 0, "Invalid __shared__ read of size 16 bytes, at x+0x50 in x.cu:4", "", ""},
    {"initcheck", true, false, 1, 0, 1, 157, "Uninitialized __global__ memory read of size 4 bytes, at x", "", ""},
    {"synccheck", true, false, 2, 1, 0, 0, "Barrier error detected. Divergent thread(s) in warp.",
     "Barrier error detected. Divergent thread(s) in block.", ""},
    {"roles", true, false, 0, 1, 0, 0, "", "Barrier error detected. Divergent thread(s) in block.", ""},
    {"racecheck", true, false, 1, 1, 0, 0, "Error: Race reported between Write access at x+0x460 in x.cu:41, and Read",
     "Warning: Race reported between Read access", ""},
    {"not_started", true, false, 0, 0, 0, 0, "", "",
     "Error: Target application terminated before first instrumented API call"},
    {"cut", false, false, 0, 0, 1, 0, "", "", ""}, // its kernel is xyz
};

static void expect_beginning(const char *file, const char *text, const char *beginning)
{
    if (!*beginning ? *text : strncmp(text, beginning, strlen(beginning)) != 0)
        fail_msg("%s: '%s' instead of '%s'", file, text, beginning);
}

TEST(the_table_of_logs_is_read)
{
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        const char *const symbols[] = {"y", "x"};
        struct sanitizer_log log;
        char *path = test_text("tests/sanitizer/%s.txt", logs[i].file), *text = test_owned(text_read_file(path, NULL));
        if (!text) fail_msg("cannot read %s", path);
        sanitizer_log_read(text, symbols, 2, &log);
        if (log.ended != logs[i].ended || log.out_of_bounds != logs[i].out_of_bounds || log.errors != logs[i].errors ||
            log.warnings != logs[i].warnings || log.elsewhere != logs[i].elsewhere ||
            log.unprinted != logs[i].unprinted)
            fail_msg("%s: ended %d, out of bounds %d, %d errors, %d warnings, %d elsewhere, %d unprinted", path,
                     log.ended, log.out_of_bounds, (int)log.errors, (int)log.warnings, (int)log.elsewhere,
                     (int)log.unprinted);
        expect_beginning(path, log.first_error, logs[i].error);
        expect_beginning(path, log.first_warning, logs[i].warning);
        expect_beginning(path, log.trouble, logs[i].trouble);
    }
}

TEST(a_log_of_anything_is_read_without_harm)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "=========",
                                        "========= ",
                                        "=========\n=========     at x",
                                        "no log",
                                        "========= ERROR SUMMARY:",
                                        "========= \xff\xfe x\n=========     at x\r\n"};
    const char *const symbols[] = {"x", ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct sanitizer_log log;
        sanitizer_log_read(texts[i], symbols, 2, &log);
        assert_true(log.errors <= 1);
    }
    char *line = test_text("========= Invalid %05000d x\n=========     at x\n", 7);
    struct sanitizer_log log;
    sanitizer_log_read(line, symbols, 1, &log);
    assert_int_equal(log.errors, 1);
    assert_true(strlen(log.first_error) == SANITIZER_TEXT - 1);
}

static const struct {
    const char *document, *words;
    enum trial_status verdict;
} documents[] = {
    {"{\"version\":\"1\",\"problem\":\"N=1\",\"note\":\"\",\"tools\":[{\"tool\":\"memcheck\",\"status\":\"clean\"},"
     "{\"tool\":\"initcheck\",\"status\":\"clean\"},{\"tool\":\"racecheck\",\"advice\":true,\"status\":\"errors\","
     "\"errors\":1,\"warnings\":2}]}",
     "compute-sanitizer 1 on N=1: memcheck, initcheck clean; racecheck (warning): 1 error, 2 warnings", STATUS_OK},
    {"{\"version\":\"1\",\"problem\":\"N=1\",\"note\":\"\",\"tools\":[{\"tool\":\"memcheck\",\"status\":\"errors\","
     "\"errors\":3,\"out_of_bounds\":true}]}",
     "compute-sanitizer 1 on N=1: memcheck: 3 errors", STATUS_OUT_OF_BOUNDS},
    {"{\"version\":\"1\",\"problem\":\"N=1\",\"note\":\"\",\"tools\":[{\"tool\":\"memcheck\",\"status\":\"failed\","
     "\"reason\":\"r\"},{\"tool\":\"initcheck\",\"status\":\"errors\",\"errors\":1}]}",
     "compute-sanitizer 1 on N=1: memcheck: failed; initcheck: 1 error", STATUS_WRONG},
    {"{\"version\":\"1\",\"problem\":\"\",\"note\":\"too large\",\"tools\":[]}", "compute-sanitizer 1: too large",
     STATUS_OK},
};

TEST(a_document_has_words_and_a_verdict)
{
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct error err;
        json_t *document = test_json(json_parse(documents[i].document, &err));
        assert_non_null(document);
        autofree char *words = sanitized_text(document);
        assert_string_equal(words, documents[i].words);
        assert_int_equal(sanitizer_verdict(document, &err), documents[i].verdict);
        assert_int_equal(*err.message != 0, documents[i].verdict != STATUS_OK);
    }
    assert_null(sanitized_text(NULL));
}

// X=7 is the fastest and has the mode. X=6 is the next fastest.
static void write_job(const char *folder, const char *mode, const char *verification)
{
    char *text = test_text("name = \"fake\"; kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                           "parameters = ( { name = \"X\"; values = [7, 6, 1]; },\n"
                           "  { name = \"MODE\"; values = [\"good\", \"%s\"]; } );\n"
                           "constraints = ( \"(X == 7) == (MODE == \\\"%s\\\")\" ); problems = ( { N = 1024; } );\n"
                           "launch = { grid = [\"N\"]; block = [32]; };\n"
                           "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; },"
                           " { scalar = \"N\"; type = \"i32\"; } );\n"
                           "work = { flops = \"N\"; };\n"
                           "reference = { kernel = \"x\"; launch = { grid = [\"N\"]; block = [32]; }; };\n"
                           "verification = { %s };\n"
                           "measure = { timeout = \"60s\"; final = { candidates = 2; rounds = 10; }; };\n"
                           "strategy = \"exhaustive\";\n",
                           mode, mode, verification);
    e2e_write(folder, "job.cfg", text);
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // X MODE\n");
}

#define HERE                                                                            \
    "export SWEETSPOT_SANITIZER=$PWD/tests/fake_sanitizer.sh FAKE_TOOLS=$PWD/%s/tools " \
    "FAKE_SANITIZER_CHILD=$PWD/%s/child " SCRIPTED "; "

static struct e2e_result run(const char *folder, const char *before, const char *command)
{
    return e2e_run(folder, HERE "cd %s && %s $BIN/sweetspot %s", folder, folder, folder, before, command);
}

static void expect(const char *folder, const char *before, const char *command, int status, const char *out,
                   const char *err)
{
    struct e2e_result r = run(folder, before, command);
    if (r.status != status) fail_msg("%s: status %d\n%s\n%s", command, r.status, r.out, r.err);
    assert_contains(r.out, out);
    assert_contains(r.err, err);
}

TEST(a_finalist_with_errors_is_out_and_the_next_best_wins)
{
    char *folder = e2e_folder("sanitize");
    write_job(folder, "sanitize_memcheck", "");
    expect(folder, "", "tune job.cfg --store job.db -q", 0, "X=6,MODE=good",
           "is out of the final: out_of_bounds: compute-sanitizer's memcheck: Invalid __global__ read of size 4 bytes, "
           "at x+0x120 in x.cu:1");
    expect(folder, "", "status job.cfg --store job.db", 0, "1 out_of_bounds", "");
    expect(folder, "", "compare job.cfg --store job.db", 0,
           "compute-sanitizer 2025.3.1.0 on N=1024: memcheck, initcheck, synccheck, racecheck clean", "");
    expect(folder, "", "compare job.cfg --store job.db -f json", 0, "\"tool\": \"synccheck\"", "");
    expect(folder, "", "header job.cfg --store job.db --output best.h", 0, "best.h", "");
    char *path = test_text("%s/best.h", folder), *header = test_owned(text_read_file(path, NULL));
    assert_contains(header,
                    " *   compute-sanitizer 2025.3.1.0 on N=1024: memcheck, initcheck, synccheck, racecheck clean\n");
}

TEST(what_is_found_decides)
{
    static const struct {
        const char *mode, *before, *verification, *winner, *err, *compared;
    } ways[] = {
        {"sanitize_initcheck", "", "", "X=6", "wrong: compute-sanitizer's initcheck: Uninitialized", "clean"},
        {"sanitize_synccheck", "", "", "X=6", "wrong: compute-sanitizer's synccheck: Barrier error", "clean"},
        {"sanitize_racecheck", "", "", "X=7", "warning: trial", "racecheck (warning): 1 error, 1 warning"},
        {"sanitize_racecheck", "", "", "X=7", "", "  racecheck (warning): 1 error, 1 warning: Error: Race reported"},
        {"sanitize_crash", "", "", "X=7", "", "memcheck: failed"},
        {"sanitize_refused", "", "", "X=7", "", "failed: the worker reports launch_error: scripted"},
        {"sanitize_memcheck", "env SWEETSPOT_SANITIZER=none", "", "X=7", "", "winner"},
        {"sanitize_memcheck", "env SWEETSPOT_SANITIZER= CUDA_HOME= PATH=/nowhere", "", "X=7",
         "the winner is not run under compute-sanitizer: there is no compute-sanitizer", "winner"},
        {"sanitize_memcheck", "env SWEETSPOT_SANITIZER=/bin/false", "", "X=7", "'/bin/false --version' fails",
         "winner"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *folder = e2e_folder("sanitize_ways");
        write_job(folder, ways[i].mode, ways[i].verification);
        expect(folder, ways[i].before, "tune job.cfg --store job.db -q", 0, ways[i].winner, ways[i].err);
        expect(folder, "", "compare job.cfg --store job.db", 0, ways[i].compared, "");
    }
}

static size_t count_lines(const char *folder, const char *file)
{
    char *path = test_text("%s/%s", folder, file), *text = test_owned(text_read_file(path, NULL));
    size_t lines = 0;
    for (const char *p = text; p && *p; p++) lines += *p == '\n';
    return lines;
}

// Only the winner is checked, by four tools. A second final reuses their findings.
TEST(what_is_known_is_not_run_again)
{
    char *folder = e2e_folder("sanitize_again");
    write_job(folder, "good_too", "");
    expect(folder, "", "tune job.cfg --store job.db -q", 0, "X=7", "");
    assert_int_equal(count_lines(folder, "tools"), 4);
    expect(folder, "", "tune job.cfg --store job.db -q", 0, "X=7", "");
    assert_int_equal(count_lines(folder, "tools"), 4);
}

TEST(a_tool_that_hangs_is_killed_with_its_children_and_left_out)
{
    char *folder = e2e_folder("sanitize_hang");
    write_job(folder, "sanitize_memcheck", "");
    e2e_run(folder, "sed -i 's/timeout = \"60s\"/timeout = \"3s\"/' $DIR/job.cfg");
    expect(folder, "FAKE_SANITIZER_HANG=synccheck", "tune job.cfg --store job.db -q", 0, "X=6", "");
    assert_int_equal(count_lines(folder, "tools"), 4 + 3); // the first winner is out; one tool less for the second
    expect(folder, "", "compare job.cfg --store job.db", 0, "synccheck: failed", "");
    pid_t child = atoi(test_file("%s/child", folder));
    char *proc = test_text("/proc/%d/cmdline", (int)child), *what = test_owned(text_read_file(proc, NULL));
    assert_true(child > 1);
    if (what && strstr(what, "sleep")) fail_msg("process %d still sleeps", (int)child);
}

TEST(a_large_problem_is_not_tried)
{
    char *folder = e2e_folder("sanitize_large");
    write_job(folder, "sanitize_memcheck", "");
    struct e2e_result r = e2e_pass(folder,
                                   HERE "cd %s && sed -i 's/flops = \"N\"/flops = \"N * 1000000000\"/' job.cfg && "
                                        "$BIN/sweetspot tune job.cfg --store job.db -q",
                                   folder, folder, folder);
    assert_contains(r.out, "X=7");
    expect(folder, "", "compare job.cfg --store job.db", 0, "none of the job's problems is small enough", "");
    assert_int_equal(count_lines(folder, "tools"), 0);
}

TEST(advice_is_skipped_on_a_problem_that_takes_it_long)
{
    char *folder = e2e_folder("sanitize_long");
    write_job(folder, "sanitize_racecheck", "");
    e2e_pass(folder,
             HERE "cd %s && sed -i 's/flops = \"N\"/flops = \"N * 10000000\"/' job.cfg && "
                  "$BIN/sweetspot tune job.cfg --store job.db -q",
             folder, folder, folder);
    expect(folder, "", "compare job.cfg --store job.db", 0, "memcheck, initcheck, synccheck clean; racecheck: skipped",
           "");
    expect(folder, "", "compare job.cfg --store job.db", 0, "  racecheck: skipped: the problem is large", "");
    assert_int_equal(count_lines(folder, "tools"), 3);
}

TEST_MAIN(NULL, NULL)
