// Our own format of recorded spaces, in and out; recorded.h describes it.
#include <stdarg.h>

#include "tuner/base/base.h"
#include "tuner/base/gzip.h"
#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

enum { FORMAT_VERSION = 1 };

static const char *const kind_names[] = {"int", "string", "unroll", "real"}; // by enum parameter_kind

// Reading ------------------------------------------------------------------------------------------

static int read_problems(struct recorded *r, const json_t *list, struct error *err)
{
    if (json_array_size(list) == 0) {
        recorded_one_problem(r);
        return 0;
    }
    r->problem_count = json_array_size(list);
    r->problems = arena_new(&r->memory, r->problem_count * sizeof *r->problems);
    for (size_t i = 0; i < r->problem_count; i++) {
        const json_t *one = json_array_get(list, i), *work = json_object_get(one, "work");
        json_t *sizes = json_object_get(one, "sizes"), *value;
        struct recorded_problem *p = &r->problems[i];
        const char *name;
        p->name = arena_copy(&r->memory, json_get_string(one, "name", ""));
        p->weight = json_get_number(one, "weight", 1);
        p->flops = json_get_number(work, "flops", NAN);
        p->bytes = json_get_number(work, "bytes", NAN);
        if (!(p->weight > 0)) return error_set(err, "problem '%s' has a weight that is not positive", p->name);
        p->size_names = arena_new(&r->memory, json_object_size(sizes) * sizeof *p->size_names);
        p->size_values = arena_new(&r->memory, json_object_size(sizes) * sizeof *p->size_values);
        json_object_foreach(sizes, name, value)
        {
            p->size_names[p->size_count] = arena_copy(&r->memory, name);
            p->size_values[p->size_count++] = json_integer_value(value);
        }
    }
    return 0;
}

static int read_parameters(struct recorded *r, const json_t *list, struct error *err)
{
    size_t count = json_array_size(list);
    if (count == 0) return error_set(err, "there are no parameters");
    r->parameters = arena_new(&r->memory, count * sizeof *r->parameters);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = json_get_string(one, "name", NULL), *kind = json_get_string(one, "kind", "int");
        if (!name) return error_set(err, "parameter %zu has no name", i);
        int k = 0;
        while (k < 4 && strcmp(kind, kind_names[k]) != 0) k++;
        if (k == 4) return error_set(err, "parameter '%s' has the unknown kind '%s'", name, kind);
        r->parameters[r->parameter_count++].name = arena_copy(&r->memory, name);
        if (recorded_set_values(r, &r->parameters[i], json_object_get(one, "values"), k, err) < 0) return -1;
    }
    return 0;
}

static void read_metrics(struct recorded *r, const json_t *list)
{
    size_t count = json_array_size(list);
    r->metrics = arena_new(&r->memory, count * sizeof *r->metrics);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *key = json_get_string(one, "key", NULL);
        if (!key) continue;
        r->metrics[r->metric_count++] = (struct recorded_metric){
            arena_copy(&r->memory, key), arena_copy(&r->memory, json_get_string(one, "metric", "")),
            arena_copy(&r->memory, json_get_string(one, "unit", ""))};
    }
}

// The recorded fields that an object has.
static void read_fields(enum field_level level, void *record, const json_t *object, struct arena *memory)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (fields[i].level == level && fields[i].flags & FIELD_RECORDED)
            field_take(&fields[i], record, json_object_get(object, fields[i].name), memory);
}

static void read_baselines(struct recorded *r, const json_t *list)
{
    r->baseline_count = json_array_size(list);
    r->baselines = arena_new(&r->memory, r->baseline_count * sizeof *r->baselines);
    for (size_t i = 0; i < r->baseline_count; i++) {
        const json_t *one = json_array_get(list, i), *problems = json_object_get(one, "problems");
        struct recorded_baseline *b = &r->baselines[i];
        b->name = arena_copy(&r->memory, json_get_string(one, "name", ""));
        b->problems = arena_new(&r->memory, r->problem_count * sizeof *b->problems);
        for (size_t p = 0; p < r->problem_count; p++) {
            trial_clear(FIELD_PROBLEM, &b->problems[p]);
            read_fields(FIELD_PROBLEM, &b->problems[p], json_array_get(problems, p), &r->memory);
        }
    }
}

// The meaning of a column: a parameter, a field, a metric, or (none of them) unknown.
struct column {
    enum { COLUMN_UNKNOWN, COLUMN_PARAMETER, COLUMN_FIELD, COLUMN_METRIC } kind;
    size_t index; // of the parameter or metric
    const struct trial_field *field;
};

// A recorded field of the trial or of its problems: the names of the two do not overlap.
static const struct trial_field *recorded_field(const char *name)
{
    static const enum field_level levels[] = {FIELD_TRIAL, FIELD_PROBLEM};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        const struct trial_field *f = trial_field_find(levels[i], name);
        if (f && f->flags & FIELD_RECORDED) return f;
    }
    return NULL;
}

static struct column column_named(const struct recorded *r, const char *name)
{
    for (size_t i = 0; i < r->parameter_count; i++)
        if (strcmp(r->parameters[i].name, name) == 0) return (struct column){COLUMN_PARAMETER, i, NULL};
    if (recorded_field(name)) return (struct column){COLUMN_FIELD, 0, recorded_field(name)};
    for (size_t i = 0; i < r->metric_count; i++)
        if (strcmp(r->metrics[i].key, name) == 0) return (struct column){COLUMN_METRIC, i, NULL};
    return (struct column){COLUMN_UNKNOWN, 0, NULL};
}

// Columns are told apart by their names.
static int check_columns(const struct recorded *r, struct error *err)
{
    for (size_t i = 0; i < r->parameter_count; i++)
        if (recorded_field(r->parameters[i].name))
            return error_set(err, "parameter '%s' has the name of another column", r->parameters[i].name);
    for (size_t i = 0; i < r->metric_count; i++) {
        struct column c = column_named(r, r->metrics[i].key);
        if (c.kind != COLUMN_METRIC || c.index != i)
            return error_set(err, "metric '%s' has the name of another column", r->metrics[i].key);
    }
    return 0;
}

// The cell's part for one problem: an element, or the cell itself if there is one problem. Samples are a list
// themselves.
static const json_t *part(const struct recorded *r, const struct trial_field *f, const json_t *cell, size_t problem)
{
    bool listed = json_is_array(f->kind == FIELD_SAMPLES ? json_array_get(cell, 0) : cell);
    return listed || r->problem_count > 1 ? json_array_get(cell, problem) : cell;
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

static int read_parameter(struct recorded *r, size_t trial, size_t index, const json_t *cell, struct error *err)
{
    int value = recorded_value_index(&r->parameters[index], cell);
    r->configs[trial * r->parameter_count + index] = (uint16_t)value;
    if (value >= 0) return 0;
    char *text = json_dumps(cell, JSON_ENCODE_ANY | JSON_COMPACT);
    error_set(err, "trial %zu: %s is not among the values of parameter '%s'", trial, text ? text : "?",
              r->parameters[index].name);
    free(text);
    return -1;
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
        if (columns[c].kind == COLUMN_PARAMETER && read_parameter(r, number, columns[c].index, cell, err)) return -1;
        if (f && f->kind == FIELD_STATUS && json_is_string(cell) && status_find(json_string_value(cell)) < 0)
            return error_set(err, "trial %zu has the unknown status '%s'", number, json_string_value(cell));
        if (f) read_field(r, number, f, cell);
        if (columns[c].kind == COLUMN_METRIC && json_is_number(cell))
            r->counters[number * r->metric_count + columns[c].index] = json_number_value(cell);
    }
    bool complete = true;
    for (size_t p = 0; p < r->problem_count; p++) {
        struct trial_problem *problem = recorded_figures(r, number, p);
        if (!recorded_is_time(problem->time)) problem->time = NAN;
        complete &= !isnan(problem->time);
    }
    if (!complete && (t->status == STATUS_OK || t->status == STATUS_SLOW)) {
        t->status = STATUS_LAUNCH_ERROR;
        r->impossible++;
        if (!*t->reason) t->reason = "no time";
    }
    return 0;
}

static int read_trials(struct recorded *r, const json_t *names, const json_t *rows, struct error *err)
{
    size_t count = json_array_size(names);
    struct column *columns = memory_new(count, sizeof *columns);
    r->unknown_columns = arena_new(&r->memory, count * sizeof *r->unknown_columns);
    size_t parameters = 0;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name) {
            result = error_set(err, "column %zu has no name", i);
            break;
        }
        columns[i] = column_named(r, name);
        parameters += columns[i].kind == COLUMN_PARAMETER;
        if (columns[i].kind == COLUMN_UNKNOWN) r->unknown_columns[r->unknown_count++] = arena_copy(&r->memory, name);
        for (size_t j = 0; j < i; j++)
            if (columns[i].kind != COLUMN_UNKNOWN && columns[i].kind == columns[j].kind &&
                columns[i].index == columns[j].index && columns[i].field == columns[j].field)
                result = error_set(err, "there are two columns '%s'", name);
    }
    for (size_t p = 0; p < r->parameter_count && result == 0 && parameters < r->parameter_count; p++) {
        size_t i = 0;
        while (i < count && !(columns[i].kind == COLUMN_PARAMETER && columns[i].index == p)) i++;
        if (i == count) result = error_set(err, "parameter '%s' has no column", r->parameters[p].name);
    }
    if (result == 0) result = recorded_add_trials(r, json_array_size(rows), err);
    for (size_t i = 0; i < r->trial_count && result == 0; i++)
        result = read_trial(r, i, json_array_get(rows, i), columns, count, err);
    free(columns);
    return result;
}

int recorded_from_sweetspot(struct recorded *r, const json_t *document, struct error *err)
{
    int64_t version = json_get_integer(document, "version", 0);
    if (version != FORMAT_VERSION)
        return error_set(err, "the file has version %lld of the format, but this program reads version %d",
                         (long long)version, FORMAT_VERSION);
    r->job = arena_copy(&r->memory, json_get_string(document, "job", ""));
    r->objective = arena_copy(&r->memory, json_get_string(document, "objective", "geomean"));
    r->device = json_incref(json_object_get(document, "device"));
    r->environment = json_incref(json_object_get(document, "environment"));
    r->finals = json_incref(json_object_get(document, "finals"));
    if (read_problems(r, json_object_get(document, "problems"), err) < 0) return -1;
    if (read_parameters(r, json_object_get(document, "parameters"), err) < 0) return -1;
    const json_t *constraints = json_object_get(document, "constraints");
    r->constraints = arena_new(&r->memory, json_array_size(constraints) * sizeof *r->constraints);
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        const char *text = json_string_value(json_array_get(constraints, i));
        if (text) r->constraints[r->constraint_count++] = arena_copy(&r->memory, text);
    }
    read_metrics(r, json_object_get(document, "metrics"));
    if (check_columns(r, err)) return -1;
    read_baselines(r, json_object_get(document, "baselines"));
    return read_trials(r, json_object_get(document, "columns"), json_object_get(document, "trials"), err);
}

// Writing ------------------------------------------------------------------------------------------
// Written by hand instead of through a tree of JSON values: one trial per line, and times with only the digits needed.

static void put_json(struct text *o, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    text_add(o, "%s", text ? text : "null");
    free(text);
}

static void put_string(struct text *o, const char *text)
{
    json_t *value = json_string(text);
    put_json(o, value);
    json_decref(value);
}

static void put_number(struct text *o, double value)
{
    if (!isfinite(value))
        text_add(o, "null");
    else if (value == floor(value) && fabs(value) < 1e15)
        text_add(o, "%.0f", value);
    else
        text_add(o, "%.7g", value);
}

// A field of a record; null where it is unknown.
static void put_field(struct text *o, const struct trial_field *f, const void *record)
{
    const void *place = (const char *)record + f->place;
    if (!field_known(f, record)) {
        text_add(o, "null");
    } else if (f->kind == FIELD_REAL) {
        put_number(o, *(const double *)place);
    } else if (f->kind == FIELD_COUNT || f->kind == FIELD_INTEGER) {
        text_add(o, "%" PRId64, *(const int64_t *)place);
    } else if (f->kind == FIELD_SAMPLES) {
        size_t count = ((const struct trial_problem *)record)->sample_count;
        text_add(o, "[");
        for (size_t i = 0; i < count; i++) {
            if (i) text_add(o, ",");
            put_number(o, (*(const double *const *)place)[i]);
        }
        text_add(o, "]");
    } else {
        json_t *value = field_json(f, record);
        put_json(o, value);
        json_decref(value);
    }
}

static void put_value(struct text *o, const struct recorded_parameter *p, size_t index)
{
    if (p->integers)
        text_add(o, "%lld", (long long)p->integers[index]);
    else
        put_string(o, p->texts[index]);
}

// Takes the value; nothing where it is NULL.
static void put_member(struct text *o, const char *name, json_t *value)
{
    if (!value) return;
    text_add(o, ",\n\"%s\":", name);
    put_json(o, value);
    json_decref(value);
}

static json_t *problems_json(const struct recorded *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->problem_count; i++) {
        const struct recorded_problem *p = &r->problems[i];
        json_t *sizes = json_object();
        for (size_t j = 0; j < p->size_count; j++)
            json_object_set_new(sizes, p->size_names[j], json_integer(p->size_values[j]));
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:{s:o, s:o}}", "name", p->name, "sizes", sizes,
                                              "weight", json_brief_or_null(p->weight), "work", "flops",
                                              json_brief_or_null(p->flops), "bytes", json_brief_or_null(p->bytes)));
    }
    return list;
}

static json_t *parameters_json(const struct recorded *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct recorded_parameter *p = &r->parameters[i];
        json_t *values = json_array();
        for (size_t v = 0; v < p->count; v++)
            json_array_append_new(values, p->integers ? json_integer(p->integers[v]) : json_string(p->texts[v]));
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o}", "name", p->name, "kind", kind_names[p->kind], "values", values));
    }
    return list;
}

static void put_head(struct text *o, const struct recorded *r)
{
    json_t *constraints = json_array(), *metrics = json_array();
    for (size_t i = 0; i < r->constraint_count; i++) json_array_append_new(constraints, json_string(r->constraints[i]));
    for (size_t i = 0; i < r->metric_count; i++)
        json_array_append_new(metrics, json_pack("{s:s, s:s, s:s}", "key", r->metrics[i].key, "metric",
                                                 r->metrics[i].metric, "unit", r->metrics[i].unit));
    text_add(o, "{\"format\":\"sweetspot-space\",\"version\":%d", FORMAT_VERSION);
    put_member(o, "job", json_string(r->job));
    put_member(o, "objective", json_string(r->objective));
    put_member(o, "device", json_incref(r->device));
    put_member(o, "environment", json_incref(r->environment));
    put_member(o, "problems", problems_json(r));
    put_member(o, "parameters", parameters_json(r));
    put_member(o, "constraints", constraints);
    put_member(o, "metrics", metrics);
    text_add(o, ",\n\"baselines\":[");
    for (size_t i = 0; i < r->baseline_count; i++) {
        text_add(o, "%s\n{\"name\":", i ? "," : "");
        put_string(o, r->baselines[i].name);
        text_add(o, ",\"problems\":[");
        for (size_t p = 0; p < r->problem_count; p++) {
            static const char *const members[] = {"time", "low", "high", "samples"};
            for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
                text_add(o, "%s\"%s\":", k ? "," : p ? ",{" : "{", members[k]);
                put_field(o, trial_field_find(FIELD_PROBLEM, members[k]), &r->baselines[i].problems[p]);
            }
            text_add(o, "}");
        }
        text_add(o, "]}");
    }
    text_add(o, "]");
}

// Whether the field is a column: fields that no trial has are left out, except those that every reader expects.
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

// The columns' fields in `chosen` (room for all); returns how many.
static size_t choose_columns(const struct recorded *r, const struct trial_field **chosen)
{
    size_t count, used = 0;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (is_column(r, &fields[i])) chosen[used++] = &fields[i];
    return used;
}

static void put_columns(struct text *o, const struct recorded *r, const struct trial_field *const *fields,
                        size_t field_count)
{
    text_add(o, ",\n\"columns\":[");
    for (size_t i = 0; i < r->parameter_count; i++) {
        text_add(o, "%s", i ? "," : "");
        put_string(o, r->parameters[i].name);
    }
    for (size_t f = 0; f < field_count; f++) text_add(o, ",\"%s\"", fields[f]->name);
    for (size_t m = 0; m < r->metric_count; m++) {
        text_add(o, ",");
        put_string(o, r->metrics[m].key);
    }
    text_add(o, "]");
}

// One cell; a problem's field has an element for each of several problems.
static void put_cell(struct text *o, const struct recorded *r, size_t trial, const struct trial_field *f)
{
    if (f->level == FIELD_TRIAL) {
        put_field(o, f, &r->trials[trial]);
        return;
    }
    if (r->problem_count > 1) text_add(o, "[");
    for (size_t p = 0; p < r->problem_count; p++) {
        const struct trial_problem *problem = &r->figures[trial * r->problem_count + p];
        if (p) text_add(o, ",");
        if (f->kind == FIELD_SAMPLES && !problem->sample_count)
            text_add(o, "[]");
        else
            put_field(o, f, problem);
    }
    if (r->problem_count > 1) text_add(o, "]");
}

static void put_trial(struct text *o, const struct recorded *r, size_t number, const struct trial_field *const *fields,
                      size_t field_count)
{
    text_add(o, "%s\n[", number ? "," : "");
    for (size_t i = 0; i < r->parameter_count; i++) {
        text_add(o, "%s", i ? "," : "");
        put_value(o, &r->parameters[i], r->configs[number * r->parameter_count + i]);
    }
    for (size_t f = 0; f < field_count; f++) {
        text_add(o, ",");
        put_cell(o, r, number, fields[f]);
    }
    for (size_t m = 0; m < r->metric_count; m++) {
        text_add(o, ",");
        put_number(o, r->counters[number * r->metric_count + m]);
    }
    text_add(o, "]");
}

int recorded_write(const struct recorded *r, const char *path, struct error *err)
{
    struct text o = {0};
    size_t field_count;
    if (check_columns(r, err)) return error_prefix(err, "%s", path);
    trial_fields(&field_count);
    const struct trial_field **fields = memory_new(field_count, sizeof *fields);
    field_count = choose_columns(r, fields);
    put_head(&o, r);
    put_member(&o, "finals", json_incref(r->finals));
    put_columns(&o, r, fields, field_count);
    text_add(&o, ",\n\"trials\":[");
    for (size_t i = 0; i < r->trial_count; i++) put_trial(&o, r, i, fields, field_count);
    text_add(&o, "]}\n");
    int result = gzip_write_file(path, o.text, o.length, err);
    free(fields);
    free(o.text);
    return result;
}
