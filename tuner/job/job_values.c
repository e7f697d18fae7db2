// Reads the values of a parameter: integers, strings, decimals, a range or unroll factors.

#include "tuner/job/header_names.h"
#include "tuner/job/job_parts.h"

struct value_list {
    int64_t *values;
    size_t count;
};

// Reads [first, last] or [first, last, step]. Returns whether the value has one of these forms.
static bool load_range(struct reader *r, const struct node *n, const char *name, struct value_list *out)
{
    const struct node *range = reader_member(r, n, "parameters[].range");
    size_t members_given = range ? node_count(range) : 0;
    bool integers = members_given == 2 || members_given == 3;
    for (size_t i = 0; integers && i < members_given; i++) integers = node_is_integer(node_at(range, i));
    int64_t first = integers ? node_integer(node_at(range, 0)) : 0,
            last = integers ? node_integer(node_at(range, 1)) : 0;
    int64_t step = integers && members_given == 3 ? node_integer(node_at(range, 2)) : 1;
    if (!integers || step < 1 || last < first) {
        reader_mistake(r, node_member(n, "range"),
                       "'range' of '%s' must be [first, last] or [first, last, step] with integers%s", name,
                       integers ? ", ascending, and a step of at least 1" : "");
        return false;
    }
    uint64_t steps = ((uint64_t)last - (uint64_t)first) / (uint64_t)step;
    if (steps >= SPACE_MAX_VALUES) {
        reader_mistake(r, node_member(n, "range"), "'range' of '%s' has %" PRIu64 " values; at most %d are possible",
                       name, steps < UINT64_MAX ? steps + 1 : steps, SPACE_MAX_VALUES);
        return false;
    }
    for (uint64_t i = 0; i <= steps; i++) memory_add(out->values, out->count) = first + (int64_t)i * step;
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = strtod(*(char *const *)a, NULL), y = strtod(*(char *const *)b, NULL);
    return (x > y) - (x < y);
}

// Reads numbers in numerical order; at least one has decimals.
static void load_decimals(struct reader *r, struct job *job, const struct node *list, const char *name,
                          struct value_list *out)
{
    autorelease(text_list_release) struct text_list texts = {0};
    for (size_t i = 0; i < node_count(list); i++) {
        const struct node *v = node_at(list, i);
        text_list_add(&texts,
                      node_is_integer(v) ? text_format("%" PRId64, node_integer(v)) : text_of_number(node_real(v)));
    }
    if (texts.count) qsort(texts.list, texts.count, sizeof *texts.list, compare_numbers);
    for (size_t i = 0; i < texts.count; i++) {
        const char *value = texts.list[i];
        if (i && strtod(value, NULL) == strtod(texts.list[i - 1], NULL))
            reader_mistake(r, list, "parameter '%s' has the value %s twice", name, value);
        memory_add(out->values, out->count) = symbols_intern(job->symbols, value);
    }
}

static bool has_decimals(const struct node *list)
{
    bool numbers = true, any = false;
    for (size_t i = 0; i < node_count(list); i++) {
        numbers &= node_is_number(node_at(list, i));
        any |= node_is_number(node_at(list, i)) && !node_is_integer(node_at(list, i));
    }
    return numbers && any;
}

static void load_list(struct reader *r, struct job *job, const struct node *list, const char *name,
                      enum parameter_kind *kind, struct value_list *out)
{
    for (size_t i = 0; i < node_count(list); i++) {
        const struct node *v = node_at(list, i);
        if (node_is_integer(v) && *kind != PARAMETER_STRING) {
            memory_add(out->values, out->count) = node_integer(v);
            if (*kind == PARAMETER_UNROLL && node_integer(v) < 0)
                reader_mistake(r, v,
                               "unroll factor %" PRId64
                               " of '%s' is negative (0: no pragma, 1: `#pragma unroll`, n: `#pragma unroll n`)",
                               node_integer(v), name);
        } else if (node_is_string(v) && *kind != PARAMETER_UNROLL && (i == 0 || *kind == PARAMETER_STRING)) {
            const char *refused = header_refuse_value(node_string(v));
            if (refused) reader_mistake(r, v, "a value of '%s' %s", name, refused);
            *kind = PARAMETER_STRING;
            memory_add(out->values, out->count) = symbols_intern(job->symbols, node_string(v));
        } else {
            reader_mistake(r, v, "the values of '%s' must be %s", name,
                           *kind == PARAMETER_UNROLL ? "integers" : "all integers or all strings");
        }
    }
}

void load_parameter(struct reader *r, struct job *job, const struct node *n, const char *name)
{
    static const char *const forms[] = {"values", "unroll", "range"};
    reader_check_group(r, n, "a parameter", "parameters[]", NULL);
    enum parameter_kind kind = node_member(n, "unroll") ? PARAMETER_UNROLL : PARAMETER_INT;
    struct value_list values = {0};
    const struct node *list = NULL;
    size_t given = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (node_member(n, forms[i])) {
            list = node_member(n, forms[i]);
            given++;
        }
    if (given != 1) {
        reader_mistake(r, n, "parameter '%s' needs exactly one of 'values', 'unroll' and 'range'", name);
        return;
    }
    if (node_member(n, "range")) {
        if (!load_range(r, n, name, &values)) return;
    } else if (!node_is_sequence(list)) {
        reader_mistake(r, list, "the values of '%s' must be a list", name);
        return;
    } else if (kind == PARAMETER_INT && has_decimals(list)) {
        kind = PARAMETER_REAL;
        load_decimals(r, job, list, name, &values);
    } else {
        load_list(r, job, list, name, &kind, &values);
    }
    struct error err;
    if (!values.count && node_count(list)) return; // mistakes, which have been reported
    if (space_add_parameter(job->space, name, kind, values.values, values.count, &err))
        reader_mistake(r, n, "%s", err.message);
    else
        load_parameter_option(r, job, n);
    free(values.values);
}
