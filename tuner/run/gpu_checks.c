// See gpu_checks.h.
#include "tuner/run/gpu_checks.h"

enum { REFERENCE_OF = 4, FAILURES_MOST = 3 };

// Facts about a GPU, by its slot.
struct checked_gpu {
    char *uuid;             // of the device that these facts are about
    int64_t *ids;           // of valid trials since it last agreed with the others
    size_t id_count;        // length of `ids`
    size_t before_check;    // number of `ids` that are older than its newest check
    int failures;           // failed checks in a row
    int64_t checks, trials; // number of checks; number of trials with a time
    double ratio;           // its time in the newest check divided by the standard; NaN: unknown
    char *disabled;         // why it is disabled; NULL: it is not
};

static void grow(struct gpu_checks *c)
{
    gpu_times_grow(&c->times, c->with->pool->gpu_count);
    while (c->gpu_count < c->with->pool->gpu_count)
        memory_add(c->gpus, c->gpu_count) = (struct checked_gpu){.ratio = NAN};
}

static void release(struct check_candidate *candidate)
{
    free(candidate->config);
    free(candidate->cubin);
    json_decref(candidate->problems);
}

void gpu_checks_release(struct gpu_checks *c)
{
    for (size_t i = 0; i < c->gpu_count; i++) {
        free(c->gpus[i].uuid);
        free(c->gpus[i].ids);
        free(c->gpus[i].disabled);
    }
    free(c->gpus);
    gpu_times_release(&c->times);
    release(&c->reference);
}

void gpu_checks_ready(struct gpu_checks *c, size_t gpu)
{
    const char *uuid = c->with->pool->gpus[gpu].uuid ? c->with->pool->gpus[gpu].uuid : "";
    grow(c);
    struct checked_gpu *g = &c->gpus[gpu];
    if (g->uuid && !strcmp(g->uuid, uuid)) return;
    free(g->uuid);
    g->uuid = text_copy(uuid);
    g->id_count = g->before_check = 0;
    g->failures = 0;
    g->ratio = NAN;
    c->times.gpus[gpu] = (struct gpu_times_of){0};
    policy_check_device(c->with->policy, gpu);
}

static void take_reference(struct gpu_checks *c, const struct task *t, int64_t trial, double objective)
{
    if (c->seen >= REFERENCE_OF || c->with->pool->lockstep) return;
    if (!c->seen || objective < c->objective) {
        release(&c->reference);
        c->reference = (struct check_candidate){
            text_copy(t->text), text_copy(t->compiled.cubin ? t->compiled.cubin : ""), json_incref(t->problems)};
        c->objective = objective;
        c->trial = trial;
    }
    if (++c->seen < REFERENCE_OF) return;
    if (c->with->pool->gpu_count > 1)
        display_log(c->with->display,
                    "trial %" PRId64 " is measured on every GPU from time to time, to compare them: %s", c->trial,
                    c->reference.config);
    policy_use_reference(c->with->policy, true);
}

void gpu_checks_note(struct gpu_checks *c, const struct task *t, int64_t trial, double objective)
{
    struct checked_gpu *g = &c->gpus[t->queued.worker];
    memory_add(g->ids, g->id_count) = trial;
    g->trials++;
    take_reference(c, t, trial, objective);
}

void gpu_checks_send(struct gpu_checks *c, size_t gpu)
{
    const struct check_candidate *reference = &c->reference;
    const struct trial_request request = {
        // without "best", so that the reference is never cut off as too slow
        .candidate = {.config = reference->config, .cubin = reference->cubin, .written = reference->problems}};
    slot_send(&c->with->pool->gpus[gpu], request_write("trial", &trial_request_record, &request),
              c->with->job->measure.timeout);
}

static char *name_of(const struct gpu_checks *c, size_t gpu)
{
    const struct pool_slot *slot = &c->with->pool->gpus[gpu];
    autofree char *host = pool_gpu_host(c->with->pool, gpu);
    return text_format("%s (%s, %s)", slot->name, slot->uuid && *slot->uuid ? slot->uuid : "no uuid", host);
}

// Takes a GPU out of the run; its valid trials since its last good check are no longer ranked. Returns their number.
static size_t disable(struct gpu_checks *c, size_t gpu, const char *how)
{
    struct checked_gpu *g = &c->gpus[gpu];
    autofree char *name = name_of(c, gpu), *reason = text_format("measured on %s, which %s", name, how);
    size_t count = g->id_count;
    for (size_t i = 0; i < count; i++) {
        struct error err;
        if (store_add_verdict(c->with->store, g->ids[i], STATUS_SLOW, reason, &err))
            fatal_error_set(c->with->failure, EXIT_ENVIRONMENT, &err);
    }
    free(g->disabled);
    g->disabled =
        text_format("%s %s; %zu of its %" PRId64 " valid trials do not count, as they came after its last good check",
                    name, how, count, g->trials);
    g->id_count = 0;
    c->times.gpus[gpu].out = true;
    struct policy_request none = policy_gpu_lost(c->with->policy, gpu, true);
    free(none.tasks);
    pool_gpu_disable(c->with->pool, gpu, g->disabled);
    return count;
}

static const double same_within = 0.01; // relative difference up to which two GPUs' times count as equal

static size_t judge(struct gpu_checks *c, size_t gpu, size_t compared)
{
    struct checked_gpu *g = &c->gpus[gpu];
    const char *others = compared > 2 ? "the others" : "the first GPU";
    double ratio, limit;
    enum gpu_verdict verdict = gpu_times_decide(&c->times, gpu, same_within, &ratio, &limit);
    if (verdict == GPU_AGAIN) {
        display_log(c->with->display,
                    "%s takes %.4f times as long as %s for trial %" PRId64 " (at most %.4f): measured again",
                    c->with->pool->gpus[gpu].name, ratio, others, c->trial, limit);
        policy_check_again(c->with->policy, gpu);
    }
    if (verdict == GPU_OPEN || verdict == GPU_AGAIN) return 0;
    g->ratio = ratio;
    if (verdict == GPU_ALIKE) {
        g->id_count -= g->before_check;
        if (g->id_count) memmove(g->ids, g->ids + g->before_check, g->id_count * sizeof *g->ids);
        g->before_check = 0;
        return 0;
    }
    autofree char *how = text_format("takes %.3f times as long as %s for trial %" PRId64 " (%.3f is the limit)", ratio,
                                     others, c->trial, ratio < 1 ? 1 / limit : limit);
    return disable(c, gpu, how);
}

// Judges all GPUs once every working GPU has a time. Returns the number of trials that are no longer ranked.
static size_t judge_all(struct gpu_checks *c)
{
    const struct gpu_times *t = &c->times;
    size_t compared = 0, unranked = 0;
    for (size_t i = 0; i < t->count; i++) {
        bool has = t->gpus[i].count && !t->gpus[i].out;
        if (!has && !t->gpus[i].out && c->with->policy->gpus[i].ready) return 0;
        compared += has;
    }
    for (size_t i = 0; i < t->count && !c->with->failure->set; i++) unranked += judge(c, i, compared);
    return unranked;
}

size_t gpu_checks_failed(struct gpu_checks *c, size_t gpu, const char *why)
{
    size_t others = 0;
    display_log(c->with->display, "%s: the reference, trial %" PRId64 ", could not be measured: %s",
                c->with->pool->gpus[gpu].name, c->trial, why);
    if (++c->gpus[gpu].failures < FAILURES_MOST) {
        policy_check_again(c->with->policy, gpu);
        return 0;
    }
    for (size_t i = 0; i < c->times.count; i++) others += i != gpu && c->times.gpus[i].count;
    if (!others) {
        display_message(c->with->display,
                        "the GPUs of this run are not compared: the reference, trial %" PRId64 ", fails: %s", c->trial,
                        why);
        policy_use_reference(c->with->policy, false);
        return 0;
    }
    autofree char *how = text_format("fails at trial %" PRId64 ", which others can measure: %s", c->trial, why);
    return disable(c, gpu, how);
}

size_t gpu_checks_take(struct gpu_checks *c, size_t gpu, const struct trial_answer *answer)
{
    double times[3][JOB_MAX_PROBLEMS], values[3];
    for (size_t p = 0; p < c->with->job->tuned_count; p++) {
        const struct problem_answer *problem = trial_answer_problem(answer, (int)p);
        times[0][p] = problem ? problem->figures.time : NAN;
        times[1][p] = problem ? problem->figures.low : NAN;
        times[2][p] = problem ? problem->figures.high : NAN;
    }
    for (int k = 0; k < 3; k++) values[k] = job_objective(c->with->job, times[k]);
    if (isfinite(answer->figures.gpu_seconds)) c->wall += answer->figures.gpu_seconds;
    if (!answer_is_ok(&answer->head) || !(values[0] > 0))
        return gpu_checks_failed(c, gpu, *answer->head.reason ? answer->head.reason : "it has no time");
    struct checked_gpu *g = &c->gpus[gpu];
    g->failures = 0;
    g->checks++;
    g->before_check = g->id_count;
    gpu_times_add(&c->times, gpu, (struct interval){values[0], values[1], values[2]});
    return judge_all(c);
}

static const struct record_field gpu_fields[] = {
    {"trials", RECORD_MEMBER(struct checked_gpu, trials), .flags = RECORD_ALWAYS},
    {"checks", RECORD_MEMBER(struct checked_gpu, checks), .flags = RECORD_ALWAYS},
    {"ratio", RECORD_MEMBER(struct checked_gpu, ratio)},
    {"aside", RECORD_MEMBER(struct checked_gpu, disabled)},
    {0}};
static const struct record gpu_record = {"a GPU", sizeof(struct checked_gpu), gpu_fields, NULL};

json_t *gpu_checks_document(struct gpu_checks *c)
{
    json_t *list = json_array();
    grow(c);
    for (size_t i = 0; i < c->with->pool->gpu_count; i++) {
        json_t *gpu = pool_gpu_identity(c->with->pool, i);
        record_write_into(&gpu_record, &c->gpus[i], gpu);
        json_array_append_new(list, gpu);
    }
    return list;
}
