// Recorded spaces: our own JSON written and read back, other tuners' files, and messages about faulty files.
// test_other_tuners.c has the details of other tuners' files.
#include "tests/e2e.h"
#include "tests/testing.h"

#include <glob.h>
#include <math.h>
#include <time.h>

#include "tuner/recorded/recorded.h"
#include "tuner/trial/trial_field.h"

#include "tests/config_text.h"

static struct error err; // from the last call that failed

// Two parameters, four configurations: two are good, one has a string as its time, and one has a time above 1e19.
static const char kernel_tuner[] =
    "{\"device_name\": \"Some GPU\", \"kernel_name\": \"k\", \"problem_size\": [64], \"tune_params_keys\": [\"block\", "
    "\"pad\", \"scale\"], \"unknown\": {\"x\": 1},\n"
    " \"tune_params\": {\"block\": [32, 64], \"pad\": [0, 1], \"scale\": [0.5]}, \"objective\": \"time\", \"cache\": "
    "{\n"
    " \"32,0,0.5\": {\"block\": 32, \"pad\": 0, \"scale\": 0.5, \"time\": 2.5, \"times\": [2.6, 2.5, 2.4], \"extra\": "
    "\"e\", \"compile_time\": 300, \"verification_time\": 5, \"benchmark_time\": 20},\n"
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

static struct recorded *read_text(const char *folder, const char *text)
{
    e2e_write(folder, "space.json", text);
    return recorded_read(test_text("%s/space.json", folder), &err);
}

TEST(kernel_tuner_caches_are_read_and_failures_are_failures)
{
    char *folder = e2e_folder("kt");
    struct recorded *r = read_text(folder, kernel_tuner);
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
    assert_int_equal(space_parse(r->space, "block=32,pad=0,scale=0.5", config, &err), 0);
    const struct trial_problem *slower = &r->figures[recorded_find(r, config)];
    assert_int_equal(slower->sample_count, 3);
    assert_true(fabs(slower->samples[0] - 2.6e-3) < 1e-12 && fabs(slower->samples[2] - 2.4e-3) < 1e-12);
    const struct trial *timed = &r->trials[recorded_find(r, config)]; // has the times for compiling and measuring
    assert_true(fabs(timed->compile_seconds - 0.3) < 1e-12 && fabs(timed->gpu_seconds - 0.025) < 1e-12);
    assert_true(isnan(r->trials[r->best].gpu_seconds));
    recorded_free(r);
}

TEST(t4_files_are_read_and_values_are_collected_from_the_configurations)
{
    char *folder = e2e_folder("t4");
    struct recorded *r = read_text(folder, t4);
    if (!r) fail_msg("%s", err.message);
    assert_int_equal(r->trial_count, 2);
    assert_int_equal(r->parameter_count, 2);
    assert_true(r->best >= 0 && r->trials[r->best].status == STATUS_OK);
    assert_true(r->trials[1 - r->best].status != STATUS_OK);
    assert_true(fabs(r->trials[r->best].gpu_seconds - 3.3e-3) < 1e-12); // the sum of the runs
    assert_true(isnan(r->trials[1 - r->best].gpu_seconds));
    recorded_free(r);
}

TEST(what_went_wrong_elsewhere_has_our_name_for_it)
{
    static const struct {
        const char *word;
        enum trial_status status;
    } cases[] = {{"compile", STATUS_COMPILE_ERROR},
                 {"constraints", STATUS_PRUNED},
                 {"timeout", STATUS_TIMEOUT},
                 {"correctness", STATUS_WRONG},
                 {"runtime", STATUS_LAUNCH_ERROR}};
    char *folder = e2e_folder("t4-words");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = test_text("{\"results\": [{\"configuration\": {\"block\": 64}, \"times\": {\"runtimes\": "
                               "[1.0]}, \"invalidity\": \"correct\", \"measurements\": [{\"name\": \"time\", "
                               "\"value\": 1.0}]}, {\"configuration\": {\"block\": 32}, \"invalidity\": \"%s\"}]}",
                               cases[i].word);
        struct recorded *r = read_text(folder, text);
        if (!r) fail_msg("%s: %s", cases[i].word, err.message);
        if (r->trials[1].status != cases[i].status) fail_msg("%s: %s", cases[i].word, status_name(r->trials[1].status));
        recorded_free(r);
    }
}

TEST(our_own_format_comes_back_as_it_was_written_plain_and_packed)
{
    char *folder = e2e_folder("ours");
    struct recorded *first = read_text(folder, ours);
    if (!first) fail_msg("%s", err.message);
    assert_int_equal(first->left_out.unknown_count, 1); // ignored, with a note
    assert_string_equal(first->left_out.unknown_columns[0], "novelty");
    assert_true(isnan(first->trials[0].gpu_seconds)); // missing in older exports
    static const char *const names[] = {"again.json", "again.json.gz"};
    for (int i = 0; i < 2; i++) {
        char *path = test_text("%s/%s", folder, names[i]);
        if (recorded_write(first, path, &err)) fail_msg("%s", err.message);
        struct recorded *r = recorded_read(path, &err);
        if (!r) fail_msg("%s", err.message);
        assert_int_equal(r->trial_count, 2);
        assert_string_equal(r->about.job, "j");
        assert_int_equal(r->trials[0].status, STATUS_OK);
        assert_int_equal(r->trials[1].status, STATUS_WRONG);
        assert_true(r->trials[0].problems[0].low == 0.24 && r->trials[0].problems[0].sample_count == 2);
        assert_true(r->trials[0].facts.registers == 40 && r->trials[0].facts.occupancy == 0.5 &&
                    r->counters[0] == 1000);
        assert_true(isnan(r->counters[1]));
        assert_true(isnan(r->trials[0].gpu_seconds) && isnan(r->trials[0].problems[0].power));
        assert_int_equal(r->left_out.unknown_count, 0);
        assert_string_equal(r->baselines[0].name, "cublas");
        assert_true(r->baselines[0].problems[0].samples[1] == 0.51);
        recorded_free(r);
    }
    recorded_free(first);
}

static const struct {
    const char *from, *to; // replaced in `ours`; from NULL: `to` is the whole text
    const char *expected;
} bad[] = {
    {NULL, "", "space.json"},
    {NULL, "{\"format\": \"sweetspot-space\", \"version\": 1, \"parameters\": [", "space.json"},
    {NULL, "[1, 2]", "not a recorded space"},
    {NULL, "{\"cache\": {}}", "space.json"},
    {"\"version\": 1", "\"version\": 99", "version"},
    {"\"values\": [32, 64]", "\"values\": []", "B"},
    {"\"values\": [32, 64]", "\"values\": [32, 64, 32]", "twice"},
    {"[32, \"a\", \"ok\"", "[48, \"a\", \"ok\"", "48"},
    {"[64, \"b\", \"wrong\"", "[32, \"a\", \"wrong\"", "twice"},
    {", \"?\"]", "]", "trial 0"},
    {"\"columns\": [\"B\", \"R\",", "\"columns\": [\"B\", \"Q\",", "R"},
    {"\"wrong\"", "\"dreadful\"", "dreadful"},
    {"\"values\": [\"a\", \"b\"]", "\"values\": [\"a\", \"b\", \"a,B=64\"]", "would look like another parameter"},
    {"\"values\": [\"a\", \"b\"]", "\"values\": [\"a\", \"b\", \"\xff\"]", "space.json"},
    {"\"metrics\": [", "\"metrics\": [{\"key\": \"misses\"}, ", "'misses' has the name of another column"},
    {"\"key\": \"misses\"", "\"key\": \"time\"", "'time' has the name of another column"},
    {"\"R\", \"status\"", "\"R\", \"R\"", "two columns 'R'"},
    {"\"wrong\"", "5", "trial 1 has the unknown status"},
    {"\"string\", \"values\"", "\"real\", \"values\"", "a value that is not a number"},
};

TEST(trials_with_impossible_times_count_as_failed_and_are_counted)
{
    char *folder = e2e_folder("impossible");
    e2e_write(folder, "space.json",
              "{\"format\":\"sweetspot-space\",\"version\":1,\"parameters\":[{\"name\":\"X\",\"kind\":\"int\","
              "\"values\":[1,2,3,4,5,6,7]}],\"columns\":[\"X\",\"status\",\"time\"],\"trials\":[[1,\"ok\",1e-3],[2,"
              "\"ok\",0],[3,\"ok\",-1],[4,\"ok\",5e-324],[5,\"ok\",null],[6,\"wrong\",null],[7,\"ok\",[1,2]]]}\n");
    e2e_write(folder, "cache.json",
              "{\"kernel_name\":\"k\",\"tune_params_keys\":[\"X\"],\"tune_params\":{\"X\":[1,2,3]},\"cache\":{\"1\":{"
              "\"X\":1,\"time\":1.0},\"2\":{\"X\":2,\"time\":0.00001},\"3\":{\"X\":3,\"time\":\"InvalidConfig\"}}}");
    struct e2e_result r =
        e2e_run(folder, "$BIN/sweetspot import %1$s/space.json; $BIN/sweetspot import %1$s/cache.json", folder);
    assert_contains(r.err, "space.json: 5 configurations count as failed, because their times are impossible",
                    "cache.json: 1 configurations count as failed, because their times are impossible");
    assert_contains(r.out, "7: 1 ok, 5 launch_error, 1 wrong");
}

TEST(a_bad_file_is_an_error_that_names_it_and_says_what_is_wrong)
{
    char *folder = e2e_folder("bad");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = test_owned(text_copy(bad[i].to));
        if (bad[i].from) {
            const char *at = strstr(ours, bad[i].from);
            assert_non_null(at);
            text = test_text("%.*s%s%s", (int)(at - ours), ours, bad[i].to, at + strlen(bad[i].from));
        }
        struct recorded *r = read_text(folder, text);
        if (r) fail_msg("case %zu is read: %s", i, text);
        if (!strstr(err.message, "space.json") || !strstr(err.message, bad[i].expected))
            fail_msg("case %zu (%s): '%s'", i, bad[i].expected, err.message);
    }
}

TEST(a_packed_file_that_is_cut_off_is_an_error)
{
    char *folder = e2e_folder("cut"), *path = test_text("%s/cut.json.gz", folder);
    e2e_run(folder, "head -c 100000 tests/spaces/sgemm_2048_h200.json.gz >%s", path);
    assert_null(recorded_read(path, &err));
    assert_contains(err.message, "cut.json.gz");
    assert_null(recorded_read("/nosuch/file", &err));
    assert_contains(err.message, "/nosuch/file");
}

TEST(the_shipped_space_is_whole)
{
    struct recorded *r = recorded_read("tests/spaces/sgemm_2048_h200.json.gz", &err);
    if (!r) fail_msg("%s", err.message);
    assert_true(r->trial_count >= 3000);
    assert_int_equal(space_size(r->space), r->trial_count);
    assert_true(r->metric_count >= 10);
    assert_int_equal(r->baseline_count, 2);
    // The counters show bank conflicts with TILE_COL_SIZE 8, and none with 4.
    double conflicts[2] = {0, 0};
    size_t counts[2] = {0, 0}, metric = 0;
    while (metric < r->metric_count && strcmp(r->metrics[metric].key, "bank_conflicts_load")) metric++;
    assert_true(metric < r->metric_count);
    for (size_t i = 0; i < r->trial_count; i++) {
        char text[2048];
        config_text(r->space, r->configs + i * r->parameter_count, text, sizeof text);
        int wide = strstr(text, "TILE_COL_SIZE=8") != NULL;
        double found = r->counters[i * r->metric_count + metric];
        if (isnan(found)) continue; // far from the best, so without counters
        conflicts[wide] += found;
        counts[wide]++;
    }
    assert_true(conflicts[1] / (double)counts[1] > 1000 * conflicts[0] / (double)counts[0]);
    recorded_free(r);
}

// The recorded space of a job contains every configuration of the job, with a time or a reason. Configurations that ran
// have counters.
TEST(recorded_spaces_are_their_jobs_whole_spaces)
{
    glob_t files;
    char *folder = e2e_folder("whole");
    assert_int_equal(glob("tests/spaces/*_h200.json.gz", 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++) {
        struct recorded *r = recorded_read(files.gl_pathv[f], &err);
        if (!r) fail_msg("%s", err.message);
        struct e2e_result c = e2e_run(folder, "$BIN/sweetspot check configs/%s.cfg --compile 0", r->about.job);
        char *size = test_text(" %zu valid configurations", r->trial_count);
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
        recorded_free(r);
    }
    globfree(&files);
}

// Fills every recorded field, with a different value for every trial and problem.
static void fill_fields(enum field_level level, void *record, double number, struct arena *memory)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level != level || !(f->flags & FIELD_RECORDED) || f->kind == FIELD_STATUS || f->kind == FIELD_TEXT)
            continue;
        double own = 1 + number + 0.125 * (double)i; // exact in seven digits
        autojson json_t *value = f->kind == FIELD_REAL      ? json_real(own)
                                 : f->kind == FIELD_SAMPLES ? json_pack("[f,f]", own, own + 0.5)
                                                            : json_integer((json_int_t)own);
        field_take(f, record, value, memory);
    }
}

static void same_fields(enum field_level level, const void *a, const void *b, const char *config)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        // Shared memory and occupancy are computed again from the job's launch.
        if (f->level != level || !(f->flags & FIELD_RECORDED) || !strcmp(f->name, "shared_bytes") ||
            !strcmp(f->name, "theoretical_occupancy"))
            continue;
        autojson json_t *x = field_json(f, a), *y = field_json(f, b);
        double p = json_number_value(x), q = json_number_value(y);
        bool same = json_is_number(x) && json_is_number(y) ? p == q : json_equal(x, y);
        if (!same) fail_msg("%s of %s is lost or changed", f->name, config);
    }
}

// Figures pass from a recording through the replaying worker, the driver, the store and an export into another
// recording.
TEST(every_recorded_figure_survives_replay_store_and_export)
{
    char *folder = e2e_folder("figures"), *space = test_text("%s/space.json", folder),
         *again = test_text("%s/again.json.gz", folder);
    struct recorded *from = recorded_read("tests/stores/kernel_space.json", &err);
    if (!from) fail_msg("%s", err.message);
    for (size_t i = 0; i < from->trial_count; i++) {
        if (from->trials[i].status != STATUS_OK) continue;
        fill_fields(FIELD_TRIAL, &from->trials[i], (double)i, &from->memory);
        for (size_t p = 0; p < from->problem_count; p++)
            fill_fields(FIELD_PROBLEM, &from->figures[i * from->problem_count + p], (double)(i + 100 * p),
                        &from->memory);
        // The compiler's figures are integers.
        from->trials[i].facts =
            (struct static_facts){33 + (double)(i % 7), 8 * (double)(i % 3), NAN, 4096 + (double)i, NAN};
    }
    if (recorded_write(from, space, &err)) fail_msg("%s", err.message);

    e2e_pass(folder,
             "$BIN/sweetspot tune tests/stores/kernel.cfg --device replay:%s --store $DIR/job.db -q --no-final "
             "--strategy exhaustive && $BIN/sweetspot export tests/stores/kernel.cfg --store $DIR/job.db -o %s",
             space, again);
    struct recorded *to = recorded_read(again, &err);
    if (!to) fail_msg("%s", err.message);
    assert_int_equal(to->trial_count, from->trial_count);
    size_t compared = 0;
    for (size_t i = 0; i < from->trial_count; i++) {
        char config[256];
        uint16_t theirs[SPACE_MAX_PARAMETERS];
        config_text(from->space, from->configs + i * from->parameter_count, config, sizeof config);
        assert_int_equal(space_parse(to->space, config, theirs, &err), 0);
        int64_t n = recorded_find(to, theirs);
        assert_true(n >= 0 && to->trials[n].status == from->trials[i].status);
        if (from->trials[i].status != STATUS_OK) continue;
        same_fields(FIELD_TRIAL, &from->trials[i], &to->trials[n], config);
        for (size_t p = 0; p < from->problem_count; p++, compared++)
            same_fields(FIELD_PROBLEM, &from->trials[i].problems[p], &to->trials[n].problems[p], config);
    }
    assert_true(compared > 20);
    recorded_free(from);
    recorded_free(to);
}

TEST_MAIN(NULL, NULL)
