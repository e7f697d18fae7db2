// The store: results are read back as they were stored, in the promised order, and environments are kept apart.
#include <math.h>

#include "tests/store_fixture.h"
#include "tests/stored_text.h"

static struct error err; // from the last call that failed

static int64_t uncounted(struct store *store, int64_t *ids)
{
    int64_t count, *found = store_uncounted(store, &count, &err);
    for (int64_t i = 0; i < count; i++) ids[i] = found[i];
    free(found);
    return count;
}

// Checks that the newest document is `expected`, or, if `expected` is "", that there is no document.
static void expect_document(struct store *store, int64_t trial, const char *kind, const char *expected)
{
    double when = 2e9;
    json_t *document = test_json(store_get_document(store, trial, kind, &when, &err));
    autofree char *json = document ? json_dumps(document, JSON_COMPACT) : text_copy("");
    assert_string_equal(json, expected);
    assert_string_equal(err.message, "");
    assert_true(when > 1.6e9);
}

STORE_TEST(a_trial_comes_back_as_it_was_committed)
{
    struct trial t;
    struct store *store = open_store();
    add(store, 7, STATUS_OK);
    store = open_store();
    assert_int_equal(store_find(store, "N=8", &t, &err), 1);
    assert_int_equal(store_find(store, "N=7", &t, &err), 0);
    assert_string_equal(t.config, "N=7");
    assert_int_equal(t.status, STATUS_OK);
    assert_string_equal(t.reason, "");
    assert_true(t.objective == 7 * 1e-6);
    assert_true(t.compile_seconds == 0.5 && t.gpu_busy == 0.1 && t.gpu_seconds == 0.2 && t.clock_mhz == 1980);
    assert_true(isnan(t.temperature));
    assert_true(t.compile_cached && t.counted);
    assert_string_equal(t.device_id, "GPU-1");
    assert_int_equal(t.problem_count, 2);
    assert_string_equal(t.problems[0].name, "M=64");
    assert_true(t.problems[0].tuned && !t.problems[1].tuned);
    assert_int_equal(t.problems[0].sample_count, 3);
    assert_true(t.problems[0].samples[1] == 1.0 / 3 && t.problems[0].samples[2] == 2);
    assert_int_equal(t.problems[0].samples_taken, 25);
    assert_true(t.problems[0].power == 250 && isnan(t.problems[1].power));
    assert_true(t.problems[0].error == 0.25 && isnan(t.problems[1].error) && isnan(t.problems[1].time));
    assert_int_equal(t.problems[1].sample_count, 0);
    assert_int_equal(t.stage_count, 1);
    assert_int_equal(t.stages[0].registers, 128);
    assert_int_equal(t.stages[0].spill_loads, 0);
    assert_int_equal(t.stages[0].spill_stores, -1);
    assert_int_equal(t.stages[0].code_bytes, 9216);
    assert_true(t.stages[0].occupancy == 0.25);
    assert_string_equal(t.stages[0].warnings, "C7508");
    assert_int_equal(t.counter_count, 2);
    assert_string_equal(t.counters[0].key, "bank_conflicts");
    assert_true(t.counters[0].value == 12 && isnan(t.counters[1].value));
}

static int see_trial(void *user, const struct trial *trial)
{
    json_t *shown = test_json(trial_json(FIELD_TRIAL, trial));
    free(*(char **)user);
    *(char **)user = json_dumps(shown, JSON_COMPACT);
    return 0;
}

// A store may be damaged, or written by another program.
STORE_TEST(numbers_of_trials_that_cannot_be_are_refused)
{
    static const char *const ids[] = {"9223372036854775807", "9007199254740993", "0", "-1"};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct store *store = open_store();
        char *seen = NULL, *change = test_text("UPDATE trials SET id = %s", ids[i]);
        add(store, 1, STATUS_OK);
        raw(change);
        assert_int_equal(store_each(store, false, 0, STORE_WHOLE, see_trial, &seen, &err), -1);
        assert_contains(err.message, "a trial has the number ", ids[i]);
        assert_null(seen);
        close_store();
        remove_folder();
        mkdir(folder, 0777);
    }
    struct store *store = open_store(); // a deleted trial had the last number
    raw("INSERT INTO sqlite_sequence (name, seq) VALUES ('trials', 9007199254740992)");
    struct trial trial;
    trial_clear(FIELD_TRIAL, &trial);
    trial.config = "BLOCK_M=1";
    trial.status = STATUS_CRASHED;
    assert_int_equal(store_add(store, &trial, &err), -1);
    assert_contains(err.message, "no numbers of trials are left behind 9007199254740992");
}

STORE_TEST(texts_that_are_not_utf_8_are_shown_all_the_same)
{
    struct store *store = open_store();
    char *seen = NULL;
    add(store, 1, STATUS_OK);
    raw("UPDATE trials SET reason = CAST(x'ff41' AS TEXT); UPDATE trial_problems SET name = CAST(x'c3' AS TEXT)");
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, see_trial, &seen, &err), 0);
    assert_contains(seen, "\"reason\":\"?A\"", "\"problems\":[{\"name\":\"?\"");
    free(seen);
}

static int see_elsewhere(void *user, const char *config, const char *device)
{
    (void)config;
    (void)device;
    ++*(int *)user;
    return 0;
}

STORE_TEST(a_configuration_is_never_stored_twice)
{
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    struct trial again = {.config = "N=1", .status = STATUS_WRONG};
    assert_int_equal(store_add(store, &again, &err), -1);
    assert_contains(err.message, "N=1");
    struct trial t;
    assert_int_equal(store_find(store, "N=1", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    add(store, 2, STATUS_OK); // the failure left no transaction open
}

// Earlier versions had this status. The configuration counts as tried.
STORE_TEST(a_screened_trial_is_read_as_slow)
{
    struct store *store = open_store();
    struct trial t;
    int64_t counts[STATUS_COUNT];
    add(store, 1, STATUS_SLOW);
    add(store, 2, STATUS_SLOW);
    close_store();
    raw("UPDATE trials SET status = 'screened', objective = NULL WHERE config = 'N=1'");
    store = open_store();
    assert_int_equal(store_find(store, "N=1", &t, &err), 0);
    assert_int_equal(t.status, STATUS_SLOW);
    assert_true(isnan(t.objective));
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_SLOW], 2);
    assert_int_equal(store_add(store, &(struct trial){.config = "N=1"}, &err), -1);
}

STORE_TEST(trials_that_are_stored_together_are_all_there_or_none)
{
    struct store *store = open_store();
    struct trial a = {.config = "N=1"}, b = {.config = "N=2"}, c = {.config = "N=3"}, found;
    struct trial *two[] = {&a, &b}, *with_a_second[] = {&c, &a};
    if (store_add_all(store, two, 2, &err)) fail_msg("%s", err.message);
    assert_true(a.id > 0 && b.id > a.id && a.finished > 1.6e9);
    assert_int_equal(store_add_all(store, with_a_second, 2, &err), -1);
    assert_contains(err.message, "N=1");
    assert_int_equal(store_find(store, "N=3", &found, &err), 1);
    assert_int_equal(store_add(store, &c, &err), 0);
    store = open_store();
    for (int i = 1; i <= 3; i++) {
        char config[] = {'N', '=', (char)('0' + i), 0};
        assert_int_equal(store_find(store, config, &found, &err), 0);
    }
}

STORE_TEST(a_trial_is_stored_whole_or_not_at_all)
{
    static const char *const parts[] = {"trial_problems", "trial_stages", "trial_counters"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct store *store = open_store();
        sqlite3 *db;
        // Unlike a full disk, this refusal leaves the transaction open.
        autofree char *text =
            text_format("CREATE TRIGGER refuse BEFORE INSERT ON %s BEGIN SELECT RAISE(FAIL, 'no'); END", parts[i]);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
        struct trial_problem problem = {.name = "M=64"};
        struct trial_stage stage = {.name = "s"};
        struct trial_counter counter = {0, 0, "icache_misses", 1};
        struct trial t = {.config = "N=1",
                          .problem_count = 1,
                          .stage_count = 1,
                          .counter_count = 1,
                          .problems = &problem,
                          .stages = &stage,
                          .counters = &counter};
        assert_int_equal(store_add(store, &t, &err), -1);
        assert_int_equal(store_find(store, "N=1", &t, &err), 1);
        assert_int_equal(sqlite3_exec(db, "DROP TRIGGER refuse", NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        add(store, 10 + (int)i, STATUS_OK);
    }
}

struct seen {
    int count, stop_at;
    int64_t last;
    double objective;
    bool in_order;
};

static int see_ids(void *user, const struct trial *t)
{
    struct seen *seen = user;
    seen->in_order = seen->in_order && t->id > seen->last && t->problem_count == 2 && t->stage_count == 1;
    seen->last = t->id;
    return ++seen->count == seen->stop_at ? 7 : 0;
}

static int see_best(void *user, const struct trial *t)
{
    struct seen *seen = user;
    seen->in_order = seen->in_order && t->objective >= seen->objective && t->status == STATUS_OK;
    seen->objective = t->objective;
    seen->count++;
    return 0;
}

STORE_TEST(queries_answer_in_the_promised_order)
{
    struct store *store = open_store();
    for (int i = 20; i > 0; i--) add(store, i, i % 5 == 0 ? STATUS_WRONG : STATUS_OK);
    struct seen all = {.in_order = true}, best = {.in_order = true}, three = {.in_order = true},
                stopped = {.in_order = true, .stop_at = 4};
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, see_ids, &all, &err), 0);
    assert_int_equal(all.count, 20);
    assert_true(all.in_order);
    assert_int_equal(store_each(store, true, 0, STORE_WHOLE, see_best, &best, &err), 0);
    assert_int_equal(best.count, 16);
    assert_true(best.in_order);
    assert_int_equal(store_each(store, true, 3, STORE_WHOLE, see_best, &three, &err), 0);
    assert_int_equal(three.count, 3);
    assert_true(three.objective == 3 * 1e-6);
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, see_ids, &stopped, &err), 7);
    assert_int_equal(stopped.count, 4);
    int64_t counts[STATUS_COUNT];
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_OK], 16);
    assert_int_equal(counts[STATUS_WRONG], 4);
    assert_int_equal(counts[STATUS_CRASHED], 0);
}

struct scanned {
    int64_t last;
    int count, stop;
};

// A scanned trial equals the trial from store_get, but without the problems, stages and counters.
static int see_scanned(void *user, const struct trial *t)
{
    struct scanned *s = user;
    assert_true(t->id > s->last);
    s->last = t->id;
    assert_int_equal(t->problem_count + t->stage_count + t->counter_count, 0);
    assert_true(isnan(t->facts.registers));
    assert_string_equal(t->reason, t->status == STATUS_OK ? "" : t->status == STATUS_CRASHED ? "later" : "it's \"so\"");
    assert_true(t->status == STATUS_OK ? t->objective > 0 : isnan(t->objective));
    assert_true(t->clock_mhz == 1980);
    return ++s->count == s->stop;
}

STORE_TEST(a_scan_sees_every_trial_of_the_environment_with_its_verdict)
{
    struct store *store = open_store();
    for (int i = 1; i <= 20; i++) add(store, i, i % 3 ? STATUS_OK : STATUS_WRONG);
    assert_int_equal(store_add_verdict(store, 4, STATUS_CRASHED, "later", &err), 0);
    struct environment other = first;
    other.key = "another";
    assert_int_equal(store_use_environment(store, &other, &err), 0);
    add(store, 21, STATUS_OK);
    struct scanned all = {0};
    assert_int_equal(store_scan(store, see_scanned, &all, &err), 0);
    assert_int_equal(all.count, 1);
    assert_int_equal(store_use_environment(store, &first, &err), 0);
    all = (struct scanned){0};
    assert_int_equal(store_scan(store, see_scanned, &all, &err), 0);
    assert_int_equal(all.count, 20);
    all = (struct scanned){.stop = 7};
    assert_int_equal(store_scan(store, see_scanned, &all, &err), 1);
    assert_int_equal(all.count, 7);
}

STORE_TEST(counters_come_later_and_are_awaited_until_then)
{
    struct store *store = open_store();
    for (int i = 1; i <= 8; i++)
        add(store, i, i == 2 ? STATUS_WRONG : STATUS_OK); // even trials have no counters, and the second trial is wrong
    int64_t ids[10];
    assert_int_equal(uncounted(store, ids), 3);
    assert_true(ids[0] < ids[1] && ids[1] < ids[2]);
    struct trial_counter counter = {0, 0, "bank_conflicts", 99};
    assert_int_equal(store_add_counters(store, ids[1], &counter, 1, &err), 0);
    assert_int_equal(store_add_counters(store, ids[2], NULL, 0, &err), 0); // no counters exist, so none are awaited
    assert_int_equal(uncounted(store, ids), 1);
    struct trial t;
    assert_int_equal(store_find(store, "N=6", &t, &err), 0);
    assert_true(t.counted);
    assert_int_equal(t.counter_count, 1);
    assert_true(t.counters[0].value == 99);
    assert_int_equal(store_add_counters(store, 4711, &counter, 1, &err), -1);
    assert_contains(err.message, "4711");
}

STORE_TEST(trials_of_a_changed_source_sleep_until_it_is_changed_back)
{
    struct trial t;
    struct environment changed = first, last;
    changed.key = "ffffffffffffffffffffffffffffffff";
    changed.source_hash = "bb";
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    assert_int_equal(store_use_environment(store, &changed, &err), 0);
    assert_int_equal(store_find(store, "N=1", &t, &err), 1);
    add(store, 1, STATUS_WRONG);
    assert_int_equal(put_text(store, 0, "final", "{\"a\":2}", &err), 0);
    assert_int_equal(store_last_environment(store, &last, &err), 0);
    assert_string_equal(last.source_hash, "bb");
    assert_int_equal(store_use_environment(store, &first, &err), 0);
    assert_int_equal(store_find(store, "N=1", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    expect_document(store, 0, "final", "");
    close_store();
    assert_int_equal(store_open(&store, path, false, &err), 0);
    assert_int_equal(store_last_environment(store, &last, &err), 0);
    assert_string_equal(last.key, first.key);
    assert_string_equal(last.driver, first.driver);
    int64_t counts[STATUS_COUNT]; // the last environment is current
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_OK], 1);
    store_close(store);
}

STORE_TEST(the_newest_verdict_counts_and_none_is_lost)
{
    struct trial t;
    int64_t counts[STATUS_COUNT], ids[4];
    struct seen best = {.in_order = true};
    struct store *store = open_store();
    for (int i = 1; i <= 3; i++) add(store, i, STATUS_OK);
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    int64_t second = t.id;
    assert_int_equal(store_add_verdict(store, second, STATUS_WRONG, "on other data", &err), 0);
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    assert_int_equal(t.status, STATUS_WRONG);
    assert_string_equal(t.reason, "on other data");
    assert_true(isnan(t.objective) && t.problems[0].time == 2e-6); // the measurements stay
    assert_int_equal(store_get(store, second, &t, &err), 0);
    assert_int_equal(t.status, STATUS_WRONG);
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_true(counts[STATUS_OK] == 2 && counts[STATUS_WRONG] == 1);
    assert_int_equal(store_each(store, true, 0, STORE_WHOLE, see_best, &best, &err), 0);
    assert_int_equal(best.count, 2);
    assert_true(best.objective == 3e-6);
    assert_int_equal(uncounted(store, ids), 0); // the second is not a candidate any more
    store = open_store();
    assert_int_equal(store_add_verdict(store, second, STATUS_OK, "", &err), 0); // the data were to blame
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    assert_string_equal(t.reason, "");
    assert_true(t.objective == 2 * 1e-6);
    assert_int_equal(uncounted(store, ids), 1);
    assert_int_equal(store_add_verdict(store, 4711, STATUS_WRONG, "", &err), -1);
    assert_contains(err.message, "4711");
    // A verdict holds in other environments too: a search does not start from a wrong kernel.
    struct environment other = first;
    other.key = "ffffffffffffffffffffffffffffffff";
    assert_int_equal(store_use_environment(store, &other, &err), 0);
    int elsewhere = 0;
    assert_int_equal(store_each_elsewhere(store, 9, see_elsewhere, &elsewhere, &err), 0);
    assert_int_equal(elsewhere, 3);
    assert_int_equal(store_add_verdict(store, second, STATUS_WRONG, "again", &err), 0);
    elsewhere = 0;
    assert_int_equal(store_each_elsewhere(store, 9, see_elsewhere, &elsewhere, &err), 0);
    assert_int_equal(elsewhere, 2);
}

STORE_TEST(blobs_are_kept_once_and_checked_against_their_hash)
{
    char hash[HASH_TEXT_SIZE], again[HASH_TEXT_SIZE], none[HASH_TEXT_SIZE], found[HASH_TEXT_SIZE];
    const char cubin[] = "\177ELF\0with a NUL in it";
    const void *bytes;
    size_t size;
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    assert_int_equal(store_put_blob(store, cubin, sizeof cubin, hash, &err), 0);
    assert_int_equal(store_put_blob(store, cubin, sizeof cubin, again, &err), 0);
    assert_string_equal(hash, again);
    assert_int_equal(store_put_blob(store, "", 0, none, &err), 0);
    assert_string_not_equal(hash, none);
    assert_int_equal(store_trial_blob(store, 1, "cubin", found, &err), 1);
    assert_int_equal(store_set_trial_blob(store, 1, "cubin", hash, &err), 0);
    assert_int_equal(store_set_trial_blob(store, 1, "cubin", "no such hash", &err), -1);
    store = open_store();
    assert_int_equal(store_trial_blob(store, 1, "cubin", found, &err), 0);
    assert_string_equal(found, hash);
    assert_int_equal(store_get_blob(store, hash, &bytes, &size, &err), 0);
    assert_int_equal(size, sizeof cubin);
    assert_memory_equal(bytes, cubin, size);
    assert_int_equal(store_get_blob(store, none, &bytes, &size, &err), 0);
    assert_int_equal(size, 0);
    assert_int_equal(store_get_blob(store, "00000000000000000000000000000000", &bytes, &size, &err), 1);
    raw("UPDATE blobs SET bytes = x'00' || substr(bytes, 2) WHERE length(bytes) > 0");
    assert_int_equal(store_get_blob(store, hash, &bytes, &size, &err), -1);
    assert_contains(err.message, hash);
    assert_int_equal(store_put_blob(store, cubin, sizeof cubin, again, &err), 0); // which repairs it
    assert_int_equal(store_get_blob(store, hash, &bytes, &size, &err), 0);
}

STORE_TEST(documents_of_a_trial_are_kept_apart_from_the_job_s)
{
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    add(store, 2, STATUS_OK);
    assert_int_equal(put_text(store, 1, "findings", "[1]", &err), 0);
    assert_int_equal(put_text(store, 1, "findings", "[2]", &err), 0);
    assert_int_equal(put_text(store, 1, "limits", "[3]", &err), 0);
    expect_document(store, 0, "findings", "");
    expect_document(store, 2, "findings", "");
    expect_document(store, 1, "findings", "[2]");
    expect_document(store, 1, "limits", "[3]");
    assert_int_equal(put_text(store, 4711, "limits", "[]", &err), -1); // no such trial
}

// A newer sweetspot with the same version of the store may have added fields to the table.
STORE_TEST(a_figure_that_the_store_lacks_is_unknown_until_a_trial_with_it_is_stored)
{
    struct trial t;
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    close_store();
    raw("DROP VIEW v1_trials; DROP VIEW v1_problems; DROP VIEW v1_stages;ALTER TABLE trial_problems DROP COLUMN power; "
        "ALTER TABLE trial_stages DROP COLUMN stack;ALTER TABLE trials DROP COLUMN device_id");
    assert_int_equal(store_open(&store, path, false, &err), 0);
    assert_int_equal(store_use_environment(store, &first, &err), 0);
    for (int i = 1; i <= 2; i++) {
        assert_int_equal(store_find(store, "N=1", &t, &err), 0);
        assert_true(t.problems[0].time == 1e-6 && isnan(t.problems[0].power));
        assert_true(t.stages[0].registers == 128 && t.stages[0].stack == -1);
        assert_string_equal(t.device_id, "");
        if (i == 1) add(store, 2, STATUS_OK);
    }
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    assert_true(t.problems[0].power == 250 && isnan(t.problems[1].power) && t.stages[0].stack == 0);
    assert_string_equal(t.device_id, "GPU-1");
    store_close(store);
    raw("ALTER TABLE trials ADD COLUMN novelty REAL"); // an older one keeps unknown columns
    store = open_store();
    add(store, 3, STATUS_OK);
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    assert_true(t.problems[0].power == 250);
}

static int see_document(void *user, double when, json_t *document)
{
    char *json = test_owned(json_dumps(document, JSON_COMPACT));
    assert_true(when > 1.6e9);
    strcat(user, json);
    return 0;
}

STORE_TEST(the_newest_document_counts)
{
    char text[64] = "";
    struct store *store = open_store();
    expect_document(store, 0, "final", "");
    assert_int_equal(put_text(store, 0, "final", "[1]", &err), 0);
    assert_int_equal(put_text(store, 0, "run", "[9]", &err), 0);
    assert_int_equal(put_text(store, 0, "final", "[2]", &err), 0);
    assert_int_equal(put_text(store, 0, "final", "[3]", &err), 0);
    expect_document(store, 0, "final", "[3]");
    assert_int_equal(store_each_document(store, 0, "final", 2, see_document, text, &err), 0);
    assert_string_equal(text, "[3][2]");
}

TEST_MAIN(make_folder, remove_folder)
