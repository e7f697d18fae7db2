// The guide of a run: candidates are timed on it before they are measured, see guide.h. What a candidate does there is
// not a verdict: one that fails on the guide, or cannot be launched on it, is measured without it.
//
// A trial that was timed on the guide says so in the store, with its time and the guide's name, so that a run that is
// resumed knows how good its guide is. What was screened out counts in a later run only if that has the same guide
// and uses it. If not, it may be proposed again.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

// s: a guide that the program has chosen is worth its time where a launch takes this long.
static const double costly_launch = 5e-3;
enum { FAILURES_LOGGED = 3 };

static const char *name_of(const struct run *r)
{
    return job_guide(r->job)->name;
}

// The state may have changed.
static void follow(struct run *r, enum guide_state before)
{
    const struct guide *g = &r->guide;
    if (g->state == before) return;
    policy_use_guide(&r->policy, g->state != GUIDE_OFF);
    if (g->state == GUIDE_SCREENING)
        run_log(r, "guide %s: its ranks agree, tau %.2f (at least %.2f): it screens candidates", name_of(r), g->tau,
                g->tau_low);
    else if (g->state == GUIDE_LEARNING)
        run_log(r, "guide %s: its ranks no longer agree, tau %.2f (at least %.2f): nothing is screened out", name_of(r),
                g->tau, g->tau_low);
    else if (isnan(g->tau))
        run_log(r, "guide %s: off: %s", name_of(r), g->why);
    else
        run_log(r, "guide %s: off: %s (tau %.2f, at least %.2f)", name_of(r), g->why, g->tau, g->tau_low);
}

void run_guide_describe(struct run *r, json_t *job_request)
{
    struct error err;
    if (!r->job->has_guide) return;
    if (r->pool.replay) {
        run_log(r, "guide %s: not used: a recording has the times of the job's problems alone", name_of(r));
        return;
    }
    json_t *guide = job_setup_guide(&r->setup, &r->pool, &err);
    if (guide)
        json_object_set_new(job_request, "guide", guide);
    else
        run_message(r, "warning: the guide is not used: %s", err.message);
}

void run_guide_begin(struct run *r)
{
    const json_t *answer = json_object_get(r->job_answer, "guide");
    if (!r->job->has_guide || !answer) return;
    if (status_find(json_get_string(answer, "status", "")) != STATUS_OK) {
        run_message(r, "warning: the guide %s is not used: %s", name_of(r),
                    json_get_string(answer, "reason", "no reason given"));
        return;
    }
    guide_init(&r->guide, r->job->auto_guide ? costly_launch : 0);
    policy_use_guide(&r->policy, true);
    run_log(r, "guide %s", name_of(r));
}

void run_guide_fail(struct run *r, const struct task *t, const char *reason)
{
    enum guide_state before = r->guide.state;
    guide_failed(&r->guide);
    if (r->guide.failures <= FAILURES_LOGGED)
        run_log(r, "guide %s: no time on it for %s: %.300s", name_of(r), t->text, reason);
    follow(r, before);
}

void run_guide_prepare(struct run *r, struct task *t)
{
    struct error why;
    if (r->guide.state == GUIDE_OFF) return;
    if (job_setup_guide_launches(r->job, &r->pool.limits, t->config, &t->compiled, &t->guide_problems, &why))
        run_guide_fail(r, t, why.message);
    else
        t->queued.guide = true;
}

bool run_guide_screens(const struct run *r, const struct task *t, struct error *reason)
{
    double best = r->incumbent.objective;
    if (!guide_screens_out(&r->guide, t->guide_seconds, best) ||
        guide_audits(r->seed, (uint64_t)space_index(r->job->space, t->config)))
        return false;
    error_set(reason,
              "%.4g s on the guide: the job's problems would take at least %.3g times as long as the best so far",
              t->guide_seconds, exp(r->guide.low) * t->guide_seconds / best);
    return true;
}

bool run_guide_note(struct run *r, const struct trial *trial, double *objective)
{
    struct guide *g = &r->guide;
    enum guide_state before = g->state;
    bool same = g->state != GUIDE_OFF && !strcmp(trial->guide, name_of(r)) && trial->guide_seconds > 0;
    if (trial->status == STATUS_SCREENED) {
        *objective = same ? guide_expected(g, trial->guide_seconds) : NAN;
        g->screened += same && isfinite(*objective);
        return isfinite(*objective);
    }
    if (same && (trial->status == STATUS_OK || trial->status == STATUS_SLOW)) {
        guide_learn(g, trial->guide_seconds, trial->objective, r->incumbent.objective);
        follow(r, before);
    }
    return true;
}

void run_guide_report(struct run *r)
{
    const struct guide *g = &r->guide;
    if (!r->job->has_guide || !g->why) return;
    if (g->screened)
        run_message(r, "the guide %s has screened out %" PRIu64 " candidates, which were not measured", name_of(r),
                    g->screened);
    run_log(r,
            "guide %s: %zu candidates were timed there and measured, %" PRIu64
            " of them to check what is screened out; "
            "tau %.2f (at least %.2f)",
            name_of(r), g->count, g->audited, g->tau, g->tau_low);
}

json_t *run_guide_document(const struct run *r)
{
    const struct guide *g = &r->guide;
    if (!r->job->has_guide || !g->why) return NULL;
    return json_pack("{s:s, s:b, s:s, s:I, s:I, s:I, s:o, s:o}", "name", name_of(r), "used", g->state != GUIDE_OFF,
                     "why_not", g->why, "pairs", (json_int_t)g->count, "screened", (json_int_t)g->screened, "audited",
                     (json_int_t)g->audited, "tau", json_real_or_null(g->tau), "tau_low",
                     json_real_or_null(g->tau_low));
}
