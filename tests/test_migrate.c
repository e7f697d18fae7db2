// Stores of version 1, as the program of then wrote them (tests/stores): whole, killed, empty, damaged, read-only, on a
// full disk, and interrupted while they are migrated. Nothing is lost, and nothing is measured again.
#include "tests/e2e.h"

#include <glob.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "tuner/base/gzip.h"
#include "tuner/setup/request.h"
#include "tuner/setup/run_environment.h"
#include "tuner/store/store.h"

static const char *const stores[] = {"operation", "kernel", "counted", "killed", "empty"};
enum { STORES = sizeof stores / sizeof *stores };

static void unpack(const char *name, const char *path)
{
    struct error err = {""};
    static const char *const parts[] = {"", "-wal"};
    for (int i = 0; i < 2; i++) {
        char *from = text_format("tests/stores/%s.db%s.gz", name, parts[i]), *to = text_format("%s%s", path, parts[i]);
        size_t size;
        unlink(to);
        if (!access(from, R_OK)) {
            char *bytes = gzip_read_file(from, &size, &err);
            if (!bytes) fail_msg("%s", err.message);
            FILE *file = fopen(to, "w");
            assert_non_null(file);
            assert_int_equal(fwrite(bytes, 1, size, file), size);
            assert_int_equal(fclose(file), 0);
            free(bytes);
        }
        free(from);
        free(to);
    }
    char *shared = text_format("%s-shm", path);
    unlink(shared);
    free(shared);
}

static sqlite3 *open_raw(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    return db;
}

static sqlite3_stmt *query(sqlite3 *db, const char *text, int64_t id)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK) fail_msg("%s: %s", text, sqlite3_errmsg(db));
    if (sqlite3_bind_parameter_count(statement)) sqlite3_bind_int64(statement, 1, id);
    return statement;
}

static int64_t number_of(const char *path, const char *text)
{
    sqlite3 *db = open_raw(path);
    sqlite3_stmt *row = query(db, text, 0);
    assert_int_equal(sqlite3_step(row), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return number;
}

static void same_text(sqlite3_stmt *row, int column, const char *text)
{
    assert_string_equal((const char *)sqlite3_column_text(row, column), text);
}

static void same_real(sqlite3_stmt *row, int column, double value)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL)
        assert_true(isnan(value));
    else
        assert_true(sqlite3_column_double(row, column) == value);
}

static void same_known(sqlite3_stmt *row, int column, int64_t value)
{
    assert_int_equal(sqlite3_column_type(row, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(row, column), value);
}

static void same_problems(sqlite3 *old, const struct trial *t)
{
    sqlite3_stmt *row = query(old,
                              "SELECT name, tuned, time, low, high, samples, samples_taken, error FROM trial_problems"
                              " WHERE trial = ? ORDER BY position",
                              t->id);
    size_t i = 0;
    for (; sqlite3_step(row) == SQLITE_ROW; i++) {
        assert_true(i < t->problem_count);
        const struct trial_problem *p = &t->problems[i];
        same_text(row, 0, p->name);
        assert_int_equal(sqlite3_column_int(row, 1), p->tuned);
        const double reals[] = {p->time, p->low, p->high};
        for (int k = 0; k < 3; k++) same_real(row, 2 + k, reals[k]);
        const char *samples = (const char *)sqlite3_column_text(row, 5);
        size_t k = 0;
        for (char *end; strtod(samples, &end), end != samples; samples = end, k++)
            assert_true(k < p->sample_count && p->samples[k] == strtod(samples, NULL));
        assert_int_equal(k, p->sample_count);
        assert_int_equal(sqlite3_column_int64(row, 6), p->samples_taken);
        same_real(row, 7, p->error);
        assert_true(isnan(p->power) && isnan(p->energy)); // version 1 had none
    }
    assert_int_equal(i, t->problem_count);
    sqlite3_finalize(row);
}

static void same_stages(sqlite3 *old, const struct trial *t)
{
    sqlite3_stmt *row = query(old,
                              "SELECT name, warnings, occupancy, registers, spill_loads, spill_stores, shared_static,"
                              " shared_dynamic, stack, code_bytes FROM trial_stages WHERE trial = ? ORDER BY position",
                              t->id);
    size_t i = 0;
    for (; sqlite3_step(row) == SQLITE_ROW; i++) {
        assert_true(i < t->stage_count);
        const struct trial_stage *s = &t->stages[i];
        same_text(row, 0, s->name);
        same_text(row, 1, s->warnings);
        same_real(row, 2, s->occupancy);
        const int64_t known[] = {s->registers,      s->spill_loads, s->spill_stores, s->shared_static,
                                 s->shared_dynamic, s->stack,       s->code_bytes};
        for (int k = 0; k < 7; k++) same_known(row, 3 + k, known[k]);
    }
    assert_int_equal(i, t->stage_count);
    sqlite3_finalize(row);
    row = query(old, "SELECT problem, stage, key, value FROM trial_counters WHERE trial = ? ORDER BY 1, 2, 3", t->id);
    for (i = 0; sqlite3_step(row) == SQLITE_ROW; i++) {
        assert_true(i < t->counter_count);
        assert_int_equal(sqlite3_column_int(row, 0), t->counters[i].problem);
        assert_int_equal(sqlite3_column_int(row, 1), t->counters[i].stage);
        same_text(row, 2, t->counters[i].key);
        same_real(row, 3, t->counters[i].value);
    }
    assert_int_equal(i, t->counter_count);
    sqlite3_finalize(row);
}

// Every trial of the old store, in whatever environment; how many there are.
static int64_t same_trials(sqlite3 *old, struct store *store)
{
    struct error err = {""};
    int64_t count = 0;
    sqlite3_stmt *row = query(old,
                              "SELECT id, config, status, reason, device_id, objective, compile_seconds, gpu_busy,"
                              " gpu_wall, clock_mhz, temperature, finished, compile_cached, counted FROM trials",
                              0);
    for (; sqlite3_step(row) == SQLITE_ROW; count++) {
        struct trial t;
        if (store_get(store, sqlite3_column_int64(row, 0), &t, &err)) fail_msg("a trial is gone: %s", err.message);
        const char *const texts[] = {t.config, status_name(t.status), t.reason, t.device_id};
        for (int k = 0; k < 4; k++) same_text(row, 1 + k, texts[k]);
        const double reals[] = {t.objective, t.compile_seconds, t.gpu_busy, t.gpu_seconds,
                                t.clock_mhz, t.temperature,     t.finished};
        for (int k = 0; k < 7; k++) same_real(row, 5 + k, reals[k]);
        assert_int_equal(sqlite3_column_int(row, 12), t.compile_cached);
        assert_int_equal(sqlite3_column_int(row, 13), t.counted);
        same_problems(old, &t);
        same_stages(old, &t);
    }
    sqlite3_finalize(row);
    return count;
}

struct documents {
    sqlite3_stmt *row;
    int count;
};

static int same_document(void *user, double when, const char *json)
{
    struct documents *d = user;
    assert_int_equal(sqlite3_step(d->row), SQLITE_ROW);
    assert_true(sqlite3_column_double(d->row, 0) == when);
    same_text(d->row, 1, json);
    d->count++;
    return 0;
}

static int same_documents(sqlite3 *old, struct store *store, int64_t environment)
{
    static const char *const kinds[] = {"run", "final", "baselines", "device", "ceilings"};
    struct documents d = {NULL, 0};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char *text = text_format("SELECT written, json FROM documents WHERE kind = '%s' AND environment = ?"
                                 " ORDER BY id DESC",
                                 kinds[k]);
        d.row = query(old, text, environment);
        assert_int_equal(store_each_document(store, kinds[k], 0, same_document, &d, NULL), 0);
        assert_int_equal(sqlite3_step(d.row), SQLITE_DONE);
        sqlite3_finalize(d.row);
        free(text);
    }
    return d.count;
}

// Everything that the old store has is what the new one gives: trials, and the last environment with its documents.
static void same_content(const char *name, const char *old_path, struct store *store)
{
    struct error err = {""};
    struct environment e;
    sqlite3 *old = open_raw(old_path);
    int64_t trials = same_trials(old, store), counts[STATUS_COUNT], counted = 0, of_environment = 0;
    sqlite3_stmt *row = query(old,
                              "SELECT id, job, source_hash, compiler, device, arch, driver FROM environments"
                              " ORDER BY used DESC LIMIT 1",
                              0);
    bool any = sqlite3_step(row) == SQLITE_ROW;
    assert_int_equal(store_last_environment(store, &e, &err), any ? 0 : 1);
    if (any) {
        const char *const texts[] = {e.job, e.source_hash, e.compiler, e.device, e.arch, e.driver};
        for (int k = 0; k < 6; k++) same_text(row, 1 + k, texts[k]);
        char key[HASH_TEXT_SIZE];
        environment_key(e.settings, key);
        assert_string_equal(key, e.key);
        assert_non_null(strstr(e.settings, "\nproblems.0.sizes."));
        if (strcmp(name, "killed") != 0) assert_true(same_documents(old, store, sqlite3_column_int64(row, 0)) >= 3);
        sqlite3_stmt *number =
            query(old, "SELECT count(*) FROM trials WHERE environment = ?", sqlite3_column_int64(row, 0));
        assert_int_equal(sqlite3_step(number), SQLITE_ROW);
        of_environment = sqlite3_column_int64(number, 0);
        sqlite3_finalize(number);
        assert_int_equal(store_counts(store, counts, &err), 0);
        for (int s = 0; s < STATUS_COUNT; s++) counted += counts[s];
    }
    assert_int_equal(counted, of_environment);
    if (strcmp(name, "empty") != 0) assert_true(trials >= 6);
    sqlite3_finalize(row);
    sqlite3_close(old);
}

static void a_store_of_version_1_is_migrated_with_all_that_it_holds(void **state)
{
    (void)state;
    char *folder = e2e_folder("migrate"), *path = text_format("%s/job.db", folder),
         *old = text_format("%s/old.db", folder), *kept = text_format("%s.v1", path);
    for (int i = 0; i < STORES; i++) {
        struct error err = {""};
        struct store *store;
        unlink(kept);
        unpack(stores[i], path);
        unpack(stores[i], old);
        if (store_open(&store, path, true, &err)) fail_msg("%s: %s", stores[i], err.message);
        assert_string_equal(store_kept_copy(store), kept);
        same_content(stores[i], old, store);
        store_close(store);
        if (store_open(&store, path, true, &err)) fail_msg("%s: %s", stores[i], err.message);
        assert_null(store_kept_copy(store)); // it is of this version now
        same_content(stores[i], old, store);
        store_close(store);
        assert_int_equal(number_of(path, "PRAGMA user_version"), STORE_VERSION);
        assert_int_equal(number_of(kept, "PRAGMA user_version"), 1);
        assert_int_equal(number_of(kept, "SELECT count(*) FROM trials"), number_of(old, "SELECT count(*) FROM trials"));
    }
    free(kept);
    free(old);
    free(path);
    e2e_remove(folder);
}

static void a_copy_that_was_put_aside_is_never_overwritten(void **state)
{
    (void)state;
    char *folder = e2e_folder("aside"), *path = text_format("%s/job.db", folder);
    static const char *const names[] = {"job.db.v1", "job.db.v1.2"};
    for (int i = 0; i < 2; i++) e2e_write(folder, names[i], "mine");
    struct error err = {""};
    struct store *store;
    unpack("kernel", path);
    if (store_open(&store, path, true, &err)) fail_msg("%s", err.message);
    assert_non_null(strstr(store_kept_copy(store), "/job.db.v1.3"));
    assert_int_equal(number_of(store_kept_copy(store), "SELECT count(*) FROM trials"), 10);
    store_close(store);
    for (int i = 0; i < 2; i++) {
        char *name = text_format("%s/%s", folder, names[i]), *text = text_read_file(name, NULL);
        assert_string_equal(text, "mine");
        free(text);
        free(name);
    }
    free(path);
    e2e_remove(folder);
}

static void what_is_only_read_is_left_as_it_is_and_can_be_read(void **state)
{
    (void)state;
    char *folder = e2e_folder("read"), *path = text_format("%s/job.db", folder),
         *old = text_format("%s/old.db", folder);
    for (int i = 0; i < STORES; i++) {
        struct error err = {""};
        struct store *store;
        size_t before_size, after_size;
        unpack(stores[i], path);
        unpack(stores[i], old);
        char *before = text_read_file(path, &before_size);
        bool locked_up = strcmp(stores[i], "killed") != 0 && geteuid(); // permissions do not stop root
        if (locked_up) assert_int_equal(chmod(path, 0444) | chmod(folder, 0555), 0);
        int opened = store_open(&store, path, false, &err);
        if (locked_up) chmod(folder, 0777);
        if (opened) fail_msg("%s: %s", stores[i], err.message);
        assert_null(store_kept_copy(store));
        same_content(stores[i], old, store);
        assert_int_equal(store_put_document(store, "run", "{}", &err), -1);
        assert_non_null(strstr(err.message, "read-only"));
        assert_non_null(strstr(err.message, "older version"));
        store_close(store);
        chmod(path, 0666);
        assert_int_equal(number_of(path, "PRAGMA user_version"), 1);
        assert_int_equal(number_of(path, "SELECT count(*) FROM trials"), number_of(old, "SELECT count(*) FROM trials"));
        char *after = text_read_file(path, &after_size);
        if (strcmp(stores[i], "killed") != 0) { // its log may be moved into the file, as with any store
            assert_int_equal(before_size, after_size);
            assert_memory_equal(before, after, before_size);
        }
        free(before);
        free(after);
    }
    free(old);
    free(path);
    e2e_remove(folder);
}

static void killed_while_it_is_migrated_it_is_migrated_the_next_time(void **state)
{
    (void)state;
    char *folder = e2e_folder("kill"), *path = text_format("%s/job.db", folder),
         *old = text_format("%s/old.db", folder);
    int unfinished = 0;
    unpack("killed", old);
    for (int round = 0; round < 60; round++) {
        struct error err = {""};
        struct store *store;
        unpack("killed", path);
        pid_t child = fork();
        if (!child) {
            store_open(&store, path, true, NULL);
            _exit(0);
        }
        usleep((useconds_t)(400 * round));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (store_open(&store, path, true, &err)) fail_msg("round %d: %s", round, err.message);
        unfinished += store_kept_copy(store) != NULL;
        same_content("killed", old, store);
        store_close(store);
        char *command = text_format("rm -f '%s'.v1*", path);
        assert_int_equal(system(command), 0);
        free(command);
    }
    assert_in_range(unfinished, 1, 60);
    free(old);
    free(path);
    e2e_remove(folder);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

// A limit on the size of files is what a test has of a full disk. It is reached at the copy, and then at ever later
// pages of the log.
static void a_full_disk_leaves_the_old_store_and_the_next_try_works(void **state)
{
    (void)state;
    char *folder = e2e_folder("full"), *path = text_format("%s/job.db", folder),
         *old = text_format("%s/old.db", folder), *kept = text_format("%s.v1", path);
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    int failed = 0, migrating = 0;
    unpack("operation", old);
    for (rlim_t limit = 40 << 10;; limit += 8 << 10) {
        struct error err = {""};
        struct store *store;
        unlink(kept);
        unpack("operation", path);
        limit_file_size(limit);
        int opened = store_open(&store, path, true, &err);
        limit_file_size(RLIM_INFINITY);
        if (!opened) {
            store_close(store);
            break;
        }
        assert_true(limit < 4 << 20);
        failed++;
        if (!strstr(err.message, "full") || !strstr(err.message, "was not changed")) fail_msg("%s", err.message);
        migrating += !strstr(err.message, "make a backup copy of it");
        assert_int_equal(access(kept, F_OK), -1); // a failed try leaves nothing behind
        assert_int_equal(number_of(path, "PRAGMA user_version"), 1);
        assert_int_equal(number_of(path, "SELECT count(*) FROM trials"), 22);
        if (store_open(&store, path, true, &err)) fail_msg("there is room again: %s", err.message);
        same_content("operation", old, store);
        store_close(store);
    }
    signal(SIGXFSZ, before);
    assert_true(failed > migrating);
    assert_true(migrating > 0);
    free(kept);
    free(old);
    free(path);
    e2e_remove(folder);
}

static void a_damaged_store_is_refused_and_left_as_it_is(void **state)
{
    (void)state;
    char *folder = e2e_folder("damaged"), *path = text_format("%s/job.db", folder), page[4096];
    memset(page, 0x5a, sizeof page);
    for (int create = 0; create < 2; create++) {
        struct error err = {""};
        struct store *store;
        size_t before_size, after_size;
        unpack("operation", path);
        FILE *file = fopen(path, "r+");
        for (long at = 8192; at < 57344; at += 8192) {
            assert_int_equal(fseek(file, at, SEEK_SET), 0);
            assert_int_equal(fwrite(page, 1, sizeof page, file), sizeof page);
        }
        fclose(file);
        char *before = text_read_file(path, &before_size);
        assert_int_equal(store_open(&store, path, create, &err), -1);
        e2e_expect(err.message, "is damaged");
        char *after = text_read_file(path, &after_size);
        assert_int_equal(before_size, after_size);
        assert_memory_equal(before, after, before_size);
        free(before);
        free(after);
    }
    struct outcome_of_command r = e2e_run(folder, "ls %s", folder);
    assert_null(strstr(r.out, ".v1"));
    e2e_done(&r);
    free(path);
    e2e_remove(folder);
}

static void a_store_that_is_being_tuned_is_not_migrated(void **state)
{
    (void)state;
    char *folder = e2e_folder("tuned"), *path = text_format("%s/job.db", folder);
    int ready[2], go[2];
    char byte;
    unpack("kernel", path);
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t child = fork();
    if (!child) { // what a tuner of version 1 holds
        struct store *mine;
        bool locked = !store_open(&mine, path, false, NULL) && !store_lock(mine, NULL);
        if (write(ready[1], locked ? "y" : "n", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    struct error err = {""};
    struct store *store;
    char *pid = text_format("process %ld", (long)child);
    assert_int_equal(store_open(&store, path, true, &err), -1);
    e2e_expect(err.message, pid);
    assert_int_equal(write(go[1], "g", 1), 1);
    waitpid(child, NULL, 0);
    assert_int_equal(number_of(path, "PRAGMA user_version"), 1);
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
    free(pid);
    free(path);
    e2e_remove(folder);
}

#define FAKE "SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "

static void after_a_migration_nothing_is_measured_again(void **state)
{
    (void)state;
    static const struct {
        const char *store, *before, *device, *options, *change, *expected; // change: of the job, for sed
    } cases[] = {
        {"operation", "", "--device replay:tests/stores/operation_space.json", "", "", "0 new trials"},
        {"kernel", "", "--device replay:tests/stores/kernel_space.json", "-n 10", "", "0 new trials"},
        {"counted", FAKE, "", "", "", "0 new trials"},
        // The environment before the last is known too, with four trials; what was never measured is measured.
        {"operation", "", "--device replay:tests/stores/operation_space.json", "-n 1",
         "s/guard_bytes = 8192/guard_bytes = 4096/", ", 5 in all"},
        {"operation", "", "--device replay:tests/stores/operation_space.json", "-n 4",
         "s/tolerance = 1.25/tolerance = 2/", "4 new trials"},
        {"kernel", "", "--device replay:tests/stores/kernel_space.json", "-n 10", "s/promotion = 256/promotion = 128/",
         "10 new trials"},
        {"kernel", "", "--device replay:tests/stores/kernel_space.json", "-n 10", "s/rounds = 10/rounds = 12/",
         "0 new trials"}, // matters for the final alone
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *folder = e2e_folder("again"), *path = text_format("%s/job.db", folder);
        unpack(cases[i].store, path);
        struct outcome_of_command r = e2e_run(folder,
                                              "cp tests/stores/store.cu %s; sed '%s' tests/stores/%s.cfg >%s/job.cfg\n"
                                              "%s$BIN/sweetspot tune %s/job.cfg %s --store %s -q --no-final %s",
                                              folder, cases[i].change, cases[i].store, folder, cases[i].before, folder,
                                              cases[i].device, path, cases[i].options);
        if (r.status) fail_msg("case %zu: %s", i, r.err);
        e2e_expect(r.err, cases[i].expected);
        e2e_expect(r.err, "the old one is kept as ");
        e2e_done(&r);
        free(path);
        e2e_remove(folder);
    }
}

static json_t *facts_of(const char *path, struct job **job)
{
    struct error err = {""};
    struct mistakes mistakes = {0};
    static const struct environment known = {
        .source_hash = "aa", .compiler = "nvrtc 13.0", .device = "NVIDIA H200", .arch = "sm_90a", .driver = "1"};
    if (job_load(path, job, &mistakes)) fail_msg("%s", path);
    if (job_build_space(*job, &device_limits_h200, &err)) fail_msg("%s", err.message);
    json_t *request = request_job(*job, 0, NULL, NULL, 1, &err), *facts;
    if (!request) fail_msg("%s", err.message);
    facts = run_environment_facts(*job, request, &known, false);
    json_decref(request);
    assert_non_null(facts);
    return facts;
}

static void somebody_has_said_of_every_setting_of_a_job_whether_it_matters(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("configs/*.cfg", 0, NULL, &found), 0);
    assert_int_equal(glob("tests/stores/*.cfg", GLOB_APPEND, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct error err = {""};
        struct job *job;
        json_t *facts = facts_of(found.gl_pathv[i], &job);
        char *text = environment_text(facts, true, &err);
        if (!text) fail_msg("%s: %s", found.gl_pathv[i], err.message);
        assert_int_equal(strncmp(text, "environment 1\narch \"sm_90a\"\n", 28), 0);
        free(text);
        json_decref(facts);
        job_free(job);
    }
    globfree(&found);
}

static void the_key_follows_what_matters_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *facts;
        bool same; // as the first
    } cases[] = {
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\"}]}", true},
        {"{\"problems\":[{\"name\":\"a\"}],\"verify\":{\"tolerance\":1.0,\"enabled\":true},\"job\":\"j\"}", true},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\"}],"
         "\"reference\":{\"cubin\":\"/x\"}}",
         true},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1},\"problems\":[{\"name\":\"a\"}]}", false},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":false,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\"}]}", false},
        {"{\"job\":\"j\",\"verify\":{\"enabled\":true,\"tolerance\":1.0},\"problems\":[{\"name\":\"a\\nb\"}]}", false},
    };
    char first[HASH_TEXT_SIZE], key[HASH_TEXT_SIZE];
    struct error err = {""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *facts = json_parse(cases[i].facts, &err);
        char *text = environment_text(facts, true, &err);
        if (!text) fail_msg("case %zu: %s", i, err.message);
        environment_key(text, i ? key : first);
        if (i && !strcmp(key, first) != cases[i].same) fail_msg("case %zu: %s", i, text);
        free(text);
        json_decref(facts);
    }
    json_t *facts = json_parse("{\"verify\":{\"novelty\":1}}", &err);
    assert_null(environment_text(facts, true, &err));
    e2e_expect(err.message, "'verify.novelty'");
    char *text = environment_text(facts, false, &err);
    assert_string_equal(text, "environment 1\nverify.novelty 1\n");
    free(text);
    json_decref(facts);
    // The table has a meaning for every name, and no name twice.
    size_t count;
    const struct environment_setting *settings = environment_settings(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(settings[i].meaning) > 0);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(settings[i].name, settings[k].name);
    }
}

// Facts that hold nothing but the value at a path such as "problems.0.name".
static json_t *facts_with(const char *path, const char *value)
{
    char *copy = text_copy(path);
    json_t *facts = json_string(value);
    for (char *dot; (dot = strrchr(copy, '.')); *dot = 0) facts = json_pack("{s:o}", dot + 1, facts);
    facts = json_pack("{s:o}", copy, facts);
    free(copy);
    assert_non_null(facts);
    return facts;
}

static void trials_differ_by_every_setting_but_paths_and_limits_of_the_reference(void **state)
{
    (void)state;
    size_t count;
    const struct environment_setting *settings = environment_settings(&count);
    for (size_t i = 0; i < count; i++) {
        char keys[2][HASH_TEXT_SIZE], *path = text_copy(settings[i].name);
        for (char *c = path; *c; c++) *c = *c == '#' ? '0' : *c == '*' ? 'x' : *c;
        for (int k = 0; k < 2; k++) {
            struct error err = {""};
            json_t *facts = facts_with(path, k ? "this" : "that");
            char *text = environment_text(facts, true, &err);
            if (!text) fail_msg("%s: %s", path, err.message);
            environment_key(text, keys[k]);
            free(text);
            json_decref(facts);
        }
        bool same = strcmp(keys[0], keys[1]) == 0;
        static const char *const without[] = {"reference.cubin", "reference.folder", "reference.built",
                                              "reference.timeout"};
        bool matters = true;
        for (size_t k = 0; k < sizeof without / sizeof *without; k++) matters &= strcmp(path, without[k]) != 0;
        if (same == matters) fail_msg("%s %s", path, same ? "makes no difference" : "makes a difference");
        free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_of_version_1_is_migrated_with_all_that_it_holds),
        cmocka_unit_test(a_copy_that_was_put_aside_is_never_overwritten),
        cmocka_unit_test(what_is_only_read_is_left_as_it_is_and_can_be_read),
        cmocka_unit_test(killed_while_it_is_migrated_it_is_migrated_the_next_time),
        cmocka_unit_test(a_full_disk_leaves_the_old_store_and_the_next_try_works),
        cmocka_unit_test(a_damaged_store_is_refused_and_left_as_it_is),
        cmocka_unit_test(a_store_that_is_being_tuned_is_not_migrated),
        cmocka_unit_test(after_a_migration_nothing_is_measured_again),
        cmocka_unit_test(somebody_has_said_of_every_setting_of_a_job_whether_it_matters),
        cmocka_unit_test(the_key_follows_what_matters_and_nothing_else),
        cmocka_unit_test(trials_differ_by_every_setting_but_paths_and_limits_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
