// Our own format of recorded spaces, in and out; recorded.h describes it.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/gzip.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/recorded/recorded_parts.h"

enum { FORMAT_VERSION = 1 };

static const char *const kind_names[] = {"int", "string", "unroll", "real"}; // by enum parameter_kind

static const struct {
    const char *name;
    size_t offset;
} number_columns[] = {
    {"registers", offsetof(struct recorded_trial, facts.registers)},
    {"spill_bytes", offsetof(struct recorded_trial, facts.spill_bytes)},
    {"shared_bytes", offsetof(struct recorded_trial, facts.shared_bytes)},
    {"code_bytes", offsetof(struct recorded_trial, facts.code_bytes)},
    {"theoretical_occupancy", offsetof(struct recorded_trial, facts.occupancy)},
    {"compile_seconds", offsetof(struct recorded_trial, compile_seconds)},
};
enum { NUMBER_COLUMNS = sizeof number_columns / sizeof *number_columns };

static double *number_cell(const struct recorded_trial *t, size_t column)
{
    return (double *)((char *)t + number_columns[column].offset);
}

// Reading ------------------------------------------------------------------------------------------

static int read_problems(struct recorded *r, const json_t *list, struct error *err)
{
    if (json_array_size(list) == 0) {
        recorded_one_problem(r);
        return 0;
    }
    r->problem_count = json_array_size(list);
    r->problems = memory_new(r->problem_count, sizeof *r->problems);
    for (size_t i = 0; i < r->problem_count; i++) {
        const json_t *one = json_array_get(list, i), *work = json_object_get(one, "work");
        json_t *sizes = json_object_get(one, "sizes"), *value;
        struct recorded_problem *p = &r->problems[i];
        const char *name;
        p->name = text_copy(json_get_string(one, "name", ""));
        p->weight = json_get_number(one, "weight", 1);
        p->flops = json_get_number(work, "flops", NAN);
        p->bytes = json_get_number(work, "bytes", NAN);
        if (!(p->weight > 0)) return error_set(err, "problem '%s' has a weight that is not positive", p->name);
        p->size_names = memory_new(json_object_size(sizes), sizeof *p->size_names);
        p->size_values = memory_new(json_object_size(sizes), sizeof *p->size_values);
        json_object_foreach(sizes, name, value)
        {
            p->size_names[p->size_count] = text_copy(name);
            p->size_values[p->size_count++] = json_integer_value(value);
        }
    }
    return 0;
}

static int read_parameters(struct recorded *r, const json_t *list, struct error *err)
{
    size_t count = json_array_size(list);
    if (count == 0) return error_set(err, "there are no parameters");
    r->parameters = memory_new(count, sizeof *r->parameters);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = json_get_string(one, "name", NULL), *kind = json_get_string(one, "kind", "int");
        if (!name) return error_set(err, "parameter %zu has no name", i);
        int k = 0;
        while (k < 4 && strcmp(kind, kind_names[k]) != 0) k++;
        if (k == 4) return error_set(err, "parameter '%s' has the unknown kind '%s'", name, kind);
        r->parameters[r->parameter_count++].name = text_copy(name);
        if (recorded_set_values(&r->parameters[i], json_object_get(one, "values"), k, err) < 0) return -1;
    }
    return 0;
}

static void read_metrics(struct recorded *r, const json_t *list)
{
    size_t count = json_array_size(list);
    r->metrics = memory_new(count, sizeof *r->metrics);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *key = json_get_string(one, "key", NULL);
        if (!key) continue;
        r->metrics[r->metric_count++] = (struct recorded_metric){
            text_copy(key), text_copy(json_get_string(one, "metric", "")), text_copy(json_get_string(one, "unit", ""))};
    }
}

static void read_baselines(struct recorded *r, const json_t *list)
{
    r->baseline_count = json_array_size(list);
    r->baselines = memory_new(r->baseline_count, sizeof *r->baselines);
    for (size_t i = 0; i < r->baseline_count; i++) {
        const json_t *one = json_array_get(list, i), *problems = json_object_get(one, "problems");
        struct recorded_baseline *b = &r->baselines[i];
        b->name = text_copy(json_get_string(one, "name", ""));
        b->problems = memory_new(r->problem_count, sizeof *b->problems);
        for (size_t p = 0; p < r->problem_count; p++) {
            const json_t *problem = json_array_get(problems, p);
            struct recorded_time *t = &b->problems[p];
            t->time = json_get_number(problem, "time", NAN);
            t->low = json_get_number(problem, "low", NAN);
            t->high = json_get_number(problem, "high", NAN);
            recorded_set_samples(t, json_object_get(problem, "samples"), 1);
        }
    }
}

enum column_kind {
    COLUMN_SKIPPED,
    COLUMN_PARAMETER,
    COLUMN_STATUS,
    COLUMN_REASON,
    COLUMN_TIME,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_SAMPLES,
    COLUMN_NUMBER,
    COLUMN_METRIC
};

struct column {
    enum column_kind kind;
    size_t index;
};

static struct column column_named(const struct recorded *r, const char *name)
{
    static const struct {
        const char *name;
        enum column_kind kind;
    } known[] = {
        {"status", COLUMN_STATUS}, {"reason", COLUMN_REASON}, {"time", COLUMN_TIME},
        {"low", COLUMN_LOW},       {"high", COLUMN_HIGH},     {"samples", COLUMN_SAMPLES},
    };
    for (size_t i = 0; i < r->parameter_count; i++)
        if (strcmp(r->parameters[i].name, name) == 0) return (struct column){COLUMN_PARAMETER, i};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return (struct column){known[i].kind, 0};
    for (size_t i = 0; i < NUMBER_COLUMNS; i++)
        if (strcmp(number_columns[i].name, name) == 0) return (struct column){COLUMN_NUMBER, i};
    for (size_t i = 0; i < r->metric_count; i++)
        if (strcmp(r->metrics[i].key, name) == 0) return (struct column){COLUMN_METRIC, i};
    return (struct column){COLUMN_SKIPPED, 0};
}

// The cell's part for one problem: an element, or the cell itself where there is one problem.
static const json_t *part(const struct recorded *r, const json_t *cell, size_t problem)
{
    return json_is_array(cell) ? json_array_get(cell, problem) : r->problem_count == 1 ? cell : NULL;
}

static void read_times(struct recorded *r, struct recorded_trial *t, enum column_kind kind, const json_t *cell)
{
    for (size_t p = 0; p < r->problem_count; p++) {
        struct recorded_time *time = &t->problems[p];
        if (kind == COLUMN_SAMPLES) {
            bool nested = json_is_array(json_array_get(cell, 0));
            recorded_set_samples(time, nested || r->problem_count > 1 ? json_array_get(cell, p) : cell, 1);
            continue;
        }
        const json_t *value = part(r, cell, p);
        if (kind == COLUMN_TIME)
            recorded_set_time(time, value, 1);
        else if (json_is_number(value))
            *(kind == COLUMN_LOW ? &time->low : &time->high) = json_number_value(value);
    }
}

static int read_trial(struct recorded *r, size_t number, const json_t *row, const struct column *columns,
                      size_t column_count, struct error *err)
{
    struct recorded_trial *t = &r->trials[number];
    if (json_array_size(row) != column_count)
        return error_set(err, "trial %zu has %zu cells, but there are %zu columns", number, json_array_size(row),
                         column_count);
    const char *status = NULL;
    for (size_t c = 0; c < column_count; c++) {
        const json_t *cell = json_array_get(row, c);
        size_t index = columns[c].index;
        switch (columns[c].kind) {
        case COLUMN_PARAMETER: {
            int value = recorded_value_index(&r->parameters[index], cell);
            if (value < 0) {
                char *text = json_dumps(cell, JSON_ENCODE_ANY | JSON_COMPACT);
                error_set(err, "trial %zu: %s is not among the values of parameter '%s'", number, text ? text : "?",
                          r->parameters[index].name);
                free(text);
                return -1;
            }
            r->configs[number * r->parameter_count + index] = (uint16_t)value;
            break;
        }
        case COLUMN_STATUS:
            status = json_string_value(cell);
            break;
        case COLUMN_REASON:
            if (json_is_string(cell) && !t->reason && json_string_length(cell) > 0)
                t->reason = text_copy(json_string_value(cell));
            break;
        case COLUMN_TIME:
        case COLUMN_LOW:
        case COLUMN_HIGH:
        case COLUMN_SAMPLES:
            read_times(r, t, columns[c].kind, cell);
            break;
        case COLUMN_NUMBER:
            if (json_is_number(cell)) *number_cell(t, index) = json_number_value(cell);
            break;
        case COLUMN_METRIC:
            if (json_is_number(cell)) t->counters[index] = json_number_value(cell);
            break;
        case COLUMN_SKIPPED:
            break;
        }
    }
    int found = status ? status_find(status) : STATUS_OK;
    if (found < 0) return error_set(err, "trial %zu has the unknown status '%s'", number, status);
    t->status = (enum trial_status)found;
    bool complete = true;
    for (size_t p = 0; p < r->problem_count; p++) complete &= !isnan(t->problems[p].time);
    if (!complete && (t->status == STATUS_OK || t->status == STATUS_SLOW)) {
        t->status = STATUS_LAUNCH_ERROR;
        if (!t->reason) t->reason = text_copy("no time");
    }
    return 0;
}

static int read_trials(struct recorded *r, const json_t *names, const json_t *rows, struct error *err)
{
    size_t count = json_array_size(names);
    struct column *columns = memory_new(count, sizeof *columns);
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
        for (size_t j = 0; j < i; j++)
            if (columns[i].kind != COLUMN_SKIPPED && columns[i].kind == columns[j].kind &&
                columns[i].index == columns[j].index)
                result = error_set(err, "there are two columns '%s'", name);
    }
    for (size_t p = 0; p < r->parameter_count && result == 0 && parameters < r->parameter_count; p++) {
        size_t i = 0;
        while (i < count && !(columns[i].kind == COLUMN_PARAMETER && columns[i].index == p)) i++;
        if (i == count) result = error_set(err, "parameter '%s' has no column", r->parameters[p].name);
    }
    if (result == 0) recorded_add_trials(r, json_array_size(rows));
    for (size_t i = 0; i < r->trial_count && result == 0; i++)
        result = read_trial(r, i, json_array_get(rows, i), columns, count, err);
    free(columns);
    return result;
}

int recorded_from_sweetspot(struct recorded *r, const json_t *document, struct error *err)
{
    int64_t version = json_get_integer(document, "version", 0);
    if (version != FORMAT_VERSION)
        return error_set(err, "version %lld of the format; this program reads version %d", (long long)version,
                         FORMAT_VERSION);
    free(r->job);
    free(r->objective);
    r->job = text_copy(json_get_string(document, "job", ""));
    r->objective = text_copy(json_get_string(document, "objective", "geomean"));
    r->device = json_incref(json_object_get(document, "device"));
    r->environment = json_incref(json_object_get(document, "environment"));
    r->finals = json_incref(json_object_get(document, "finals"));
    if (read_problems(r, json_object_get(document, "problems"), err) < 0) return -1;
    if (read_parameters(r, json_object_get(document, "parameters"), err) < 0) return -1;
    const json_t *constraints = json_object_get(document, "constraints");
    r->constraints = memory_new(json_array_size(constraints), sizeof *r->constraints);
    for (size_t i = 0; i < json_array_size(constraints); i++) {
        const char *text = json_string_value(json_array_get(constraints, i));
        if (text) r->constraints[r->constraint_count++] = text_copy(text);
    }
    read_metrics(r, json_object_get(document, "metrics"));
    read_baselines(r, json_object_get(document, "baselines"));
    return read_trials(r, json_object_get(document, "columns"), json_object_get(document, "trials"), err);
}

// Writing ------------------------------------------------------------------------------------------
// By hand rather than through a tree of JSON values: one trial a line, and times with as many digits as they deserve.

struct output {
    char *text;
    size_t length, room;
};

static void put(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct output *o, const char *format, ...)
{
    for (;;) {
        va_list args;
        va_start(args, format);
        int n = vsnprintf(o->text + o->length, o->room - o->length, format, args);
        va_end(args);
        if ((size_t)n < o->room - o->length) {
            o->length += (size_t)n;
            return;
        }
        o->room = 2 * o->room + (size_t)n + 4096;
        o->text = memory_grow(o->text, o->room, 1);
    }
}

static void put_json(struct output *o, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    put(o, "%s", text ? text : "null");
    free(text);
}

static void put_string(struct output *o, const char *text)
{
    json_t *value = json_string(text);
    put_json(o, value);
    json_decref(value);
}

static void put_number(struct output *o, double value)
{
    if (!isfinite(value))
        put(o, "null");
    else if (value == floor(value) && fabs(value) < 1e15)
        put(o, "%.0f", value);
    else
        put(o, "%.7g", value);
}

static void put_samples(struct output *o, const struct recorded_time *t)
{
    put(o, "[");
    for (size_t i = 0; i < t->sample_count; i++) {
        if (i) put(o, ",");
        put_number(o, t->samples[i]);
    }
    put(o, "]");
}

static void put_value(struct output *o, const struct recorded_parameter *p, size_t index)
{
    if (p->integers)
        put(o, "%lld", (long long)p->integers[index]);
    else
        put_string(o, p->texts[index]);
}

static void put_head(struct output *o, const struct recorded *r)
{
    put(o, "{\"format\":\"sweetspot-space\",\"version\":%d,\n\"job\":", FORMAT_VERSION);
    put_string(o, r->job);
    put(o, ",\n\"objective\":");
    put_string(o, r->objective);
    static const char *const names[] = {"device", "environment"};
    const json_t *const documents[] = {r->device, r->environment};
    for (int i = 0; i < 2; i++) {
        if (!documents[i]) continue;
        put(o, ",\n\"%s\":", names[i]);
        put_json(o, documents[i]);
    }
    put(o, ",\n\"problems\":[");
    for (size_t i = 0; i < r->problem_count; i++) {
        const struct recorded_problem *p = &r->problems[i];
        put(o, "%s{\"name\":", i ? "," : "");
        put_string(o, p->name);
        put(o, ",\"sizes\":{");
        for (size_t j = 0; j < p->size_count; j++) {
            put(o, "%s", j ? "," : "");
            put_string(o, p->size_names[j]);
            put(o, ":%lld", (long long)p->size_values[j]);
        }
        put(o, "},\"weight\":");
        put_number(o, p->weight);
        put(o, ",\"work\":{\"flops\":");
        put_number(o, p->flops);
        put(o, ",\"bytes\":");
        put_number(o, p->bytes);
        put(o, "}}");
    }
    put(o, "],\n\"parameters\":[");
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct recorded_parameter *p = &r->parameters[i];
        put(o, "%s\n{\"name\":", i ? "," : "");
        put_string(o, p->name);
        put(o, ",\"kind\":\"%s\",\"values\":[", kind_names[p->kind]);
        for (size_t v = 0; v < p->count; v++) {
            put(o, "%s", v ? "," : "");
            put_value(o, p, v);
        }
        put(o, "]}");
    }
    put(o, "],\n\"constraints\":[");
    for (size_t i = 0; i < r->constraint_count; i++) {
        put(o, "%s", i ? "," : "");
        put_string(o, r->constraints[i]);
    }
    put(o, "],\n\"metrics\":[");
    for (size_t i = 0; i < r->metric_count; i++) {
        json_t *one = json_pack("{s:s,s:s,s:s}", "key", r->metrics[i].key, "metric", r->metrics[i].metric, "unit",
                                r->metrics[i].unit);
        put(o, "%s", i ? "," : "");
        put_json(o, one);
        json_decref(one);
    }
    put(o, "],\n\"baselines\":[");
    for (size_t i = 0; i < r->baseline_count; i++) {
        put(o, "%s\n{\"name\":", i ? "," : "");
        put_string(o, r->baselines[i].name);
        put(o, ",\"problems\":[");
        for (size_t p = 0; p < r->problem_count; p++) {
            const struct recorded_time *t = &r->baselines[i].problems[p];
            put(o, "%s{\"time\":", p ? "," : "");
            put_number(o, t->time);
            put(o, ",\"low\":");
            put_number(o, t->low);
            put(o, ",\"high\":");
            put_number(o, t->high);
            put(o, ",\"samples\":");
            put_samples(o, t);
            put(o, "}");
        }
        put(o, "]}");
    }
    put(o, "]");
}

// Which of the columns that may be left out hold anything.
struct filled {
    bool reason, low, samples, numbers[NUMBER_COLUMNS];
};

static struct filled find_filled(const struct recorded *r)
{
    struct filled f = {0};
    for (size_t i = 0; i < r->trial_count; i++) {
        const struct recorded_trial *t = &r->trials[i];
        f.reason |= t->reason != NULL;
        for (size_t p = 0; p < r->problem_count; p++) {
            f.low |= isfinite(t->problems[p].low) || isfinite(t->problems[p].high);
            f.samples |= t->problems[p].sample_count > 0;
        }
        for (size_t c = 0; c < NUMBER_COLUMNS; c++) f.numbers[c] |= isfinite(*number_cell(t, c));
    }
    return f;
}

static void put_columns(struct output *o, const struct recorded *r, const struct filled *f)
{
    put(o, ",\n\"columns\":[");
    for (size_t i = 0; i < r->parameter_count; i++) {
        put_string(o, r->parameters[i].name);
        put(o, ",");
    }
    put(o, "\"status\"%s,\"time\"%s%s", f->reason ? ",\"reason\"" : "", f->low ? ",\"low\",\"high\"" : "",
        f->samples ? ",\"samples\"" : "");
    for (size_t c = 0; c < NUMBER_COLUMNS; c++)
        if (f->numbers[c]) put(o, ",\"%s\"", number_columns[c].name);
    for (size_t m = 0; m < r->metric_count; m++) {
        put(o, ",");
        put_string(o, r->metrics[m].key);
    }
    put(o, "]");
}

// One cell of time, low, high or samples.
static void put_times(struct output *o, const struct recorded *r, const struct recorded_trial *t, enum column_kind kind)
{
    put(o, ",%s", r->problem_count > 1 ? "[" : "");
    for (size_t p = 0; p < r->problem_count; p++) {
        const struct recorded_time *time = &t->problems[p];
        put(o, "%s", p ? "," : "");
        if (kind == COLUMN_SAMPLES)
            put_samples(o, time);
        else
            put_number(o, kind == COLUMN_TIME ? time->time : kind == COLUMN_LOW ? time->low : time->high);
    }
    put(o, "%s", r->problem_count > 1 ? "]" : "");
}

static void put_trial(struct output *o, const struct recorded *r, size_t number, const struct filled *f)
{
    const struct recorded_trial *t = &r->trials[number];
    put(o, "%s\n[", number ? "," : "");
    for (size_t i = 0; i < r->parameter_count; i++) {
        put_value(o, &r->parameters[i], r->configs[number * r->parameter_count + i]);
        put(o, ",");
    }
    put(o, "\"%s\"", status_name(t->status));
    if (f->reason) {
        put(o, ",");
        if (t->reason)
            put_string(o, t->reason);
        else
            put(o, "null");
    }
    put_times(o, r, t, COLUMN_TIME);
    if (f->low) {
        put_times(o, r, t, COLUMN_LOW);
        put_times(o, r, t, COLUMN_HIGH);
    }
    if (f->samples) put_times(o, r, t, COLUMN_SAMPLES);
    for (size_t c = 0; c < NUMBER_COLUMNS; c++) {
        if (!f->numbers[c]) continue;
        put(o, ",");
        put_number(o, *number_cell(t, c));
    }
    for (size_t m = 0; m < r->metric_count; m++) {
        put(o, ",");
        put_number(o, t->counters ? t->counters[m] : NAN);
    }
    put(o, "]");
}

int recorded_write(const struct recorded *r, const char *path, struct error *err)
{
    struct output o = {0};
    struct filled f = find_filled(r);
    put_head(&o, r);
    if (r->finals) {
        put(&o, ",\n\"finals\":");
        put_json(&o, r->finals);
    }
    put_columns(&o, r, &f);
    put(&o, ",\n\"trials\":[");
    for (size_t i = 0; i < r->trial_count; i++) put_trial(&o, r, i, &f);
    put(&o, "]}\n");
    int result = gzip_write_file(path, o.text, o.length, err);
    free(o.text);
    return result;
}
