// The final: the best candidates of the search and the baselines once more, interleaved, on fresh data. Who wins is
// decided in final_decide.c, and in final_each.c for a job with objective "each". A candidate that is wrong on the
// final's data is out, whatever its time.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/colour.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/final/final_decide.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/job_message.h"
#include "tuner/run/run.h"

enum { FINAL_GRACE = 60 }; // s beyond a trial's own deadline, between signs of life: there is one before every entry
enum { FINAL_SPARES = 2 }; // candidates for each place

struct pick {
    struct run *r;
    size_t count;
};

static int pick(void *user, const struct trial *trial)
{
    struct pick *p = user;
    struct run *r = p->r;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (p->count >= run_final_places(r)) return 1;
    if (space_parse(r->job->space, trial->config, config, NULL) || space_index(r->job->space, config) < 0) return 0;
    struct task *t = run_add_task(r, config, TASK_FINALIST);
    t->trial = trial->id;
    p->count++;
    return 0;
}

size_t run_final_places(const struct run *r)
{
    return (size_t)r->job->measure.final_candidates * FINAL_SPARES;
}

int run_final_begin(struct run *r)
{
    run_final_reset(r);
    if (r->job->objective == OBJECTIVE_EACH) return run_final_begin_each(r);
    struct pick p = {.r = r};
    struct error err;
    if (store_each(r->store, true, 0, pick, &p, &err) < 0) run_fail(r, EXIT_ENVIRONMENT, &err);
    return (int)p.count;
}

// Other data than the search's.
static uint64_t final_seed(const struct run *r)
{
    return r->seed + 1000003;
}

void run_final_send(struct run *r, size_t gpu)
{
    struct arena memory = {NULL};
    struct job_answer job;
    record_read(&job_answer_record, r->job_answer, &job, &memory, NULL); // the pool has checked it
    struct final_candidate *candidates = arena_new(&memory, r->policy.queue.count * sizeof *candidates);
    const char **baselines = arena_new(&memory, job.baseline_count * sizeof *baselines);
    bool all = r->job->objective == OBJECTIVE_EACH || r->builds.decision;
    struct final_request request = {.seed = (int64_t)final_seed(r),
                                    .process = r->final_process,
                                    .rounds = run_final_rounds(r),
                                    .places = all ? -1 : r->job->measure.final_candidates,
                                    .candidates = candidates,
                                    .baselines = baselines};
    r->final_condemned = 0;
    for (size_t i = 0; i < r->policy.queue.count; i++) {
        const struct task *t = (const struct task *)r->policy.queue.tasks[i];
        if (t->queued.state != TASK_FINAL || !run_final_stands(r, t)) continue;
        candidates[request.candidate_count++] = (struct final_candidate){
            .trial = t->trial,
            .binary = t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC,
            .candidate = {.config = t->text, .cubin = t->compiled.cubin, .written = t->problems}};
    }
    for (size_t i = 0; i < job.baseline_count; i++) {
        const struct baseline_answer *b = &job.baselines[i];
        bool candidate = !strcmp(b->name, CURRENT_KERNEL) && run_final_has_current(r, &request);
        if (b->problem_count && !candidate) baselines[request.baseline_count++] = b->name;
    }
    display_log(&r->display, "%s: %zu candidates and %zu baselines, %" PRId64 " rounds in process %" PRId64 " on %s",
                r->builds.decision ? "race of builds" : "final", request.candidate_count, request.baseline_count,
                request.rounds, r->final_process + 1, r->pool.gpus[gpu].name);
    pool_send_gpu(&r->pool, gpu, request_write("final", &final_request_record, &request),
                  r->job->measure.timeout + FINAL_GRACE);
    arena_release(&memory);
}

struct finalist {
    int64_t trial; // 0: a baseline
    const json_t *json;
    double *objectives;
};

// The share of an SM that a block takes, largest over the stages, and the length of the code: a kernel that takes less
// runs better beside others.
static void read_resources(struct run *r, int64_t trial_id, struct contender *e)
{
    struct trial trial;
    struct error err;
    if (store_get(r->store, trial_id, &trial, &err)) return;
    if (trial.facts.code_bytes > 0) e->code = trial.facts.code_bytes;
    for (size_t i = 0; i < trial.stage_count; i++) {
        const struct trial_stage *s = &trial.stages[i];
        int64_t threads = 1, shared = s->shared_dynamic + (s->shared_static > 0 ? s->shared_static : 0);
        for (size_t k = 0; k < r->policy.queue.count; k++) {
            const struct task *t = (const struct task *)r->policy.queue.tasks[k];
            if (t->trial != trial_id || i >= t->launch_count) continue;
            const int64_t *b = t->launches[i].shape.block;
            threads = b[0] * b[1] * b[2];
        }
        e->share = fmax(e->share, final_share(s->registers, threads, shared, r->pool.limits.registers_per_sm,
                                              r->pool.limits.shared_per_sm));
    }
}

static void summarise(struct run *r, const struct finalist *finalists, const struct contender *entries, size_t count,
                      size_t winner, size_t ties)
{
    struct trial trial;
    struct error err;
    char shown[32];
    if (store_get(r->store, finalists[winner].trial, &trial, &err)) return;
    display_clear(&r->display);
    text_show_duration(entries[winner].median, shown, sizeof shown);
    bool told = r->options->events != NULL;
    json_t *ratios = json_array();
    if (!told)
        printf("%swinner%s: trial %" PRId64 ", %s\n  %s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout),
               trial.id, shown, trial.config);
    display_log(&r->display, "winner: trial %" PRId64 ", %s: %s", trial.id, shown, trial.config);
    if (ties && !told)
        printf("  tied with it within %.1f%%: %zu other candidate%s; chosen because it uses the fewest SM resources\n",
               100 * r->job->measure.tie, ties, ties > 1 ? "s" : "");
    for (size_t i = 0; i < count; i++) {
        if (entries[i].candidate) continue;
        struct interval ratio;
        size_t n = final_ratio(&entries[i], &entries[winner], &ratio);
        const char *name = json_get_string(finalists[i].json, "name", "?");
        if (!told)
            printf("  %.3f times %s (95%% interval %.3f to %.3f, %zu rounds)\n", ratio.value, name, ratio.low,
                   ratio.high, n);
        display_log(&r->display, "%.3f times %s (%.3f to %.3f)", ratio.value, name, ratio.low, ratio.high);
        json_array_append_new(ratios, json_pack("{s:s, s:o, s:o, s:o, s:I}", "name", name, "ratio",
                                                json_real_or_null(ratio.value), "low", json_real_or_null(ratio.low),
                                                "high", json_real_or_null(ratio.high), "rounds", (json_int_t)n));
    }
    run_event(r, "winner",
              json_pack("{s:I, s:s, s:o, s:I, s:o}", "trial", (json_int_t)trial.id, "config", trial.config, "time",
                        json_real_or_null(entries[winner].median), "ties", (json_int_t)ties, "ratios", ratios));
}

// The entries that passed, as contenders. Arrays as long as the list.
static size_t read_contenders(struct run *r, const json_t *list, struct finalist *finalists, struct contender *entries,
                              unsigned char **process)
{
    size_t used = 0, i, known = run_final_processes(r, process);
    const json_t *json;
    json_array_foreach(list, i, json)
    {
        struct finalist *f = &finalists[used];
        struct contender *e = &entries[used];
        if (status_find(json_get_string(json, "status", "")) != STATUS_OK) continue;
        *f = (struct finalist){.trial = json_get_integer(json, "trial", 0), .json = json};
        *e = (struct contender){.candidate = f->trial != 0, .rounds = run_final_objectives(r, json, &f->objectives)};
        e->objectives = f->objectives;
        e->process = *process;
        if (known && e->rounds > known) e->rounds = known;
        if (!e->rounds) {
            free(f->objectives);
            continue;
        }
        if (e->candidate) read_resources(r, f->trial, e);
        used++;
    }
    return used;
}

// Writes what each process found into the entries of the final's document.
static void note_processes(struct run *r, const struct finalist *finalists, const struct contender *entries,
                           size_t count)
{
    for (size_t i = 0; i < count && entries[i].process; i++) {
        json_t *entry = (json_t *)finalists[i].json, *medians = json_array();
        for (int p = 0; p < FINAL_PROCESSES_MAX; p++)
            if (isfinite(entries[i].process_medians[p]))
                json_array_append_new(medians, json_real(entries[i].process_medians[p]));
        json_object_set_new(entry, "process_medians", medians);
        json_object_set_new(entry, "by_process", json_boolean(entries[i].by_process));
        if (!entries[i].by_process) continue;
        char *name = entries[i].candidate ? text_format("trial %" PRId64, finalists[i].trial)
                                          : text_copy(json_get_string(entry, "name", "?"));
        display_message(&r->display,
                        "%s takes one of two times, depending on the process that runs it; expect both in your program",
                        name);
        free(name);
    }
}

// The decision's part of the final's document: of one winner, or of a set of kernels. NULL when no candidate passed,
// or, with a reason, when the rounds do not say who wins.
static json_t *decide(struct run *r, const json_t *list, struct error *open)
{
    json_t *document = NULL;
    unsigned char *process;
    struct finalist *finalists = memory_new(json_array_size(list), sizeof *finalists);
    struct contender *entries = memory_new(json_array_size(list), sizeof *entries);
    size_t used = read_contenders(r, list, finalists, entries, &process);
    bool each = r->job->objective == OBJECTIVE_EACH;
    bool last = r->final_open + 1 == FINALS_OPEN_MOST;
    int64_t winner =
        each ? final_look(entries, used, open) : final_decide(entries, used, r->job->measure.tie, last, open);
    struct error doubt = winner >= 0 && !each ? *open : (struct error){""};
    if (*doubt.message) {
        display_message(&r->display, "the winner may have an equal: %s", doubt.message);
        *open = (struct error){""};
    }
    note_processes(r, finalists, entries, used);
    if (each && winner >= 0) {
        document = run_final_decide_each(r, list);
    } else if (winner >= 0 && !run_final_sanitize(r, &finalists[winner].trial, 1)) {
        json_t *ties = json_array();
        for (size_t i = 0; i < used; i++)
            if (entries[i].tied) json_array_append_new(ties, json_integer(finalists[i].trial));
        summarise(r, finalists, entries, used, (size_t)winner, json_array_size(ties));
        document = json_pack("{s:I, s:I, s:o}", "rounds", (json_int_t)entries[winner].rounds, "winner",
                             (json_int_t)finalists[winner].trial, "ties", ties);
        if (*doubt.message) json_object_set_new(document, "doubt", json_string(doubt.message));
    }
    for (size_t i = 0; i < used; i++) free(finalists[i].objectives);
    free(finalists);
    free(entries);
    free(process);
    return document;
}

// kind: "final", "open_final" for one that is not decided, "builds" for the race of builds.
void run_final_put(struct run *r, const char *kind, json_t *decision, const json_t *entries)
{
    json_t *document = json_pack("{s:f, s:I}", "when", clock_wall(), "seed", (json_int_t)final_seed(r));
    json_t *process = json_object_get(r->final_answer, "process");
    json_object_update(document, decision);
    if (process) json_object_set(document, "process", process);
    if (r->policy.final_gpu != POLICY_NOBODY && !r->pool.lockstep)
        json_object_set_new(document, "gpu", pool_gpu_identity(&r->pool, r->policy.final_gpu));
    json_object_set_new(document, "replayed", json_boolean(r->pool.replay));
    if (r->pool.replay) json_object_set(document, "recording", json_object_get(r->pool.hello, "recording"));
    json_object_set(document, "entries", (json_t *)entries);
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    struct error err;
    if (store_put_document(r->store, kind, text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

static size_t judge_entries(struct run *r)
{
    const json_t *list = json_object_get(r->final_answer, "entries"), *entry;
    size_t i, condemned = 0;
    json_array_foreach(list, i, entry)
    {
        const char *word = json_get_string(entry, "status", ""), *reason = json_get_string(entry, "reason", "");
        int64_t trial = json_get_integer(entry, "trial", 0);
        int status = status_find(word);
        if (status == STATUS_OK) continue;
        if (trial && status >= 0) {
            run_condemn(r, trial, (enum trial_status)status, reason);
            condemned++;
        } else {
            display_message(&r->display, "%s is out of the final: %s: %s", json_get_string(entry, "name", "?"), word,
                            reason);
        }
    }
    return condemned;
}

// An entry is out, so that another final may do better. `why` is set.
static enum final_outcome without_winner(struct run *r, size_t condemned, struct error *why)
{
    error_set(why, "a candidate is out");
    if (condemned) return FINAL_AGAIN;
    if (!r->final_answer)
        error_set(
            why,
            "the final ended the GPU worker (the log says how), so no winner is decided; run the same command again");
    else
        error_set(why, "the final has no winner: %s; the log has the reasons",
                  json_get_string(r->final_answer, "reason",
                                  r->job->objective == OBJECTIVE_EACH
                                      ? "the candidates that passed it do not serve every problem"
                                      : "no candidate passed it"));
    display_message(&r->display, "%s", why->message);
    return FINAL_FAILED;
}

// The rounds are kept, so that a user can see why.
static enum final_outcome without_decision(struct run *r, const json_t *entries, const struct error *why)
{
    json_t *reason = json_pack("{s:s}", "reason", why->message);
    display_message(&r->display, "the final is not decided: %s", why->message);
    run_final_put(r, "open_final", reason, entries);
    json_decref(reason);
    return FINAL_OPEN;
}

void run_final_drop(struct run *r)
{
    for (size_t i = r->policy.queue.count; i-- > 0;) {
        struct task *t = (struct task *)r->policy.queue.tasks[i];
        if (t->queued.purpose == TASK_FINALIST) run_drop_task(r, t);
    }
}

// Takes a baseline that has crashed the final out of the next. Whether there is one of that name.
static bool drop_baseline(struct run *r, const json_t *answer)
{
    const char *name = json_get_string(answer, "baseline", NULL), *reason = json_get_string(answer, "reason", "");
    size_t i;
    json_t *each;
    json_array_foreach(json_object_get(r->job_answer, "baselines"), i, each)
    {
        json_t *problems = json_object_get(each, "problems");
        if (!name || strcmp(json_get_string(each, "name", ""), name) != 0 || !json_array_size(problems)) continue;
        display_message(&r->display, "baseline %s: it crashes in the final, which goes on without it: %s", name,
                        reason);
        json_array_clear(problems);
        return true;
    }
    return false;
}

enum final_outcome run_final_finish(struct run *r)
{
    size_t condemned = 0;
    enum final_outcome outcome = FINAL_DECIDED;
    bool crashed = status_find(json_get_string(r->final_answer, "status", "")) == STATUS_CRASHED;
    int64_t culprit = crashed ? json_get_integer(r->final_answer, "trial", 0) : r->final_blamed.trial;
    if (crashed && culprit > 0) {
        run_condemn(r, culprit, STATUS_CRASHED, json_get_string(r->final_answer, "reason", ""));
        condemned++;
    } else if (crashed && drop_baseline(r, r->final_answer)) {
        condemned++; // the final is tried again
    } else if (!r->final_answer && culprit > 0) {
        run_condemn(r, culprit, r->final_blamed.status, r->final_blamed.reason.message);
        condemned++;
    } else if (r->final_answer) {
        condemned = judge_entries(r);
    }
    run_final_add_current(r);
    const json_t *entries = json_object_get(r->final_answer, "entries");
    struct error why = {""};
    json_t *decision = !r->final_answer || crashed ? NULL : decide(r, entries, &why);
    if (decision)
        run_final_put(r, "final", decision, entries);
    else if (*why.message)
        outcome = without_decision(r, entries, &why);
    else
        outcome = without_winner(r, condemned + r->final_condemned, &why);
    run_event_final(r, outcome, why.message);
    json_decref(decision);
    if (outcome == FINAL_DECIDED) run_final_keep_binaries(r, entries);
    run_final_drop(r);
    return outcome;
}
