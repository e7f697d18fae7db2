// The store's views: their columns are stable (tests/stores/views_v1.txt), and their values are the ones that the
// program itself reads and exports. Every store that `tune` opens has the views, even after an interruption.
#include <math.h>
#include <signal.h>
#include <sqlite3.h>

#include "tests/golden.h"
#include "tests/opened_store.h"
#include "tests/testing.h"
#include "tuner/trial/trial_field.h"

#define TUNE "$BIN/sweetspot tune tests/stores/%s.cfg --device replay:tests/stores/%s_space.json -q --store %s "
#define COUNT_VIEWS "SELECT count(*) FROM sqlite_master WHERE type = 'view'"

enum { VIEWS = 10 };

static char *folder, *path;
static sqlite3 *db; // the replayed store, read-only

static sqlite3 *open_raw(const char *file, int flags)
{
    sqlite3 *opened;
    assert_int_equal(sqlite3_open_v2(file, &opened, flags, NULL), SQLITE_OK);
    return opened;
}

static void change(const char *file, const char *text)
{
    sqlite3 *opened = open_raw(file, SQLITE_OPEN_READWRITE);
    if (sqlite3_exec(opened, text, NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s: %s", text, sqlite3_errmsg(opened));
    sqlite3_close(opened);
}

static sqlite3_stmt *prepare(sqlite3 *from, const char *text)
{
    sqlite3_stmt *query;
    if (sqlite3_prepare_v2(from, text, -1, &query, NULL) != SQLITE_OK) fail_msg("%s: %s", text, sqlite3_errmsg(from));
    return query;
}

// The first column of the first row as text, malloc'ed; "" for NULL and for no row.
static char *first(const char *file, const char *text)
{
    sqlite3 *opened = open_raw(file, SQLITE_OPEN_READWRITE); // also reads a log that a killed process left
    sqlite3_stmt *query = prepare(opened, text);
    const char *value = sqlite3_step(query) == SQLITE_ROW ? (const char *)sqlite3_column_text(query, 0) : "";
    char *copy = text_copy(value ? value : "");
    sqlite3_finalize(query);
    sqlite3_close(opened);
    return test_owned(copy);
}

static void expect(const char *file, const char *text, const char *value)
{
    char *found = first(file, text);
    if (strcmp(found, value) != 0) fail_msg("%s: '%s' instead of '%s'", text, found, value);
}

static void open_by_tune(const char *file)
{
    struct error err = {""};
    struct store *store;
    if (store_open(&store, file, true, &err)) fail_msg("%s: %s", file, err.message);
    store_close(store);
}

static void make_store(void)
{
    folder = e2e_folder("views");
    path = text_format("%s/job.db", folder);
    e2e_pass(folder, TUNE, "operation", "operation", path);
    db = open_raw(path, SQLITE_OPEN_READONLY);
}

static void remove_store(void)
{
    sqlite3_close(db);
    free(path);
}

// Copies the replayed store and returns the copy's name (malloc'ed).
static char *copy_store(const char *name)
{
    char *file = text_format("%s/%s.db", folder, name), *command = test_text("VACUUM INTO '%s'", file);
    unlink(file);
    sqlite3 *opened = open_raw(path, SQLITE_OPEN_READWRITE);
    assert_int_equal(sqlite3_exec(opened, command, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(opened);
    change(file, "PRAGMA journal_mode = WAL");
    return test_owned(file);
}

// Columns ----------------------------------------------------------------------------------------

// "v1_trials objective s": one line per column, with the unit if it is a figure.
static char *columns_of(sqlite3 *from)
{
    static const char *const levels[] = {"v1_trials", "v1_problems", "v1_stages"};
    struct text lines = {0};
    text_add(&lines, "%s", "");
    sqlite3_stmt *row = prepare(from, "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
                                      " WHERE m.type = 'view' ORDER BY m.rowid, c.cid");
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *view = (const char *)sqlite3_column_text(row, 0), *name = (const char *)sqlite3_column_text(row, 1);
        const struct trial_field *field = NULL;
        for (int level = 0; level < FIELD_LEVELS; level++)
            if (!strcmp(view, levels[level])) field = trial_field_find((enum field_level)level, name);
        text_add(&lines, "%s %s%s%s\n", view, name, field && *field->unit ? " " : "", field ? field->unit : "");
    }
    sqlite3_finalize(row);
    return lines.text;
}

static void no_line_is_missing(const char *lines, const char *in, const char *why)
{
    char *all = test_text("\n%s", in), *copy = test_owned(text_copy(lines)), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *whole = test_text("\n%s\n", line);
        if (!strstr(all, whole)) fail_msg("%s: %s", line, why);
    }
}

#define PROMISED "tests/stores/views_v1.txt"

// Adds the new columns to the list of promised columns and to the table in docs/store.md. Frees the list and returns a
// new list (malloc'ed).
static char *promise_new_columns(char *promised, const char *found)
{
    static const char *const levels[] = {"v1_trials", "v1_problems", "v1_stages"};
    char *document = text_read_file("docs/store.md", NULL), *copy = test_owned(text_copy(found)), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char view[64], name[64], *whole = test_text("%s\n", line), *heading;
        if (strstr(promised, whole)) continue;
        assert_int_equal(sscanf(line, "%63s %63s", view, name), 2);
        const struct trial_field *field = NULL;
        for (int level = 0; level < FIELD_LEVELS; level++)
            if (!strcmp(view, levels[level])) field = trial_field_find((enum field_level)level, name);
        promised = golden_insert(PROMISED, promised, golden_last_line(promised, view), whole);
        heading = test_text("\n### %s\n", view);
        whole = test_text("| `%s` | %s |\n", name, field ? field->meaning : "");
        const char *section = strstr(document, heading);
        assert_non_null(section);
        document = golden_insert("docs/store.md", document, golden_last_line(section + 1, "| "), whole);
    }
    free(document);
    return promised;
}

TEST(the_columns_of_a_version_are_never_fewer_or_others)
{
    char *promised = text_read_file(PROMISED, NULL), *found = columns_of(db);
    assert_non_null(promised);
    if (golden_writing()) promised = promise_new_columns(promised, found);
    no_line_is_missing(promised, found, "this column is promised (docs/store.md), but no view has it in this unit");
    no_line_is_missing(found, promised, "a new column: `make golden` adds it to " PROMISED " and docs/store.md");
    free(found);
    free(promised);
}

// DuckDB gives each column one type and refuses values of other types.
TEST(a_column_holds_one_type)
{
    char *columns = columns_of(db), *rest = NULL;
    for (char *line = strtok_r(columns, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char view[64], name[64];
        assert_int_equal(sscanf(line, "%63s %63s", view, name), 2);
        char *text = test_text("SELECT DISTINCT typeof(%s) FROM %s WHERE %s IS NOT NULL", name, view, name);
        sqlite3_stmt *query = prepare(db, text);
        int types = 0;
        while (sqlite3_step(query) == SQLITE_ROW) types++;
        if (types > 1) fail_msg("%s has values of %d types", line, types);
        sqlite3_finalize(query);
    }
    free(columns);
}

// Values -----------------------------------------------------------------------------------------

static void same_value(const char *what, sqlite3_stmt *row, int column, const json_t *value)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    bool same = false;
    if (json_is_null(value)) // texts, counts and samples are never NULL
        same = !text || !*text || !strcmp(text, "0");
    else if (json_is_string(value))
        same = text && !strcmp(text, json_string_value(value));
    else if (json_is_boolean(value))
        same = text && sqlite3_column_int(row, column) == json_is_true(value);
    else if (json_is_array(value)) {
        same = text;
        json_array_each(value, i, one) {
            char *end;
            if (same) same = fabs(strtod(text, &end) - json_number_value(one)) <= 1e-9 * json_number_value(one);
            if (same) text = end;
        }
        same = same && !*text;
    } else {
        double wanted = json_number_value(value);
        same = text && fabs(sqlite3_column_double(row, column) - wanted) <= 1e-6 * fabs(wanted);
    }
    if (!same) fail_msg("%s is '%s' in the view", what, text ? text : "NULL");
}

static void same_record(enum field_level level, const void *record, int64_t trial, size_t position)
{
    static const char *const rows[] = {"v1_trials WHERE trial = %lld",
                                       "v1_problems WHERE trial = %lld AND problem = %d",
                                       "v1_stages WHERE trial = %lld AND stage = %d"};
    char where[128];
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    snprintf(where, sizeof where, rows[level], (long long)trial, (int)position);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].level != level) continue;
        char *text = test_text("SELECT %s FROM %s", fields[i].name, where);
        sqlite3_stmt *row = prepare(db, text);
        if (sqlite3_step(row) != SQLITE_ROW) fail_msg("no row: %s", text);
        autojson json_t *value = field_json(&fields[i], record);
        same_value(text, row, 0, value);
        sqlite3_finalize(row);
    }
}

static int same_trial(void *user, const struct trial *t)
{
    ++*(int64_t *)user;
    same_record(FIELD_TRIAL, t, t->id, 0);
    for (size_t i = 0; i < t->problem_count; i++) same_record(FIELD_PROBLEM, &t->problems[i], t->id, i);
    for (size_t i = 0; i < t->stage_count; i++) same_record(FIELD_STAGE, &t->stages[i], t->id, i);
    sqlite3_stmt *counter =
        prepare(db, "SELECT value FROM v1_counters WHERE trial = ? AND problem = ? AND stage = ? AND name = ?");
    for (size_t i = 0; i < t->counter_count; i++) {
        const struct trial_counter *c = &t->counters[i];
        sqlite3_bind_int64(counter, 1, t->id);
        sqlite3_bind_int(counter, 2, c->problem);
        sqlite3_bind_int(counter, 3, c->stage);
        sqlite3_bind_text(counter, 4, c->key, -1, SQLITE_STATIC);
        assert_int_equal(sqlite3_step(counter), SQLITE_ROW);
        assert_true(isnan(c->value) ? sqlite3_column_type(counter, 0) == SQLITE_NULL
                                    : sqlite3_column_double(counter, 0) == c->value);
        sqlite3_reset(counter);
    }
    sqlite3_finalize(counter);
    return 0;
}

TEST(every_figure_is_the_one_that_the_program_reads)
{
    struct error err = {""};
    struct store *store = opened_store(path);
    int64_t count = 0;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, same_trial, &count, &err), 0);
    assert_true(count >= 18);
    store_close(store);
    expect(path, "SELECT count(*) FROM v1_trials WHERE is_current", test_text("%d", (int)count));
}

// Compares a cell of the exported space: a figure of the trial or of a tuned problem, a counter, or a parameter.
static void same_cell(const char *config, const char *column, int problem, const json_t *value)
{
    int form = trial_field_find(FIELD_TRIAL, column) ? 0 : trial_field_find(FIELD_PROBLEM, column) ? 1 : 2;
    autofree char *text =
        form == 0   ? text_format("SELECT %s FROM v1_trials WHERE config = ?", column)
        : form == 1 ? text_format("SELECT %s FROM v1_problems JOIN v1_trials USING (trial) WHERE problem = %d"
                                  " AND config = ?",
                                  column, problem)
                    : text_format("SELECT coalesce((SELECT value FROM v1_parameters p WHERE name = '%s' AND"
                                  " p.trial = t.trial), (SELECT max(value) FROM v1_counters c WHERE name = '%s'"
                                  " AND c.trial = t.trial)) FROM v1_trials t WHERE config = ?",
                                  column, column);
    sqlite3_stmt *row = prepare(db, text);
    sqlite3_bind_text(row, 1, config, -1, SQLITE_STATIC);
    if (sqlite3_step(row) == SQLITE_ROW)
        same_value(column, row, 0, value);
    else // a trial that was not measured has no problems
        assert_true(form == 1 && json_array_size(value) == 0 && !json_is_number(value));
    sqlite3_finalize(row);
}

TEST(every_figure_is_the_one_that_is_exported)
{
    struct e2e_result r = e2e_pass(folder, "$BIN/sweetspot export tests/stores/operation.cfg --store %s -o -", path);
    const json_t *space = test_json(json_loads(r.out, 0, NULL)), *columns = json_object_get(space, "columns"),
                 *parameters = json_object_get(space, "parameters"), *trials = json_object_get(space, "trials");
    size_t cells = 0;
    json_array_each(trials, t, trial) {
        autorelease(text_release) struct text config = {0};
        for (size_t c = 0; c < json_array_size(parameters); c++) {
            json_t *value = json_array_get(trial, c);
            autofree char *word = json_is_string(value) ? text_copy(json_string_value(value))
                                                        : text_format("%d", (int)json_integer_value(value));
            text_add(&config, "%s%s=%s", c ? "," : "", json_string_value(json_array_get(columns, c)), word);
            json_array_set_new(trial, c, json_string(word)); // as written in a configuration
        }
        json_array_each(trial, c, cell) {
            const char *column = json_string_value(json_array_get(columns, c));
            bool each = json_is_array(cell) && trial_field_find(FIELD_PROBLEM, column);
            for (size_t p = 0; p < (each ? json_array_size(cell) : 1); p++, cells++)
                same_cell(config.text, column, (int)p, each ? json_array_get(cell, p) : cell);
        }
    }
    assert_true(json_array_size(trials) >= 18 && cells > 300);
}

TEST(a_later_verdict_counts)
{
    char *copy = copy_store("verdict"), *best = first(path, "SELECT trial FROM v1_trials WHERE status = 'ok' LIMIT 1"),
         *add = test_text("INSERT INTO verdicts (trial, status, reason, written) VALUES (%s, 'ok', '', 1),"
                          " (%s, 'wrong', 'it is \"wrong\"', 2)",
                          best, best),
         *row =
             text_format("SELECT status || reason || coalesce(objective, '-') FROM v1_trials WHERE trial = %s", best);
    change(copy, add);
    expect(copy, row, "wrongit is \"wrong\"-");
    change(copy, "INSERT INTO verdicts (trial, status, reason, written) SELECT trial, 'ok', '', 3 FROM verdicts");
    expect(copy, "SELECT count(*) FROM v1_trials t JOIN verdicts v USING (trial) WHERE t.status <> 'ok'", "0");
    expect(copy, "SELECT count(*) FROM v1_trials WHERE status IN ('ok', 'slow') AND objective IS NULL", "0");
    free(row);
}

TEST(the_worst_stage_decides_and_what_is_unknown_is_passed_over)
{
    static const char *const rows[][2] = {
        // registers, spill_loads, spill_stores, shared_static, shared_dynamic, code_bytes, occupancy
        {"(64, 8, NULL, 16, NULL, NULL, NULL)", "(32, 4, 4, NULL, 512, 100, 0.5)"},
        {"(NULL, NULL, NULL, NULL, NULL, NULL, NULL)", "(NULL, 0, 0, 0, 0, 0, 0)"},
        {"(1, 2, 3, 4, 5, 6, 0.75)", "(2, 1, 3, 2, 8, 5, 0.25)"},
    };
    char *copy = copy_store("stages");
    struct error err = {""};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        change(copy, "DELETE FROM trial_stages WHERE trial = 1");
        for (int k = 0; k < 2; k++)
            change(copy, test_text("INSERT INTO trial_stages (trial, position, registers, spill_loads, spill_stores,"
                                   " shared_static, shared_dynamic, code_bytes, occupancy) SELECT 1, %d, v.* FROM"
                                   " (VALUES %s) v",
                                   k, rows[i][k]));
        struct store *store = opened_store(copy);
        struct trial t;
        sqlite3 *before = db;
        db = open_raw(copy, SQLITE_OPEN_READONLY);
        assert_int_equal(store_get(store, 1, &t, &err), 0);
        assert_int_equal(t.stage_count, 2);
        same_record(FIELD_TRIAL, &t, 1, 0);
        sqlite3_close(db);
        db = before;
        store_close(store);
    }
}

TEST(a_value_may_hold_commas)
{
    char *copy = copy_store("commas");
    change(copy, "UPDATE trials SET config = 'BLOCK=64,FINISH=a,b=<c, d>,UNROLL=-1' WHERE id = 1");
    expect(copy,
           "SELECT group_concat(name || ':' || value, ';') FROM (SELECT * FROM v1_parameters WHERE trial = 1"
           " ORDER BY place)",
           "BLOCK:64;FINISH:a,b=<c, d>;UNROLL:-1");
}

TEST(a_final_s_entries_and_rounds_are_rows)
{
    char *winner = first(path, "SELECT json_extract(json, '$.winner') FROM documents WHERE kind = 'final'"),
         *found = first(path, "SELECT trial FROM v1_finals WHERE winner AND decided AND status = 'ok'"), *copy;
    assert_string_equal(winner, found);
    expect(path, "SELECT group_concat(name) FROM v1_finals WHERE trial IS NULL", "cublas");
    expect(path, "SELECT count(*) FROM v1_finals WHERE winner", "1");
    expect(path,
           "SELECT (SELECT count(*) FROM v1_rounds) - sum(json_array_length(p.value, '$.times')) FROM documents d,"
           " json_each(d.json, '$.entries') e, json_each(e.value, '$.problems') p WHERE d.kind = 'final'",
           "0");
    copy = copy_store("kernels");
    change(copy, "UPDATE documents SET json = json_set(json, '$.kernels', json_array(winner, other), '$.ties',"
                 " json_array(other)) FROM (SELECT max(trial) FILTER (WHERE winner) AS winner, max(trial) FILTER"
                 " (WHERE NOT winner) AS other FROM v1_finals) WHERE kind = 'final'");
    expect(copy, "SELECT sum(winner) || ',' || sum(tied) FROM v1_finals", "2,1"); // each problem has its own kernel
}

// Existing stores --------------------------------------------------------------------------------

TEST(a_view_that_an_older_program_made_is_renewed_and_a_newer_one_s_is_left)
{
    char *copy = copy_store("renew"), *ours = first(path, "SELECT sql FROM sqlite_master WHERE name = 'v1_trials'");
    static const char *const old[] = {"CREATE VIEW v1_trials AS SELECT id AS trial FROM trials",
                                      "CREATE VIEW v1_trials AS SELECT broken FROM trials", ""};
    for (int i = 0; i < 3; i++) {
        change(copy, test_text("DROP VIEW v1_trials; %s", old[i]));
        open_by_tune(copy);
        expect(copy, "SELECT sql FROM sqlite_master WHERE name = 'v1_trials'", ours);
    }
    change(copy, "CREATE VIEW mine AS SELECT trial FROM v1_trials; DROP VIEW v1_stages;"
                 "CREATE VIEW v1_stages AS SELECT trial, 1 AS novelty FROM trial_stages");
    open_by_tune(copy);
    expect(copy, "SELECT max(novelty) FROM v1_stages", "1");
    expect(copy, "SELECT count(*) > 0 FROM mine", "1"); // a view that the user added stays
}

TEST(a_figure_that_the_file_lacks_is_null_until_its_column_is_added)
{
    char *copy = copy_store("lacks");
    change(copy, "DROP VIEW v1_problems; ALTER TABLE trial_problems DROP COLUMN power;"
                 "DELETE FROM trials WHERE id = (SELECT max(id) FROM trials);");
    open_by_tune(copy);
    expect(copy, "SELECT count(*) - count(power) > 0 FROM v1_problems", "1");
    e2e_pass(folder, TUNE "--no-final", "operation", "operation",
             copy); // measures the trial again, which adds the column
    change(copy, "UPDATE trial_problems SET power = 250 WHERE trial = 2");
    expect(copy, "SELECT max(power) FROM v1_problems", "250.0");
}

TEST(killed_while_they_are_made_the_store_has_all_of_them_or_none)
{
    char *trials = first(path, "SELECT count(*) FROM trials"), *all = test_text("%d", VIEWS),
         *copy = copy_store("killed");
    sqlite3_stmt *view = prepare(db, "SELECT 'DROP VIEW ' || name || ';' FROM sqlite_master WHERE type = 'view'");
    autorelease(text_release) struct text drop = {0};
    while (sqlite3_step(view) == SQLITE_ROW) text_add(&drop, "%s", (const char *)sqlite3_column_text(view, 0));
    sqlite3_finalize(view);
    int interrupted = 0;
    for (int round = 0; round < 30; round++) {
        change(copy, drop.text);
        pid_t child = fork();
        if (!child) {
            open_by_tune(copy);
            _exit(0);
        }
        usleep((useconds_t)(150 * round));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        char *found = first(copy, COUNT_VIEWS);
        if (strcmp(found, "0") != 0 && strcmp(found, all) != 0) fail_msg("%s views", found);
        interrupted += !strcmp(found, "0");
        expect(copy, "SELECT quick_check FROM pragma_quick_check", "ok");
        expect(copy, "SELECT count(*) FROM trials", trials);
        open_by_tune(copy);
        expect(copy, COUNT_VIEWS, all);
    }
    assert_true(interrupted > 0);
}

TEST(python_reads_them_all)
{
    if (system("python3 -c 'import sqlite3' >/dev/null 2>&1")) skip();
    struct e2e_result r =
        e2e_pass(folder,
                 "python3 - <<'END'\nimport sqlite3\nstore = sqlite3.connect('file:%s?mode=ro', uri=True)\n"
                 "for (name,) in store.execute(\"SELECT name FROM sqlite_master WHERE type = 'view'\").fetchall():\n"
                 "    print(len(store.execute('SELECT * FROM ' + name).fetchall()) > 0)\nEND",
                 path);
    for (int i = 0; i < VIEWS; i++) assert_int_equal(strncmp(r.out + 5 * i, "True\n", 5), 0);
}

TEST_MAIN(make_store, remove_store)
