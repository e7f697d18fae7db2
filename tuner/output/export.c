// See export.h.
//
// A recorded space has one figure a trial where the store has one a stage or problem: the compiler's facts are those of
// the worst stage (as a strategy sees them), counters those of the first problem, added up over the stages where they
// count events, else the largest.
#include "tuner/output/export.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

enum { FINALS_KEPT = 10 };

struct exporter {
    const struct job *job;
    struct recorded *recorded;
    struct store *store;
    size_t room, skipped;
};

static char *or_null(const char *text)
{
    return text && *text ? text_copy(text) : NULL;
}

static void set_problems(struct recorded *r, const struct job *job)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values), work;
    r->problem_count = job->tuned_count;
    r->problems = memory_new(r->problem_count, sizeof *r->problems);
    for (size_t p = 0; p < r->problem_count; p++) {
        const struct problem *from = &job->problems[p];
        struct recorded_problem *to = &r->problems[p];
        *to = (struct recorded_problem){.name = text_copy(from->name),
                                        .size_count = from->size_count,
                                        .weight = from->weight,
                                        .flops = NAN,
                                        .bytes = NAN};
        to->size_names = memory_new(from->size_count, sizeof *to->size_names);
        to->size_values = memory_new(from->size_count, sizeof *to->size_values);
        for (size_t i = 0; i < from->size_count; i++) {
            to->size_names[i] = text_copy(job->size_names[i]);
            to->size_values[i] = from->sizes[i];
        }
        if (job_problem_values(job, NULL, p, values, NULL)) continue;
        if (job->flops && !expr_eval(job->flops, values, &work, NULL)) to->flops = (double)work;
        if (job->bytes && !expr_eval(job->bytes, values, &work, NULL)) to->bytes = (double)work;
    }
    free(values);
}

static void set_space(struct recorded *r, const struct job *job)
{
    r->parameter_count = space_parameter_count(job->space);
    r->parameters = memory_new(r->parameter_count, sizeof *r->parameters);
    for (size_t i = 0; i < r->parameter_count; i++) {
        const struct parameter *from = space_parameter(job->space, i);
        struct recorded_parameter *to = &r->parameters[i];
        bool text = from->kind == PARAMETER_STRING || from->kind == PARAMETER_REAL;
        *to = (struct recorded_parameter){.name = text_copy(from->name), .kind = from->kind, .count = from->count};
        if (text)
            to->texts = memory_new(from->count, sizeof *to->texts);
        else
            to->integers = memory_new(from->count, sizeof *to->integers);
        for (size_t v = 0; v < from->count; v++) {
            if (text)
                to->texts[v] = text_copy(symbols_text(job->symbols, from->values[v]));
            else
                to->integers[v] = from->values[v];
        }
    }
    r->constraint_count = space_constraint_count(job->space);
    r->constraints = memory_new(r->constraint_count, sizeof *r->constraints);
    for (size_t i = 0; i < r->constraint_count; i++)
        r->constraints[i] = text_copy(space_constraint_text(job->space, i));
}

static size_t find_metric(const struct recorded *r, const char *key)
{
    size_t m = 0;
    while (m < r->metric_count && strcmp(r->metrics[m].key, key) != 0) m++;
    return m;
}

static void add_metric(struct recorded *r, const char *key, const char *metric, const char *unit)
{
    if (find_metric(r, key) < r->metric_count) return;
    r->metrics = memory_grow(r->metrics, r->metric_count + 1, sizeof *r->metrics);
    r->metrics[r->metric_count++] = (struct recorded_metric){text_copy(key), text_copy(metric), text_copy(unit)};
}

// The trials' counters name the columns; the device's document says which metric of the hardware each stands for.
static int add_trial_metrics(void *user, const struct trial *trial)
{
    struct exporter *e = user;
    for (size_t i = 0; i < trial->counter_count; i++) add_metric(e->recorded, trial->counters[i].key, "", "");
    e->room++;
    return 0;
}

static void describe_metrics(struct recorded *r, const json_t *device)
{
    const json_t *metric;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(device, "counters"), "metrics"), i, metric)
    {
        size_t m = find_metric(r, json_get_string(metric, "key", ""));
        if (m == r->metric_count) continue;
        free(r->metrics[m].metric);
        free(r->metrics[m].unit);
        r->metrics[m].metric = text_copy(json_get_string(metric, "metric", ""));
        r->metrics[m].unit = text_copy(json_get_string(metric, "unit", ""));
    }
}

static bool counts_events(const char *metric)
{
    size_t length = strlen(metric);
    return length > 4 && !strcmp(metric + length - 4, ".sum");
}

static void set_counters(struct recorded_trial *to, const struct recorded *r, const struct trial *trial)
{
    if (r->metric_count) to->counters = memory_new(r->metric_count, sizeof *to->counters);
    for (size_t m = 0; m < r->metric_count; m++) to->counters[m] = NAN;
    for (size_t i = 0; i < trial->counter_count; i++) {
        const struct trial_counter *c = &trial->counters[i];
        size_t m = find_metric(r, c->key);
        if (c->problem != 0 || m == r->metric_count || isnan(c->value)) continue;
        double *cell = &to->counters[m];
        *cell = isnan(*cell)                          ? c->value
                : counts_events(r->metrics[m].metric) ? *cell + c->value
                                                      : fmax(*cell, c->value);
    }
}

static double worse(double old, int64_t value)
{
    return value < 0 ? old : fmax(old, (double)value); // fmax passes a NaN over
}

static void set_facts(struct static_facts *facts, const struct trial *trial)
{
    *facts = (struct static_facts){NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < trial->stage_count; i++) {
        const struct trial_stage *s = &trial->stages[i];
        facts->registers = worse(facts->registers, s->registers);
        if (s->spill_loads >= 0 && s->spill_stores >= 0)
            facts->spill_bytes = worse(facts->spill_bytes, s->spill_loads + s->spill_stores);
        if (s->shared_static >= 0)
            facts->shared_bytes =
                worse(facts->shared_bytes, s->shared_static + (s->shared_dynamic > 0 ? s->shared_dynamic : 0));
        facts->code_bytes = worse(facts->code_bytes, s->code_bytes);
        facts->occupancy = fmin(facts->occupancy, s->occupancy);
    }
}

static void set_times(struct recorded_time *to, const struct trial_problem *from)
{
    *to = (struct recorded_time){
        .time = from->time, .low = from->low, .high = from->high, .sample_count = from->sample_count};
    if (!from->sample_count) return;
    to->samples = memory_new(from->sample_count, sizeof *to->samples);
    memcpy(to->samples, from->samples, from->sample_count * sizeof *to->samples);
}

static int add_trial(void *user, const struct trial *trial)
{
    struct exporter *e = user;
    struct recorded *r = e->recorded;
    if (r->trial_count == e->room) return 1; // finished since they were counted
    if (space_parse(e->job->space, trial->config, r->configs + r->trial_count * r->parameter_count, NULL)) {
        e->skipped++;
        return 0;
    }
    struct recorded_trial *to = &r->trials[r->trial_count++];
    *to = (struct recorded_trial){.status = trial->status,
                                  .reason = or_null(trial->reason),
                                  .objective = trial->objective,
                                  .compile_seconds = trial->compile_seconds};
    to->problems = memory_new(r->problem_count, sizeof *to->problems);
    for (size_t p = 0; p < r->problem_count; p++) {
        to->problems[p].time = to->problems[p].low = to->problems[p].high = NAN;
        for (size_t i = 0; i < trial->problem_count; i++)
            if (trial->problems[i].tuned && !strcmp(trial->problems[i].name, r->problems[p].name))
                set_times(&to->problems[p], &trial->problems[i]);
    }
    set_facts(&to->facts, trial);
    set_counters(to, r, trial);
    return 0;
}

static double number_or_nan(const json_t *object, const char *key)
{
    return json_get_number(object, key, NAN);
}

static int add_baselines(struct exporter *e, struct error *err)
{
    struct recorded *r = e->recorded;
    const char *text;
    int found = store_get_document(e->store, "baselines", &text, NULL, err);
    if (found) return found < 0 ? -1 : 0;
    json_t *document = json_parse(text, err), *baseline;
    size_t i;
    if (!document) return -1;
    const json_t *list = json_object_get(document, "baselines");
    r->baselines = memory_new(json_array_size(list), sizeof *r->baselines);
    json_array_foreach(list, i, baseline)
    {
        const json_t *problems = json_object_get(baseline, "problems");
        if (json_array_size(problems) != r->problem_count) continue; // unavailable
        struct recorded_baseline *to = &r->baselines[r->baseline_count++];
        *to = (struct recorded_baseline){text_copy(json_get_string(baseline, "name", "?")),
                                         memory_new(r->problem_count, sizeof *to->problems)};
        for (size_t p = 0; p < r->problem_count; p++) {
            const json_t *times = json_array_get(problems, p), *samples = json_object_get(times, "samples");
            struct recorded_time *time = &to->problems[p];
            *time = (struct recorded_time){number_or_nan(times, "time"), number_or_nan(times, "low"),
                                           number_or_nan(times, "high"), 0, NULL};
            time->samples = memory_new(json_array_size(samples), sizeof *time->samples);
            for (size_t k = 0; k < json_array_size(samples); k++)
                if (json_is_number(json_array_get(samples, k)))
                    time->samples[time->sample_count++] = json_number_value(json_array_get(samples, k));
        }
    }
    json_decref(document);
    return 0;
}

// A final's trials are numbers of this store: their configurations go with them.
static int add_final(void *user, double when, const char *text)
{
    struct exporter *e = user;
    json_t *document = json_parse(text, NULL), *entry;
    size_t i;
    (void)when;
    json_array_foreach(json_object_get(document, "entries"), i, entry)
    {
        struct trial trial;
        int64_t id = json_get_integer(entry, "trial", 0);
        if (id && !store_get(e->store, id, &trial, NULL))
            json_object_set_new(entry, "configuration", json_string(trial.config));
    }
    if (!document) return 0;
    if (!e->recorded->finals) e->recorded->finals = json_array();
    json_array_append_new(e->recorded->finals, document);
    return 0;
}

// The device's measured ceilings travel with its limits.
static void add_ceilings(struct recorded *r, struct store *store)
{
    const char *text;
    json_t *ceilings = store_get_document(store, "ceilings", &text, NULL, NULL) ? NULL : json_parse(text, NULL);
    if (ceilings) json_object_set_new(r->device, "ceilings", ceilings);
}

struct recorded *export_recorded(const struct job *job, struct store *store, const struct environment *environment,
                                 const json_t *device, size_t *skipped, struct error *err)
{
    struct recorded *r = recorded_new();
    struct exporter e = {.job = job, .recorded = r, .store = store};
    free(r->job);
    free(r->objective);
    r->job = text_copy(job->name);
    r->objective = text_copy(job->objective == OBJECTIVE_WORST ? "worst" : "geomean"); // a mean has no word there
    json_t *limits = json_object_get(device, "device");
    r->device = limits ? json_deep_copy(limits)
                       : json_pack("{s:s, s:s}", "name", environment->device, "arch", environment->arch);
    add_ceilings(r, store);
    r->environment =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "compiler", environment->compiler, "driver", environment->driver, "arch",
                  environment->arch, "source_hash", environment->source_hash, "key", environment->key);
    set_problems(r, job);
    set_space(r, job);
    int failed = store_each(store, false, 0, add_trial_metrics, &e, err) < 0;
    describe_metrics(r, device);
    r->trials = memory_new(e.room, sizeof *r->trials);
    r->configs = memory_new(e.room * r->parameter_count, sizeof *r->configs);
    if (!failed) failed = store_each(store, false, 0, add_trial, &e, err) < 0;
    if (!failed && !r->trial_count) failed = error_set(err, "there is no trial to export yet") < 0;
    if (!failed)
        failed = add_baselines(&e, err) < 0 || store_each_document(store, "final", FINALS_KEPT, add_final, &e, err) < 0;
    *skipped = e.skipped;
    if (!failed) return r;
    recorded_free(r);
    return NULL;
}
