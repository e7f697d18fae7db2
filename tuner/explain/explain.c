// See explain.h.
#include "tuner/explain/explain.h"

#include "tuner/pool/worker.h"
#include "tuner/setup/work_bounds.h"
#include "tuner/trial/trial_field.h"

enum { UNLIMITED = 1 << 20, SCHEDULERS = 4 }; // schedulers of a multiprocessor, since Maxwell

json_t *explain_facts(const struct device_limits *d, const struct launch_shape *l, int64_t registers,
                      int64_t shared_static)
{
    int64_t threads = l->block[0] * l->block[1] * l->block[2], blocks = l->grid[0] * l->grid[1] * l->grid[2];
    int64_t shared = l->shared + (shared_static > 0 ? shared_static : 0),
            fit = blocks_per_sm(d, threads, registers, shared);
    // Only one limit is applied at a time. The other limits are set so high that they have no effect.
    struct device_limits by_registers = *d, by_shared = *d, by_warps = *d;
    by_registers.blocks_per_sm = by_shared.blocks_per_sm = by_warps.blocks_per_sm = UNLIMITED;
    by_registers.threads_per_sm = by_shared.threads_per_sm = (int64_t)UNLIMITED * d->warp_size;
    by_registers.shared_per_sm = by_warps.shared_per_sm = INT64_MAX / 2;
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, s:I}", "registers",
                     (json_int_t)registers, "shared_static", (json_int_t)(shared_static > 0 ? shared_static : 0),
                     "shared_dynamic", (json_int_t)l->shared, "threads", (json_int_t)threads, "blocks",
                     (json_int_t)blocks, "blocks_per_sm", (json_int_t)fit, "occupancy",
                     theoretical_occupancy(d, threads, registers, shared), "waves",
                     fit ? (double)blocks / (double)(fit * d->sm_count) : NAN, "limit_registers",
                     (json_int_t)blocks_per_sm(&by_registers, threads, registers, 0), "limit_shared",
                     (json_int_t)blocks_per_sm(&by_shared, threads, 0, shared), "limit_warps",
                     (json_int_t)blocks_per_sm(&by_warps, threads, 0, 0), "limit_blocks", (json_int_t)d->blocks_per_sm,
                     "schedulers", SCHEDULERS * (json_int_t)d->sm_count, "scheduler_warps",
                     (json_int_t)(d->threads_per_sm / d->warp_size / SCHEDULERS));
}

static json_t *new_document(struct single_run *single, const struct job *job, size_t problem, const char *name)
{
    const json_t *asked = json_array_get(json_object_get(single->setup.request, "problems"), problem);
    struct work_bounds work;
    work_bounds(job, problem, NULL, &work, NULL);
    json_t *device = json_deep_copy(json_object_get(single->pool.first.hello, "device"));
    json_object_set_new(device, "compute", json_integer((json_int_t)single->pool.first.limits.compute));
    return json_pack("{s:s, s:s, s:s?, s:o, s:f, s:f, s:o, s:n, s:[], s:[], s:{}}", "name", name, "problem",
                     job->problems[problem].name, "pipe", work.pipe ? work.pipe->name : NULL, "operations",
                     json_real(work.pipe ? work.operations : NAN), "flops", (double)json_get_integer(asked, "flops", 0),
                     "bytes", (double)json_get_integer(asked, "bytes", 0), "device", device, "ceilings", "stages",
                     "notes", "seconds");
}

static void note(json_t *document, const char *text)
{
    json_t *notes = json_object_get(document, "notes");
    json_array_each(notes, i, each)
        if (!strcmp(json_string_value(each), text)) return;
    if (*text) json_array_append_new(notes, json_string(text));
}

__attribute__((format(printf, 2, 3))) static void note_formatted(json_t *document, const char *format, ...)
{
    TEXT_FROM(format, text);
    note(document, text);
}

static void set_time(json_t *document, const struct trial_problem *times)
{
    json_object_set_new(document, "time", json_real(times->time));
    json_object_set_new(document, "low", json_real(times->low));
    json_object_set_new(document, "high", json_real(times->high));
}

static void set_seconds(json_t *document, const char *what, double since)
{
    json_object_set_new(json_object_get(document, "seconds"), what, json_real(clock_now() - since));
}

// Adds a candidate's counters on one problem to the stages.
static void set_counters(struct single_run *single, json_t *document, size_t problem, const struct counted_trial *trial)
{
    const struct job_answer *job = &single->reported;
    json_t *stages = json_object_get(document, "stages");
    note(document, trial->reason);
    for (size_t i = 0; i < job->missing_count; i++) note(document, job->missing[i]);
    for (size_t i = 0; i < trial->counter_count; i++) {
        const struct stage_counters *row = &trial->counters[i];
        json_t *stage = json_array_get(stages, (size_t)row->stage);
        if (row->problem != (int)problem) continue;
        autojson json_t *counters = json_object();
        for (size_t k = 0; k < row->value_count && k < job->metric_count; k++)
            json_object_set_new(counters, job->metrics[k], json_real(row->values[k]));
        if (!stage || json_object_set(stage, "counters", counters))
            note(document, "counters of a stage that does not exist");
    }
}

// Asks for counters and adds them to the stages. Returns -1 with a message when the worker does not answer.
static int add_counters(struct single_run *single, const struct counted_candidate *candidate, size_t problem,
                        json_t *document, struct error *err)
{
    autorelease(arena_release) struct arena memory = {NULL};
    struct count_answer reported;
    autojson json_t *answer =
        single_run_ask(single, request_write("count", &count_request_record, &(struct count_request){candidate, 1}),
                       explain_timeout(json_get_number(document, "time", NAN)), NULL, err);
    if (!answer) return -1;
    record_read(&count_answer_record, answer, &reported, &memory, NULL); // the pool has checked it
    if (reported.trial_count) set_counters(single, document, problem, &reported.trials[0]);
    return 0;
}

static void add_stages(struct single_run *single, const struct job *job, const struct single_run_candidate *c,
                       size_t problem, json_t *document)
{
    for (size_t i = 0; i < c->launch_count; i++) {
        const struct planned_launch *l = &c->launches[i];
        if ((size_t)l->problem != problem || l->run) continue;
        const struct stage *stage = &job->stages[l->stage];
        const struct entry_answer *e = compiled_find(&c->compiled, stage);
        struct trial_stage figures;
        trial_clear(FIELD_STAGE, &figures); // figures of a library's kernels are unknown
        if (e) figures = e->figures;
        json_t *facts = explain_facts(&single->pool.first.limits, &l->shape, figures.registers, figures.shared_static);
        autojson json_t *known = trial_json(FIELD_STAGE, &figures);
        json_object_update_missing(facts, known);
        const int64_t *g = l->shape.grid, *b = l->shape.block, *k = l->shape.cluster;
        json_array_append_new(json_object_get(document, "stages"),
                              json_pack("{s:s, s:{s:[I,I,I], s:[I,I,I], s:[I,I,I]}, s:o}", "name", stage->name,
                                        "launch", "grid", (json_int_t)g[0], (json_int_t)g[1], (json_int_t)g[2], "block",
                                        (json_int_t)b[0], (json_int_t)b[1], (json_int_t)b[2], "cluster",
                                        (json_int_t)k[0], (json_int_t)k[1], (json_int_t)k[2], "facts", facts));
    }
}

// Raises the dynamic shared memory of the problem's launches until no more than `blocks` blocks fit.
static void pad_shared(struct single_run *single, const struct job *job, struct single_run_candidate *c, size_t problem,
                       int64_t blocks)
{
    const struct device_limits *d = &single->pool.first.limits;
    json_t *stages = json_object_get(json_array_get(c->problems, problem), "stages");
    for (size_t i = 0, k = 0; i < c->launch_count; i++) {
        struct launch_shape *l = &c->launches[i].shape;
        const struct entry_answer *e = compiled_find(&c->compiled, &job->stages[c->launches[i].stage]);
        if ((size_t)c->launches[i].problem != problem) continue;
        if (!e) { // a library's stage
            k++;
            continue;
        }
        int64_t threads = l->block[0] * l->block[1] * l->block[2], fixed = e->figures.shared_static;
        if (fixed < 0) fixed = 0;
        while (blocks_per_sm(d, threads, e->figures.registers, l->shared + fixed) > blocks &&
               l->shared + fixed + 1024 <= d->max_shared)
            l->shared += 1024;
        json_object_set_new(json_array_get(stages, k++), "shared", json_integer((json_int_t)l->shared));
    }
}

static int add_trial(struct single_run *single, const struct job *job, const struct single_run_candidate *c,
                     size_t problem, bool verify, json_t *document, struct error *err)
{
    bool late;
    autorelease(arena_release) struct arena memory = {NULL};
    struct trial_answer reported;
    const struct trial_request request = {.candidate = single_run_described(c), .verify = verify};
    autojson json_t *answer = single_run_ask(single, request_write("trial", &trial_request_record, &request),
                                             job->measure.timeout, &late, err);
    if (late) {
        struct error why = *err;
        error_set(err, "%s: the kernel hangs, or the job's measure.timeout is too short for it", why.message);
    }
    if (!answer) return -1;
    record_read(&trial_answer_record, answer, &reported, &memory, NULL); // the pool has checked it
    const char *status = *reported.head.status ? reported.head.status : status_name(STATUS_CRASHED);
    const struct problem_answer *times = trial_answer_problem(&reported, (int)problem);
    json_object_set_new(document, "status", json_string(status));
    json_object_set_new(document, "reason", json_string(reported.head.reason));
    json_object_set_new(document, "clock_mhz", json_real(reported.figures.clock_mhz));
    if (times) set_time(document, &times->figures);
    if (status_find(status) == STATUS_NONDETERMINISTIC)
        note(document, "two runs of this candidate differ: counters are taken in several passes, each a separate run, "
                       "so they may not agree with each other");
    if (status_find(status) == STATUS_IMPLAUSIBLE)
        note(document, "the time is impossible, and so are the rates and percentages computed from it");
    return 0;
}

double explain_timeout(double time)
{
    enum { LAUNCHES = 300 }; // `full` takes some 40 passes of two launches; a job's own list of metrics may take more
    return SINGLE_RUN_PATIENCE + (time > 0 ? LAUNCHES * time : 0);
}

// Announces a long wait: for a kernel of a few seconds, counting takes minutes.
static void announce(struct single_run *single, double time)
{
    if (!(time > 0.5)) return;
    autofree char *text = text_format(
        "counting a kernel of %.3g s: every pass launches it twice, about %.0f minutes in all (at most %.0f)", time,
        ceil(100 * time / 60), ceil(explain_timeout(time) / 60));
    single_run_say(single, text);
}

// Adds notes about unreliable figures.
static void interpret_counters(json_t *document)
{
    json_t *stages = json_object_get(document, "stages");
    json_array_each(stages, i, stage) {
        const json_t *counters = json_object_get(stage, "counters"), *totals = json_object_get(stage, "totals");
        const char *name = json_get_string(stage, "name", "the kernel");
        double sectors = json_get_number(counters, "global_load_sectors", NAN) +
                         json_get_number(counters, "global_store_sectors", NAN);
        if (json_get_number(totals, "global_sectors", NAN) < 0.95 * sectors)
            note_formatted(document,
                           "%s: %.0f%% of its global sectors are known by source line; CUPTI does not instrument every "
                           "asynchronous copy, so the figures of lines lack the rest",
                           name, 100 * json_get_number(totals, "global_sectors", NAN) / sectors);
        // These are the same instructions, counted by the hardware in one launch and by patched code in another.
        double hardware = json_get_number(counters, "executed", NAN),
               patched = json_get_number(totals, "instructions", NAN);
        if (fabs(hardware - patched) > 0.01 * fmax(hardware, patched))
            note_formatted(document,
                           "%s is not reproducible between passes: it executed %.6g instructions in one launch and "
                           "%.6g in another; figures of different passes, and those of lines and of the whole kernel, "
                           "may not agree",
                           name, hardware, patched);
    }
    double time = json_get_number(document, "time", NAN);
    if (time < 5e-6)
        note_formatted(document,
                       "the kernel takes %.2f us: launch overhead dominates (starting and ending any grid takes some 2 "
                       "us); percentages of peak and of ceilings mean little; profile a larger problem",
                       1e6 * time);
}

static int add_lines(struct single_run *single, const struct candidate *candidate, json_t *document, struct error *err)
{
    autorelease(arena_release) struct arena memory = {NULL};
    struct profile_answer reported;
    const struct profile_request request = {.candidate = *candidate, .samples = true};
    autojson json_t *answer = single_run_ask(single, request_write("profile", &profile_request_record, &request),
                                             explain_timeout(json_get_number(document, "time", NAN)), NULL, err);
    if (!answer) return -1;
    int failed = record_read(&profile_answer_record, answer, &reported, &memory, err);
    for (size_t i = 0; i < reported.stage_count && !failed; i++) {
        json_t *to = json_array_get(json_object_get(document, "stages"), i);
        autojson json_t *stage = record_write(&profile_stage_record, &reported.stages[i]);
        json_object_set(to, "totals", json_object_get(stage, "totals"));
        json_object_set(to, "lines", json_object_get(stage, "lines"));
        if (reported.stages[i].dropped_samples)
            note(document, "the sampling buffer overflowed: shares refer to the samples that were kept");
    }
    for (size_t i = 0; i < reported.reason_count && !failed; i++) note(document, reported.reasons[i]);
    return failed;
}

bool explain_worked(const json_t *document)
{
    int status = status_find(json_get_string(document, "status", ""));
    return status == STATUS_OK || status == STATUS_SLOW || status == STATUS_NONDETERMINISTIC ||
           status == STATUS_IMPLAUSIBLE;
}

json_t *explain_candidate(struct single_run *single, const struct job *job, const uint16_t *config, size_t problem,
                          const char *name, int variant, int64_t blocks, struct error *err)
{
    autorelease(single_run_candidate_release) struct single_run_candidate c;
    autofree char *text = text_format("%d", variant);
    autojson json_t *document = new_document(single, job, problem, name),
                    *defines = variant ? json_pack("{s:s}", "SWEETSPOT_VARIANT", text) : NULL;
    double begin = clock_now();
    int failed = single_run_compile(single, config, defines, &c, err);
    json_object_set_new(document, "config", json_string(c.config));
    if (!failed && c.status != STATUS_OK) {
        json_object_set_new(document, "status", json_string(status_name(c.status)));
        json_object_set_new(document, "reason", json_string(c.reason));
        return json_incref(document);
    }
    set_seconds(document, "compile", begin);
    if (!failed) {
        if (blocks) pad_shared(single, job, &c, problem, blocks);
        add_stages(single, job, &c, problem, document);
        begin = clock_now();
        failed = add_trial(single, job, &c, problem, !variant, document, err);
        set_seconds(document, "trial", begin);
    }
    if (!failed && explain_worked(document) && single->counts) {
        autojson json_t *part = json_pack("[O]", json_array_get(c.problems, problem));
        struct counted_candidate counted = {.trial = 1, .candidate = single_run_described(&c)};
        counted.candidate.written = part;
        announce(single, json_get_number(document, "time", NAN));
        begin = clock_now();
        failed = add_counters(single, &counted, problem, document, err);
        set_seconds(document, "count", begin);
        begin = clock_now();
        if (!failed) failed = add_lines(single, &counted.candidate, document, err);
        set_seconds(document, "lines", begin);
    }
    if (!failed && explain_worked(document)) interpret_counters(document);
    return failed ? NULL : json_incref(document);
}

json_t *explain_baseline(struct single_run *single, const struct job *job, const char *baseline, size_t problem,
                         struct error *err)
{
    const struct job_answer *reported = &single->reported;
    const struct baseline_answer *b = NULL;
    for (size_t i = 0; i < reported->baseline_count; i++)
        if (!strcmp(reported->baselines[i].name, baseline)) b = &reported->baselines[i];
    if (!b) {
        error_set(err,
                  "the job's reference has no baseline '%s'; other names are a trial's number, best, runner-up and "
                  "NAME=value",
                  baseline);
        return NULL;
    }
    if (!b->problem_count) {
        error_set(err, "baseline %s: not available: %s", baseline, *b->reason ? b->reason : "no reason given");
        return NULL;
    }
    autojson json_t *document = new_document(single, job, problem, baseline);
    json_object_set_new(document, "config", json_string(b->detail));
    json_object_set_new(document, "status", json_string("ok"));
    json_object_set_new(document, "reason", json_string(""));
    if (problem < b->problem_count) set_time(document, &b->problems[problem].figures);
    json_array_append_new(json_object_get(document, "stages"),
                          json_pack("{s:s, s:{}, s:{}}", "name", baseline, "launch", "facts"));
    const struct counted_candidate counted = {.baseline = baseline};
    if (single->counts && add_counters(single, &counted, problem, document, err)) return NULL;
    return json_incref(document);
}
