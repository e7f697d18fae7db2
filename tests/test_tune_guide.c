// The driver with a guide, against a scripted worker (fake_worker.c): what is screened out is neither measured nor
// lost, a resumed run knows what the one before knew, and a useless guide costs no candidate.
#include "tests/e2e.h"
#include "tests/opened_store.h"

#include <math.h>

#include "tuner/base/json.h"
#include "tuner/base/protocol.h"
#include "tuner/store/store.h"

enum { CONFIGURATIONS = 80 }; // X from 1 on; 7 is the best, and from 13 on over 1.25 times as slow

static void write_job(const char *folder, const char *guide, const char *modes)
{
    char *text =
        text_format("name = \"fake\";\n"
                    "kernel = { template = \"x.cu\"; entry = \"x\"; };\n"
                    "parameters = ( { name = \"X\"; range = [1, %d]; }, { name = \"MODE\"; values = [%s]; } );\n"
                    "problems = ( { N = 4096; } );\n"
                    "%s\n"
                    "launch = { grid = [\"N / 32\"]; block = [32]; };\n"
                    "arguments = ( { buffer = \"y\"; type = \"f32\"; shape = [\"N\"]; direction = \"out\"; } );\n"
                    "verification = { enabled = false; };\n"
                    "measure = { timeout = \"2s\"; final = { candidates = 3; rounds = 10; }; };\n"
                    "compile = { timeout = \"1s\"; workers = 2; };\n"
                    "search = { strategy = \"exhaustive\"; };\n",
                    CONFIGURATIONS, modes, guide);
    e2e_write(folder, "job.cfg", text);
    e2e_write(folder, "x.cu", "extern \"C\" __global__ void x(float *y) {}\n");
    free(text);
}

// Replaces a part of the job.
static void change_job(const char *folder, const char *part, const char *by)
{
    char *path = text_format("%s/job.cfg", folder), *text = text_read_file(path, NULL), *at = strstr(text, part);
    assert_non_null(at);
    char *changed = text_format("%.*s%s%s", (int)(at - text), text, by, at + strlen(part));
    e2e_write(folder, "job.cfg", changed);
    free(changed);
    free(text);
    free(path);
}

static struct outcome_of_command run_tune(const char *folder, const char *before, const char *options)
{
    return e2e_run(folder,
                   "export FAKE_LOG='%s/measured' SWEETSPOT_GPU_WORKER=$BIN/fake_worker "
                   "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker; %s $BIN/sweetspot tune %s/job.cfg --store %s/job.db -q "
                   "--no-counters %s",
                   folder, before, folder, folder, options);
}

// How often the worker timed X: on the guide, and on the problem.
struct asked {
    int guide[CONFIGURATIONS + 1], problem[CONFIGURATIONS + 1];
    int guides, problems; // in all
};

static struct asked what_was_asked(const char *folder)
{
    struct asked asked = {.guides = 0};
    char *path = text_format("%s/measured", folder), *text = text_read_file(path, NULL);
    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        bool guide = !strncmp(line, "guide ", 6);
        int x = atoi(strstr(line, "X=") + 2);
        assert_in_range(x, 1, CONFIGURATIONS);
        (guide ? asked.guide : asked.problem)[x]++;
        guide ? asked.guides++ : asked.problems++;
    }
    free(text);
    free(path);
    return asked;
}

static struct store *open_store(const char *folder, int64_t counts[STATUS_COUNT])
{
    struct error err;
    char *path = text_format("%s/job.db", folder);
    struct store *store = opened_store(path);
    free(path);
    assert_int_equal(store_counts(store, counts, &err), 0);
    return store;
}

static struct trial stored(struct store *store, int x)
{
    struct error err;
    struct trial t;
    char *config = text_format("X=%d,MODE=good", x);
    if (store_find(store, config, &t, &err)) fail_msg("%s is not in the store", config);
    free(config);
    return t;
}

static void expect_log(const char *folder, const char *text)
{
    char *path = text_format("%s/job.log", folder), *log = text_read_file(path, NULL);
    if (!log || !strstr(log, text)) fail_msg("no '%s' in %s: %s", text, path, log ? log : "(none)");
    free(log);
    free(path);
}

static void what_the_guide_screens_out_is_not_measured_and_says_so(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide");
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    struct outcome_of_command r = run_tune(folder, "", "");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_expect(r.out, "MODE=good");
    e2e_expect(r.err, "the guide N=1024 has screened out");
    e2e_done(&r);
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    struct asked asked = what_was_asked(folder);
    assert_int_equal(counts[STATUS_OK] + counts[STATUS_SCREENED], CONFIGURATIONS);
    assert_in_range(counts[STATUS_SCREENED], 45, 67);
    assert_int_equal(asked.guides, CONFIGURATIONS);
    assert_int_equal(asked.problems, counts[STATUS_OK]);
    int audited = 0;
    for (int x = 1; x <= CONFIGURATIONS; x++) {
        struct trial t = stored(store, x);
        double expected = 1e-4 * (1 + 0.01 * (x - 7) * (x - 7));
        assert_int_equal(asked.guide[x], 1);
        assert_int_equal(asked.problem[x], t.status == STATUS_OK);
        assert_string_equal(t.guide, "N=1024");
        assert_float_equal(t.guide_seconds, expected, 1e-9);
        audited += x > 13 && t.status == STATUS_OK;
        if (t.status == STATUS_OK) continue;
        assert_true(expected > 1.24e-4); // the best takes 1e-4
        assert_true(isnan(t.objective));
        assert_int_equal(t.problem_count, 0);
        assert_non_null(strstr(t.reason, "on the guide"));
    }
    assert_true(audited >= 2);
    store_close(store);
    expect_log(folder, "its ranks agree");
    r = e2e_run(folder, "$BIN/sweetspot status %s/job.cfg --store %s/job.db", folder, folder);
    e2e_expect(r.out, "screened");
    e2e_done(&r);
    store = open_store(folder, counts);
    int screened = 0;
    for (int x = 1; x <= CONFIGURATIONS && !screened; x++)
        if (stored(store, x).status == STATUS_SCREENED) screened = (int)stored(store, x).id;
    store_close(store);
    r = e2e_run(folder,
                "SWEETSPOT_GPU_WORKER=$BIN/fake_worker $BIN/sweetspot profile %s/job.cfg -t %d --store %s/job.db",
                folder, screened, folder);
    assert_int_equal(r.status, EXIT_NOTHING);
    e2e_expect(r.err, "was never measured: screened: ");
    e2e_done(&r);
    r = e2e_run(folder, "$BIN/sweetspot export %s/job.cfg --store %s/job.db -o %s/space.json", folder, folder, folder);
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_expect(r.err, "the guide screened out before they were measured");
    e2e_done(&r);
    e2e_remove(folder);
}

static void a_resumed_run_measures_nothing_twice_and_loses_no_trial(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_resume");
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    static const char *const evaluations[] = {"-n 5", "-n 20", "-n 40", "", ""};
    for (size_t i = 0; i < sizeof evaluations / sizeof *evaluations; i++) {
        struct outcome_of_command r = run_tune(folder, "", evaluations[i]);
        if (r.status) fail_msg("status %d: %s", r.status, r.err);
        e2e_done(&r);
    }
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    struct asked asked = what_was_asked(folder);
    assert_int_equal(counts[STATUS_OK] + counts[STATUS_SCREENED], CONFIGURATIONS);
    assert_true(counts[STATUS_SCREENED] >= 45);
    for (int x = 1; x <= CONFIGURATIONS; x++) {
        assert_int_equal(asked.guide[x], 1);
        assert_int_equal(asked.problem[x], stored(store, x).status == STATUS_OK);
    }
    store_close(store);
    e2e_remove(folder);
}

// The worker and the driver are killed together, in the midst of it.
static void a_killed_run_goes_on_where_it_was(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_kill");
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    struct outcome_of_command r = run_tune(folder, "export FAKE_DELAY=150000; timeout -s KILL 1.5", "--no-final; true");
    e2e_done(&r);
    struct asked before = what_was_asked(folder);
    assert_in_range(before.guides, 1, CONFIGURATIONS - 1);
    r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    struct asked asked = what_was_asked(folder);
    assert_int_equal(counts[STATUS_OK] + counts[STATUS_SCREENED], CONFIGURATIONS);
    assert_in_range(asked.guides, CONFIGURATIONS, CONFIGURATIONS + 2); // what was in the worker's hands
    assert_in_range(asked.problems, counts[STATUS_OK], counts[STATUS_OK] + 2);
    store_close(store);
    e2e_remove(folder);
}

static void without_its_guide_what_was_screened_out_is_measured(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_removed");
    int64_t counts[STATUS_COUNT];
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    e2e_done(&r);
    struct store *store = open_store(folder, counts);
    assert_true(counts[STATUS_SCREENED] >= 45);
    store_close(store);
    write_job(folder, "", "\"good\"");
    r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    store = open_store(folder, counts);
    assert_int_equal(counts[STATUS_OK], CONFIGURATIONS);
    assert_int_equal(counts[STATUS_SCREENED], 0);
    struct asked asked = what_was_asked(folder);
    assert_int_equal(asked.guides, CONFIGURATIONS);
    for (int x = 1; x <= CONFIGURATIONS; x++) assert_int_equal(asked.problem[x], 1);
    store_close(store);
    e2e_remove(folder);
}

// Another guide's times say nothing of this one.
static void another_guide_begins_anew(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_other");
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    e2e_done(&r);
    write_job(folder, "guide = { N = 2048; };", "\"good\"");
    r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    assert_int_equal(counts[STATUS_OK] + counts[STATUS_SCREENED], CONFIGURATIONS);
    struct asked asked = what_was_asked(folder);
    int64_t other = 0;
    for (int x = 1; x <= CONFIGURATIONS; x++) {
        struct trial t = stored(store, x);
        bool second = !strcmp(t.guide, "N=2048");
        assert_int_equal(asked.guide[x], 1 + second);
        assert_int_equal(asked.problem[x], t.status == STATUS_OK);
        other += second && t.status == STATUS_OK;
    }
    assert_true(other >= 8); // by which its ranks are known
    store_close(store);
    e2e_remove(folder);
}

static const struct {
    const char *how, *guide;
    const char *said;
    int guides; // at most
} no_good[] = {
    {"refused", "guide = { N = 1024; };", "the guide N=1024 is not used: no memory", 0},
    {"shuffled", "guide = { N = 1024; };", "off: it does not rank candidates as the job's problems do", 50},
    {"dear", "guide = { N = 1024; };", "off: it takes more than a quarter of the time", 12},
    {"fail", "guide = { N = 1024; };", "off: most candidates do not run on it", 10},
    {"crash", "guide = { N = 1024; };", "off: most candidates do not run on it", 10},
    {"agree", "guide = \"auto\";", "off: a launch of the job takes too little time", 4},
};

static void a_useless_guide_is_turned_off_and_everything_is_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof no_good / sizeof *no_good; i++) {
        char *folder = e2e_folder("guide_off"), *before = text_format("export FAKE_GUIDE=%s;", no_good[i].how);
        write_job(folder, no_good[i].guide, "\"good\"");
        struct outcome_of_command r = run_tune(folder, before, "--no-final");
        if (r.status) fail_msg("%s: status %d: %s", no_good[i].how, r.status, r.err);
        e2e_done(&r);
        expect_log(folder, no_good[i].said);
        int64_t counts[STATUS_COUNT];
        struct store *store = open_store(folder, counts);
        struct asked asked = what_was_asked(folder);
        assert_int_equal(counts[STATUS_OK], CONFIGURATIONS);
        assert_in_range(asked.guides, no_good[i].guides > 0, no_good[i].guides);
        assert_int_equal(asked.problems, CONFIGURATIONS);
        store_close(store);
        free(before);
        e2e_remove(folder);
    }
}

// A candidate that takes the worker with it on the guide alone is not to blame.
static void a_candidate_that_crashes_only_on_the_guide_is_measured_and_ok(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_crash");
    write_job(folder, "guide = { N = 1024; };", "\"good\", \"guide_crash\"");
    change_job(folder, "range = [1, 80]", "range = [5, 9]");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    assert_int_equal(counts[STATUS_OK], 10);
    store_close(store);
    e2e_remove(folder);
}

// Every block of a launch in the guide would have more than 1024 threads, which the job's problem has not.
static void a_candidate_that_cannot_be_launched_on_the_guide_is_measured_without_it(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_launch");
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    change_job(folder, "block = [32]", "block = [\"N < 4096 ? 2048 : 32\"]");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    expect_log(folder, "off: most candidates do not run on it");
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    struct asked asked = what_was_asked(folder);
    assert_int_equal(counts[STATUS_OK], CONFIGURATIONS);
    assert_int_equal(asked.guides, 0);
    store_close(store);
    e2e_remove(folder);
}

// Its time is compared with what they come to together.
static void a_guide_may_stand_for_several_problems(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_several");
    write_job(folder, "guide = { N = 1024; }; objective = \"mean\";", "\"good\"");
    change_job(folder, "( { N = 4096; } )", "( { N = 4096; }, { N = 16384; weight = 2.0; } )");
    struct outcome_of_command r = run_tune(folder, "", "--no-final");
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_done(&r);
    int64_t counts[STATUS_COUNT];
    struct store *store = open_store(folder, counts);
    assert_in_range(counts[STATUS_SCREENED], 45, 67);
    assert_int_equal(counts[STATUS_OK] + counts[STATUS_SCREENED], CONFIGURATIONS);
    assert_int_equal(stored(store, 7).status, STATUS_OK);
    store_close(store);
    e2e_remove(folder);
}

// `tune` on a folder: every job has its own guide, in slices.
static void a_suite_has_a_guide_for_each_job(void **state)
{
    (void)state;
    char *folder = e2e_folder("guide_suite");
    write_job(folder, "guide = { N = 1024; };", "\"good\"");
    struct outcome_of_command r =
        e2e_run(folder,
                "sed 's/\"fake\"/\"other\"/; s/N = 1024/N = 2048/' %s/job.cfg >%s/other.cfg\n"
                "cd %s && export FAKE_LOG=measured FAKE_DELAY=50000 SWEETSPOT_GPU_WORKER=$BIN/fake_worker "
                "SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker\n"
                "$BIN/sweetspot tune . --time 12s --no-counters -q",
                folder, folder, folder);
    if (r.status) fail_msg("status %d: %s", r.status, r.err);
    e2e_expect(r.err, "the guide N=1024 has screened out");
    e2e_expect(r.err, "the guide N=2048 has screened out");
    e2e_done(&r);
    struct asked asked = what_was_asked(folder);
    for (int x = 1; x <= CONFIGURATIONS; x++) assert_true(asked.guide[x] <= 2 && asked.problem[x] <= 2);
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_guide_screens_out_is_not_measured_and_says_so),
        cmocka_unit_test(a_resumed_run_measures_nothing_twice_and_loses_no_trial),
        cmocka_unit_test(a_killed_run_goes_on_where_it_was),
        cmocka_unit_test(without_its_guide_what_was_screened_out_is_measured),
        cmocka_unit_test(another_guide_begins_anew),
        cmocka_unit_test(a_useless_guide_is_turned_off_and_everything_is_measured),
        cmocka_unit_test(a_candidate_that_crashes_only_on_the_guide_is_measured_and_ok),
        cmocka_unit_test(a_candidate_that_cannot_be_launched_on_the_guide_is_measured_without_it),
        cmocka_unit_test(a_guide_may_stand_for_several_problems),
        cmocka_unit_test(a_suite_has_a_guide_for_each_job),
    };
    cmocka_set_test_filter(getenv("TEST_FILTER")); // a pattern such as "*resumed*"; all without
    return cmocka_run_group_tests(tests, NULL, NULL);
}
