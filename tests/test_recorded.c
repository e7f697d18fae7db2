// Recorded spaces: our own JSON there and back, Kernel Tuner's caches, T4 files, and what is wrong with a file in
// words.
#include "tests/e2e.h"

#include <glob.h>
#include <math.h>
#include <time.h>

#include "tuner/recorded/recorded.h"

// Two parameters, four configurations: two good ones, a time that is a string, a time above 1e19.
static const char kernel_tuner[] =
    "{\"device_name\": \"Some GPU\", \"kernel_name\": \"k\", \"problem_size\": [64], \"tune_params_keys\": [\"block\", "
    "\"pad\", \"scale\"], \"unknown\": {\"x\": 1},\n"
    " \"tune_params\": {\"block\": [32, 64], \"pad\": [0, 1], \"scale\": [0.5]}, \"objective\": \"time\", \"cache\": "
    "{\n"
    " \"32,0,0.5\": {\"block\": 32, \"pad\": 0, \"scale\": 0.5, \"time\": 2.5, \"times\": [2.6, 2.5, 2.4], \"extra\": "
    "\"e\"},\n"
    " \"32,1,0.5\": {\"block\": 32, \"pad\": 1, \"scale\": 0.5, \"time\": \"RuntimeFailedConfig\"},\n"
    " \"64,0,0.5\": {\"block\": 64, \"pad\": 0, \"scale\": 0.5, \"time\": 1e20},\n"
    " \"64,1,0.5\": {\"block\": 64, \"pad\": 1, \"scale\": 0.5, \"time\": 1.25, \"times\": [1.25]}}}\n";

static const char t4[] =
    "{\"metadata\": {\"timeunit\": \"miliseconds\"}, \"results\": [\n"
    " {\"configuration\": {\"block\": 64, \"pad\": 1}, \"times\": {\"compilation\": 100, \"runtimes\": [1.0, 1.2, "
    "1.1]}, \"invalidity\": \"correct\", \"correctness\": 1,\n"
    "  \"measurements\": [{\"name\": \"time\", \"value\": 1.1, \"unit\": \"ms\"}], \"objectives\": [\"time\"]},\n"
    " {\"configuration\": {\"block\": 32, \"pad\": 1}, \"times\": {\"compilation\": 100, \"runtimes\": []}, "
    "\"invalidity\": \"compile\", \"correctness\": 0,\n"
    "  \"measurements\": [{\"name\": \"time\", \"value\": \"CompilationFailedConfig\", \"unit\": \"ms\"}], "
    "\"objectives\": [\"time\"]}]}\n";

static const char ours[] =
    "{\"format\": \"sweetspot-space\", \"version\": 1, \"job\": \"j\", \"parameters\": [{\"name\": \"B\", \"kind\": "
    "\"int\", \"values\": [32, 64]}, {\"name\": \"R\", \"kind\": \"string\", \"values\": [\"a\", \"b\"]}],\n"
    " \"metrics\": [{\"key\": \"misses\", \"metric\": \"m\", \"unit\": \"\"}], \"baselines\": [{\"name\": \"cublas\", "
    "\"problems\": [{\"time\": 0.5, \"samples\": [0.5, 0.51]}]}],\n"
    " \"columns\": [\"B\", \"R\", \"status\", \"time\", \"low\", \"high\", \"samples\", \"registers\", "
    "\"theoretical_occupancy\", \"misses\", \"novelty\"], \"novelty\": 7,\n"
    " \"trials\": [[32, \"a\", \"ok\", 0.25, 0.24, 0.26, [0.25, 0.24], 40, 0.5, 1000, \"?\"], [64, \"b\", \"wrong\", "
    "null, null, null, null, 80, 0.25, null, null]]}\n";

static struct recorded *read_text(const char *folder, const char *text, struct error *err)
{
    e2e_write(folder, "space.json", text);
    char *path = text_format("%s/space.json", folder);
    struct recorded *r = recorded_read(path, err);
    free(path);
    return r;
}

static void kernel_tuner_caches_are_read_and_failures_are_failures(void **state)
{
    (void)state;
    char *folder = e2e_folder("kt");
    struct error err;
    struct recorded *r = read_text(folder, kernel_tuner, &err);
    if (!r) fail_msg("%s", err.message);
    assert_int_equal(r->trial_count, 4);
    assert_int_equal(space_size(r->space), 4);
    assert_string_equal(recorded_device_name(r), "Some GPU");
    size_t ok = 0;
    for (size_t i = 0; i < 4; i++) ok += r->trials[i].status == STATUS_OK;
    assert_int_equal(ok, 2);
    assert_true(fabs(r->trials[r->best].objective - 1.25e-3) < 1e-12); // milliseconds there, seconds here
    uint16_t config[SPACE_MAX_PARAMETERS];
    assert_int_equal(space_parse(r->space, "block=64,pad=1,scale=0.5", config, &err), 0);
    assert_int_equal(recorded_find(r, config), r->best);
    recorded_free(r);
    e2e_remove(folder);
}

static void t4_files_are_read_and_values_are_collected_from_the_configurations(void **state)
{
    (void)state;
    char *folder = e2e_folder("t4");
    struct error err;
    struct recorded *r = read_text(folder, t4, &err);
    if (!r) fail_msg("%s", err.message);
    assert_int_equal(r->trial_count, 2);
    assert_int_equal(r->parameter_count, 2);
    assert_true(r->best >= 0 && r->trials[r->best].status == STATUS_OK);
    assert_true(r->trials[1 - r->best].status != STATUS_OK);
    recorded_free(r);
    e2e_remove(folder);
}

static void our_own_format_comes_back_as_it_was_written_plain_and_packed(void **state)
{
    (void)state;
    char *folder = e2e_folder("ours");
    struct error err;
    struct recorded *first = read_text(folder, ours, &err);
    if (!first) fail_msg("%s", err.message);
    static const char *const names[] = {"again.json", "again.json.gz"};
    for (int i = 0; i < 2; i++) {
        char *path = text_format("%s/%s", folder, names[i]);
        if (recorded_write(first, path, &err)) fail_msg("%s", err.message);
        struct recorded *r = recorded_read(path, &err);
        if (!r) fail_msg("%s", err.message);
        assert_int_equal(r->trial_count, 2);
        assert_string_equal(r->job, "j");
        assert_int_equal(r->trials[0].status, STATUS_OK);
        assert_int_equal(r->trials[1].status, STATUS_WRONG);
        assert_true(r->trials[0].problems[0].low == 0.24 && r->trials[0].problems[0].sample_count == 2);
        assert_true(r->trials[0].facts.registers == 40 && r->trials[0].facts.occupancy == 0.5 &&
                    r->counters[0] == 1000);
        assert_true(isnan(r->counters[1]));
        assert_string_equal(r->baselines[0].name, "cublas");
        assert_true(r->baselines[0].problems[0].samples[1] == 0.51);
        recorded_free(r);
        free(path);
    }
    recorded_free(first);
    e2e_remove(folder);
}

static const struct {
    const char *from, *to; // replaced in `ours`; from NULL: `to` is the whole text
    const char *expected;
} bad[] = {
    {NULL, "", "space.json"},
    {NULL, "{\"format\": \"sweetspot-space\", \"version\": 1, \"parameters\": [", "space.json"},
    {NULL, "[1, 2]", "no recorded space"},
    {NULL, "{\"cache\": {}}", "space.json"},
    {"\"version\": 1", "\"version\": 99", "version"},
    {"\"values\": [32, 64]", "\"values\": []", "B"},
    {"\"values\": [32, 64]", "\"values\": [32, 64, 32]", "twice"},
    {"[32, \"a\", \"ok\"", "[48, \"a\", \"ok\"", "48"},
    {"[64, \"b\", \"wrong\"", "[32, \"a\", \"wrong\"", "twice"},
    {", \"?\"]", "]", "trial 0"},
    {"\"columns\": [\"B\", \"R\",", "\"columns\": [\"B\", \"Q\",", "R"},
    {"\"wrong\"", "\"dreadful\"", "dreadful"},
};

static void a_bad_file_is_an_error_that_names_it_and_says_what_is_wrong(void **state)
{
    (void)state;
    char *folder = e2e_folder("bad");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = text_copy(bad[i].to);
        if (bad[i].from) {
            const char *at = strstr(ours, bad[i].from);
            assert_non_null(at);
            free(text);
            text = text_format("%.*s%s%s", (int)(at - ours), ours, bad[i].to, at + strlen(bad[i].from));
        }
        struct error err = {""};
        struct recorded *r = read_text(folder, text, &err);
        if (r) fail_msg("case %zu is read: %s", i, text);
        if (!strstr(err.message, "space.json") || !strstr(err.message, bad[i].expected))
            fail_msg("case %zu (%s): '%s'", i, bad[i].expected, err.message);
        free(text);
    }
    e2e_remove(folder);
}

static void a_packed_file_that_is_cut_off_is_an_error(void **state)
{
    (void)state;
    char *folder = e2e_folder("cut"), *path = text_format("%s/cut.json.gz", folder);
    struct outcome_of_command r = e2e_run(folder, "head -c 100000 tests/spaces/sgemm_2048_h200.json.gz >%s", path);
    struct error err = {""};
    assert_null(recorded_read(path, &err));
    assert_non_null(strstr(err.message, "cut.json.gz"));
    assert_null(recorded_read("/nosuch/file", &err));
    assert_non_null(strstr(err.message, "/nosuch/file"));
    e2e_done(&r);
    free(path);
    e2e_remove(folder);
}

static void the_shipped_space_is_whole(void **state)
{
    (void)state;
    struct error err;
    struct recorded *r = recorded_read("tests/spaces/sgemm_2048_h200.json.gz", &err);
    if (!r) fail_msg("%s", err.message);
    assert_true(r->trial_count >= 3000);
    assert_int_equal(space_size(r->space), r->trial_count);
    assert_true(r->metric_count >= 10);
    assert_int_equal(r->baseline_count, 2);
    // Every second of the counters of TILE_COL_SIZE 8 shows the conflict that 4 does not have.
    double conflicts[2] = {0, 0};
    size_t counts[2] = {0, 0}, metric = 0;
    while (metric < r->metric_count && strcmp(r->metrics[metric].key, "bank_conflicts_load")) metric++;
    assert_true(metric < r->metric_count);
    for (size_t i = 0; i < r->trial_count; i++) {
        char text[2048];
        space_format(r->space, r->configs + i * r->parameter_count, text, sizeof text);
        int wide = strstr(text, "TILE_COL_SIZE=8") != NULL;
        conflicts[wide] += r->counters[i * r->metric_count + metric];
        counts[wide]++;
    }
    assert_true(conflicts[1] / (double)counts[1] > 1000 * conflicts[0] / (double)counts[0]);
    recorded_free(r);
}

// What is called a job's recorded space has every configuration of the job, each with a time or a reason, and counters
// of those that ran.
static void recorded_spaces_are_their_jobs_whole_spaces(void **state)
{
    (void)state;
    glob_t files;
    char *folder = e2e_folder("whole");
    assert_int_equal(glob("tests/spaces/*_h200.json.gz", 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++) {
        struct error err;
        struct recorded *r = recorded_read(files.gl_pathv[f], &err);
        if (!r) fail_msg("%s", err.message);
        struct outcome_of_command c = e2e_run(folder, "$BIN/sweetspot check configs/%s.cfg", r->job);
        char *size = text_format(" %zu valid configurations", r->trial_count);
        if (c.status || !strstr(c.out, size))
            fail_msg("%s has %zu trials, but: %s%s", files.gl_pathv[f], r->trial_count, c.out, c.err);
        assert_int_equal(space_size(r->space), r->trial_count);
        assert_true(r->best >= 0);
        size_t counted = 0, ran = 0;
        for (size_t i = 0; i < r->trial_count; i++) {
            const struct trial *t = r->trials + i;
            if (t->status != STATUS_OK) {
                if (!(t->objective > 0) && !t->reason)
                    fail_msg("%s, trial %zu has neither time nor reason", files.gl_pathv[f], i);
                continue;
            }
            ran++;
            for (size_t m = 0, any = 0; m < r->metric_count && !any; m++)
                counted += any = isfinite(r->counters[i * r->metric_count + m]);
        }
        if (counted < ran) fail_msg("%s: %zu of %zu trials have counters", files.gl_pathv[f], counted, ran);
        free(size);
        e2e_done(&c);
        recorded_free(r);
    }
    globfree(&files);
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_tuner_caches_are_read_and_failures_are_failures),
        cmocka_unit_test(t4_files_are_read_and_values_are_collected_from_the_configurations),
        cmocka_unit_test(our_own_format_comes_back_as_it_was_written_plain_and_packed),
        cmocka_unit_test(a_bad_file_is_an_error_that_names_it_and_says_what_is_wrong),
        cmocka_unit_test(a_packed_file_that_is_cut_off_is_an_error),
        cmocka_unit_test(the_shipped_space_is_whole),
        cmocka_unit_test(recorded_spaces_are_their_jobs_whole_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
