// See export.h.
//
// The table of fields (tuner/trial/trial_field.h) lists the figures that go into a recorded space. The store has a
// figure for each stage; a recorded space has one for each trial. The compiler's facts are taken from the worst stage
// (static_facts_of). Counters are taken from the first problem. Counters of events are added up over the stages; for
// the other counters, the largest value is taken.
#include "tuner/recorded/export.h"

#include "tuner/trial/trial_field.h"

enum { FINALS_KEPT = 10 };

struct exporter {
    const struct job *job;
    struct recorded *recorded;
    struct store *store;
    const json_t *metrics; // part of the "device" document: the hardware metric for each counter
    size_t used;           // trials exported
    size_t elsewhere;      // trials that are not in the job's space
};

static void set_problems(struct recorded *r, const struct job *job)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int64_t work;
    r->problem_count = job->tuned_count;
    r->problems = arena_new(&r->memory, r->problem_count * sizeof *r->problems);
    for (size_t p = 0; p < r->problem_count; p++) {
        const struct problem *from = &job->problems[p];
        struct recorded_problem *to = &r->problems[p];
        struct recorded_work *done = arena_new(&r->memory, sizeof *done);
        *done = (struct recorded_work){NAN, NAN};
        *to =
            (struct recorded_problem){arena_copy(&r->memory, from->name), from->size_count,
                                      arena_new(&r->memory, from->size_count * sizeof *to->sizes), from->weight, done};
        for (size_t i = 0; i < from->size_count; i++)
            to->sizes[i] =
                (struct record_named_integer){arena_copy(&r->memory, job->names.size_names[i]), from->sizes[i]};
        if (job_problem_values(job, NULL, p, values, NULL)) continue;
        if (job->work.flops && !expr_eval(job->work.flops, values, &work, NULL)) done->flops = (double)work;
        if (job->work.bytes && !expr_eval(job->work.bytes, values, &work, NULL)) done->bytes = (double)work;
    }
}

// The number of a metric. Trials usually have the same counters in the same order, so the metric after `last` is tried
// first.
static size_t find_metric(const struct recorded *r, const char *key, size_t last)
{
    for (size_t i = 1; i <= r->metric_count; i++)
        if (!strcmp(r->metrics[(last + i) % r->metric_count].key, key)) return (last + i) % r->metric_count;
    return r->metric_count;
}

// Adds a column for a counter and names it after the counter. The "device" document gives the counter's hardware
// metric.
static void add_metric(struct exporter *e, const char *key)
{
    struct recorded *r = e->recorded;
    const json_t *metric = NULL;
    json_array_each(e->metrics, i, one)
        if (!strcmp(json_get_string(one, "key", ""), key)) metric = one;
    struct recorded_metric *metrics = arena_new(&r->memory, (r->metric_count + 1) * sizeof *metrics);
    if (r->metric_count) memcpy(metrics, r->metrics, r->metric_count * sizeof *metrics);
    r->metrics = metrics;
    r->metrics[r->metric_count++] = (struct recorded_metric){
        arena_copy(&r->memory, key), arena_copy(&r->memory, json_get_string(metric, "metric", "")),
        arena_copy(&r->memory, json_get_string(metric, "unit", ""))};
}

// Adds the metrics that appear first in this trial, with empty cells for all trials before it.
static void add_metrics(struct exporter *e, const struct trial *trial)
{
    struct recorded *r = e->recorded;
    size_t before = r->metric_count, last = before;
    for (size_t i = 0; i < trial->counter_count; i++) {
        last = find_metric(r, trial->counters[i].key, last);
        if (last == r->metric_count) add_metric(e, trial->counters[i].key);
    }
    if (r->metric_count == before) return;
    double *cells = memory_new(r->trial_count * r->metric_count, sizeof *cells);
    for (size_t i = 0; i < r->trial_count * r->metric_count; i++) cells[i] = NAN;
    for (size_t n = 0; n < e->used && before; n++)
        memcpy(cells + n * r->metric_count, r->counters + n * before, before * sizeof *cells);
    free(r->counters);
    r->counters = cells;
}

static void set_counters(double *cells, const struct recorded *r, const struct trial *trial)
{
    size_t m = r->metric_count;
    for (size_t i = 0; i < trial->counter_count; i++) {
        const struct trial_counter *c = &trial->counters[i];
        if (c->problem != 0 || isnan(c->value)) continue;
        m = find_metric(r, c->key, m);
        double *cell = &cells[m];
        bool counts_events = text_before(r->metrics[m].metric, ".sum");
        *cell = isnan(*cell) ? c->value : counts_events ? *cell + c->value : fmax(*cell, c->value);
    }
}

// Copies the recorded fields of a record.
static void copy_fields(enum field_level level, void *to, const void *from, struct arena *memory)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level != level || !(f->flags & FIELD_RECORDED)) continue;
        field_copy(f, to, from, memory);
    }
}

static int add_trial(void *user, const struct trial *trial)
{
    struct exporter *e = user;
    struct recorded *r = e->recorded;
    if (e->used == r->trial_count) return 1; // more trials have finished since the count was taken
    size_t n = e->used;
    add_metrics(e, trial);
    if (space_parse(e->job->space, trial->config, r->configs + n * r->parameter_count, NULL)) {
        e->elsewhere++;
        return 0;
    }
    copy_fields(FIELD_TRIAL, &r->trials[n], trial, &r->memory);
    for (size_t p = 0; p < r->problem_count; p++)
        for (size_t i = 0; i < trial->problem_count; i++)
            if (trial->problems[i].tuned && !strcmp(trial->problems[i].name, r->problems[p].name))
                copy_fields(FIELD_PROBLEM, &r->figures[n * r->problem_count + p], &trial->problems[i], &r->memory);
    set_counters(r->counters + n * r->metric_count, r, trial);
    e->used++;
    return 0;
}

static int add_baselines(struct exporter *e, struct error *err)
{
    struct recorded *r = e->recorded;
    autojson json_t *document = store_get_document(e->store, 0, "baselines", NULL, err);
    if (!document) return *err->message ? -1 : 0;
    const json_t *list = json_object_get(document, "baselines");
    r->baselines = arena_new(&r->memory, json_array_size(list) * sizeof *r->baselines);
    json_array_each(list, i, baseline) {
        const json_t *problems = json_object_get(baseline, "problems");
        if (json_array_size(problems) != r->problem_count) continue; // unavailable
        struct recorded_baseline *to = &r->baselines[r->baseline_count++];
        *to = (struct recorded_baseline){arena_copy(&r->memory, json_get_string(baseline, "name", "?")),
                                         arena_new(&r->memory, r->problem_count * sizeof *to->problems),
                                         r->problem_count};
        for (size_t p = 0; p < r->problem_count; p++)
            record_read(problem_figures(), json_array_get(problems, p), &to->problems[p], &r->memory, NULL);
    }
    return 0;
}

// A final refers to trials by their numbers in this store, so their configurations are added.
static int add_final(void *user, double when, json_t *document)
{
    struct exporter *e = user;
    (void)when;
    json_array_each(json_object_get(document, "entries"), i, entry) {
        struct trial trial;
        int64_t id = json_get_integer(entry, "trial", 0);
        if (id && !store_get(e->store, id, &trial, NULL))
            json_object_set_new(entry, "configuration", json_string(trial.config));
    }
    if (!document) return 0;
    json_object_del(document, "gpu"); // host names stay private
    json_object_del(document, "repeated");
    if (!e->recorded->about.finals) e->recorded->about.finals = json_array();
    json_array_append(e->recorded->about.finals, document);
    return 0;
}

struct recorded *export_recorded(const struct job *job, struct store *store, const struct environment *environment,
                                 const json_t *device, size_t *elsewhere, struct error *err)
{
    struct recorded *r = recorded_new();
    struct exporter e = {.job = job,
                         .recorded = r,
                         .store = store,
                         .metrics = json_object_get(json_object_get(device, "counters"), "metrics")};
    r->about.job = arena_copy(&r->memory, job->name);
    r->about.objective = job->search.objective == OBJECTIVE_WORST ? "worst" : "geomean"; // recorded spaces lack "mean"
    json_t *limits = json_object_get(device, "device");
    r->about.device = limits ? json_deep_copy(limits)
                             : json_pack("{s:s, s:s}", "name", environment->device, "arch", environment->arch);
    // The device's measured ceilings travel with its limits.
    json_object_set_new(r->about.device, "ceilings", store_get_document(store, 0, "ceilings", NULL, NULL));
    r->about.environment =
        json_pack("{s:s, s:s, s:s, s:s, s:s}", "compiler", environment->compiler, "driver", environment->driver, "arch",
                  environment->arch, "source_hash", environment->source_hash, "key", environment->key);
    set_problems(r, job);
    r->space = job->space;
    r->parameter_count = space_parameter_count(job->space);
    r->constraints = json_array();
    for (size_t i = 0; i < space_constraint_count(job->space); i++)
        json_array_append_new(r->constraints, json_string(space_constraint_text(job->space, i)));
    int64_t counts[STATUS_COUNT], room = 0;
    int failed = store_counts(store, counts, err) < 0;
    for (int i = 0; i < STATUS_COUNT && !failed; i++) room += counts[i];
    if (!failed) failed = recorded_add_trials(r, (size_t)room, err);
    if (!failed) failed = store_each(store, false, 0, STORE_WHOLE, add_trial, &e, err) < 0;
    r->trial_count = e.used;
    if (!failed && !r->trial_count) failed = error_set(err, "there is no trial to export yet: tune first") < 0;
    if (!failed)
        failed =
            add_baselines(&e, err) < 0 || store_each_document(store, 0, "final", FINALS_KEPT, add_final, &e, err) < 0;
    *elsewhere = e.elsewhere;
    if (!failed) return r;
    recorded_free(r);
    return NULL;
}
