// See gpu_counting.h.
#include "tuner/gpu/gpu_counting.h"

#include "tuner/base/clock.h"
#include "tuner/counting/counters.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/workload.h"

struct gpu_counting {
    struct counters *counters; // NULL: none requested
    struct counters_facts facts;
    struct metric_set set; // the requested metrics, put together from sets and single names
    struct metric *metrics;
    const char **names; // "basic" and what was requested; `metrics` points to them
    size_t name_count;
    struct arena memory; // of the names
};

static int add(struct gpu_counting *c, size_t *count, const struct metric *metric, struct error *err)
{
    for (size_t i = 0; i < *count; i++)
        if (!strcmp(c->metrics[i].name, metric->name)) return 0;
    struct metric *grown = memory_try_grow(c->metrics, *count + 2, sizeof *grown, err);
    if (!grown) return -1;
    c->metrics = grown;
    grown[(*count)++] = *metric;
    grown[*count] = (struct metric){0};
    return 0;
}

static int add_set(struct gpu_counting *c, size_t *count, const struct metric_set *set, struct error *err)
{
    int failed = 0;
    for (const char *name = set->includes; name && *name && !failed; name += strspn(name, " ")) {
        char one[32];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(name, " "), name);
        name += strcspn(name, " ");
        failed = add_set(c, count, metrics_find(one), err);
    }
    for (size_t i = 0; set->metrics[i].key && !failed; i++) failed = add(c, count, &set->metrics[i], err);
    return failed;
}

static int collect(struct gpu_counting *c, struct error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < c->name_count; i++) {
        const char *name = c->names[i];
        if (!*name) return error_set(err, "entry %zu of 'counters' is empty", i - 1);
        const struct metric_set *set = metrics_find(name);
        const struct metric single = {name, name, "", "requested by name", NULL};
        int failed = set ? add_set(c, &count, set, err) : add(c, &count, &single, err);
        if (failed) return failed;
    }
    c->set = (struct metric_set){"job", "the job's metrics", c->metrics, NULL};
    return 0;
}

int gpu_counting_open(struct gpu_counting **out, const struct machine *machine, const char *const *names, size_t count,
                      struct error *err)
{
    struct gpu_counting *c = memory_try(1, sizeof *c, err);
    *out = NULL;
    if (!c) return -1;
    c->names = arena_new(&c->memory, (count + 1) * sizeof *c->names);
    c->names[c->name_count++] = "basic";
    for (size_t i = 0; i < count; i++) c->names[c->name_count++] = arena_copy(&c->memory, names[i]);
    int failed = collect(c, err);
    if (!failed && c->metrics)
        failed =
            counters_open(&c->counters, cuda_context(machine->cuda), cuda_info(machine->cuda)->ordinal, &c->set, err);
    if (failed) {
        gpu_counting_close(c);
        return failed;
    }
    c->facts = counters_facts(c->counters);
    *out = c;
    return 0;
}

void gpu_counting_close(struct gpu_counting *c)
{
    if (!c) return;
    counters_close(c->counters);
    free(c->metrics);
    arena_release(&c->memory);
    free(c);
}

bool gpu_counting_is_for(const struct gpu_counting *c, const char *const *names, size_t count)
{
    bool same = c->name_count == count + 1;
    for (size_t i = 0; i < count && same; i++) same = !strcmp(c->names[i + 1], names[i]);
    return same;
}

const char *const *gpu_counting_keys(const struct gpu_counting *c, size_t *count, struct arena *memory)
{
    *count = c->facts.count;
    const char **keys = arena_new(memory, *count * sizeof *keys);
    for (size_t i = 0; i < *count; i++) keys[i] = c->facts.metrics[i]->key;
    return keys;
}

const char *const *gpu_counting_missing(const struct gpu_counting *c, size_t *count)
{
    *count = c->facts.note != NULL;
    return &c->facts.note;
}

json_t *gpu_counting_describe(const struct gpu_counting *c)
{
    const struct counters_facts *facts = &c->facts;
    json_t *metrics = json_array();
    for (size_t i = 0; i < facts->count; i++) {
        const struct metric *m = facts->metrics[i];
        json_array_append_new(metrics, json_pack("{s:s, s:s, s:s, s:s}", "key", m->key, "metric", m->name, "unit",
                                                 m->unit, "description", m->description));
    }
    return json_pack("{s:b, s:s, s:s, s:o, s:o}", "available", facts->reason == NULL, "chip", facts->chip, "reason",
                     facts->reason ? facts->reason : "", "metrics", metrics, "missing",
                     facts->note ? json_pack("[s]", facts->note) : json_array());
}

// A pair of a candidate and a problem. counters_measure() calls this pair a candidate.
struct unit {
    size_t trial, problem; // index in the request, in the workload
    struct pipeline_part *part;
    double *values; // its rows; NULL until counted
};

struct count_batch {
    struct gpu_counting *c;
    struct workload *w;
    struct baselines *baselines;
    size_t trial_count, unit_count, first; // first: the unit that counters_measure calls candidate 0
    struct pipeline *pipelines;            // by trial
    struct error *reasons;                 // by trial; "" while nothing is wrong
    struct unit *units;
    double *values;
    size_t culprit; // the unit whose launch failed
    int failed;     // the code of its failure
    struct error why;
};

static int note(struct count_batch *b, size_t unit, int failed)
{
    if (!failed) return 0;
    b->culprit = unit;
    b->failed = failed;
    return failed;
}

static int launch(void *user, size_t candidate, size_t stage)
{
    struct count_batch *b = user;
    struct unit *u = &b->units[b->first + candidate];
    int failed = pipeline_enqueue_stage(u->part, (unsigned)stage, 0, &b->why);
    if (!failed) failed = cuda_sync(b->w->cuda, &b->why);
    return note(b, b->first + candidate, failed);
}

static int reset(void *user, size_t candidate)
{
    struct count_batch *b = user;
    struct unit *u = &b->units[b->first + candidate];
    return note(b, b->first + candidate, pipeline_reach(b->w, u->part, 0, &b->why));
}

static int load(struct count_batch *b, const struct count_request *request, struct error *err)
{
    struct workload *w = b->w;
    size_t rows = 0, columns = b->c->facts.count;
    b->trial_count = request->trial_count;
    b->pipelines = memory_try(b->trial_count, sizeof *b->pipelines, err);
    b->reasons = memory_try(b->trial_count, sizeof *b->reasons, err);
    b->units = memory_try(b->trial_count * w->tuned_count, sizeof *b->units, err);
    if (!b->pipelines || !b->reasons || !b->units) return -1;
    for (size_t i = 0; i < b->trial_count; i++) {
        const char *name = *request->trials[i].baseline ? request->trials[i].baseline : NULL;
        struct baseline *baseline = name ? baselines_find(b->baselines, name) : NULL;
        if (name && (!baseline || *baseline->reason))
            error_set(&b->reasons[i], "%s", baseline ? baseline->reason : "the job has no such baseline");
        struct pipeline *pipeline = baseline ? &baseline->pipeline : &b->pipelines[i];
        int failed = name ? *b->reasons[i].message != 0
                          : pipeline_open(pipeline, w, &request->trials[i].candidate, &b->reasons[i]);
        if (failed == CUDA_CRASHED) return *err = b->reasons[i], failed;
        for (size_t k = 0; k < w->problem_count && !failed; k++) {
            if (!w->problems[k].tune || !pipeline_does(pipeline, k)) continue;
            struct pipeline_part *part = &pipeline->parts[k];
            b->units[b->unit_count++] = (struct unit){.trial = i, .problem = k, .part = part};
            rows += part->stage_count;
        }
    }
    b->values = memory_try(rows * columns, sizeof *b->values, err);
    return b->values ? 0 : -1;
}

// Counts units [from, from + n) together. Returns 0 even if counting failed: *good is then false, and b->why has the
// reason. Fails if memory is exhausted or the context is lost.
static int count_units(struct count_batch *b, size_t from, size_t n, double *values, bool *good, struct error *err)
{
    size_t columns = b->c->facts.count;
    autofree size_t *stages = memory_try(n, sizeof *stages, err);
    *good = false;
    if (!stages) return -1;
    for (size_t i = 0; i < n; i++) stages[i] = b->units[from + i].part->stage_count;
    b->first = from;
    b->failed = 0;
    struct error why = {""};
    int result = counters_measure(b->c->counters, n, stages, launch, reset, b, values, &why);
    if (result == COUNTERS_LAUNCH_FAILED) why = b->why;
    for (size_t i = 0; i < n && !result; i++) {
        b->units[from + i].values = values;
        values += stages[i] * columns;
    }
    *good = !result;
    b->why = why;
    if (b->failed == CUDA_CRASHED) *err = why;
    return b->failed == CUDA_CRASHED ? CUDA_CRASHED : 0;
}

// Counts all units together, which is cheap. If this fails, counts them one by one, so that one candidate's failure
// does not affect the others.
static int count_all(struct count_batch *b, struct error *err)
{
    bool good;
    int failed = b->unit_count ? count_units(b, 0, b->unit_count, b->values, &good, err) : 0;
    if (failed || !b->unit_count || good) return failed;
    double *values = b->values;
    for (size_t i = 0; i < b->unit_count; i++) {
        struct unit *u = &b->units[i];
        if (!*b->reasons[u->trial].message && (failed = count_units(b, i, 1, values, &good, err))) return failed;
        if (!good) b->reasons[u->trial] = b->why;
        values += u->part->stage_count * b->c->facts.count;
    }
    return 0;
}

static void answer_trial(const struct count_batch *b, size_t trial, struct counted_trial *to, struct arena *memory)
{
    size_t columns = b->c->facts.count, rows = 0;
    for (size_t i = 0; i < b->unit_count; i++) rows += b->units[i].part->stage_count;
    struct stage_counters *list = arena_new(memory, rows * sizeof *list);
    to->counters = list;
    for (size_t i = 0; i < b->unit_count; i++) {
        const struct unit *u = &b->units[i];
        if (u->trial != trial || !u->values) continue;
        double *values = arena_new(memory, u->part->stage_count * columns * sizeof *values);
        memcpy(values, u->values, u->part->stage_count * columns * sizeof *values);
        for (size_t s = 0; s < u->part->stage_count; s++)
            list[to->counter_count++] = (struct stage_counters){(int)u->problem, (int)s, values + s * columns, columns};
    }
}

int gpu_counting_run(struct gpu_counting *c, struct workload *w, struct baselines *baselines,
                     const struct count_request *request, struct count_answer *answer, struct arena *memory,
                     struct error *err)
{
    double begin = clock_now();
    const char *missing = c->facts.reason;
    struct count_batch b = {.c = c, .w = w, .baselines = baselines};
    struct error why = {""};
    int failed = 0;
    if (!missing) {
        failed = load(&b, request, err);
        if (!failed && counters_begin_session(c->counters, &why)) missing = why.message;
        if (!failed && !missing) failed = count_all(&b, err);
        if (!missing && failed != CUDA_CRASHED) counters_end_session(c->counters);
        if (!failed) failed = workload_sound(w, err);
    }
    struct counted_trial *trials = arena_new(memory, request->trial_count * sizeof *trials);
    for (size_t i = 0; i < request->trial_count; i++) {
        trials[i].trial = request->trials[i].trial;
        if (!missing && !failed) answer_trial(&b, i, &trials[i], memory);
        trials[i].reason = arena_copy(memory, missing ? missing : b.reasons ? b.reasons[i].message : "");
    }
    if (failed == CUDA_CRASHED && b.unit_count) // the candidate that caused it
        answer->head.trial = request->trials[b.units[b.culprit].trial].trial;
    else if (!failed)
        answer->head.status = status_name(STATUS_OK);
    answer->trials = trials;
    answer->trial_count = request->trial_count;
    answer->passes = (int64_t)c->facts.passes;
    answer->wall = clock_now() - begin;
    for (size_t i = 0; b.pipelines && i < b.trial_count && failed != CUDA_CRASHED; i++)
        pipeline_release(&b.pipelines[i]);
    free(b.pipelines);
    free(b.reasons);
    free(b.units);
    free(b.values);
    return failed;
}

static void list_metric(void *list, const char *name, const char *kind, const char *description, const char *unit)
{
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s, s:s}", "name", name, "kind", kind, "unit", unit, "description", description));
}

static void list_set(json_t *list, const struct metric_set *set, const char *chip)
{
    for (const char *name = set->includes; name && *name; name += strspn(name, " ")) {
        char one[32];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(name, " "), name);
        name += strcspn(name, " ");
        list_set(list, metrics_find(one), chip);
    }
    for (const struct metric *m = set->metrics; m->key; m++)
        if (metric_applies(m, chip))
            json_array_append_new(list, json_pack("{s:s, s:s}", "key", m->key, "metric", m->name));
}

int gpu_counting_list(const char *chip, json_t *answer, struct error *err)
{
    autojson json_t *metrics = json_array(), *sets = json_array();
    int failed = counters_list(chip, list_metric, metrics, err);
    for (size_t i = 0; metric_sets[i] && !failed; i++) {
        json_t *list = json_array();
        list_set(list, metric_sets[i], chip);
        json_array_append_new(sets, json_pack("{s:s, s:s, s:o}", "name", metric_sets[i]->name, "summary",
                                              metric_sets[i]->summary, "metrics", list));
    }
    if (!failed) {
        json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
        json_object_set_new(answer, "chip", json_string(chip));
        json_object_set(answer, "metrics", metrics);
        json_object_set(answer, "sets", sets);
    }
    return failed;
}
