// The store's views, which people read with sqlite3, pandas or DuckDB. docs/store.md documents them.
//
// Their names begin with a version. The views of a version may get more columns, but no column is renamed or removed,
// and none changes its meaning or unit. tests/stores/views_v1.txt lists all columns. Figures of trials, problems and
// stages are taken from the table of fields, so that a new figure automatically becomes a column.
//
// Views hold no data. A store gets them when it is created; `tune` renews those that are missing or were written by an
// older program. If the file lacks the column of a figure, the figure is NULL in the views until the column is added.
//
// Two programs execute the SQL of a view: SQLite, and DuckDB, which attaches a store and runs its views itself. So
// views use only SQL that has the same result in both programs: DOUBLE and BIGINT (REAL has 32 bits in DuckDB),
// functions that both have, and TEXT_OF for strings from JSON.

#include "tuner/store/store_internal.h"

#define NEWEST_ENVIRONMENT "(SELECT n.id FROM environments n ORDER BY n.used DESC LIMIT 1)"
#define IS_CURRENT(environment) "CAST(" environment " = " NEWEST_ENVIRONMENT " AS BIGINT) AS is_current"
#define IS_CURRENT_E IS_CURRENT("e.id")
#define IS_CURRENT_T IS_CURRENT("t.environment")
#define IS_CURRENT_D IS_CURRENT("d.environment")
#define OF_TRIAL(figure) "(SELECT " figure " FROM trial_stages s WHERE s.trial = t.id)"
#define JUDGED(column) \
    "coalesce((SELECT v." column " FROM verdicts v WHERE v.trial = t.id ORDER BY v.id DESC LIMIT 1), t." column ")"

static const char *const types[FIELD_KINDS] = {
    [FIELD_TEXT] = "TEXT",      [FIELD_STATUS] = "TEXT", [FIELD_BOOL] = "BIGINT",  [FIELD_COUNT] = "BIGINT",
    [FIELD_INTEGER] = "BIGINT", [FIELD_REAL] = "DOUBLE", [FIELD_SAMPLES] = "TEXT",
};

// Figures of a trial that are computed rather than read from its row. The worst stage determines each figure of this
// kind that belongs to stages, as in static_facts_of (tuner/trial/trial.h). In SQL, max and min ignore NULL.
static const struct {
    const char *name, *value;
} computed[] = {
    {"objective", "CASE WHEN " JUDGED("status") " IN ('ok', 'slow') THEN t.objective END"},
    {"registers", OF_TRIAL("max(s.registers)")},
    {"spill_bytes", OF_TRIAL("max(s.spill_loads + s.spill_stores)")},
    {"shared_bytes", OF_TRIAL("max(s.shared_static + coalesce(s.shared_dynamic, 0))")},
    {"code_bytes", OF_TRIAL("max(s.code_bytes)")},
    {"theoretical_occupancy", OF_TRIAL("min(s.occupancy)")},
};

// SQLite returns a JSON string as it is, DuckDB with quotation marks around it.
#define TEXT_OF(source, path)                                                                                          \
    "CASE WHEN json_type(" source ", '$." path "') = 'text' THEN CAST(json_extract(" source ", '$." path "') AS TEXT)" \
    " ELSE trim(CAST(json_extract(" source ", '$." path "') AS TEXT), '\"') END"

// A view is "SELECT <head><columns> FROM <tail>". The columns are the fields of a level, or members of a JSON text.
struct view_column {
    const char *name, *source, *path; // source: the JSON text that contains it
    enum field_kind kind;
};

struct store_view {
    const char *name, *with, *head;
    enum field_level level; // FIELD_LEVELS: none
    const struct view_column *columns;
    bool measured; // whether it also has a library's figures for a problem, from p.value
    const char *tail;
};

static const struct view_column run_columns[] = {
    {"started", "d.json", "started", FIELD_REAL},
    {"ended", "d.json", "ended", FIELD_REAL},
    {"pid", "d.json", "pid", FIELD_INTEGER},
    {"strategy", "d.json", "strategy", FIELD_TEXT},
    {"seed", "d.json", "seed", FIELD_INTEGER},
    {"evaluations", "d.json", "evaluations", FIELD_INTEGER},
    {"new", "d.json", "new", FIELD_INTEGER},
    {"stopped_by", "d.json", "stopped_by", FIELD_TEXT},
    {"device", "d.json", "device", FIELD_TEXT},
    {"search_seconds", "d.json", "search_seconds", FIELD_REAL},
    {"gpu_busy", "d.json", "gpu_busy", FIELD_REAL},
    {"compile_seconds", "d.json", "compile_seconds", FIELD_REAL},
    {"cache_hits", "d.json", "cache_hits", FIELD_INTEGER},
    {"gpu_wall", "d.json", "gpu_wall", FIELD_REAL},
    {"count_wall", "d.json", "count_wall", FIELD_REAL},
    {"count_busy", "d.json", "count_busy", FIELD_REAL},
    {0},
};

static const struct view_column baseline_columns[] = {
    {"name", "b.value", "name", FIELD_TEXT},
    {"detail", "b.value", "detail", FIELD_TEXT},
    {"reason", "b.value", "reason", FIELD_TEXT},
    {"status", "p.value", "status", FIELD_TEXT},
    {0},
};

static const struct view_column final_columns[] = {
    {"rounds", "d.json", "rounds", FIELD_INTEGER},
    {"status", "e.value", "status", FIELD_TEXT},
    {"reason", "e.value", "reason", FIELD_TEXT},
    {"error", "e.value", "error", FIELD_REAL},
    {0},
};

// The trial of a final's entry; NULL for a library.
#define ENTRY_TRIAL "nullif(CAST(json_extract(e.value, '$.trial') AS BIGINT), 0)"
// Whether that trial is in a list such as "[12,14]".
#define ENTRY_IN(list)                                         \
    "instr(replace(replace(CAST(json_extract(d.json, '$." list \
    "') AS TEXT), '[', ','), ']', ','), ',' || " ENTRY_TRIAL " || ',') > 0"

#define ENTRY_NAME TEXT_OF("e.value", "name")
#define ENTRY_CHOSEN ENTRY_IN("kernels")
#define ENTRY_TIED ENTRY_IN("ties")

// A configuration is "A=1,B=2", and the value of a parameter may contain commas. So a value ends where the next
// parameter begins. The names of the parameters come from the environment's settings, which have a line
// 'parameters.<place> "<name>"' for each parameter, in the order of the configuration.
#define PARAMETER_MARK(place) "'\nparameters.' || " place " || ' \"'"
#define PARAMETER_REST(settings, place) \
    "substr(" settings ", instr(" settings ", " PARAMETER_MARK(place) ") + length(" PARAMETER_MARK(place) "))"
#define FIRST_MARK PARAMETER_MARK("0")
#define FIRST_REST PARAMETER_REST("e.settings", "0")
#define NEXT_MARK PARAMETER_MARK("(l.place + 1)")
#define NEXT_REST PARAMETER_REST("e.settings", "(l.place + 1)")
static const char parameter_names[] =
    "WITH RECURSIVE lines(environment, place, rest) AS ("
    "SELECT e.id, 0, " FIRST_REST " FROM environments e WHERE instr(e.settings, " FIRST_MARK ") > 0"
    " UNION ALL SELECT e.id, l.place + 1, " NEXT_REST " FROM lines l"
    " JOIN environments e ON e.id = l.environment WHERE instr(e.settings, " NEXT_MARK ") > 0),"
    " names AS (SELECT environment, place, substr(rest, 1, instr(rest, '\"') - 1) AS name FROM lines),"
    " marks AS (SELECT environment, place, name, CASE WHEN place = 0 THEN '' ELSE ',' END || name || '=' AS mark"
    " FROM names),"
    " pairs AS (SELECT environment, place, name, mark, length(mark) AS size,"
    " lead(mark) OVER (PARTITION BY environment ORDER BY place) AS next FROM marks),"
    " found AS (SELECT t.id AS trial, p.place, p.name, CASE WHEN p.next IS NULL"
    " THEN substr(t.config, instr(t.config, p.mark) + p.size) ELSE substr(t.config, instr(t.config, p.mark) + p.size,"
    " instr(t.config, p.next) - instr(t.config, p.mark) - p.size) END AS value"
    " FROM trials t JOIN pairs p ON p.environment = t.environment WHERE instr(t.config, p.mark) > 0) ";

// The newest document of its kind in its environment.
#define NEWEST_DOCUMENT                                                                               \
    "NOT EXISTS (SELECT 1 FROM documents n WHERE n.kind = d.kind AND n.id > d.id AND n.trial IS NULL" \
    " AND n.environment = d.environment)"

static const struct store_view views[] = {
    {.name = "v1_environments",
     .head = "e.id AS environment, " IS_CURRENT_E ", e.job AS job, e.device AS device, e.arch AS arch,"
             " e.driver AS driver, e.compiler AS compiler, e.source_hash AS source_hash, e.key AS key,"
             " e.settings AS settings, e.used AS used",
     .level = FIELD_LEVELS,
     .tail = "environments e"},
    {.name = "v1_trials",
     .head = "t.id AS trial, t.environment AS environment, " IS_CURRENT_T
             ", CAST(NULL AS TEXT) AS guide, CAST(NULL AS DOUBLE) AS guide_seconds", // no longer measured
     .level = FIELD_TRIAL,
     .tail = "trials t"},
    {.name = "v1_problems",
     .head = "t.trial AS trial, t.position AS problem",
     .level = FIELD_PROBLEM,
     .tail = "trial_problems t"},
    {.name = "v1_stages",
     .head = "t.trial AS trial, t.position AS stage",
     .level = FIELD_STAGE,
     .tail = "trial_stages t"},
    {.name = "v1_parameters",
     .with = parameter_names,
     .head = "f.trial AS trial, CAST(f.place AS BIGINT) AS place, CAST(f.name AS TEXT) AS name,"
             " CAST(f.value AS TEXT) AS value",
     .level = FIELD_LEVELS,
     .tail = "found f"},
    {.name = "v1_counters",
     .head = "c.trial AS trial, c.problem AS problem, c.stage AS stage, c.key AS name, c.value AS value",
     .level = FIELD_LEVELS,
     .tail = "trial_counters c"},
    {.name = "v1_baselines",
     .head = "d.environment AS environment, " IS_CURRENT_D ", d.written AS written,"
             " CAST(p.key AS BIGINT) AS problem",
     .level = FIELD_LEVELS,
     .columns = baseline_columns,
     .measured = true,
     .tail = "documents d, json_each(d.json, '$.baselines') b LEFT JOIN json_each(b.value, '$.problems') p ON 1 = 1"
             " WHERE d.kind = 'baselines' AND " NEWEST_DOCUMENT},
    {.name = "v1_finals",
     .head = "d.id AS final, d.environment AS environment, " IS_CURRENT_D ", d.written AS written,"
             " CAST(d.kind = 'final' AS BIGINT) AS decided, CAST(e.key AS BIGINT) AS entry,"
             " CAST(" ENTRY_TRIAL " AS BIGINT) AS trial, CAST(coalesce(CAST(" ENTRY_TRIAL " AS TEXT), " ENTRY_NAME
             ") AS TEXT) AS name, CAST(coalesce(" ENTRY_TRIAL
             " = CAST(json_extract(d.json, '$.winner') AS BIGINT), 1 = 0) OR "
             "coalesce(" ENTRY_CHOSEN ", 1 = 0) AS BIGINT) AS winner, "
             "CAST(coalesce(" ENTRY_TIED ", 1 = 0) AS BIGINT) AS tied",
     .level = FIELD_LEVELS,
     .columns = final_columns,
     .tail = "documents d, json_each(d.json, '$.entries') e WHERE d.kind IN ('final', 'open_final')"},
    {.name = "v1_rounds",
     .head = "d.id AS final, CAST(e.key AS BIGINT) AS entry,"
             " CAST(coalesce(json_extract(p.value, '$.problem'), p.key) AS BIGINT) AS problem,"
             " CAST(r.key AS BIGINT) AS round,"
             " CAST(json_extract(d.json, '$.process[' || r.key || ']') AS BIGINT) AS process,"
             " CAST(r.value AS DOUBLE) AS time",
     .level = FIELD_LEVELS,
     .tail = "documents d, json_each(d.json, '$.entries') e, json_each(e.value, '$.problems') p,"
             " json_each(p.value, '$.times') r WHERE d.kind IN ('final', 'open_final')"},
    {.name = "v1_runs",
     .head = "d.id AS run, d.environment AS environment, " IS_CURRENT_D,
     .level = FIELD_LEVELS,
     .columns = run_columns,
     .tail = "documents d WHERE d.kind = 'run'"},
};

enum { VIEWS = sizeof views / sizeof *views };

static const char *computed_value(const struct trial_field *f)
{
    for (size_t i = 0; i < sizeof computed / sizeof *computed && f->level == FIELD_TRIAL; i++)
        if (!strcmp(computed[i].name, f->name)) return computed[i].value;
    return NULL;
}

// present: by field, whether the file has a column for it; NULL: the file has all columns.
static void write_fields(FILE *out, enum field_level level, const bool *present)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        const char *value = computed_value(f);
        if (f->level != level) continue;
        if (value)
            fprintf(out, ", CAST(%s AS %s) AS %s", value, types[f->kind], f->name);
        else if (f->flags & FIELD_JUDGED)
            fprintf(out, ", CAST(" JUDGED("%s") " AS %s) AS %s", f->name, f->name, types[f->kind], f->name);
        else if (f->flags & FIELD_DERIVED || (present && !present[i]))
            fprintf(out, ", CAST(NULL AS %s) AS %s", types[f->kind], f->name);
        else
            fprintf(out, ", t.%s AS %s", f->name, f->name); // so it has the column's type
    }
}

static void write_column(FILE *out, const char *name, const char *source, const char *path, enum field_kind kind)
{
    fprintf(out, ", CAST(");
    if (kind == FIELD_TEXT || kind == FIELD_STATUS)
        fprintf(out, TEXT_OF("%s", "%s"), source, path, source, path, source, path);
    else if (kind == FIELD_SAMPLES) // as in the tables, separated by spaces
        fprintf(out, "replace(replace(replace(CAST(json_extract(%s, '$.%s') AS TEXT), '[', ''), ']', ''), ',', ' ')",
                source, path);
    else
        fprintf(out, "json_extract(%s, '$.%s')", source, path);
    fprintf(out, " AS %s) AS %s", types[kind], name);
}

static void write_measured(FILE *out)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (fields[i].level == FIELD_PROBLEM && fields[i].flags & FIELD_GPU)
            write_column(out, fields[i].name, "p.value", fields[i].answer, fields[i].kind);
}

// The statement that makes a view. malloc'ed.
static char *definition(const struct store_view *v, const bool *present)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return text_copy("");
    fprintf(out, "CREATE VIEW %s AS %sSELECT %s", v->name, v->with ? v->with : "", v->head);
    if (v->level < FIELD_LEVELS) write_fields(out, v->level, present);
    for (const struct view_column *m = v->columns; m && m->name; m++)
        write_column(out, m->name, m->source, m->path, m->kind);
    if (v->measured) write_measured(out);
    fprintf(out, " FROM %s", v->tail);
    fclose(out);
    return text;
}

char *store_view_definitions(void)
{
    struct text all = {0};
    for (size_t i = 0; i < VIEWS; i++) {
        autofree char *one = definition(&views[i], NULL);
        text_add(&all, "%s;", one);
    }
    return all.text;
}

// Whether a view with this name is in the store, and whether its text is the same.
static int is_there(struct store *store, const char *name, const char *text, bool *there, bool *same, struct error *err)
{
    autorelease(store_finalize) sqlite3_stmt *query = NULL;
    if (store_prepare(store, "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?", &query, err)) return -1;
    sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    int step = store_step(store, query, err);
    *there = step > 0;
    *same = *there && !strcmp((const char *)sqlite3_column_text(query, 0), text);
    return step < 0 ? -1 : 0;
}

static bool has_column(sqlite3_stmt *query, const char *name)
{
    for (int i = 0; i < sqlite3_column_count(query); i++)
        if (!strcmp(sqlite3_column_name(query, i), name)) return true;
    return false;
}

// Whether a view has an unknown column. If so, a newer program made the view, and it is left unchanged.
static bool is_newer(struct store *store, const char *name, const char *text)
{
    autofree char *all = text_format("SELECT * FROM %s", name);
    autorelease(store_finalize) sqlite3_stmt *theirs = NULL, *ours = NULL;
    if (store_prepare(store, all, &theirs, NULL) || store_prepare(store, strstr(text, " AS ") + 4, &ours, NULL))
        return false;
    for (int i = 0; i < sqlite3_column_count(theirs); i++)
        if (!has_column(ours, sqlite3_column_name(theirs, i))) return true;
    return false;
}

// Writes the views that are missing or old, or only counts them if `look` is set. -1 with a message.
static int renew(struct store *store, bool look, struct error *err)
{
    int count = 0, status = 0;
    for (size_t i = 0; i < VIEWS && !status; i++) {
        const char *name = views[i].name;
        autofree char *text = definition(&views[i], store->present);
        bool there = false, same = false;
        status = is_there(store, name, text, &there, &same, err);
        if (!status && !same && !(there && is_newer(store, name, text))) {
            autofree char *drop = text_format("DROP VIEW IF EXISTS %s", name);
            count++;
            if (!look && (store_execute(store, drop, err) || store_execute(store, text, err))) status = -1;
        }
    }
    return status ? -1 : count;
}

int store_write_views(struct store *store, struct error *err)
{
    return renew(store, false, err) < 0 ? -1 : 0;
}

int store_renew_views(struct store *store, struct error *err)
{
    int old = renew(store, true, err);
    if (old <= 0) return old;
    return store_begin(store, err) ? -1 : store_end(store, store_write_views(store, err), err);
}
