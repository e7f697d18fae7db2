// The final: the best candidates of the search and the baselines once more, interleaved, on fresh data; and the
// decision between them.
//
// The winner has the lowest median objective over the rounds. Candidates whose paired ratio to it (median over rounds)
// is within the job's `tie` are tied with it; among the tied the one that takes the smallest share of an SM wins, then
// the smaller code. A candidate that is wrong on the final's data is out, whatever its time.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/stats.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { FINAL_TIMEOUT = 300 }; // s between signs of life

struct pick {
    struct run *r;
    size_t count;
};

static int pick(void *user, const struct trial *trial)
{
    struct pick *p = user;
    struct run *r = p->r;
    uint16_t config[SPACE_MAX_PARAMETERS];
    if (p->count >= (size_t)r->job->measure.final_candidates) return 1;
    if (space_parse(r->job->space, trial->config, config, NULL) || space_index(r->job->space, config) < 0) return 0;
    struct task *t = run_add_task(r, config, TASK_FINALIST);
    t->trial = trial->id;
    p->count++;
    return 0;
}

int run_final_begin(struct run *r)
{
    if (r->job->objective == OBJECTIVE_EACH) return run_final_begin_each(r);
    struct pick p = {.r = r};
    struct error err;
    if (store_each(r->store, true, 0, pick, &p, &err) < 0) run_fail(r, EXIT_ENVIRONMENT, &err);
    return (int)p.count;
}

void run_final_send(struct run *r, size_t gpu)
{
    json_t *candidates = json_array(), *baselines = json_array();
    size_t i;
    json_t *value;
    for (i = 0; i < r->policy.queue.count; i++) {
        const struct task *t = (const struct task *)r->policy.queue.tasks[i];
        if (t->queued.state != TASK_FINAL) continue;
        json_array_append_new(candidates, json_pack("{s:I, s:s, s:s, s:O}", "trial", (json_int_t)t->trial, "config",
                                                    t->text, "cubin", t->compiled.cubin, "problems", t->problems));
    }
    json_array_foreach(json_object_get(r->job_answer, "baselines"), i, value)
    {
        if (json_array_size(json_object_get(value, "problems")))
            json_array_append(baselines, json_object_get(value, "name"));
    }
    run_log(r, "final: %zu candidates and %zu baselines, %" PRId64 " rounds", json_array_size(candidates),
            json_array_size(baselines), r->job->measure.final_rounds);
    json_t *request =
        json_pack("{s:s, s:I, s:I, s:o, s:o}", "op", "final", "seed", (json_int_t)(r->seed + 1000003), "rounds",
                  (json_int_t)r->job->measure.final_rounds, "candidates", candidates, "baselines", baselines);
    pool_send_gpu(&r->pool, gpu, request, FINAL_TIMEOUT);
}

struct finalist {
    int64_t trial;
    const json_t *json;
    size_t rounds;
    double *objectives; // one a round
    double median, share, code;
};

static size_t read_rounds(const struct run *r, const json_t *entry, double **out)
{
    const json_t *problems = json_object_get(entry, "problems");
    size_t rounds = SIZE_MAX;
    for (size_t p = 0; p < r->job->tuned_count; p++) {
        size_t n = json_array_size(json_object_get(json_array_get(problems, p), "times"));
        if (n < rounds) rounds = n;
    }
    if (rounds == SIZE_MAX) rounds = 0;
    *out = memory_new(rounds, sizeof **out);
    for (size_t i = 0; i < rounds; i++) {
        double times[JOB_MAX_PROBLEMS];
        for (size_t p = 0; p < r->job->tuned_count; p++)
            times[p] = json_number_value(json_array_get(json_object_get(json_array_get(problems, p), "times"), i));
        (*out)[i] = job_objective(r->job, times);
    }
    return rounds;
}

static double median_of(const double *x, size_t n)
{
    double *copy = memory_new(n, sizeof *copy);
    memcpy(copy, x, n * sizeof *copy);
    double m = stats_median(copy, n);
    free(copy);
    return m;
}

// The share of an SM that one block takes, largest over the stages: the fewer, the better it lives beside other
// kernels.
static void read_resources(struct run *r, struct finalist *e)
{
    struct trial trial;
    struct error err;
    if (store_get(r->store, e->trial, &trial, &err)) return;
    for (size_t i = 0; i < trial.stage_count; i++) {
        const struct trial_stage *s = &trial.stages[i];
        double shared = (double)(s->shared_dynamic + (s->shared_static > 0 ? s->shared_static : 0)) /
                        (double)r->pool.limits.shared_per_sm;
        double registers = (double)s->registers / (double)r->pool.limits.registers_per_sm;
        for (size_t k = 0; k < r->policy.queue.count; k++) {
            const struct task *t = (const struct task *)r->policy.queue.tasks[k];
            if (t->trial != e->trial || i >= t->launch_count) continue;
            const int64_t *b = t->launches[i].shape.block;
            registers = (double)(s->registers * b[0] * b[1] * b[2]) / (double)r->pool.limits.registers_per_sm;
        }
        e->share = fmax(e->share, fmax(shared, registers));
        e->code = fmax(e->code, (double)s->code_bytes);
    }
}

static bool lighter(const struct finalist *a, const struct finalist *b)
{
    if (fabs(a->share - b->share) > 1e-9) return a->share < b->share;
    if (fabs(a->code - b->code) > 0.5) return a->code < b->code;
    return a->median < b->median;
}

static void summarise(struct run *r, const struct finalist *entries, size_t count, int64_t winner, const json_t *ties)
{
    const struct finalist *w = NULL;
    for (size_t i = 0; i < count; i++)
        if (entries[i].trial == winner) w = &entries[i];
    struct trial trial;
    struct error err;
    char shown[32];
    if (!w || store_get(r->store, winner, &trial, &err)) return;
    run_progress_clear(r);
    printf("winner: trial %" PRId64 ", %s\n  %s\n", winner, text_show_duration(w->median, shown, sizeof shown),
           trial.config);
    run_log(r, "winner: trial %" PRId64 ", %s: %s", winner, shown, trial.config);
    if (json_array_size(ties))
        printf("  tied with it within %.1f%%: %zu other candidate%s; it takes the least of an SM\n",
               100 * r->job->measure.tie, json_array_size(ties), json_array_size(ties) > 1 ? "s" : "");
    for (size_t i = 0; i < count; i++) {
        if (entries[i].trial) continue;
        double ratio, low, high;
        size_t n = entries[i].rounds < w->rounds ? entries[i].rounds : w->rounds;
        stats_paired_ratio(entries[i].objectives, w->objectives, n, 1, &ratio, &low, &high);
        const char *name = json_get_string(entries[i].json, "name", "?");
        printf("  %.3f times %s (95%% interval %.3f to %.3f, %zu rounds)\n", ratio, name, low, high, n);
        run_log(r, "%.3f times %s (%.3f to %.3f)", ratio, name, low, high);
    }
}

void run_put_final(struct run *r, json_t *document)
{
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
    struct error err;
    if (store_put_document(r->store, "final", text, &err)) run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    json_decref(document);
}

void run_final_finish(struct run *r)
{
    if (r->job->objective == OBJECTIVE_EACH) {
        run_final_finish_each(r);
        return;
    }
    const json_t *list = json_object_get(r->final_answer, "entries");
    size_t count = json_array_size(list), i;
    struct finalist *entries = memory_new(count, sizeof *entries), *best = NULL, *winner = NULL;
    json_t *ties = json_array();
    size_t used = 0;
    for (i = 0; i < count; i++) {
        const json_t *json = json_array_get(list, i);
        const char *status = json_get_string(json, "status", "");
        struct finalist *e = &entries[used];
        *e = (struct finalist){.trial = json_get_integer(json, "trial", 0), .json = json};
        if (strcmp(status, "ok")) {
            run_message(r, "%s is out of the final: %s: %s", json_get_string(json, "name", "?"), status,
                        json_get_string(json, "reason", ""));
            continue;
        }
        e->rounds = read_rounds(r, json, &e->objectives);
        if (!e->rounds) {
            free(e->objectives);
            continue;
        }
        e->median = median_of(e->objectives, e->rounds);
        if (e->trial) read_resources(r, e);
        if (e->trial && (!best || e->median < best->median)) best = e;
        used++;
    }
    winner = best;
    for (i = 0; best && i < used; i++) {
        struct finalist *e = &entries[i];
        double ratio, low, high;
        if (!e->trial || e == best) continue;
        stats_paired_ratio(e->objectives, best->objectives, e->rounds < best->rounds ? e->rounds : best->rounds, 1,
                           &ratio, &low, &high);
        if (ratio <= 1 + r->job->measure.tie && lighter(e, winner)) winner = e;
    }
    for (i = 0; winner && i < used; i++) {
        double ratio, low, high;
        if (!entries[i].trial || &entries[i] == winner) continue;
        stats_paired_ratio(entries[i].objectives, best->objectives,
                           entries[i].rounds < best->rounds ? entries[i].rounds : best->rounds, 1, &ratio, &low, &high);
        if (&entries[i] == best || ratio <= 1 + r->job->measure.tie)
            json_array_append_new(ties, json_integer(entries[i].trial));
    }
    if (winner) {
        run_put_final(r, json_pack("{s:f, s:I, s:I, s:I, s:O, s:b, s:O}", "when", (double)time(NULL), "seed",
                                   (json_int_t)(r->seed + 1000003), "rounds", (json_int_t)winner->rounds, "winner",
                                   (json_int_t)winner->trial, "ties", ties, "replayed", (int)r->pool.replay, "entries",
                                   list));
        summarise(r, entries, used, winner->trial, ties);
    } else {
        run_message(r, "the final has no winner: %s",
                    json_get_string(r->final_answer, "reason", "no candidate passed it"));
        r->final_failed = true;
    }
    for (i = 0; i < used; i++) free(entries[i].objectives);
    free(entries);
    json_decref(ties);
}
