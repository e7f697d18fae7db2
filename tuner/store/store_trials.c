// The store's trials: commits them whole, and reads them back with their problems, stages and counters. store_fields.c
// defines their columns.
//
// Invariant: a trial's rows in the four tables are written in one transaction, so that a trial is stored with its
// problems and stages or not at all. Only its counters, the mark `counted` and verdicts are added later.

#include "tuner/base/clock.h"
#include "tuner/store/store_internal.h"

static const int64_t most_id = (int64_t)1 << 53; // the largest integer that is exact for every reader of JSON

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
    sqlite3_bind_text(statement, column, text ? text : "", -1, SQLITE_STATIC);
}

static int add_counters(struct store *store, int64_t trial, const struct trial_counter *counters, size_t count,
                        struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *add = store_statement(store, STATEMENT_ADD_COUNTER, err);
        if (!add) return -1;
        sqlite3_bind_int64(add, 1, trial);
        sqlite3_bind_int(add, 2, counters[i].problem);
        sqlite3_bind_int(add, 3, counters[i].stage);
        bind_text(add, 4, counters[i].key);
        sqlite3_bind_double(add, 5, counters[i].value); // NaN becomes NULL
        if (store_run(store, add, err)) return -1;
    }
    return 0;
}

// Adds a problem or a stage of a trial.
static int add_part(struct store *store, enum statement which, enum field_level level, int64_t trial, size_t position,
                    const void *part, struct error *err)
{
    sqlite3_stmt *add = store_statement(store, which, err);
    int parameter = 1;
    if (!add) return -1;
    sqlite3_bind_int64(add, parameter++, trial);
    sqlite3_bind_int64(add, parameter++, (int64_t)position);
    store_bind_fields(add, &parameter, level, part);
    return store_run(store, add, err);
}

// Returns 1 if the configuration already has a trial.
static int add_trial(struct store *store, const struct trial *trial, int64_t *id, struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *add = store_statement(store, STATEMENT_ADD_TRIAL, err);
    int parameter = 1;
    if (!add) return -1;
    sqlite3_bind_int64(add, parameter++, store->environment);
    store_bind_fields(add, &parameter, FIELD_TRIAL, trial);
    int step = sqlite3_step(add);
    if (step == SQLITE_CONSTRAINT)
        error_set(err, "the store '%s' already has a trial of %s", store->path, trial->config);
    else if (step != SQLITE_DONE)
        store_failed(store, err);
    *id = sqlite3_last_insert_rowid(store->db);
    if (step == SQLITE_DONE && *id > most_id)
        return error_set(err, "store '%s': no numbers of trials are left behind %" PRId64, store->path, *id - 1);
    return step == SQLITE_DONE ? 0 : step == SQLITE_CONSTRAINT ? 1 : -1;
}

// Adds the parts of a trial whose row exists.
static int add_parts(struct store *store, const struct trial *trial, struct error *err)
{
    int status = 0;
    for (size_t i = 0; !status && i < trial->problem_count; i++)
        status = add_part(store, STATEMENT_ADD_PROBLEM, FIELD_PROBLEM, trial->id, i, &trial->problems[i], err);
    for (size_t i = 0; !status && i < trial->stage_count; i++)
        status = add_part(store, STATEMENT_ADD_STAGE, FIELD_STAGE, trial->id, i, &trial->stages[i], err);
    return status ? status : add_counters(store, trial->id, trial->counters, trial->counter_count, err);
}

// Adds a trial with all of its parts, within a transaction.
static int add_whole(struct store *store, struct trial *trial, struct error *err)
{
    if (!(trial->finished > 0)) trial->finished = clock_wall();
    int status = add_trial(store, trial, &trial->id, err);
    return status ? status : add_parts(store, trial, err);
}

int store_add_all(struct store *store, struct trial *const *trials, size_t count, struct error *err)
{
    int status = 0;
    if (!store->environment) return error_set(err, "store '%s': a trial without an environment", store->path);
    if (store->incomplete && store_add_columns(store, err)) return -1;
    if (store_begin(store, err)) return -1;
    for (size_t i = 0; !status && i < count; i++) status = add_whole(store, trials[i], err);
    return store_end(store, status, err) ? -1 : 0;
}

int store_add(struct store *store, struct trial *trial, struct error *err)
{
    return store_add_all(store, &trial, 1, err);
}

int store_add_verdict(struct store *store, int64_t trial, enum trial_status status, const char *reason,
                      struct error *err)
{
    struct trial judged;
    int found = store_get(store, trial, &judged, err);
    if (found > 0) return error_set(err, "the store '%s' has no trial %" PRId64, store->path, trial);
    sqlite3_stmt *add = found ? NULL : store_statement(store, STATEMENT_ADD_VERDICT, err);
    if (!add) return -1;
    sqlite3_bind_int64(add, 1, trial);
    bind_text(add, 2, status_name(status));
    bind_text(add, 3, reason);
    sqlite3_bind_double(add, 4, clock_wall());
    return store_run(store, add, err);
}

int store_decided(struct store *store, int64_t trial, struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *query = store_statement(store, STATEMENT_VERDICTS, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, trial);
    return store_step(store, query, err);
}

static int retry_trial(struct store *store, const struct trial *trial, struct error *err)
{
    struct trial before, row = *trial;
    int found = store_get(store, trial->id, &before, err), parameter = 1;
    if (found > 0) return error_set(err, "the store '%s' has no trial %" PRId64, store->path, trial->id);
    sqlite3_stmt *add = found ? NULL : store_statement(store, STATEMENT_RETRY_TRIAL, err);
    if (!add) return -1;
    row.status = before.status;
    row.reason = before.reason;
    if (!(row.finished > 0)) row.finished = clock_wall();
    sqlite3_bind_int64(add, parameter++, trial->id);
    sqlite3_bind_int64(add, parameter++, store->environment);
    store_bind_fields(add, &parameter, FIELD_TRIAL, &row);
    if (store_run(store, add, err) || add_parts(store, trial, err)) return -1;
    return store_add_verdict(store, trial->id, trial->status, trial->reason, err);
}

int store_add_retry(struct store *store, const struct trial *trial, struct error *err)
{
    if (store_begin(store, err)) return -1;
    return store_end(store, retry_trial(store, trial, err), err) ? -1 : 0;
}

int store_add_counters(struct store *store, int64_t trial, const struct trial_counter *counters, size_t count,
                       struct error *err)
{
    if (store_begin(store, err)) return -1;
    int status = -1;
    sqlite3_stmt *mark = store_statement(store, STATEMENT_SET_COUNTED, err);
    if (mark) {
        sqlite3_bind_int64(mark, 1, trial);
        status = store_run(store, mark, err);
        if (!status && !sqlite3_changes(store->db))
            status = error_set(err, "the store '%s' has no trial %" PRId64, store->path, trial);
    }
    if (!status) status = add_counters(store, trial, counters, count, err);
    return store_end(store, status, err);
}

static int read_counter(sqlite3_stmt *query, struct trial_counter *counter, struct arena *memory)
{
    *counter = (struct trial_counter){
        .problem = sqlite3_column_int(query, 0),
        .stage = sqlite3_column_int(query, 1),
        .key = arena_copy(memory, (const char *)sqlite3_column_text(query, 2)),
        .value = sqlite3_column_type(query, 3) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(query, 3),
    };
    return 0;
}

#define PART(part, list) sizeof(struct part), offsetof(struct trial, list##s), offsetof(struct trial, list##_count)
// The lists of a trial, by the bits of enum store_parts.
static const struct {
    enum statement statement;
    enum field_level level; // FIELD_LEVELS: counters
    size_t size, list, count;
} parts[] = {{STATEMENT_PROBLEMS, FIELD_PROBLEM, PART(trial_problem, problem)},
             {STATEMENT_STAGES, FIELD_STAGE, PART(trial_stage, stage)},
             {STATEMENT_COUNTERS, FIELD_LEVELS, PART(trial_counter, counter)}};

// Reads one of a trial's lists.
static int read_part(struct store *store, size_t part, struct arena *memory, struct trial *trial, struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *query = store_statement(store, parts[part].statement, err);
    size_t size = parts[part].size, count = 0;
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, trial->id);
    int step, failed = 0;
    while (!failed && (step = store_step(store, query, err)) > 0) {
        int column = 1;
        store->rows = memory_room(store->rows, &store->row_room, (count + 1) * size, 1);
        void *row = store->rows + count++ * size;
        memset(row, 0, size);
        failed = parts[part].level == FIELD_LEVELS
                     ? read_counter(query, row, memory)
                     : store_read_fields(store, query, &column, parts[part].level, row, memory, err);
    }
    if (failed || step < 0) return -1;
    void *list = arena_new(memory, count * size);
    if (count) memcpy(list, store->rows, count * size);
    *(void **)(void *)((char *)trial + parts[part].list) = list;
    *(size_t *)(void *)((char *)trial + parts[part].count) = count;
    return 0;
}

// Reads the trial's own figures from a row with its id and fields.
static int read_row(struct store *store, sqlite3_stmt *query, struct arena *memory, struct trial *trial,
                    struct error *err)
{
    int column = 0;
    trial_clear(FIELD_TRIAL, trial);
    trial->id = sqlite3_column_int64(query, column++);
    if (trial->id < 1 || trial->id > most_id)
        return error_set(err, "store '%s': a trial has the number %" PRId64 ", which is impossible", store->path,
                         trial->id);
    if (store_read_fields(store, query, &column, FIELD_TRIAL, trial, memory, err)) return -1;
    if (trial->status != STATUS_OK && trial->status != STATUS_SLOW) trial->objective = NAN; // by a later verdict
    return 0;
}

// Reads a trial with `query`, which selects the id and the fields, and is bound but not stepped yet. Returns 0 on
// success, 1 if there is no such trial, and -1 on failure.
static int read_trial(struct store *store, sqlite3_stmt *query, unsigned wanted, struct arena *memory,
                      struct trial *trial, struct error *err)
{
    int step = store_step(store, query, err), failed = step > 0 ? read_row(store, query, memory, trial, err) : 0;
    sqlite3_reset(query);
    if (step <= 0) return step ? -1 : 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !failed; i++)
        if (wanted & 1u << i) failed = read_part(store, i, memory, trial, err);
    if (!failed) trial->facts = static_facts_of(trial->stages, trial->stage_count);
    return failed;
}

// Reads a trial in one transaction, so that it is read under one lock and in a consistent state.
static int read_one(struct store *store, sqlite3_stmt *query, struct trial *trial, struct error *err)
{
    if (store_begin_reading(store, err)) return -1;
    int result = read_trial(store, query, STORE_WHOLE, &store->found, trial, err);
    store_end_reading(store);
    return result;
}

int store_find(struct store *store, const char *config, struct trial *trial, struct error *err)
{
    arena_release(&store->found);
    sqlite3_stmt *query = store_statement(store, STATEMENT_FIND, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    sqlite3_bind_text(query, 2, config, -1, SQLITE_TRANSIENT);
    return read_one(store, query, trial, err);
}

int store_get(struct store *store, int64_t id, struct trial *trial, struct error *err)
{
    arena_release(&store->found);
    sqlite3_stmt *query = store_statement(store, STATEMENT_GET, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, id);
    return read_one(store, query, trial, err);
}

// The ids that a query with the parameters (environment, limit) returns, malloc'ed; *count < 0 on failure.
static int64_t *read_ids(struct store *store, enum statement which, int64_t limit, int64_t *count, struct error *err)
{
    int64_t *ids = NULL;
    size_t used = 0, room = 0;
    *count = -1;
    autorelease(store_reset) sqlite3_stmt *query = store_statement(store, which, err);
    if (!query) return NULL;
    sqlite3_bind_int64(query, 1, store->environment);
    sqlite3_bind_int64(query, 2, limit);
    int step;
    while ((step = store_step(store, query, err)) > 0) {
        ids = memory_room(ids, &room, used + 1, sizeof *ids);
        ids[used++] = sqlite3_column_int64(query, 0);
    }
    if (!step) *count = (int64_t)used;
    return ids;
}

enum { CHUNK = 512 }; // how many trials are read in one transaction

// Reads `count` trials. Returns how many of them exist, or -1.
static int read_chunk(struct store *store, const int64_t *ids, int64_t count, unsigned wanted, struct arena *memory,
                      struct trial *trials, struct error *err)
{
    int used = 0, result = store_begin_reading(store, err);
    for (int64_t i = 0; i < count && result >= 0; i++) {
        sqlite3_stmt *query = store_statement(store, STATEMENT_GET, err);
        if (query) sqlite3_bind_int64(query, 1, ids[i]);
        result = query ? read_trial(store, query, wanted, memory, &trials[used], err) : -1;
        used += !result;
    }
    store_end_reading(store);
    return result < 0 ? -1 : used;
}

// Reads the ids first, then a chunk of trials at a time. No transaction is open during visit, so it may use the store.
// Locking takes microseconds, or a millisecond on a network file system, so a chunk is read under one lock. The first
// chunks are small, because visit may stop after the first trial.
int store_each(struct store *store, bool best, int64_t limit, unsigned wanted,
               int (*visit)(void *user, const struct trial *), void *user, struct error *err)
{
    int64_t count, room = 1;
    autofree int64_t *ids = read_ids(store, best ? STATEMENT_BEST_IDS : STATEMENT_IDS, limit ? limit : -1, &count, err);
    autofree struct trial *trials = memory_new(CHUNK, sizeof *trials);
    struct arena memory = {NULL};
    int result = count < 0 ? -1 : 0;
    for (int64_t first = 0; first < count && !result; first += room, room = room < CHUNK ? 2 * room : CHUNK) {
        int64_t left = count - first;
        int read = read_chunk(store, ids + first, left < room ? left : room, wanted, &memory, trials, err);
        if (read < 0) result = -1;
        for (int i = 0; i < read && !result; i++) result = visit(user, &trials[i]);
        arena_release(&memory);
    }
    return result;
}

int store_scan(struct store *store, int (*visit)(void *user, const struct trial *), void *user, struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *query = store_statement(store, STATEMENT_SCAN, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    struct arena memory = {NULL};
    int step = 0, result = 0;
    while (!result && (step = store_step(store, query, err)) > 0) {
        struct trial trial;
        result = read_row(store, query, &memory, &trial, err);
        if (!result) result = visit(user, &trial);
        arena_release(&memory);
    }
    return result ? result : step;
}

int store_each_elsewhere(struct store *store, int64_t limit,
                         int (*visit)(void *user, const char *config, const char *device), void *user,
                         struct error *err)
{
    autorelease(store_reset) sqlite3_stmt *query = store_statement(store, STATEMENT_ELSEWHERE, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    sqlite3_bind_int64(query, 2, limit);
    int step = 0, stopped = 0;
    while (!stopped && (step = store_step(store, query, err)) > 0)
        stopped = visit(user, (const char *)sqlite3_column_text(query, 0), (const char *)sqlite3_column_text(query, 1));
    return stopped ? stopped : step;
}

int store_counts(struct store *store, int64_t counts[STATUS_COUNT], struct error *err)
{
    memset(counts, 0, STATUS_COUNT * sizeof *counts);
    autorelease(store_reset) sqlite3_stmt *query = store_statement(store, STATEMENT_COUNTS, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    int step;
    while ((step = store_step(store, query, err)) > 0) {
        int status = store_status((const char *)sqlite3_column_text(query, 0));
        if (status >= 0) counts[status] += sqlite3_column_int64(query, 1);
    }
    return step;
}

int64_t *store_uncounted(struct store *store, int64_t *count, struct error *err)
{
    return read_ids(store, STATEMENT_UNCOUNTED, -1, count, err);
}
