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
#include "tuner/final/final.h"
#include "tuner/final/final_decide.h"
#include "tuner/protocol/final_message.h"
#include "tuner/protocol/job_message.h"

enum { FINAL_GRACE = 60 }; // s beyond a trial's own deadline, between signs of life: there is one before every entry
enum { FINAL_SPARES = 2 }; // candidates for each place

struct pick {
    struct final_run *f;
    size_t count;
};

static int pick(void *user, const struct trial *trial)
{
    struct pick *p = user;
    struct final_run *f = p->f;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (p->count >= final_places(f)) return 1;
    if (space_parse(f->with.job->space, trial->config, config, NULL) || space_index(f->with.job->space, config) < 0)
        return 0;
    final_add(f, config, trial->id);
    p->count++;
    return 0;
}

size_t final_places(const struct final_run *f)
{
    return (size_t)f->with.job->measure.final_candidates * FINAL_SPARES;
}

int final_begin(struct final_run *f)
{
    final_reset(f);
    if (f->with.job->objective == OBJECTIVE_EACH) return final_begin_each(f);
    struct pick p = {.f = f};
    struct error err;
    if (store_each(f->with.store, true, 0, pick, &p, &err) < 0)
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    return (int)p.count;
}

// Other data than the search's.
static uint64_t final_seed(const struct final_run *f)
{
    return f->with.seed + 1000003;
}

void final_send(struct final_run *f, size_t gpu)
{
    struct arena memory = {NULL};
    const struct job_answer *job = f->with.job_answer;
    struct final_candidate *candidates = arena_new(&memory, f->with.policy->queue.count * sizeof *candidates);
    const char **baselines = arena_new(&memory, job->baseline_count * sizeof *baselines);
    bool all = f->with.job->objective == OBJECTIVE_EACH || f->builds.decision;
    struct final_request request = {.seed = (int64_t)final_seed(f),
                                    .process = f->process,
                                    .rounds = final_rounds(f),
                                    .places = all ? -1 : f->with.job->measure.final_candidates,
                                    .candidates = candidates,
                                    .baselines = baselines};
    f->condemned = 0;
    for (size_t i = 0; i < f->with.policy->queue.count; i++) {
        const struct task *t = (const struct task *)f->with.policy->queue.tasks[i];
        if (t->queued.state != TASK_FINAL || !final_stands(f, t)) continue;
        candidates[request.candidate_count++] = (struct final_candidate){
            .trial = t->trial,
            .binary = t->by_nvcc ? PROTOCOL_NVCC : PROTOCOL_NVRTC,
            .candidate = {.config = t->text, .cubin = t->compiled.cubin, .written = t->problems}};
    }
    for (size_t i = 0; i < job->baseline_count; i++) {
        const struct baseline_answer *b = &job->baselines[i];
        bool candidate = !strcmp(b->name, CURRENT_KERNEL) && final_has_current(f, &request);
        if (b->problem_count && !candidate && !(f->dropped && f->dropped[i]))
            baselines[request.baseline_count++] = b->name;
    }
    display_log(f->with.display,
                "%s: %zu candidates and %zu baselines, %" PRId64 " rounds in process %" PRId64 " on %s",
                f->builds.decision ? "comparison of builds" : "final", request.candidate_count, request.baseline_count,
                request.rounds, f->process + 1, f->with.pool->gpus[gpu].name);
    pool_send_gpu(f->with.pool, gpu, request_write("final", &final_request_record, &request),
                  f->with.job->measure.timeout + FINAL_GRACE);
    arena_release(&memory);
}

struct finalist {
    int64_t trial; // 0: a baseline
    const json_t *json;
    double *objectives;
};

// The share of an SM that a block takes, largest over the stages, and the length of the code: a kernel that takes less
// runs better beside others.
static void read_resources(struct final_run *f, int64_t trial_id, struct contender *e)
{
    struct trial trial;
    struct error err;
    if (store_get(f->with.store, trial_id, &trial, &err)) return;
    if (trial.facts.code_bytes > 0) e->code = trial.facts.code_bytes;
    for (size_t i = 0; i < trial.stage_count; i++) {
        const struct trial_stage *s = &trial.stages[i];
        int64_t threads = 1, shared = s->shared_dynamic + (s->shared_static > 0 ? s->shared_static : 0);
        for (size_t k = 0; k < f->with.policy->queue.count; k++) {
            const struct task *t = (const struct task *)f->with.policy->queue.tasks[k];
            if (t->trial != trial_id || i >= t->launch_count) continue;
            const int64_t *b = t->launches[i].shape.block;
            threads = b[0] * b[1] * b[2];
        }
        e->share = fmax(e->share, final_share(s->registers, threads, shared, f->with.pool->limits.registers_per_sm,
                                              f->with.pool->limits.shared_per_sm));
    }
}

static void summarise(struct final_run *f, const struct finalist *finalists, const struct contender *entries,
                      size_t count, size_t winner, size_t ties)
{
    struct trial trial;
    struct error err;
    char shown[32];
    if (store_get(f->with.store, finalists[winner].trial, &trial, &err)) return;
    display_clear(f->with.display);
    text_show_duration(entries[winner].median, shown, sizeof shown);
    bool reported = f->with.events != NULL;
    json_t *ratios = json_array();
    if (!reported)
        printf("%swinner%s: trial %" PRId64 ", %s\n  %s\n", colour_begin(stdout, COLOUR_GOOD), colour_end(stdout),
               trial.id, shown, trial.config);
    display_log(f->with.display, "winner: trial %" PRId64 ", %s: %s", trial.id, shown, trial.config);
    if (ties && !reported)
        printf("  tied with it within %.1f%%: %zu other candidate%s; chosen because it uses the fewest SM resources\n",
               100 * f->with.job->measure.tie, ties, ties > 1 ? "s" : "");
    for (size_t i = 0; i < count; i++) {
        if (entries[i].candidate) continue;
        struct interval ratio;
        size_t n = final_ratio(&entries[i], &entries[winner], &ratio);
        const char *name = json_get_string(finalists[i].json, "name", "?");
        if (!reported)
            printf("  %.3f times %s (95%% interval %.3f to %.3f, %zu rounds)\n", ratio.value, name, ratio.low,
                   ratio.high, n);
        display_log(f->with.display, "%.3f times %s (%.3f to %.3f)", ratio.value, name, ratio.low, ratio.high);
        json_array_append_new(ratios, json_pack("{s:s, s:o, s:o, s:o, s:I}", "name", name, "ratio",
                                                json_real_or_null(ratio.value), "low", json_real_or_null(ratio.low),
                                                "high", json_real_or_null(ratio.high), "rounds", (json_int_t)n));
    }
    final_event(f, "winner",
                json_pack("{s:I, s:s, s:o, s:I, s:o}", "trial", (json_int_t)trial.id, "config", trial.config, "time",
                          json_real_or_null(entries[winner].median), "ties", (json_int_t)ties, "ratios", ratios));
}

// The entries that passed, as contenders. Arrays as long as the list.
static size_t read_contenders(struct final_run *f, const json_t *list, struct finalist *finalists,
                              struct contender *entries, unsigned char **process)
{
    size_t used = 0, i, known = final_processes(f, process);
    const json_t *json;
    json_array_foreach(list, i, json)
    {
        struct finalist *one = &finalists[used];
        struct contender *e = &entries[used];
        if (status_find(json_get_string(json, "status", "")) != STATUS_OK) continue;
        *one = (struct finalist){.trial = json_get_integer(json, "trial", 0), .json = json};
        *e = (struct contender){.candidate = one->trial != 0, .rounds = final_objectives(f, json, &one->objectives)};
        e->objectives = one->objectives;
        e->process = *process;
        if (known && e->rounds > known) e->rounds = known;
        if (!e->rounds) {
            free(one->objectives);
            continue;
        }
        if (e->candidate) read_resources(f, one->trial, e);
        used++;
    }
    return used;
}

// Writes what each process found into the entries of the final's document.
static void note_processes(struct final_run *f, const struct finalist *finalists, const struct contender *entries,
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
        display_message(f->with.display,
                        "%s takes one of two times, depending on the process that runs it; expect both in your program",
                        name);
        free(name);
    }
}

// The decision's part of the final's document: of one winner, or of a set of kernels. NULL when no candidate passed,
// or, with a reason, when the rounds do not say who wins.
static json_t *decide(struct final_run *f, const json_t *list, struct error *open)
{
    json_t *document = NULL;
    unsigned char *process;
    struct finalist *finalists = memory_new(json_array_size(list), sizeof *finalists);
    struct contender *entries = memory_new(json_array_size(list), sizeof *entries);
    size_t used = read_contenders(f, list, finalists, entries, &process);
    bool each = f->with.job->objective == OBJECTIVE_EACH;
    bool last = f->open + 1 == FINALS_OPEN_MOST;
    int64_t winner =
        each ? final_poll(entries, used, open) : final_decide(entries, used, f->with.job->measure.tie, last, open);
    struct error doubt = winner >= 0 && !each ? *open : (struct error){""};
    if (*doubt.message) {
        display_message(f->with.display, "the winner may have an equal: %s", doubt.message);
        *open = (struct error){""};
    }
    note_processes(f, finalists, entries, used);
    if (each && winner >= 0) {
        document = final_decide_each(f, list);
    } else if (winner >= 0 && !final_sanitize(f, &finalists[winner].trial, 1)) {
        json_t *ties = json_array();
        for (size_t i = 0; i < used; i++)
            if (entries[i].tied) json_array_append_new(ties, json_integer(finalists[i].trial));
        summarise(f, finalists, entries, used, (size_t)winner, json_array_size(ties));
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

// kind: "final", "open_final" for one that is not decided, "builds" for the comparison of builds.
void final_put(struct final_run *f, const char *kind, json_t *decision, const json_t *entries)
{
    json_t *document = json_pack("{s:f, s:I}", "when", clock_wall(), "seed", (json_int_t)final_seed(f));
    json_t *process = json_object_get(f->answer, "process");
    json_object_update(document, decision);
    if (process) json_object_set(document, "process", process);
    if (f->with.policy->final_gpu != POLICY_NOBODY && !f->with.pool->lockstep)
        json_object_set_new(document, "gpu", pool_gpu_identity(f->with.pool, f->with.policy->final_gpu));
    json_object_set_new(document, "replayed", json_boolean(f->with.pool->replay));
    if (f->with.pool->replay) json_object_set(document, "recording", json_object_get(f->with.pool->hello, "recording"));
    json_object_set(document, "entries", (json_t *)entries);
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    struct error err;
    if (store_put_document(f->with.store, kind, text, &err)) fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

static size_t decide_entries(struct final_run *f)
{
    const json_t *list = json_object_get(f->answer, "entries"), *entry;
    size_t i, condemned = 0;
    json_array_foreach(list, i, entry)
    {
        const char *word = json_get_string(entry, "status", ""), *reason = json_get_string(entry, "reason", "");
        int64_t trial = json_get_integer(entry, "trial", 0);
        int status = status_find(word);
        if (status == STATUS_OK) continue;
        if (trial && status >= 0) {
            final_condemn(f, trial, (enum trial_status)status, reason);
            condemned++;
        } else {
            display_message(f->with.display, "%s is out of the final: %s: %s", json_get_string(entry, "name", "?"),
                            word, reason);
        }
    }
    return condemned;
}

// An entry is out, so that another final may do better. `why` is set.
static enum final_outcome without_winner(struct final_run *f, size_t condemned, struct error *why)
{
    error_set(why, "a candidate is out");
    if (condemned) return FINAL_AGAIN;
    if (!f->answer)
        error_set(
            why,
            "the final ended the GPU worker (the log says how), so no winner is decided; run the same command again");
    else
        error_set(why, "the final has no winner: %s; the log has the reasons",
                  json_get_string(f->answer, "reason",
                                  f->with.job->objective == OBJECTIVE_EACH
                                      ? "the candidates that passed it do not serve every problem"
                                      : "no candidate passed it"));
    display_message(f->with.display, "%s", why->message);
    return FINAL_FAILED;
}

// The rounds are kept, so that a user can see why.
static enum final_outcome without_decision(struct final_run *f, const json_t *entries, const struct error *why)
{
    json_t *reason = json_pack("{s:s}", "reason", why->message);
    display_message(f->with.display, "the final is not decided: %s", why->message);
    final_put(f, "open_final", reason, entries);
    json_decref(reason);
    return FINAL_OPEN;
}

// Takes a baseline that has crashed the final out of the next. Whether there is one of that name.
static bool drop_baseline(struct final_run *f, const json_t *answer)
{
    const char *name = json_get_string(answer, "baseline", ""), *reason = json_get_string(answer, "reason", "");
    const struct job_answer *job = f->with.job_answer;
    if (!f->dropped) f->dropped = memory_new(job->baseline_count, sizeof *f->dropped);
    for (size_t i = 0; i < job->baseline_count; i++) {
        const struct baseline_answer *b = &job->baselines[i];
        if (strcmp(b->name, name) != 0 || !b->problem_count || f->dropped[i]) continue;
        display_message(f->with.display, "baseline %s: it crashes in the final, which continues without it: %s", name,
                        reason);
        return f->dropped[i] = true;
    }
    return false;
}

enum final_outcome final_finish(struct final_run *f)
{
    size_t condemned = 0;
    enum final_outcome outcome = FINAL_DECIDED;
    bool crashed = status_find(json_get_string(f->answer, "status", "")) == STATUS_CRASHED;
    int64_t culprit = crashed ? json_get_integer(f->answer, "trial", 0) : f->blamed.trial;
    if (crashed && culprit > 0) {
        final_condemn(f, culprit, STATUS_CRASHED, json_get_string(f->answer, "reason", ""));
        condemned++;
    } else if (crashed && drop_baseline(f, f->answer)) {
        condemned++; // the final is tried again
    } else if (!f->answer && culprit > 0) {
        final_condemn(f, culprit, f->blamed.status, f->blamed.reason.message);
        condemned++;
    } else if (f->answer) {
        condemned = decide_entries(f);
    }
    final_add_current(f);
    const json_t *entries = json_object_get(f->answer, "entries");
    struct error why = {""};
    json_t *decision = !f->answer || crashed ? NULL : decide(f, entries, &why);
    if (decision)
        final_put(f, "final", decision, entries);
    else if (*why.message)
        outcome = without_decision(f, entries, &why);
    else
        outcome = without_winner(f, condemned + f->condemned, &why);
    final_event_outcome(f, outcome, why.message);
    json_decref(decision);
    if (outcome == FINAL_DECIDED) final_keep_binaries(f, entries);
    final_drop(f);
    return outcome;
}
