// The statements that are prepared once and kept, and the table of a trial's fields as SQL: columns, binding and
// reading. Columns are named after the fields and follow the order of the table. A column that is missing from the file
// is read as NULL.

#include "tuner/store/store_internal.h"

static const char *const tables[FIELD_LEVELS] = {"trials", "trial_problems", "trial_stages"};

// Every type has a default, so that a column can be added to existing rows.
static const char *const types[FIELD_KINDS] = {
    [FIELD_TEXT] = "TEXT NOT NULL DEFAULT ''",
    [FIELD_STATUS] = "TEXT NOT NULL DEFAULT ''",
    [FIELD_BOOL] = "INTEGER NOT NULL DEFAULT 0",
    [FIELD_COUNT] = "INTEGER NOT NULL DEFAULT 0",
    [FIELD_INTEGER] = "INTEGER",
    [FIELD_REAL] = "REAL",
    [FIELD_SAMPLES] = "TEXT NOT NULL DEFAULT ''",
};

// The next stored field of a level, from *i on; NULL at the end.
static const struct trial_field *next_field(enum field_level level, size_t *i)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    while (*i < count && (fields[*i].level != level || fields[*i].flags & FIELD_DERIVED)) ++*i;
    return *i < count ? &fields[(*i)++] : NULL;
}

char *store_column_definitions(enum field_level level)
{
    struct text sql = {0};
    size_t i = 0;
    for (const struct trial_field *f; (f = next_field(level, &i));)
        text_add(&sql, "%s%s %s", sql.length ? ", " : "", f->name, types[f->kind]);
    return sql.text;
}

// When a trial is tried again, its new rows replace the old ones.
static char *insert_text(enum field_level level, const char *owner)
{
    struct text sql = {0};
    size_t i = 0, count = 0;
    text_add(&sql, "INSERT%s INTO %s (%s", strchr(owner, ',') ? " OR REPLACE" : "", tables[level], owner);
    for (const struct trial_field *f; (f = next_field(level, &i)); count++) text_add(&sql, ", %s", f->name);
    text_add(&sql, strchr(owner, ',') ? ") VALUES (?, ?" : ") VALUES (?");
    while (count--) text_add(&sql, ", ?");
    text_add(&sql, ")");
    return sql.text;
}

static char *select_text(const struct store *store, enum field_level level, const char *first, const char *rest)
{
    struct text sql = {0};
    size_t i = 0;
    text_add(&sql, "SELECT %s", first);
    for (const struct trial_field *f; (f = next_field(level, &i));) {
        if (!store->present[i - 1])
            text_add(&sql, ", NULL");
        else
            text_add(&sql, f->flags & FIELD_JUDGED ? ", coalesce(v.%1$s, t.%1$s)" : ", t.%s", f->name);
    }
    text_add(&sql, "%s", rest);
    return sql.text;
}

// The statements that list the fields of a level. They insert rows that belong to `owner`, or select rows and end in
// `rest`.
static const struct {
    enum field_level level;
    const char *owner, *first, *rest;
} field_statements[STATEMENT_COUNT] = {
    [STATEMENT_ADD_TRIAL] = {FIELD_TRIAL, .owner = "environment"},
    [STATEMENT_RETRY_TRIAL] = {FIELD_TRIAL, .owner = "id, environment"},
    [STATEMENT_ADD_PROBLEM] = {FIELD_PROBLEM, .owner = "trial, position"},
    [STATEMENT_ADD_STAGE] = {FIELD_STAGE, .owner = "trial, position"},
    [STATEMENT_FIND] = {FIELD_TRIAL, NULL, "t.id",
                        " FROM " STORE_JUDGED_TRIALS " WHERE t.environment = ? AND t.config = ?"},
    [STATEMENT_GET] = {FIELD_TRIAL, NULL, "t.id", " FROM " STORE_JUDGED_TRIALS " WHERE t.id = ?"},
    // the "+" keeps SQLite from using the index and sorting all rows by id afterwards
    [STATEMENT_SCAN] = {FIELD_TRIAL, NULL, "t.id",
                        " FROM " STORE_JUDGED_TRIALS " WHERE +t.environment = ? ORDER BY t.id"},
    [STATEMENT_PROBLEMS] = {FIELD_PROBLEM, NULL, "t.trial", " FROM trial_problems t WHERE trial = ? ORDER BY position"},
    [STATEMENT_STAGES] = {FIELD_STAGE, NULL, "t.trial", " FROM trial_stages t WHERE trial = ? ORDER BY position"},
};

// The other statements. A "+" keeps SQLite from using an index whose order differs from the order of the rows. Reading
// all rows in the table's order is six times as fast.
static const char *const statement_text[STATEMENT_COUNT] = {
    [STATEMENT_ADD_COUNTER] =
        "INSERT OR REPLACE INTO trial_counters (trial, problem, stage, key, value) VALUES (?,?,?,?,?)",
    [STATEMENT_ADD_VERDICT] = "INSERT INTO verdicts (trial, status, reason, written) VALUES (?,?,?,?)",
    [STATEMENT_VERDICTS] = "SELECT 1 FROM verdicts WHERE trial = ? LIMIT 1",
    [STATEMENT_SET_COUNTED] = "UPDATE trials SET counted = 1 WHERE id = ?",
    [STATEMENT_COUNTERS] =
        "SELECT problem, stage, key, value FROM trial_counters WHERE trial = ? ORDER BY problem, stage, key",
    [STATEMENT_IDS] = "SELECT id FROM trials WHERE +environment = ? ORDER BY id LIMIT ?",
    [STATEMENT_BEST_IDS] = "SELECT t.id FROM " STORE_JUDGED_TRIALS " WHERE +t.environment = ? AND " STORE_JUDGED_STATUS
                           " = 'ok' AND t.objective IS NOT NULL ORDER BY t.objective, t.id LIMIT ?",
    [STATEMENT_COUNTS] =
        "SELECT " STORE_JUDGED_STATUS ", count(*) FROM " STORE_JUDGED_TRIALS " WHERE +t.environment = ? GROUP BY 1",
    [STATEMENT_ELSEWHERE] = "SELECT config, device FROM (SELECT t.config, e.device, e.used,"
                            " row_number() OVER (PARTITION BY t.environment ORDER BY t.objective) AS place"
                            " FROM " STORE_JUDGED_TRIALS " JOIN environments e ON e.id = t.environment"
                            " WHERE t.environment <> ? AND " STORE_JUDGED_STATUS " = 'ok')"
                            " ORDER BY place, used DESC LIMIT ?",
    // With status = 'ok', the index is used. A trial that was never ok gets no counters.
    [STATEMENT_UNCOUNTED] =
        "SELECT t.id FROM " STORE_JUDGED_TRIALS " WHERE t.environment = ? AND t.status = 'ok' AND " STORE_JUDGED_STATUS
        " = 'ok' AND t.counted = 0 ORDER BY t.id LIMIT ?",
    [STATEMENT_PUT_DOCUMENT] =
        "INSERT INTO documents (environment, trial, kind, written, json) VALUES (nullif(?,0),nullif(?,0),?,?,?)",
    [STATEMENT_DOCUMENTS] =
        "SELECT written, json FROM documents WHERE kind = ? AND (environment = ? OR environment IS NULL)"
        " AND trial IS NULL ORDER BY id DESC LIMIT ?",
    [STATEMENT_TRIAL_DOCUMENTS] =
        "SELECT written, json FROM documents WHERE kind = ? AND trial = ? ORDER BY id DESC LIMIT ?",
    [STATEMENT_PUT_BLOB] = "INSERT INTO blobs (hash, bytes) VALUES (?,?)"
                           " ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes",
    [STATEMENT_GET_BLOB] = "SELECT bytes FROM blobs WHERE hash = ?",
    [STATEMENT_SET_TRIAL_BLOB] = "INSERT OR REPLACE INTO trial_blobs (trial, kind, hash) VALUES (?,?,?)",
    [STATEMENT_TRIAL_BLOB] = "SELECT hash FROM trial_blobs WHERE trial = ? AND kind = ?",
};

sqlite3_stmt *store_statement(struct store *store, enum statement which, struct error *err)
{
    sqlite3_stmt **statement = &store->statements[which];
    if (!*statement) {
        const char *owner = field_statements[which].owner, *first = field_statements[which].first;
        enum field_level level = field_statements[which].level;
        autofree char *made = owner   ? insert_text(level, owner)
                              : first ? select_text(store, level, first, field_statements[which].rest)
                                      : NULL;
        if (sqlite3_prepare_v3(store->db, made ? made : statement_text[which], -1, SQLITE_PREPARE_PERSISTENT, statement,
                               NULL) != SQLITE_OK)
            return store_failed(store, err), NULL;
    }
    sqlite3_reset(*statement);
    sqlite3_clear_bindings(*statement);
    return *statement;
}

int store_find_columns(struct store *store, struct error *err)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    if (!store->present) store->present = memory_new(count, sizeof *store->present);
    store->incomplete = false;
    for (int level = 0; level < FIELD_LEVELS; level++) {
        autorelease(store_finalize) sqlite3_stmt *query = NULL;
        int step;
        size_t i = 0;
        if (store_prepare(store, "SELECT name FROM pragma_table_info(?)", &query, err)) return -1;
        sqlite3_bind_text(query, 1, tables[level], -1, SQLITE_STATIC);
        for (size_t f = 0; f < count; f++)
            if (fields[f].level == (enum field_level)level) store->present[f] = false;
        while ((step = store_step(store, query, err)) > 0) {
            const struct trial_field *f =
                trial_field_find((enum field_level)level, (const char *)sqlite3_column_text(query, 0));
            if (f) store->present[f - fields] = true;
        }
        if (step < 0) return -1;
        while (next_field((enum field_level)level, &i)) store->incomplete |= !store->present[i - 1];
    }
    return 0;
}

int store_add_columns(struct store *store, struct error *err)
{
    if (store_begin(store, err)) return -1;
    int status = store_find_columns(store, err); // another process may have added columns
    for (int level = 0; level < FIELD_LEVELS; level++) {
        size_t i = 0;
        for (const struct trial_field *f; (f = next_field((enum field_level)level, &i));) {
            if (status || store->present[i - 1]) continue;
            autofree char *text =
                text_format("ALTER TABLE %s ADD COLUMN %s %s", tables[level], f->name, types[f->kind]);
            status = store_execute(store, text, err);
        }
    }
    if (!status) status = store_find_columns(store, err); // so that the views get the new columns too
    if (!status) status = store_write_views(store, err);
    status = store_end(store, status, err);
    if (status) store_find_columns(store, NULL);
    for (size_t i = 0; i < STATEMENT_COUNT; i++) { // the statements' SQL names the columns
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    return status;
}

// Samples are stored as text, "1.25e-05 1.26e-05", with 9 digits if they reproduce the number, otherwise with 17.
static void bind_samples(sqlite3_stmt *statement, int parameter, const double *samples, size_t count)
{
    char *text = memory_new(count, 32);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%.9g", samples[i]);
        if (strtod(number, NULL) != samples[i]) snprintf(number, sizeof number, "%.17g", samples[i]);
        used += (size_t)sprintf(text + used, "%s%s", i ? " " : "", number);
    }
    sqlite3_bind_text(statement, parameter, text, -1, free);
}

void store_bind_fields(sqlite3_stmt *statement, int *parameter, enum field_level level, const void *record)
{
    size_t i = 0;
    for (const struct trial_field *f; (f = next_field(level, &i));) {
        const void *place = (const char *)record + f->place;
        int at = (*parameter)++;
        switch (f->kind) {
        case FIELD_TEXT: {
            const char *text = *(const char *const *)place;
            sqlite3_bind_text(statement, at, text ? text : "", -1, SQLITE_STATIC);
            break;
        }
        case FIELD_STATUS:
            sqlite3_bind_text(statement, at, status_name(*(const enum trial_status *)place), -1, SQLITE_STATIC);
            break;
        case FIELD_BOOL:
            sqlite3_bind_int(statement, at, *(const bool *)place);
            break;
        case FIELD_COUNT:
            sqlite3_bind_int64(statement, at, *(const int64_t *)place);
            break;
        case FIELD_INTEGER:
            if (*(const int64_t *)place < 0)
                sqlite3_bind_null(statement, at);
            else
                sqlite3_bind_int64(statement, at, *(const int64_t *)place);
            break;
        case FIELD_REAL: // NaN becomes NULL by SQLite's own rule
            sqlite3_bind_double(statement, at, *(const double *)place);
            break;
        default:
            bind_samples(statement, at, *(const double *const *)place,
                         ((const struct trial_problem *)record)->sample_count);
        }
    }
}

static void read_samples(const char *text, const double **samples, size_t *count, struct arena *memory)
{
    size_t most = 0;
    *count = 0;
    for (const char *p = text; p && *p; p++) most += p == text || *p == ' ';
    if (!most) return;
    double *values = arena_new(memory, most * sizeof *values);
    for (char *end; *count < most; text = end) {
        double value = strtod(text, &end);
        if (end == text) break;
        values[(*count)++] = value;
    }
    *samples = values;
}

int store_status(const char *text)
{
    return text && !strcmp(text, "screened") ? STATUS_SLOW : status_find(text);
}

int store_read_fields(struct store *store, sqlite3_stmt *query, int *column, enum field_level level, void *record,
                      struct arena *memory, struct error *err)
{
    size_t i = 0;
    for (const struct trial_field *f; (f = next_field(level, &i));) {
        void *place = (char *)record + f->place;
        int at = (*column)++;
        bool null = sqlite3_column_type(query, at) == SQLITE_NULL;
        const char *text = f->kind == FIELD_TEXT || f->kind == FIELD_STATUS || f->kind == FIELD_SAMPLES
                               ? (const char *)sqlite3_column_text(query, at)
                               : NULL;
        switch (f->kind) {
        case FIELD_TEXT:
            *(const char **)place = text && *text ? arena_copy(memory, text) : "";
            break;
        case FIELD_STATUS: {
            int status = store_status(text);
            if (status < 0) return error_set(err, "store '%s': a trial has the unknown status '%s'", store->path, text);
            *(enum trial_status *)place = (enum trial_status)status;
            break;
        }
        case FIELD_BOOL:
            *(bool *)place = sqlite3_column_int(query, at);
            break;
        case FIELD_COUNT:
            *(int64_t *)place = sqlite3_column_int64(query, at);
            break;
        case FIELD_INTEGER:
            *(int64_t *)place = null ? -1 : sqlite3_column_int64(query, at);
            break;
        case FIELD_REAL:
            *(double *)place = null ? (double)NAN : sqlite3_column_double(query, at);
            break;
        default:
            read_samples(text, (const double **)place, &((struct trial_problem *)record)->sample_count, memory);
        }
    }
    return 0;
}
