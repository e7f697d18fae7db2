// `tune --finish` decides between stored results without a search, and --no-checks postpones compute-sanitizer and
// nvcc's build until a `tune --finish`. With a scripted worker.
#include "tests/scripted.h"
#include "tests/testing.h"

#define TWO "strategy = \"exhaustive\"; measure = { final = { candidates = 2; rounds = 10; }; };"

static char *write_job(const char *name)
{
    char *folder = e2e_folder(name);
    SCRIPTED_JOB(folder, .parameters = "{ name = \"X\"; values = [1, 7, 8]; }", .more = TWO);
    return folder;
}

static struct e2e_result tune(const char *folder, const char *before, const char *options)
{
    return e2e_in(folder, "export " SCRIPTED "%s; $BIN/sweetspot tune job.cfg --store job.db %s 2>&1", before, options);
}

static void expect_none(const char *text, const char *part)
{
    if (strstr(text, part)) fail_msg("'%s' in:\n%s", part, text);
}

TEST(a_final_can_follow_later)
{
    char *folder = write_job("finish");
    struct e2e_result r = e2e_passed(tune(folder, "SWEETSPOT_NVCC=none", "--no-final"));
    assert_contains(r.out, "3 new trials", "to decide the winner: sweetspot tune job.cfg --store job.db --finish\n");
    expect_none(r.out, "winner: trial ");
    r = e2e_passed(tune(folder, "SWEETSPOT_NVCC=none", "--finish"));
    assert_contains(r.out, "winner: trial ", "X=7");
    expect_none(r.out, "new trials");
    r = e2e_in(folder, "$BIN/sweetspot status job.cfg --store job.db -f json");
    json_t *status = test_json(json_parse(r.out, NULL));
    assert_int_equal(json_array_size(json_object_get(status, "runs")), 1); // only the search
}

TEST(without_results_there_is_nothing_to_decide)
{
    struct e2e_result r = e2e_ended(1, tune(write_job("nothing"), "SWEETSPOT_NVCC=none", "--finish"));
    assert_contains(r.out, "there are no results to decide between; search first, without --finish");
}

TEST(after_a_new_driver_the_best_are_measured_again_and_nothing_else)
{
    char *folder = write_job("refresh");
    e2e_ended(1, tune(folder, "SWEETSPOT_NVCC=none", "--refresh"));
    e2e_passed(tune(folder, "SWEETSPOT_NVCC=none", "-n 2 --no-final"));
    struct e2e_result r = e2e_ended(1, tune(folder, "SWEETSPOT_NVCC=none", "--refresh")); // the driver is the same
    assert_contains(r.out, "there is nothing to measure again");
    r = e2e_passed(tune(folder, "SWEETSPOT_NVCC=none FAKE_DRIVER=9.9.9", "--refresh"));
    assert_contains(r.out, "2 new trials", "winner: trial ");
    r = e2e_ended(2, tune(folder, "SWEETSPOT_NVCC=none", "--refresh -n 7"));
    assert_contains(r.out, "--refresh only measures known results again and cannot be combined with --evaluations");
    r = e2e_ended(2, tune(folder, "SWEETSPOT_NVCC=none", "--refresh --finish"));
    assert_contains(r.out, "--finish only runs the final on stored results and cannot be combined with --refresh");
}

static const struct {
    const char *now, *said; // variables; NULL: no message
} ages[] = {{"", NULL},
            {"FAKE_ENVIRONMENT=none FAKE_DRIVER=9.9.9", NULL}, // no GPU here
            {"FAKE_DRIVER=9.9.9", "driver (9.9.9 instead of 1.2.3); to measure the best again: sweetspot tune "
                                  "job.cfg --store job.db --refresh"},
            {"FAKE_TOOLKIT=fake-2.0", "compiler (fake-2.0 instead of fake 1.0); "},
            {"FAKE_MODEL=Other", "GPU (Other instead of Fake GPU); "},
            {"FAKE_DRIVER=9 FAKE_MODEL=Other", "GPU (Other instead of Fake GPU), driver (9 instead "}};

static void expect_age(const char *folder, const char *now, const char *said)
{
    static const char *const commands[] = {"status job.cfg", "header job.cfg -o best.h"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct e2e_result r = e2e_passed(
            e2e_in(folder, "export " SCRIPTED "%s; $BIN/sweetspot %s --store job.db 2>&1", now, commands[i]));
        if (!said == !strstr(r.out, "since the final of 20") && strstr(r.out, said ? said : "")) continue;
        fail_msg("%s with '%s': %s", commands[i], now, r.out);
    }
}

TEST(results_that_are_older_than_driver_compiler_gpu_or_source_are_named_as_such)
{
    char *folder = write_job("age");
    e2e_passed(tune(folder, "SWEETSPOT_NVCC=none", "-n 2"));
    for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) expect_age(folder, ages[i].now, ages[i].said);
    struct e2e_result r =
        e2e_in(folder, "export " SCRIPTED "FAKE_DRIVER=9.9.9; $BIN/sweetspot status job.cfg --store job.db -f json");
    json_t *changes = json_object_get(test_json(json_parse(r.out, NULL)), "changes");
    assert_int_equal(json_array_size(changes), 1);
    assert_string_equal(json_get_string(json_array_get(changes, 0), "then", ""), "1.2.3");
    e2e_passed(tune(folder, "SWEETSPOT_NVCC=none FAKE_DRIVER=9.9.9", "--refresh"));
    expect_age(folder, "FAKE_DRIVER=9.9.9", NULL);
    e2e_passed(tune(folder, "SWEETSPOT_NVCC=none FAKE_MODEL=Other", "--refresh"));
    expect_age(folder, "FAKE_MODEL=Other", NULL); // status shows the results of both GPUs
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {} // another\n");
    expect_age(folder, "FAKE_MODEL=Other", ": source; to measure the best again: ");
}

TEST(several_jobs_are_decided_without_a_search)
{
    char *folder = e2e_folder("finish_all");
    for (const char *const *name = (const char *const[]){"a", "b", NULL}; *name; name++)
        SCRIPTED_JOB(folder, .file = test_text("%s.cfg", *name), .name = *name,
                     .parameters = "{ name = \"X\"; values = [1, 7]; }", .more = TWO);
    static const char command[] =
        "cd '%s' && export SWEETSPOT_NVCC=none " SCRIPTED "; $BIN/sweetspot tune a.cfg b.cfg -q %s 2>&1";
    struct e2e_result r = e2e_pass(folder, command, folder, "--no-final");
    expect_none(r.out, "winner: trial ");
    r = e2e_pass(folder, command, folder, "--finish");
    expect_none(r.out, "new trials");
    const char *first = strstr(r.out, "winner: trial ");
    assert_true(first && strstr(first + 1, "winner: trial "));
}

TEST(checks_can_follow_later)
{
    char *folder = write_job("checks"), *tools = test_text("%s/tools", folder);
    e2e_run(folder, "sed -i 's/verification = { enabled = false; };/reference = { kernel = \"x\"; launch = { grid = "
                    "[\"N\"]; block = [32]; }; };/' $DIR/job.cfg");
    char *before = test_text("SWEETSPOT_SANITIZER=$OLDPWD/tests/fake_sanitizer.sh FAKE_TOOLS=tools FAKE_NVCC=1 "
                             "SWEETSPOT_NVCC=");
    struct e2e_result r = e2e_passed(tune(folder, before, "--no-checks"));
    assert_contains(r.out, "winner: trial ");
    expect_none(r.out, "built by");
    assert_null(text_read_file(tools, NULL));
    assert_contains(
        r.out, "compute-sanitizer, nvcc's build and energy are left out; to decide with them: sweetspot tune job.cfg "
               "--store job.db --finish\n");
    r = e2e_passed(tune(folder, before, "--finish"));
    assert_contains(r.out, "built by nvcc 13.1.2");
    assert_non_null(test_owned(text_read_file(tools, NULL)));
    expect_none(r.out, "are left out");
}

TEST(what_says_how_to_search_is_refused)
{
    static const char *const useless[] = {"--no-final",        "--evaluations 5", "--until 1%",
                                          "--strategy random", "--prior x.json",  "--no-stores"};
    char *folder = write_job("useless");
    for (size_t i = 0; i < sizeof useless / sizeof *useless; i++) {
        struct e2e_result r = e2e_ended(2, tune(folder, "A=", test_text("--finish %s", useless[i])));
        assert_contains(r.out, "--finish only runs the final on stored results and cannot be combined with --");
    }
    struct e2e_result r = e2e_ended(2, tune(folder, "A=", "--no-nvcc"));
    assert_contains(r.out, "the option '--no-nvcc' was removed: use --no-checks");
}

TEST_MAIN(NULL, NULL)
