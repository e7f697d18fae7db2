// The store: what goes in comes out, environments keep apart, and neither kill -9, a second tuner, a full disk, another
// version nor damage costs anything that was committed.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/testing.h"

#include "tuner/base/text.h"
#include "tuner/store/store.h"
#include "tuner/trial/trial_field.h"

static char folder[] = "/tmp/sweetspot-store-XXXXXX";
static char *path; // of the test's store

static const struct environment first = {
    .key = "0123456789abcdef0123456789abcdef",
    .job = "sgemm",
    .source_hash = "aa",
    .compiler = "nvrtc 13.0",
    .device = "NVIDIA H200",
    .arch = "sm_90a",
    .driver = "580.159.04",
    .settings = "environment 1\n",
};

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_all(void)
{
    char *command = text_format("rm -rf '%s'", folder);
    int status = system(command);
    free(command);
    return status;
}

static int remove_folder(void **state)
{
    (void)state;
    return remove_all();
}

// A fresh folder and store path for every test.
static int setup(void **state)
{
    (void)state;
    remove_all();
    mkdir(folder, 0777);
    path = text_format("%s/out/sgemm.db", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(path);
    return 0;
}

static struct store *open_store(void)
{
    struct error err = {""};
    struct store *store;
    if (store_open(&store, path, true, &err)) fail_msg("%s", err.message);
    if (store_use_environment(store, &first, &err)) fail_msg("%s", err.message);
    return store;
}

// A trial of one tuned and one ragged problem, one stage and two counters; all figures follow from `number`.
static void add(struct store *store, int number, enum trial_status status)
{
    struct error err = {""};
    const double samples[3] = {number * 1e-6, 1.0 / 3, 2};
    struct trial_problem problems[2] = {
        {.name = "M=64",
         .tuned = true,
         .time = number * 1e-6,
         .low = number * 0.9e-6,
         .high = number * 1.1e-6,
         .sample_count = 3,
         .samples = samples,
         .samples_taken = 25,
         .error = 0.25,
         .power = 250},
    };
    trial_clear(FIELD_PROBLEM, &problems[1]);
    problems[1].name = "M=63";
    struct trial_stage stages[1] = {{.name = "gemm",
                                     .registers = 128,
                                     .spill_loads = 0,
                                     .spill_stores = -1,
                                     .shared_static = 16,
                                     .shared_dynamic = 65536,
                                     .stack = 0,
                                     .code_bytes = 9216,
                                     .occupancy = 0.25,
                                     .warnings = "C7508"}};
    struct trial_counter counters[2] = {{0, 0, "bank_conflicts", 12}, {0, 0, "icache_misses", NAN}};
    char config[32];
    snprintf(config, sizeof config, "N=%d", number);
    struct trial trial = {
        .config = config,
        .status = status,
        .reason = status == STATUS_OK ? "" : "it's \"so\"",
        .objective = status == STATUS_OK ? number * 1e-6 : (double)NAN,
        .compile_seconds = 0.5,
        .compile_cached = true,
        .gpu_busy = 0.1,
        .gpu_seconds = 0.2,
        .device_id = "GPU-1",
        .clock_mhz = 1980,
        .temperature = NAN,
        .counted = number % 2,
        .problem_count = 2,
        .stage_count = 1,
        .counter_count = number % 2 ? 2 : 0,
        .problems = problems,
        .stages = stages,
        .counters = counters,
    };
    if (store_add(store, &trial, &err)) fail_msg("%s", err.message);
    assert_true(trial.id > 0);
    assert_true(trial.finished > 1.6e9);
}

TEST_WITH(a_trial_comes_back_as_it_was_committed, setup, teardown)
{
    struct error err = {""};
    struct trial t;
    struct store *store = open_store();
    add(store, 7, STATUS_OK);
    store_close(store);
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
    store_close(store);
}

// SQL behind the store's back.
static void raw(const char *text)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static int see_trial(void *user, const struct trial *trial)
{
    json_t *shown = trial_json(FIELD_TRIAL, trial);
    free(*(char **)user);
    *(char **)user = json_dumps(shown, JSON_COMPACT);
    json_decref(shown);
    return 0;
}

// A store may have been damaged, or written by somebody else.
TEST_WITH(numbers_of_trials_that_cannot_be_are_refused, setup, teardown)
{
    static const char *const ids[] = {"9223372036854775807", "9007199254740993", "0", "-1"};
    struct error err = {""};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct store *store = open_store();
        char *seen = NULL, *change = text_format("UPDATE trials SET id = %s", ids[i]);
        add(store, 1, STATUS_OK);
        raw(change);
        assert_int_equal(store_each(store, false, 0, see_trial, &seen, &err), -1);
        assert_non_null(strstr(err.message, "a trial has the number "));
        assert_non_null(strstr(err.message, ids[i]));
        assert_null(seen);
        store_close(store);
        free(change);
        remove_all();
        mkdir(folder, 0777);
    }
    struct store *store = open_store(); // the last number is taken by a trial that is gone
    raw("INSERT INTO sqlite_sequence (name, seq) VALUES ('trials', 9007199254740992)");
    struct trial trial;
    trial_clear(FIELD_TRIAL, &trial);
    trial.config = "BLOCK_M=1";
    trial.status = STATUS_CRASHED;
    assert_int_equal(store_add(store, &trial, &err), -1);
    assert_non_null(strstr(err.message, "no numbers of trials are left behind 9007199254740992"));
    store_close(store);
}

TEST_WITH(texts_that_are_not_utf_8_are_shown_all_the_same, setup, teardown)
{
    struct store *store = open_store();
    struct error err = {""};
    char *seen = NULL;
    add(store, 1, STATUS_OK);
    raw("UPDATE trials SET reason = CAST(x'ff41' AS TEXT); UPDATE trial_problems SET name = CAST(x'c3' AS TEXT)");
    assert_int_equal(store_each(store, false, 0, see_trial, &seen, &err), 0);
    assert_non_null(strstr(seen, "\"reason\":\"?A\""));
    assert_non_null(strstr(seen, "\"problems\":[{\"name\":\"?\""));
    free(seen);
    store_close(store);
}

static int see_elsewhere(void *user, const char *config, const char *device)
{
    (void)config;
    (void)device;
    ++*(int *)user;
    return 0;
}

TEST_WITH(a_configuration_is_never_stored_twice, setup, teardown)
{
    struct error err = {""};
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    struct trial again = {.config = "N=1", .status = STATUS_WRONG};
    assert_int_equal(store_add(store, &again, &err), -1);
    assert_non_null(strstr(err.message, "N=1"));
    struct trial t;
    assert_int_equal(store_find(store, "N=1", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    add(store, 2, STATUS_OK); // the failure left no transaction open
    store_close(store);
}

// A status of earlier versions. Its configuration counts as tried.
TEST_WITH(a_screened_trial_is_read_as_slow, setup, teardown)
{
    struct error err = {""};
    struct store *store = open_store();
    struct trial t;
    int64_t counts[STATUS_COUNT];
    add(store, 1, STATUS_SLOW);
    add(store, 2, STATUS_SLOW);
    store_close(store);
    raw("UPDATE trials SET status = 'screened', objective = NULL WHERE config = 'N=1'");
    store = open_store();
    assert_int_equal(store_find(store, "N=1", &t, &err), 0);
    assert_int_equal(t.status, STATUS_SLOW);
    assert_true(isnan(t.objective));
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_SLOW], 2);
    assert_int_equal(store_add(store, &(struct trial){.config = "N=1"}, &err), -1);
    store_close(store);
}

TEST_WITH(trials_that_are_stored_together_are_all_there_or_none, setup, teardown)
{
    struct error err = {""};
    struct store *store = open_store();
    struct trial a = {.config = "N=1"}, b = {.config = "N=2"}, c = {.config = "N=3"}, found;
    struct trial *two[] = {&a, &b}, *with_a_second[] = {&c, &a};
    if (store_add_all(store, two, 2, &err)) fail_msg("%s", err.message);
    assert_true(a.id > 0 && b.id > a.id && a.finished > 1.6e9);
    assert_int_equal(store_add_all(store, with_a_second, 2, &err), -1);
    assert_non_null(strstr(err.message, "N=1"));
    assert_int_equal(store_find(store, "N=3", &found, &err), 1);
    assert_int_equal(store_add(store, &c, &err), 0);
    store_close(store);
    store = open_store();
    for (int i = 1; i <= 3; i++) {
        char config[] = {'N', '=', (char)('0' + i), 0};
        assert_int_equal(store_find(store, config, &found, &err), 0);
    }
    store_close(store);
}

TEST_WITH(a_trial_is_stored_whole_or_not_at_all, setup, teardown)
{
    static const char *const parts[] = {"trial_problems", "trial_stages", "trial_counters"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct error err = {""};
        struct store *store = open_store();
        sqlite3 *db;
        // A refusal that leaves the transaction open, other than a full disk's.
        char *text =
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
        free(text);
        store_close(store);
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

TEST_WITH(queries_answer_in_the_promised_order, setup, teardown)
{
    struct error err = {""};
    struct store *store = open_store();
    for (int i = 20; i > 0; i--) add(store, i, i % 5 == 0 ? STATUS_WRONG : STATUS_OK);
    struct seen all = {.in_order = true}, best = {.in_order = true}, three = {.in_order = true},
                stopped = {.in_order = true, .stop_at = 4};
    assert_int_equal(store_each(store, false, 0, see_ids, &all, &err), 0);
    assert_int_equal(all.count, 20);
    assert_true(all.in_order);
    assert_int_equal(store_each(store, true, 0, see_best, &best, &err), 0);
    assert_int_equal(best.count, 16);
    assert_true(best.in_order);
    assert_int_equal(store_each(store, true, 3, see_best, &three, &err), 0);
    assert_int_equal(three.count, 3);
    assert_true(three.objective == 3 * 1e-6);
    assert_int_equal(store_each(store, false, 0, see_ids, &stopped, &err), 7);
    assert_int_equal(stopped.count, 4);
    int64_t counts[STATUS_COUNT];
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_OK], 16);
    assert_int_equal(counts[STATUS_WRONG], 4);
    assert_int_equal(counts[STATUS_CRASHED], 0);
    store_close(store);
}

struct scanned {
    int64_t last;
    int count, stop;
};

// A scanned trial is the one that store_get gives, but for what hangs on it.
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

TEST_WITH(a_scan_sees_every_trial_of_the_environment_with_its_verdict, setup, teardown)
{
    struct error err = {""};
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
    store_close(store);
}

TEST_WITH(counters_come_later_and_are_awaited_until_then, setup, teardown)
{
    struct error err = {""};
    struct store *store = open_store();
    for (int i = 1; i <= 8; i++)
        add(store, i, i == 2 ? STATUS_WRONG : STATUS_OK); // even ones are uncounted, the second is wrong
    int64_t ids[10];
    assert_int_equal(store_uncounted(store, ids, 2, &err), 2);
    assert_int_equal(store_uncounted(store, ids, 10, &err), 3);
    assert_true(ids[0] < ids[1] && ids[1] < ids[2]);
    struct trial_counter counter = {0, 0, "bank_conflicts", 99};
    assert_int_equal(store_add_counters(store, ids[1], &counter, 1, &err), 0);
    assert_int_equal(store_add_counters(store, ids[2], NULL, 0, &err), 0); // unavailable: still counts as counted
    assert_int_equal(store_uncounted(store, ids, 10, &err), 1);
    struct trial t;
    assert_int_equal(store_find(store, "N=6", &t, &err), 0);
    assert_true(t.counted);
    assert_int_equal(t.counter_count, 1);
    assert_true(t.counters[0].value == 99);
    assert_int_equal(store_add_counters(store, 4711, &counter, 1, &err), -1);
    assert_non_null(strstr(err.message, "4711"));
    store_close(store);
}

TEST_WITH(trials_of_a_changed_source_sleep_until_it_is_changed_back, setup, teardown)
{
    struct error err = {""};
    struct trial t;
    struct environment changed = first, last;
    changed.key = "ffffffffffffffffffffffffffffffff";
    changed.source_hash = "bb";
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    assert_int_equal(store_use_environment(store, &changed, &err), 0);
    assert_int_equal(store_find(store, "N=1", &t, &err), 1);
    add(store, 1, STATUS_WRONG);
    assert_int_equal(store_put_document(store, "final", "{\"a\":2}", &err), 0);
    assert_int_equal(store_last_environment(store, &last, &err), 0);
    assert_string_equal(last.source_hash, "bb");
    assert_int_equal(store_use_environment(store, &first, &err), 0);
    assert_int_equal(store_find(store, "N=1", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    const char *json;
    assert_int_equal(store_get_document(store, "final", &json, NULL, &err), 1);
    store_close(store);
    assert_int_equal(store_open(&store, path, false, &err), 0);
    assert_int_equal(store_last_environment(store, &last, &err), 0);
    assert_string_equal(last.key, first.key);
    assert_string_equal(last.driver, first.driver);
    int64_t counts[STATUS_COUNT]; // the last environment is current
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_int_equal(counts[STATUS_OK], 1);
    store_close(store);
}

TEST_WITH(the_newest_verdict_counts_and_none_is_lost, setup, teardown)
{
    struct error err = {""};
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
    assert_true(isnan(t.objective) && t.problems[0].time == 2e-6); // what was measured stays
    assert_int_equal(store_get(store, second, &t, &err), 0);
    assert_int_equal(t.status, STATUS_WRONG);
    assert_int_equal(store_counts(store, counts, &err), 0);
    assert_true(counts[STATUS_OK] == 2 && counts[STATUS_WRONG] == 1);
    assert_int_equal(store_each(store, true, 0, see_best, &best, &err), 0);
    assert_int_equal(best.count, 2);
    assert_true(best.objective == 3e-6);
    assert_int_equal(store_uncounted(store, ids, 4, &err), 0); // the second, which is none any more
    store_close(store);
    store = open_store();
    assert_int_equal(store_add_verdict(store, second, STATUS_OK, "", &err), 0); // it was the data's fault
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    assert_int_equal(t.status, STATUS_OK);
    assert_string_equal(t.reason, "");
    assert_true(t.objective == 2 * 1e-6);
    assert_int_equal(store_uncounted(store, ids, 4, &err), 1);
    assert_int_equal(store_add_verdict(store, 4711, STATUS_WRONG, "", &err), -1);
    assert_non_null(strstr(err.message, "4711"));
    // A verdict holds in other environments' eyes too: a search does not start from a wrong kernel.
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
    store_close(store);
}

TEST_WITH(blobs_are_kept_once_and_checked_against_their_hash, setup, teardown)
{
    struct error err = {""};
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
    store_close(store);
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
    assert_non_null(strstr(err.message, hash));
    assert_int_equal(store_put_blob(store, cubin, sizeof cubin, again, &err), 0); // which repairs it
    assert_int_equal(store_get_blob(store, hash, &bytes, &size, &err), 0);
    store_close(store);
}

TEST_WITH(documents_of_a_trial_are_kept_apart_from_the_job_s, setup, teardown)
{
    struct error err = {""};
    const char *json;
    double when;
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    add(store, 2, STATUS_OK);
    assert_int_equal(store_put_trial_document(store, 1, "findings", "[1]", &err), 0);
    assert_int_equal(store_put_trial_document(store, 1, "findings", "[2]", &err), 0);
    assert_int_equal(store_put_trial_document(store, 1, "limits", "[3]", &err), 0);
    assert_int_equal(store_get_document(store, "findings", &json, &when, &err), 1);
    assert_int_equal(store_get_trial_document(store, 2, "findings", &json, &when, &err), 1);
    assert_int_equal(store_get_trial_document(store, 1, "findings", &json, &when, &err), 0);
    assert_string_equal(json, "[2]");
    assert_true(when > 1.6e9);
    assert_int_equal(store_get_trial_document(store, 1, "limits", &json, &when, &err), 0);
    assert_string_equal(json, "[3]");
    assert_int_equal(store_put_trial_document(store, 4711, "limits", "[]", &err), -1); // no such trial
    store_close(store);
}

// What a newer sweetspot of this version's store has added to the table of fields.
TEST_WITH(a_figure_that_the_store_lacks_is_unknown_until_a_trial_with_it_is_stored, setup, teardown)
{
    struct error err = {""};
    struct trial t;
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    store_close(store);
    raw("DROP VIEW v1_trials; DROP VIEW v1_problems; DROP VIEW v1_stages;"
        "ALTER TABLE trial_problems DROP COLUMN power; ALTER TABLE trial_stages DROP COLUMN stack;"
        "ALTER TABLE trials DROP COLUMN device_id");
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
    raw("ALTER TABLE trials ADD COLUMN novelty REAL"); // what an older one does not know is left alone
    store = open_store();
    add(store, 3, STATUS_OK);
    assert_int_equal(store_find(store, "N=2", &t, &err), 0);
    assert_true(t.problems[0].power == 250);
    store_close(store);
}

static int see_document(void *user, double when, const char *json)
{
    char *text = user;
    assert_true(when > 1.6e9);
    strcat(text, json);
    return 0;
}

TEST_WITH(the_newest_document_counts, setup, teardown)
{
    struct error err = {""};
    const char *json;
    double when;
    char text[64] = "";
    struct store *store = open_store();
    assert_int_equal(store_get_document(store, "final", &json, &when, &err), 1);
    assert_int_equal(store_put_document(store, "final", "[1]", &err), 0);
    assert_int_equal(store_put_document(store, "run", "[9]", &err), 0);
    assert_int_equal(store_put_document(store, "final", "[2]", &err), 0);
    assert_int_equal(store_put_document(store, "final", "[3]", &err), 0);
    assert_int_equal(store_get_document(store, "final", &json, &when, &err), 0);
    assert_string_equal(json, "[3]");
    assert_true(when > 1.6e9);
    assert_int_equal(store_each_document(store, "final", 2, see_document, text, &err), 0);
    assert_string_equal(text, "[3][2]");
    store_close(store);
}

TEST_WITH(a_second_tuner_is_refused_with_the_pid_of_the_first, setup, teardown)
{
    struct error err = {""};
    struct store *store = open_store();
    int ready[2], go[2];
    char byte = 0;
    store_close(store);
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t child = fork();
    if (!child) {
        struct store *mine;
        bool locked = !store_open(&mine, path, true, NULL) && !store_lock(mine, NULL);
        if (write(ready[1], locked ? "y" : "n", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    store = open_store(); // reading and writing goes on: only tuning is exclusive
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)child);
    assert_int_equal(store_holder(store), child);
    assert_int_equal(store_lock(store, &err), -1);
    assert_non_null(strstr(err.message, pid));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(store_holder(store), 0);
    assert_int_equal(store_lock(store, &err), 0); // dropped by the system
    assert_int_equal(store_holder(store), getpid());
    store_close(store);
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
}

static int whole(void *user, const struct trial *t)
{
    int *count = user;
    assert_int_equal(t->problem_count, 2);
    assert_int_equal(t->stage_count, 1);
    ++*count;
    return 0;
}

TEST_WITH(kill_9_loses_nothing_that_was_committed, setup, teardown)
{
    struct error err = {""};
    int committed = 0;
    unsigned random = 12345;
    for (int round = 0; round < 60; round++) {
        int report[2];
        assert_int_equal(pipe(report), 0);
        pid_t child = fork();
        if (!child) {
            close(report[0]);
            struct store *store = open_store(); // the first rounds die while it is being created
            for (int i = committed + 1;; i++) {
                struct trial t;
                if (store_find(store, text_format("N=%d", i), &t, NULL) != 0) add(store, i, STATUS_OK);
                if (write(report[1], &i, sizeof i) != sizeof i) _exit(1);
            }
        }
        close(report[1]);
        random = random * 1664525 + 1013904223;
        if (round >= 10) { // at some instant after the first report
            int reported;
            if (read(report[0], &reported, sizeof reported) == sizeof reported) committed = reported;
        }
        usleep(random >> 20);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (int reported; read(report[0], &reported, sizeof reported) == sizeof reported;) committed = reported;
        close(report[0]);
        struct store *store = open_store();
        int count = 0;
        if (store_each(store, false, 0, whole, &count, &err)) fail_msg("%s", err.message);
        assert_in_range(count, committed, committed + 1); // at most the one whose report was cut off
        store_close(store);
    }
    assert_true(committed > 60);
    char *command = text_format("ls %s/out | grep -v new- | sort | tr '\\n' ' '", folder), names[128] = "";
    FILE *list = popen(command, "r");
    assert_non_null(fgets(names, sizeof names, list));
    pclose(list);
    free(command);
    assert_string_equal(names, "sgemm.db ");
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST_WITH(a_full_disk_is_an_error_and_costs_nothing, setup, teardown)
{
    struct error err = {""};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    limit_file_size(8192); // less than an empty store
    struct store *store;
    assert_int_equal(store_open(&store, path, true, &err), -1);
    assert_null(store);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(access(path, F_OK), -1);
    limit_file_size(RLIM_INFINITY);

    store = open_store();
    limit_file_size(256 << 10);
    int done = 0, result = 0;
    while (!result && done < 100000) {
        char config[32];
        snprintf(config, sizeof config, "N=%d", done + 1);
        struct trial_problem problems[2] = {{.name = "M=64"}, {.name = "M=63"}};
        struct trial_stage stage = {.name = "s", .warnings = ""};
        struct trial t = {.config = config,
                          .status = STATUS_OK,
                          .objective = 1,
                          .problem_count = 2,
                          .problems = problems,
                          .stage_count = 1,
                          .stages = &stage};
        result = store_add(store, &t, &err);
        done += !result;
    }
    assert_int_equal(result, -1);
    assert_in_range(done, 10, 99999);
    assert_non_null(strstr(err.message, "full"));
    assert_non_null(strstr(err.message, path));
    limit_file_size(RLIM_INFINITY);
    int count = 0;
    assert_int_equal(store_each(store, false, 0, whole, &count, &err), 0);
    assert_int_equal(count, done);
    add(store, done + 1, STATUS_OK); // there is room again
    store_close(store);
    store = open_store();
    count = 0;
    assert_int_equal(store_each(store, false, 0, whole, &count, &err), 0);
    assert_int_equal(count, done + 1);
    store_close(store);
    signal(SIGXFSZ, before);
}

static void write_bytes(long offset, const void *bytes, size_t size)
{
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, offset), (ssize_t)size);
    close(fd);
}

static void version_9(void)
{
    write_bytes(60, "\0\0\0\x09", 4);
}
static void version_1(void)
{
    write_bytes(60, "\0\0\0\x01", 4);
}
static void other_program(void)
{
    write_bytes(68, "\0\0\0\0", 4);
}
static void text_file(void)
{
    write_bytes(0, "name = \"sgemm\"; ", 16);
}
static void truncated(void)
{
    assert_int_equal(truncate(path, 12288), 0);
}
static void few_bytes(void)
{
    assert_int_equal(truncate(path, 50), 0);
}
static void empty(void)
{
    assert_int_equal(truncate(path, 0), 0);
}
static void rubbish(void)
{
    struct stat info;
    char page[4096];
    stat(path, &info);
    memset(page, 0x5a, sizeof page);
    for (long at = 8192; at < info.st_size; at += 8192) write_bytes(at, page, sizeof page);
}
static void folder_in_its_place(void)
{
    assert_int_equal(unlink(path) | mkdir(path, 0777), 0);
}

TEST_WITH(a_damaged_or_foreign_store_is_refused_and_untouched, setup, teardown)
{
    static const struct {
        void (*spoil)(void);
        const char *message;
    } cases[] = {
        {version_9, "has version 9, but this sweetspot reads only version 2; it was not changed"},
        {version_1, "has version 1, but this sweetspot reads only version 2; it was not changed"},
        {other_program, "another program"},
        {text_file, "not a sweetspot store"},
        {truncated, "is damaged: it has 12288 of"},
        {few_bytes, "not a sweetspot store"},
        {empty, "it is empty"},
        {rubbish, "is damaged"},
        {folder_in_its_place, "Is a directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {""};
        struct store *store = open_store();
        for (int k = 0; k < 100; k++) add(store, k, STATUS_OK);
        store_close(store);
        cases[i].spoil();
        size_t size_before = 0, size_after = 0;
        char *before = text_read_file(path, &size_before);
        for (int create = 0; create < 2; create++) {
            err.message[0] = 0;
            assert_int_equal(store_open(&store, path, create, &err), -1);
            assert_null(store);
            if (!strstr(err.message, cases[i].message) || !strstr(err.message, path))
                fail_msg("case %zu: %s", i, err.message);
        }
        char *after = text_read_file(path, &size_after);
        assert_int_equal(size_before, size_after);
        if (before) assert_memory_equal(before, after, size_before);
        free(before);
        free(after);
        remove_all();
        mkdir(folder, 0777);
    }
}

TEST_WITH(a_place_that_cannot_be_written_is_named, setup, teardown)
{
    static const struct {
        const char *path;
        bool create;
        const char *message;
    } cases[] = {
        {"/proc/sgemm.db", true, "cannot create the store '/proc/sgemm.db': "},
        {"/dev/null/out/sgemm.db", true, "cannot create the folder '/dev/null/out': Not a directory"},
        {"/proc/sgemm.db", false, "there is no store '/proc/sgemm.db'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {""};
        struct store *store;
        assert_int_equal(store_open(&store, cases[i].path, cases[i].create, &err), -1);
        assert_null(store);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0) fail_msg("%s", err.message);
    }
}

// Permissions stop root only where the file system is mounted read-only, so this one is skipped for root.
TEST_WITH(a_store_in_a_read_only_folder_can_be_read, setup, teardown)
{
    if (!geteuid()) skip();
    struct error err = {""};
    char *out = text_format("%s/out", folder);
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    store_close(store);
    assert_int_equal(chmod(path, 0444) | chmod(out, 0555), 0);
    int64_t counts[STATUS_COUNT];
    struct environment last;
    int opened = store_open(&store, path, false, &err);
    if (!opened) {
        assert_int_equal(store_last_environment(store, &last, &err), 0);
        assert_int_equal(store_counts(store, counts, &err), 0);
        assert_int_equal(counts[STATUS_OK], 1);
        assert_int_equal(store_put_document(store, "run", "{}", &err), -1);
        assert_non_null(strstr(err.message, "read-only"));
        store_close(store);
    }
    chmod(out, 0777);
    free(out);
    assert_int_equal(opened, 0);
}

static int calls, refused; // of fcntl for locks; the error of each

// As SQLite and the store call it.
int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    bool lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    calls += lock;
    if (lock && refused) {
        errno = refused;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

static int sleep_no_time(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int count_trial(void *user, const struct trial *trial)
{
    *(size_t *)user += trial->problem_count;
    return 0;
}

TEST_WITH(a_trial_is_read_under_one_lock_and_many_trials_under_few, setup, teardown)
{
    enum { TRIALS = 1000 };
    struct error err = {""};
    struct trial trial;
    size_t problems = 0;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)fcntl);
    struct store *store = open_store();
    for (int i = 1; i <= TRIALS; i++) add(store, i, STATUS_OK);
    calls = 0;
    assert_int_equal(store_get(store, 7, &trial, &err), 0);
    assert_in_range(calls, 1, 6);
    calls = 0;
    assert_int_equal(store_each(store, false, 0, count_trial, &problems, &err), 0);
    assert_int_equal(problems, 2 * TRIALS);
    assert_in_range(calls, 1, TRIALS / 10);
    store_close(store);
    vfs->xSetSystemCall(vfs, "fcntl", NULL);
}

TEST_WITH(a_file_system_without_locks_is_named, setup, teardown)
{
    struct error err = {""};
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int (*sleep_really)(sqlite3_vfs *, int) = vfs->xSleep;
    struct store *store = open_store();
    refused = ENOLCK;
    assert_int_equal(store_lock(store, &err), -1);
    assert_non_null(strstr(err.message, "has no locks: give --store FILE on a local disk"));
    refused = 0;
    store_close(store);
    vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)fcntl);
    vfs->xSleep = sleep_no_time;
    refused = ENOLCK;
    assert_int_equal(store_open(&store, path, false, &err), -1);
    refused = 0;
    vfs->xSleep = sleep_really;
    vfs->xSetSystemCall(vfs, "fcntl", NULL);
    assert_non_null(strstr(err.message, "has no locks: give --store FILE on a local disk"));
}

TEST_MAIN(make_folder, remove_folder)
