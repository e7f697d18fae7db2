// Keeps all trials of an environment in memory, with the figures that a report counts, sorts and draws. A trial takes
// about thirty bytes plus its values.
//
// Configurations are parsed from their stored strings, so that a store can be read without its job file, or with one
// that has changed since. A parameter has the values that were tried: numbers in ascending order, followed by words. If
// it has more than REPORT_GROUPS values, consecutive values form groups with about the same number of trials each.
#include <ctype.h>

#include "tuner/report/report_parts.h"

enum { REASONS_MOST = 4096, REASON_LENGTH = 300 }; // most distinct reasons; most characters of one

struct reading {
    struct trial_table *table;
    struct string_pool *values; // one pool per parameter
    struct error *err;
};

static void take_names(struct reading *r, const char *config)
{
    struct trial_table *t = r->table;
    const char *at = *config ? config : NULL;
    for (; at && t->parameter_count < SPACE_MAX_PARAMETERS; at = text_next_item(at, NULL)) {
        size_t length = strcspn(at, "=");
        memory_add(t->parameters, t->parameter_count) =
            (struct tried_parameter){.name = text_format("%.*s", (int)length, at)};
    }
    r->values = memory_new(t->parameter_count, sizeof *r->values);
}

// The values of a configuration, in the order of the first configuration.
static int take_values(struct reading *r, const char *config, uint16_t *values)
{
    const struct trial_table *t = r->table;
    const char *at = config;
    for (size_t p = 0; p < t->parameter_count; p++) {
        const char *name = t->parameters[p].name, *next = NULL;
        size_t length = strlen(name);
        if (!at || strncmp(at, name, length) != 0 || at[length] != '=')
            return error_set(r->err, "the configuration '%s' lacks %s, which the others have", config, name);
        const char *value = at + length + 1;
        if (p + 1 < t->parameter_count) next = text_next_item(value, NULL);
        size_t number = string_pool_put(&r->values[p], value, next ? (size_t)(next - 1 - value) : strlen(value));
        if (number >= SPACE_MAX_VALUES) return error_set(r->err, "the parameter %s has too many values", name);
        values[p] = (uint16_t)number;
        at = next;
    }
    return 0;
}

// "worst error 3.2 at row 17" and "... 2.9 at row 4" are one reason: "worst error # at row #".
static uint32_t reason_number(struct string_pool *words, const char *reason)
{
    char text[REASON_LENGTH + 1];
    size_t length = 0;
    for (const char *p = reason; *p && *p != '\n' && length < REASON_LENGTH;) {
        bool inside = p > reason && (isalnum((unsigned char)p[-1]) || p[-1] == '_'); // f32 and M1 stay
        char *end = (char *)p;
        if (!inside && isdigit((unsigned char)*p)) strtod(p, &end);
        text[length++] = end > p ? '#' : *p;
        p = end > p ? end : p + 1;
    }
    if (words->count >= REASONS_MOST) return (uint32_t)string_pool_put(words, "other reasons", 13);
    return (uint32_t)string_pool_put(words, text, length);
}

static int take_trial(void *user, const struct trial *trial)
{
    struct reading *r = user;
    struct trial_table *t = r->table;
    if (!t->count) take_names(r, trial->config);
    size_t i = t->count;
    t->rows = memory_room(t->rows, &t->room, i + 1, sizeof *t->rows);
    t->values = memory_room(t->values, &t->value_room, (i + 1) * t->parameter_count + 1, sizeof *t->values);
    t->rows[i] =
        (struct tried){.id = trial->id,
                       .time = trial->objective > 0 && isfinite(trial->objective) ? trial->objective : (double)NAN,
                       .finished = trial->finished,
                       .status = trial->status,
                       .reason = trial_failed(trial->status) ? reason_number(&t->words, trial->reason) : 0};
    if (take_values(r, trial->config, &t->values[i * t->parameter_count])) return -1;
    t->count++;
    t->timed += isnan(t->rows[i].time) ? 0 : 1;
    return 0;
}

struct value_rank {
    size_t number; // index in the pool
    const char *word;
    double value; // NaN: not a number
};

static int by_rank(const void *a, const void *b)
{
    const struct value_rank *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value)) return isnan(x->value) ? 1 : -1;
    if (x->value < y->value || x->value > y->value) return x->value < y->value ? -1 : 1;
    return strcmp(x->word, y->word);
}

// The values in order; malloc'ed.
static struct value_rank *rank_values(const struct string_pool *values)
{
    struct value_rank *ranked = memory_new(values->count, sizeof *ranked);
    for (size_t i = 0; i < values->count; i++) {
        const char *text = values->texts[i];
        char *end;
        double value = strtod(text, &end);
        ranked[i] = (struct value_rank){i, text, *end || end == text ? (double)NAN : value};
    }
    qsort(ranked, values->count, sizeof *ranked, by_rank);
    return ranked;
}

// Puts consecutive values into groups with about the same number of trials. group[i] becomes the group of the i-th
// value.
static size_t group_values(const size_t *trials, size_t count, uint16_t *group)
{
    size_t total = 0, before = 0, last = 0, groups = 0;
    for (size_t i = 0; i < count; i++) total += trials[i];
    for (size_t i = 0; i < count; i++) {
        size_t quantile = total ? before * REPORT_GROUPS / total : i * REPORT_GROUPS / count;
        if (!i || quantile != last) groups++;
        last = quantile;
        group[i] = (uint16_t)(groups - 1);
        before += trials[i];
    }
    return groups;
}

static void settle_parameter(struct trial_table *t, size_t p, const struct string_pool *values)
{
    struct tried_parameter *parameter = &t->parameters[p];
    size_t count = values->count;
    autofree struct value_rank *ranked = rank_values(values);
    autofree size_t *trials = memory_new(count, sizeof *trials);
    autofree uint32_t *rank = memory_new(count, sizeof *rank);
    autofree uint16_t *group = memory_new(count, sizeof *group);
    for (size_t i = 0; i < count; i++) rank[ranked[i].number] = (uint32_t)i;
    for (size_t i = 0; i < t->count; i++) trials[rank[trial_value(t, i, p)]]++;
    bool grouped = count > REPORT_GROUPS;
    for (size_t i = 0; i < count && !grouped; i++) group[i] = (uint16_t)i;
    parameter->count = grouped ? group_values(trials, count, group) : count;
    parameter->grouped = grouped ? count : 0;
    parameter->values = memory_new(parameter->count, sizeof *parameter->values);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && group[end] == group[i]; end++) continue;
        parameter->values[group[i]] =
            end == i + 1 ? text_copy(ranked[i].word) : text_format("%s to %s", ranked[i].word, ranked[end - 1].word);
    }
    for (size_t i = 0; i < t->count; i++) {
        uint16_t *value = &t->values[i * t->parameter_count + p];
        *value = group[rank[*value]];
    }
}

static int by_time(const void *a, const void *b, void *user)
{
    const struct trial_table *t = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    if (t->rows[x].time < t->rows[y].time || t->rows[x].time > t->rows[y].time)
        return t->rows[x].time < t->rows[y].time ? -1 : 1;
    return x < y ? -1 : x > y;
}

int trial_table_read(struct trial_table *t, struct store *store, struct error *err)
{
    *t = (struct trial_table){0};
    struct reading r = {.table = t, .err = err};
    int status = store_scan(store, take_trial, &r, err);
    for (size_t p = 0; p < t->parameter_count && r.values; p++) {
        if (!status) settle_parameter(t, p, &r.values[p]);
        string_pool_release(&r.values[p]);
    }
    free(r.values);
    t->order = memory_new(t->timed, sizeof *t->order);
    for (size_t i = 0, k = 0; i < t->count; i++)
        if (!isnan(t->rows[i].time)) t->order[k++] = i;
    qsort_r(t->order, t->timed, sizeof *t->order, by_time, t);
    return status;
}

void trial_table_release(struct trial_table *t)
{
    for (size_t p = 0; p < t->parameter_count; p++) {
        for (size_t v = 0; t->parameters[p].values && v < t->parameters[p].count; v++) free(t->parameters[p].values[v]);
        free(t->parameters[p].values);
        free(t->parameters[p].name);
    }
    free(t->parameters);
    free(t->rows);
    free(t->values);
    free(t->order);
    string_pool_release(&t->words);
    *t = (struct trial_table){0};
}
