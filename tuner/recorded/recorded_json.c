// Reads and writes our own format of recorded spaces, which docs/json.md describes.
#include "tuner/base/buffer_kind.h"
#include "tuner/base/gzip.h"
#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

enum { FORMAT_VERSION = 1 };

static const char *const kind_names[] = {"int", "string", "unroll", "real", NULL}; // by enum parameter_kind

// The file's contents other than parameters, columns and trials.
static const struct record_field work_fields[] = {
    {"flops", RECORD_MEMBER(struct recorded_work, flops)}, {"bytes", RECORD_MEMBER(struct recorded_work, bytes)}, {0}};
static const struct record work_record = {"the work of a problem", sizeof(struct recorded_work), work_fields, NULL};

static const struct record_field problem_fields[] = {
    {"name", RECORD_MEMBER(struct recorded_problem, name), .flags = RECORD_ALWAYS},
    {"sizes", RECORD_PAIRS(struct recorded_problem, sizes, size_count), .flags = RECORD_ALWAYS},
    {"weight", RECORD_MEMBER(struct recorded_problem, weight), .low = 1e-300, .high = 1e300},
    {"work", RECORD_RECORD(struct recorded_problem, work, work_record)},
    {0}};
static const struct record problem_record = {"a problem", sizeof(struct recorded_problem), problem_fields, NULL};

static const struct record_field metric_fields[] = {
    {"key", RECORD_MEMBER(struct recorded_metric, key), .flags = RECORD_REQUIRED | RECORD_ALWAYS},
    {"metric", RECORD_MEMBER(struct recorded_metric, metric), .flags = RECORD_ALWAYS},
    {"unit", RECORD_MEMBER(struct recorded_metric, unit), .flags = RECORD_ALWAYS},
    {0}};
static const struct record metric_record = {"a metric", sizeof(struct recorded_metric), metric_fields, NULL};

static const struct record_field baseline_fields[] = {
    {"name", RECORD_MEMBER(struct recorded_baseline, name), .flags = RECORD_ALWAYS},
    {"problems", .kind = RECORD_OBJECT, .shape = RECORD_LIST, .flags = RECORD_HOLES, .made = problem_figures,
     .offset = offsetof(struct recorded_baseline, problems),
     .count = offsetof(struct recorded_baseline, problem_count)},
    {0}};
static const struct record baseline_record = {"a baseline", sizeof(struct recorded_baseline), baseline_fields, NULL};

static const struct record_field fields[] = {
    {"job", RECORD_MEMBER(struct recorded, about.job)},
    {"licence", RECORD_MEMBER(struct recorded, about.licence)},
    {"objective", RECORD_MEMBER(struct recorded, about.objective)},
    {"device", RECORD_MEMBER(struct recorded, about.device)},
    {"environment", RECORD_MEMBER(struct recorded, about.environment)},
    {"problems", RECORD_RECORDS(struct recorded, problems, problem_count, problem_record)},
    {"constraints", RECORD_MEMBER(struct recorded, constraints)},
    {"metrics", RECORD_RECORDS(struct recorded, metrics, metric_count, metric_record)},
    {"baselines", RECORD_RECORDS(struct recorded, baselines, baseline_count, baseline_record)},
    {"finals", RECORD_MEMBER(struct recorded, about.finals)},
    {0}};

// Reading ------------------------------------------------------------------------------------------

static int read_parameters(struct recorded *r, const json_t *list, struct error *err)
{
    if (json_array_size(list) == 0) return error_set(err, "there are no parameters");
    json_array_each(list, i, one) {
        const char *name = json_get_string(one, "name", NULL), *kind = json_get_string(one, "kind", "int");
        if (!name) return error_set(err, "parameter %zu has no name", i);
        int k = word_find(kind_names, kind);
        if (k < 0) return error_set(err, "parameter '%s' has the unknown kind '%s'", name, kind);
        if (recorded_add_parameter(r, name, json_object_get(one, "values"), k, err)) return -1;
    }
    return 0;
}

// The meaning of a column: a parameter, a field or a metric. If it is none of these, the column is unknown.
struct column {
    enum { COLUMN_UNKNOWN, COLUMN_PARAMETER, COLUMN_FIELD, COLUMN_METRIC } kind;
    size_t index; // of the parameter or metric
    const struct trial_field *field;
};

// A recorded field of the trial or of its problems; trials and problems have no field name in common.
static const struct trial_field *recorded_field(const char *name)
{
    static const enum field_level levels[] = {FIELD_TRIAL, FIELD_PROBLEM};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const struct trial_field *f = trial_field_find(levels[i], name);
        if (f && f->flags & FIELD_RECORDED) return f;
    }
    return NULL;
}

// The column with this name, after `earlier` others with the same name: a parameter comes first.
static struct column column_named(const struct recorded *r, const char *name, size_t earlier)
{
    int parameter = space_find(r->space, name, strlen(name));
    if (parameter >= 0 && !earlier--) return (struct column){COLUMN_PARAMETER, (size_t)parameter, NULL};
    if (recorded_field(name) && !earlier--) return (struct column){COLUMN_FIELD, 0, recorded_field(name)};
    for (size_t i = 0; i < r->metric_count; i++)
        if (strcmp(r->metrics[i].key, name) == 0 && !earlier--) return (struct column){COLUMN_METRIC, i, NULL};
    return (struct column){COLUMN_UNKNOWN, 0, NULL};
}

// Unknown fields have no column, so a metric must not have a field's name.
static int check_columns(const struct recorded *r, struct error *err)
{
    for (size_t i = 0; i < r->metric_count; i++) {
        const char *key = r->metrics[i].key;
        struct column c = column_named(r, key, space_find(r->space, key, strlen(key)) >= 0);
        if (c.kind != COLUMN_METRIC || c.index != i)
            return error_set(err, "metric '%s' has the name of another column", r->metrics[i].key);
    }
    return 0;
}

// The part of a cell for one problem: an element, or the cell itself if there is only one problem. NULL if the list
// does not have one element for each problem. Samples are themselves a list.
static const json_t *part(const struct recorded *r, const struct trial_field *f, const json_t *cell, size_t problem)
{
    bool listed = json_is_array(f->kind == FIELD_SAMPLES ? json_array_get(cell, 0) : cell);
    if (!listed && r->problem_count == 1) return cell;
    return json_array_size(cell) == r->problem_count ? json_array_get(cell, problem) : NULL;
}

static void read_field(struct recorded *r, size_t trial, const struct trial_field *f, const json_t *cell)
{
    if (f->level == FIELD_TRIAL) {
        field_take(f, &r->trials[trial], cell, &r->memory);
        return;
    }
    for (size_t p = 0; p < r->problem_count; p++)
        field_take(f, recorded_figures(r, trial, p), part(r, f, cell, p), &r->memory);
}

static int read_trial(struct recorded *r, size_t number, const json_t *row, const struct column *columns,
                      size_t column_count, struct error *err)
{
    struct trial *t = &r->trials[number];
    if (json_array_size(row) != column_count)
        return error_set(err, "trial %zu has %zu cells, but there are %zu columns", number, json_array_size(row),
                         column_count);
    for (size_t c = 0; c < column_count; c++) {
        const json_t *cell = json_array_get(row, c);
        const struct trial_field *f = columns[c].field;
        if (columns[c].kind == COLUMN_PARAMETER && recorded_set_value(r, number, columns[c].index, cell, err))
            return -1;
        const char *status = json_is_string(cell) ? json_string_value(cell) : "";
        if (f && f->kind == FIELD_STATUS && !json_is_null(cell) && status_find(status) < 0)
            return error_set(err, "trial %zu has the unknown status '%s'", number, status);
        if (f) read_field(r, number, f, cell);
        if (columns[c].kind == COLUMN_METRIC && json_is_number(cell))
            r->counters[number * r->metric_count + columns[c].index] = json_number_value(cell);
    }
    bool complete = true;
    for (size_t p = 0; p < r->problem_count; p++) {
        struct trial_problem *problem = recorded_figures(r, number, p);
        if (!recorded_is_time(problem->time)) problem->time = NAN;
        recorded_set_samples(r, problem, problem->samples, problem->sample_count);
        complete &= !isnan(problem->time);
    }
    if (!complete && (t->status == STATUS_OK || t->status == STATUS_SLOW)) {
        t->status = STATUS_LAUNCH_ERROR;
        recorded_note(r, RECORDED_IMPOSSIBLE);
        if (!*t->reason) t->reason = "no time";
    }
    return 0;
}

static int read_trials(struct recorded *r, const json_t *names, const json_t *rows, struct error *err)
{
    size_t count = json_array_size(names);
    autofree struct column *columns = memory_new(count, sizeof *columns);
    r->left_out.unknown_columns = arena_new(&r->memory, count * sizeof *r->left_out.unknown_columns);
    size_t parameters = 0;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name) {
            result = error_set(err, "column %zu has no name", i);
            break;
        }
        size_t earlier = 0;
        for (size_t j = 0; j < i; j++) earlier += !strcmp(json_string_value(json_array_get(names, j)), name);
        columns[i] = column_named(r, name, earlier);
        parameters += columns[i].kind == COLUMN_PARAMETER;
        if (columns[i].kind == COLUMN_UNKNOWN)
            r->left_out.unknown_columns[r->left_out.unknown_count++] = arena_copy(&r->memory, name);
        if (columns[i].kind == COLUMN_UNKNOWN && column_named(r, name, 0).kind != COLUMN_UNKNOWN)
            result = error_set(err, "there are two columns '%s'", name);
    }
    for (size_t p = 0; p < r->parameter_count && result == 0 && parameters < r->parameter_count; p++) {
        size_t i = 0;
        while (i < count && !(columns[i].kind == COLUMN_PARAMETER && columns[i].index == p)) i++;
        if (i == count) result = error_set(err, "parameter '%s' has no column", space_parameter(r->space, p)->name);
    }
    if (result == 0) result = recorded_add_trials(r, json_array_size(rows), err);
    for (size_t i = 0; i < r->trial_count && result == 0; i++)
        result = read_trial(r, i, json_array_get(rows, i), columns, count, err);
    return result;
}

int recorded_from_sweetspot(struct recorded *r, const json_t *document, struct error *err)
{
    int64_t version = json_get_integer(document, "version", 0);
    if (version != FORMAT_VERSION)
        return error_set(err, "the file has version %lld of the format, but this program reads version %d",
                         (long long)version, FORMAT_VERSION);
    int failed = 0;
    for (const struct record_field *f = fields; f->name && !failed; f++)
        failed = record_take(f, "the file", json_object_get(document, f->name), r, &r->memory, err);
    json_incref(r->about.device); // record_take borrowed these values from the document
    json_incref(r->about.environment);
    json_incref(r->constraints);
    json_incref(r->about.finals);
    if (failed) return -1;
    if (!r->problem_count) recorded_one_problem(r);
    for (size_t p = 0; p < r->problem_count; p++)
        if (isnan(r->problems[p].weight)) r->problems[p].weight = 1;
    for (size_t i = 0; i < r->baseline_count; i++)
        if (r->baselines[i].problem_count != r->problem_count)
            return error_set(err, "baseline '%s' has %zu problems, but there are %zu", r->baselines[i].name,
                             r->baselines[i].problem_count, r->problem_count);
    if (read_parameters(r, json_object_get(document, "parameters"), err) || check_columns(r, err)) return -1;
    return read_trials(r, json_object_get(document, "columns"), json_object_get(document, "trials"), err);
}

// Writing ------------------------------------------------------------------------------------------

// The significant digits of a measurement.
static const size_t measured = JSON_REAL_PRECISION(7);

// Appends a value, and takes ownership of it.
static void put(struct text *o, const char *before, json_t *value, size_t precision)
{
    autofree char *text = json_dumps(value, JSON_COMPACT | precision);
    text_add(o, "%s%s", before, text);
    json_decref(value);
}

// A field of a record; null if it is unknown.
static json_t *cell_json(const struct trial_field *f, const void *record)
{
    const void *place = (const char *)record + f->place;
    if (f->kind == FIELD_REAL) return json_brief_or_null(*(const double *)place);
    if (f->kind != FIELD_SAMPLES) return field_json(f, record);
    json_t *samples = json_array();
    for (size_t i = 0; i < ((const struct trial_problem *)record)->sample_count; i++)
        json_array_append_new(samples, json_brief_or_null((*(const double *const *)place)[i]));
    return samples;
}

static json_t *value_json(const struct recorded *r, size_t parameter, size_t value)
{
    const struct parameter *p = space_parameter(r->space, parameter);
    char digits[32];
    if (p->kind == PARAMETER_INT || p->kind == PARAMETER_UNROLL) return json_integer(p->values[value]);
    return json_string(space_value_text(r->space, parameter, value, digits));
}

static json_t *parameters_json(const struct recorded *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct parameter *p = space_parameter(r->space, i);
        json_t *values = json_array();
        for (size_t v = 0; v < p->count; v++) json_array_append_new(values, value_json(r, i, v));
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o}", "name", p->name, "kind", kind_names[p->kind], "values", values));
    }
    return list;
}

// Whether the field becomes a column. A field that is unknown in all trials does not become one, unless every reader
// expects it.
static bool is_column(const struct recorded *r, const struct trial_field *f)
{
    if (!(f->flags & FIELD_RECORDED)) return false;
    if (f->kind == FIELD_STATUS || !strcmp(f->name, "time")) return true;
    if (f->level == FIELD_TRIAL)
        for (size_t i = 0; i < r->trial_count; i++)
            if (field_known(f, &r->trials[i])) return true;
    if (f->level == FIELD_PROBLEM)
        for (size_t i = 0; i < r->trial_count * r->problem_count; i++)
            if (field_known(f, &r->figures[i])) return true;
    return false;
}

// Writes the fields that become columns to `chosen` (which has room for all). Returns their number.
static size_t choose_columns(const struct recorded *r, const struct trial_field **chosen)
{
    size_t count, used = 0;
    const struct trial_field *all = trial_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (is_column(r, &all[i])) chosen[used++] = &all[i];
    return used;
}

static json_t *columns_json(const struct recorded *r, const struct trial_field *const *chosen, size_t count)
{
    json_t *names = json_array();
    for (size_t i = 0; i < r->parameter_count; i++)
        json_array_append_new(names, json_string(space_parameter(r->space, i)->name));
    for (size_t f = 0; f < count; f++) json_array_append_new(names, json_string(chosen[f]->name));
    for (size_t m = 0; m < r->metric_count; m++) json_array_append_new(names, json_string(r->metrics[m].key));
    return names;
}

// A field of the problems: an array with one element per problem, if there are several.
static json_t *problem_cells(const struct recorded *r, size_t trial, const struct trial_field *f)
{
    const struct trial_problem *figures = r->figures + trial * r->problem_count;
    if (r->problem_count == 1) return cell_json(f, figures);
    json_t *cells = json_array();
    for (size_t p = 0; p < r->problem_count; p++) json_array_append_new(cells, cell_json(f, &figures[p]));
    return cells;
}

static json_t *trial_row(const struct recorded *r, size_t trial, const struct trial_field *const *chosen, size_t count)
{
    json_t *row = json_array();
    for (size_t i = 0; i < r->parameter_count; i++)
        json_array_append_new(row, value_json(r, i, r->configs[trial * r->parameter_count + i]));
    for (size_t f = 0; f < count; f++)
        json_array_append_new(row, chosen[f]->level == FIELD_TRIAL ? cell_json(chosen[f], &r->trials[trial])
                                                                   : problem_cells(r, trial, chosen[f]));
    for (size_t m = 0; m < r->metric_count; m++)
        json_array_append_new(row, json_brief_or_null(r->counters[trial * r->metric_count + m]));
    return row;
}

// Each member and each trial takes one line.
int recorded_write(const struct recorded *r, const char *path, struct error *err)
{
    autorelease(text_release) struct text o = {0};
    size_t count;
    if (check_columns(r, err)) return error_prefix(err, "%s", path);
    trial_fields(&count);
    autofree const struct trial_field **chosen = memory_new(count, sizeof *chosen);
    count = choose_columns(r, chosen);
    autojson json_t *head = json_pack("{s:s, s:i}", "format", "sweetspot-space", "version", FORMAT_VERSION);
    record_write_into(&(struct record){"a recorded space", sizeof *r, fields, NULL}, r, head);
    json_object_set_new(head, "parameters", parameters_json(r));
    json_object_set_new(head, "columns", columns_json(r, chosen, count));
    json_object_each(head, name, member) {
        text_add(&o, "%s\"%s\":", o.length ? ",\n" : "{", name);
        put(&o, "", json_incref(member), strcmp(name, "baselines") ? 0 : measured);
    }
    text_add(&o, ",\n\"trials\":[");
    for (size_t i = 0; i < r->trial_count; i++) put(&o, i ? ",\n" : "\n", trial_row(r, i, chosen, count), measured);
    text_add(&o, "]}\n");
    return gzip_write_file(path, o.text, o.length, err);
}
