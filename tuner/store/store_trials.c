// The store's trials: committing them whole, and reading them back with all that hangs on them.
//
// Invariant: a trial's rows in the five tables are written in one transaction, so a trial is there with its problems
// and stages or not at all. Only its counters and the mark `counted` come later.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/store/store_internal.h"

static void bind_text(sqlite3_stmt *statement, int column, const char *text)
{
    sqlite3_bind_text(statement, column, text ? text : "", -1, SQLITE_STATIC);
}

// NaN becomes NULL by SQLite's own rule.
static void bind_real(sqlite3_stmt *statement, int column, double value)
{
    sqlite3_bind_double(statement, column, value);
}

static void bind_known(sqlite3_stmt *statement, int column, int64_t value)
{
    if (value < 0)
        sqlite3_bind_null(statement, column);
    else
        sqlite3_bind_int64(statement, column, value);
}

static double column_real(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? (double)NAN
                                                                 : sqlite3_column_double(statement, column);
}

static int64_t column_known(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(statement, column);
}

static const char *column_text(struct arena *memory, sqlite3_stmt *statement, int column)
{
    return arena_copy(memory, (const char *)sqlite3_column_text(statement, column));
}

// Samples are kept as text, "1.25e-05 1.26e-05": 9 digits where those give the number back, else 17.
static void write_samples(const struct trial_problem *problem, char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; i < problem->sample_count && i < STORE_MAX_SAMPLES; i++) {
        char number[32];
        snprintf(number, sizeof number, "%.9g", problem->samples[i]);
        if (strtod(number, NULL) != problem->samples[i]) snprintf(number, sizeof number, "%.17g", problem->samples[i]);
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", number);
    }
}

static void read_samples(struct trial_problem *problem, const char *text)
{
    for (char *end; problem->sample_count < STORE_MAX_SAMPLES; text = end) {
        double value = strtod(text, &end);
        if (end == text) break;
        problem->samples[problem->sample_count++] = value;
    }
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
        bind_real(add, 5, counters[i].value);
        if (store_run(store, add, err)) return -1;
    }
    return 0;
}

static int add_problem(struct store *store, int64_t trial, size_t position, const struct trial_problem *problem,
                       struct error *err)
{
    char samples[STORE_MAX_SAMPLES * 32];
    sqlite3_stmt *add = store_statement(store, STATEMENT_ADD_PROBLEM, err);
    if (!add) return -1;
    write_samples(problem, samples, sizeof samples);
    sqlite3_bind_int64(add, 1, trial);
    sqlite3_bind_int64(add, 2, (int64_t)position);
    bind_text(add, 3, problem->name);
    sqlite3_bind_int(add, 4, problem->tuned);
    bind_real(add, 5, problem->time);
    bind_real(add, 6, problem->low);
    bind_real(add, 7, problem->high);
    bind_text(add, 8, samples);
    sqlite3_bind_int64(add, 9, problem->samples_taken);
    bind_real(add, 10, problem->error);
    return store_run(store, add, err);
}

static int add_stage(struct store *store, int64_t trial, size_t position, const struct trial_stage *stage,
                     struct error *err)
{
    sqlite3_stmt *add = store_statement(store, STATEMENT_ADD_STAGE, err);
    if (!add) return -1;
    const int64_t known[] = {stage->registers,      stage->spill_loads, stage->spill_stores, stage->shared_static,
                             stage->shared_dynamic, stage->stack,       stage->code_bytes};
    sqlite3_bind_int64(add, 1, trial);
    sqlite3_bind_int64(add, 2, (int64_t)position);
    bind_text(add, 3, stage->name);
    for (int i = 0; i < 7; i++) bind_known(add, 4 + i, known[i]);
    bind_real(add, 11, stage->occupancy);
    bind_text(add, 12, stage->warnings);
    return store_run(store, add, err);
}

static int add_trial(struct store *store, const struct trial *trial, double finished, int64_t *id, struct error *err)
{
    sqlite3_stmt *add = store_statement(store, STATEMENT_ADD_TRIAL, err);
    if (!add) return -1;
    sqlite3_bind_int64(add, 1, store->environment);
    bind_text(add, 2, trial->config);
    bind_text(add, 3, status_name(trial->status));
    bind_text(add, 4, trial->reason);
    bind_real(add, 5, trial->objective);
    bind_real(add, 6, trial->compile_seconds);
    sqlite3_bind_int(add, 7, trial->compile_cached);
    bind_real(add, 8, trial->gpu_busy);
    bind_real(add, 9, trial->gpu_wall);
    bind_text(add, 10, trial->device_id);
    bind_real(add, 11, trial->clock_mhz);
    bind_real(add, 12, trial->temperature);
    sqlite3_bind_int(add, 13, trial->counted);
    bind_real(add, 14, finished);
    int step = sqlite3_step(add);
    if (step == SQLITE_CONSTRAINT)
        error_set(err, "the store '%s' has a trial of %s already", store->path, trial->config);
    else if (step != SQLITE_DONE)
        store_failed(store, err);
    sqlite3_reset(add);
    *id = sqlite3_last_insert_rowid(store->db);
    return step == SQLITE_DONE ? 0 : -1;
}

int store_add(struct store *store, struct trial *trial, struct error *err)
{
    if (!store->environment) return error_set(err, "store '%s': a trial without an environment", store->path);
    double finished = trial->finished;
    int64_t id = 0;
    if (!(finished > 0)) finished = clock_wall();
    if (store_begin(store, err)) return -1;
    int status = add_trial(store, trial, finished, &id, err);
    for (size_t i = 0; !status && i < trial->problem_count; i++)
        status = add_problem(store, id, i, &trial->problems[i], err);
    for (size_t i = 0; !status && i < trial->stage_count; i++) status = add_stage(store, id, i, &trial->stages[i], err);
    if (!status) status = add_counters(store, id, trial->counters, trial->counter_count, err);
    if (store_end(store, status, err)) return -1;
    trial->id = id;
    trial->finished = finished;
    return 0;
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

// Steps through the rows that hang on a trial; `count` is how many there are. Returns the array, or NULL with *result
// -1.
static sqlite3_stmt *rows_of(struct store *store, enum statement which, int64_t trial, size_t *count, struct error *err)
{
    sqlite3_stmt *query = store_statement(store, which, err);
    if (!query) return NULL;
    sqlite3_bind_int64(query, 1, trial);
    int step;
    *count = 0;
    while ((step = sqlite3_step(query)) == SQLITE_ROW) ++*count;
    if (step != SQLITE_DONE) {
        store_failed(store, err);
        return NULL;
    }
    sqlite3_reset(query); // bindings stay: the caller steps through the same rows
    return query;
}

static int read_problems(struct store *store, struct arena *memory, struct trial *trial, struct error *err)
{
    sqlite3_stmt *query = rows_of(store, STATEMENT_PROBLEMS, trial->id, &trial->problem_count, err);
    if (!query) return -1;
    struct trial_problem *problems = arena_new(memory, trial->problem_count * sizeof *problems);
    for (size_t i = 0; i < trial->problem_count && sqlite3_step(query) == SQLITE_ROW; i++) {
        struct trial_problem *p = &problems[i];
        *p = (struct trial_problem){
            .name = column_text(memory, query, 2),
            .tuned = sqlite3_column_int(query, 3),
            .time = column_real(query, 4),
            .low = column_real(query, 5),
            .high = column_real(query, 6),
            .samples_taken = sqlite3_column_int64(query, 8),
            .error = column_real(query, 9),
        };
        const char *samples = (const char *)sqlite3_column_text(query, 7);
        if (samples) read_samples(p, samples);
    }
    sqlite3_reset(query);
    trial->problems = problems;
    return 0;
}

static int read_stages(struct store *store, struct arena *memory, struct trial *trial, struct error *err)
{
    sqlite3_stmt *query = rows_of(store, STATEMENT_STAGES, trial->id, &trial->stage_count, err);
    if (!query) return -1;
    struct trial_stage *stages = arena_new(memory, trial->stage_count * sizeof *stages);
    for (size_t i = 0; i < trial->stage_count && sqlite3_step(query) == SQLITE_ROW; i++)
        stages[i] = (struct trial_stage){
            .name = column_text(memory, query, 2),
            .registers = column_known(query, 3),
            .spill_loads = column_known(query, 4),
            .spill_stores = column_known(query, 5),
            .shared_static = column_known(query, 6),
            .shared_dynamic = column_known(query, 7),
            .stack = column_known(query, 8),
            .code_bytes = column_known(query, 9),
            .occupancy = column_real(query, 10),
            .warnings = column_text(memory, query, 11),
        };
    sqlite3_reset(query);
    trial->stages = stages;
    return 0;
}

static int read_counters(struct store *store, struct arena *memory, struct trial *trial, struct error *err)
{
    sqlite3_stmt *query = rows_of(store, STATEMENT_COUNTERS, trial->id, &trial->counter_count, err);
    if (!query) return -1;
    struct trial_counter *counters = arena_new(memory, trial->counter_count * sizeof *counters);
    for (size_t i = 0; i < trial->counter_count && sqlite3_step(query) == SQLITE_ROW; i++)
        counters[i] = (struct trial_counter){
            .problem = sqlite3_column_int(query, 1),
            .stage = sqlite3_column_int(query, 2),
            .key = column_text(memory, query, 3),
            .value = column_real(query, 4),
        };
    sqlite3_reset(query);
    trial->counters = counters;
    return 0;
}

// The trial of a query on `trials` (all columns) that is bound and not stepped yet. 0, 1 none, -1.
static int read_trial(struct store *store, sqlite3_stmt *query, struct arena *memory, struct trial *trial,
                      struct error *err)
{
    int step = sqlite3_step(query), status = -1;
    if (step != SQLITE_ROW) {
        int result = step == SQLITE_DONE ? 1 : store_failed(store, err);
        sqlite3_reset(query);
        return result;
    }
    const char *word = (const char *)sqlite3_column_text(query, 3);
    status = word ? status_find(word) : -1;
    *trial = (struct trial){
        .id = sqlite3_column_int64(query, 0),
        .config = column_text(memory, query, 2),
        .status = status < 0 ? STATUS_COUNT : (enum trial_status)status,
        .reason = column_text(memory, query, 4),
        .objective = column_real(query, 5),
        .compile_seconds = column_real(query, 6),
        .compile_cached = sqlite3_column_int(query, 7),
        .gpu_busy = column_real(query, 8),
        .gpu_wall = column_real(query, 9),
        .device_id = column_text(memory, query, 10),
        .clock_mhz = column_real(query, 11),
        .temperature = column_real(query, 12),
        .counted = sqlite3_column_int(query, 13),
        .finished = column_real(query, 14),
    };
    sqlite3_reset(query);
    if (status < 0)
        return error_set(err, "store '%s': trial %" PRId64 " has an unknown status", store->path, trial->id);
    if (read_problems(store, memory, trial, err) || read_stages(store, memory, trial, err) ||
        read_counters(store, memory, trial, err))
        return -1;
    return 0;
}

int store_find(struct store *store, const char *config, struct trial *trial, struct error *err)
{
    arena_release(&store->found);
    sqlite3_stmt *query = store_statement(store, STATEMENT_FIND, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    sqlite3_bind_text(query, 2, config, -1, SQLITE_TRANSIENT);
    return read_trial(store, query, &store->found, trial, err);
}

int store_get(struct store *store, int64_t id, struct trial *trial, struct error *err)
{
    arena_release(&store->found);
    sqlite3_stmt *query = store_statement(store, STATEMENT_GET, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, id);
    return read_trial(store, query, &store->found, trial, err);
}

// The ids that a query on (environment, limit) gives, malloc'ed; *count < 0 on failure.
static int64_t *read_ids(struct store *store, enum statement which, int64_t limit, int64_t *count, struct error *err)
{
    int64_t *ids = NULL, used = 0, room = 0;
    *count = -1;
    sqlite3_stmt *query = store_statement(store, which, err);
    if (!query) return NULL;
    sqlite3_bind_int64(query, 1, store->environment);
    sqlite3_bind_int64(query, 2, limit);
    int step;
    while ((step = sqlite3_step(query)) == SQLITE_ROW) {
        if (used == room) {
            room = room ? 2 * room : 64;
            ids = memory_grow(ids, (size_t)room, sizeof *ids);
        }
        ids[used++] = sqlite3_column_int64(query, 0);
    }
    if (step == SQLITE_DONE)
        *count = used;
    else
        store_failed(store, err);
    sqlite3_reset(query);
    return ids;
}

// The ids first, then trial by trial: visit may use the store, and no read transaction stays open over it.
int store_each(struct store *store, bool best, int64_t limit, int (*visit)(void *user, const struct trial *),
               void *user, struct error *err)
{
    int64_t count;
    int64_t *ids = read_ids(store, best ? STATEMENT_BEST_IDS : STATEMENT_IDS, limit ? limit : -1, &count, err);
    int result = count < 0 ? -1 : 0;
    struct arena memory = {NULL};
    for (int64_t i = 0; i < count && !result; i++) {
        struct trial trial;
        sqlite3_stmt *query = store_statement(store, STATEMENT_GET, err);
        if (!query) {
            result = -1;
            break;
        }
        sqlite3_bind_int64(query, 1, ids[i]);
        result = read_trial(store, query, &memory, &trial, err);
        if (!result) result = visit(user, &trial);
        arena_release(&memory);
    }
    free(ids);
    return result;
}

int store_each_elsewhere(struct store *store, int64_t limit,
                         int (*visit)(void *user, const char *config, const char *device), void *user,
                         struct error *err)
{
    sqlite3_stmt *query = store_statement(store, STATEMENT_ELSEWHERE, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    sqlite3_bind_int64(query, 2, limit);
    int step, stopped = 0;
    while ((step = sqlite3_step(query)) == SQLITE_ROW && !stopped)
        stopped = visit(user, (const char *)sqlite3_column_text(query, 0), (const char *)sqlite3_column_text(query, 1));
    int result = step == SQLITE_DONE || stopped ? stopped : store_failed(store, err);
    sqlite3_reset(query);
    return result;
}

int store_counts(struct store *store, int64_t counts[STATUS_COUNT], struct error *err)
{
    memset(counts, 0, STATUS_COUNT * sizeof *counts);
    sqlite3_stmt *query = store_statement(store, STATEMENT_COUNTS, err);
    if (!query) return -1;
    sqlite3_bind_int64(query, 1, store->environment);
    int step;
    while ((step = sqlite3_step(query)) == SQLITE_ROW) {
        int status = status_find((const char *)sqlite3_column_text(query, 0));
        if (status >= 0) counts[status] = sqlite3_column_int64(query, 1);
    }
    int result = step == SQLITE_DONE ? 0 : store_failed(store, err);
    sqlite3_reset(query);
    return result;
}

int store_uncounted(struct store *store, int64_t *ids, int max, struct error *err)
{
    int64_t count;
    int64_t *found = read_ids(store, STATEMENT_UNCOUNTED, max, &count, err);
    for (int64_t i = 0; i < count; i++) ids[i] = found[i];
    free(found);
    return (int)count;
}
