// The same candidate on every GPU of a run, now and then, so that times of different GPUs are not mixed unseen: see
// run.h, and gpu_times.h for the rule. No time is ever corrected. A GPU that differs is set aside, and what it measured
// since it was last like the others gets a verdict: `slow`, so that it is not ranked. What it measured before stays.
//
// The reference is the best of the run's first valid candidates, once there are REFERENCE_OF. Its own trial is of no
// account: every GPU measures it anew, in the same way.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { REFERENCE_OF = 4, FAILURES_MOST = 3 };

// What is known of a GPU, by its slot.
struct checked_gpu {
    char *uuid;               // of the device that all of this is about
    int64_t *ids;             // of valid trials since it was last seen to be like the others
    size_t id_count, id_room; // of them
    size_t before_check;      // so many of them are older than its newest check
    int failures;             // checks in a row
    int64_t checks, trials;   // in all; trials with a time
    double ratio;             // of its newest check to the standard; NaN
    char *aside;              // why it is set aside; NULL
};

static void grow(struct run *r)
{
    struct gpu_checks *c = &r->checks;
    size_t count = r->pool.gpu_count;
    gpu_times_grow(&c->times, count);
    if (count <= c->gpu_count) return;
    c->gpus = memory_grow(c->gpus, count, sizeof *c->gpus);
    for (; c->gpu_count < count; c->gpu_count++) c->gpus[c->gpu_count] = (struct checked_gpu){.ratio = NAN};
}

void run_check_release(struct run *r)
{
    struct gpu_checks *c = &r->checks;
    for (size_t i = 0; i < c->gpu_count; i++) {
        free(c->gpus[i].uuid);
        free(c->gpus[i].ids);
        free(c->gpus[i].aside);
    }
    free(c->gpus);
    gpu_times_release(&c->times);
    free(c->config);
    free(c->cubin);
    json_decref(c->problems);
    *c = (struct gpu_checks){0};
}

void run_check_ready(struct run *r, size_t gpu)
{
    const char *uuid = r->pool.gpus[gpu].uuid ? r->pool.gpus[gpu].uuid : "";
    grow(r);
    struct checked_gpu *g = &r->checks.gpus[gpu];
    if (g->uuid && !strcmp(g->uuid, uuid)) return;
    free(g->uuid);
    g->uuid = text_copy(uuid);
    g->id_count = g->before_check = 0;
    g->failures = 0;
    g->ratio = NAN;
    gpu_times_forget(&r->checks.times, gpu);
    policy_check_device(&r->policy, gpu);
}

struct check_candidate run_check_candidate(const struct run *r, const struct task *t)
{
    bool wanted = r->checks.seen < REFERENCE_OF;
    return (struct check_candidate){.config = wanted ? text_copy(t->text) : NULL,
                                    .cubin = wanted ? text_copy(t->compiled.cubin ? t->compiled.cubin : "") : NULL,
                                    .problems = wanted ? json_incref(t->problems) : NULL,
                                    .gpu = t->queued.worker};
}

static void release(struct check_candidate *candidate)
{
    free(candidate->config);
    free(candidate->cubin);
    json_decref(candidate->problems);
}

static void take_reference(struct run *r, struct check_candidate *candidate, int64_t trial, double objective)
{
    struct gpu_checks *c = &r->checks;
    if (c->seen >= REFERENCE_OF || r->pool.lockstep) return;
    if (!c->seen || objective < c->objective) {
        struct check_candidate old = {c->config, c->cubin, c->problems, 0};
        c->config = candidate->config;
        c->cubin = candidate->cubin;
        c->problems = candidate->problems;
        c->objective = objective;
        c->trial = trial;
        *candidate = old;
    }
    if (++c->seen < REFERENCE_OF) return;
    if (r->pool.gpu_count > 1)
        display_log(&r->display, "trial %" PRId64 " is measured on every GPU now and then, to compare them: %s",
                    c->trial, c->config);
    policy_use_reference(&r->policy, true);
}

void run_check_note(struct run *r, struct check_candidate *candidate, int64_t trial, double objective)
{
    grow(r);
    struct checked_gpu *g = &r->checks.gpus[candidate->gpu];
    if (trial) {
        g->ids = memory_room(g->ids, &g->id_room, g->id_count + 1, sizeof *g->ids);
        g->ids[g->id_count++] = trial;
        g->trials++;
        take_reference(r, candidate, trial, objective);
    }
    release(candidate);
}

void run_check_send(struct run *r, size_t gpu)
{
    const struct gpu_checks *c = &r->checks;
    const struct trial_request request = {
        // without "best": none is too slow
        .candidate = {.config = c->config, .cubin = c->cubin, .written = c->problems}};
    pool_send_gpu(&r->pool, gpu, request_write("trial", &trial_request_record, &request), r->job->measure.timeout);
}

static char *name_of(const struct run *r, size_t gpu)
{
    const struct gpu_slot *slot = &r->pool.gpus[gpu];
    char *host = pool_gpu_host(&r->pool, gpu);
    char *name = text_format("%s (%s, %s)", slot->name, slot->uuid && *slot->uuid ? slot->uuid : "no uuid", host);
    free(host);
    return name;
}

// Takes a GPU out of the run; its valid trials since its last good check are not ranked.
static void set_aside(struct run *r, size_t gpu, const char *how)
{
    struct checked_gpu *g = &r->checks.gpus[gpu];
    char *name = name_of(r, gpu), *reason = text_format("measured on %s, which %s", name, how);
    size_t count = g->id_count;
    for (size_t i = 0; i < count; i++) {
        struct error err;
        if (store_add_verdict(r->store, g->ids[i], STATUS_SLOW, reason, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
        r->statistics.counts[STATUS_OK]--;
        r->statistics.counts[STATUS_SLOW]++;
    }
    free(g->aside);
    g->aside = text_format("%s %s; %zu of its %" PRId64 " valid trials do not count, as they came after its last good "
                           "check",
                           name, how, count, g->trials);
    g->id_count = 0;
    r->checks.times.gpus[gpu].out = true;
    struct policy_request none = policy_gpu_lost(&r->policy, gpu, true);
    free(none.tasks);
    pool_gpu_disable(&r->pool, gpu, g->aside);
    if (count) run_find_best(r);
    free(reason);
    free(name);
}

static void judge(struct run *r, size_t gpu, size_t compared)
{
    struct checked_gpu *g = &r->checks.gpus[gpu];
    double ratio, limit;
    switch (gpu_times_decide(&r->checks.times, gpu, r->job->measure.tie, &ratio, &limit)) {
    case GPU_OPEN:
        return;
    case GPU_ALIKE:
        g->ratio = ratio;
        g->id_count -= g->before_check;
        if (g->id_count) memmove(g->ids, g->ids + g->before_check, g->id_count * sizeof *g->ids);
        g->before_check = 0;
        return;
    case GPU_AGAIN:
        display_log(
            &r->display, "%s takes %.4f times as long as %s for trial %" PRId64 " (at most %.4f): measured again",
            r->pool.gpus[gpu].name, ratio, compared > 2 ? "the others" : "the first GPU", r->checks.trial, limit);
        policy_check_again(&r->policy, gpu);
        return;
    case GPU_DIFFERS:
        break;
    }
    g->ratio = ratio;
    char *how =
        text_format("takes %.3f times as long as %s for trial %" PRId64 " (%.3f is the limit)", ratio,
                    compared > 2 ? "the others" : "the first GPU", r->checks.trial, ratio < 1 ? 1 / limit : limit);
    set_aside(r, gpu, how);
    free(how);
}

// Once every GPU that works has a time.
static void judge_all(struct run *r)
{
    const struct gpu_times *t = &r->checks.times;
    size_t compared = 0;
    for (size_t i = 0; i < t->count; i++) {
        bool has = t->gpus[i].count && !t->gpus[i].out;
        if (!has && !t->gpus[i].out && r->policy.gpus[i].ready) return;
        compared += has;
    }
    for (size_t i = 0; i < t->count && !r->fatal; i++) judge(r, i, compared);
}

void run_check_failed(struct run *r, size_t gpu, const char *why)
{
    grow(r);
    struct checked_gpu *g = &r->checks.gpus[gpu];
    size_t others = 0;
    display_log(&r->display, "%s: the reference, trial %" PRId64 ", could not be measured: %s", r->pool.gpus[gpu].name,
                r->checks.trial, why);
    if (++g->failures < FAILURES_MOST) {
        policy_check_again(&r->policy, gpu);
        return;
    }
    for (size_t i = 0; i < r->checks.times.count; i++) others += i != gpu && r->checks.times.gpus[i].count;
    if (!others) {
        display_message(&r->display,
                        "the GPUs of this run are not compared: the reference, trial %" PRId64 ", fails: %s",
                        r->checks.trial, why);
        policy_use_reference(&r->policy, false);
        return;
    }
    char *how = text_format("fails at trial %" PRId64 ", which others can measure: %s", r->checks.trial, why);
    set_aside(r, gpu, how);
    free(how);
}

void run_take_check(struct run *r, size_t gpu, const struct trial_answer *answer)
{
    double times[3][JOB_MAX_PROBLEMS], values[3];
    grow(r);
    for (size_t p = 0; p < r->job->tuned_count; p++) {
        const struct problem_answer *reported = trial_answer_problem(answer, (int)p);
        times[0][p] = reported ? reported->figures.time : NAN;
        times[1][p] = reported ? reported->figures.low : NAN;
        times[2][p] = reported ? reported->figures.high : NAN;
    }
    for (int k = 0; k < 3; k++) values[k] = job_objective(r->job, times[k]);
    if (isfinite(answer->figures.gpu_seconds)) r->checks.wall += answer->figures.gpu_seconds;
    if (!answer_is_ok(&answer->head) || !(values[0] > 0)) {
        run_check_failed(r, gpu, *answer->head.reason ? answer->head.reason : "it has no time");
        return;
    }
    struct checked_gpu *g = &r->checks.gpus[gpu];
    g->failures = 0;
    g->checks++;
    g->before_check = g->id_count;
    gpu_times_add(&r->checks.times, gpu, (struct interval){values[0], values[1], values[2]});
    judge_all(r);
}

json_t *run_gpus_document(const struct run *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->pool.gpu_count; i++) {
        const struct checked_gpu *g = i < r->checks.gpu_count ? &r->checks.gpus[i] : NULL;
        json_t *gpu = pool_gpu_identity(&r->pool, i);
        json_object_set_new(gpu, "trials", json_integer(g ? (json_int_t)g->trials : 0));
        json_object_set_new(gpu, "checks", json_integer(g ? (json_int_t)g->checks : 0));
        if (g && isfinite(g->ratio)) json_object_set_new(gpu, "ratio", json_real(g->ratio));
        if (g && g->aside) json_object_set_new(gpu, "aside", json_string(g->aside));
        json_array_append_new(list, gpu);
    }
    return list;
}
