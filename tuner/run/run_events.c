// Writes the events of a run (events.h, docs/json.md).
#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/protocol.h"
#include "tuner/run/run.h"
#include "tuner/trial/trial_field.h"
#include "tuner/watch/events.h"

static const double progress_every = 5; // s

static void run_event(const struct run *r, const char *kind, json_t *members)
{
    event_write(r->options->events, kind, r->job->name, members);
}

// Adds "best", "baseline" and "ratio", which are null while they are unknown. Takes the reference and returns it.
static json_t *add_best(const struct run *r, json_t *members)
{
    const struct incumbent *b = &r->search.incumbent;
    json_object_set_new(members, "best", json_real(b->objective));
    json_object_set_new(members, "baseline", json_string(b->baseline_name));
    json_object_set_new(members, "ratio", json_real(isfinite(b->objective) ? b->baseline / b->objective : (double)NAN));
    return members;
}

json_t *run_event_so_far(const struct run *r)
{
    return add_best(r,
                    json_pack("{s:f, s:I, s:I, s:o}", "seconds", clock_now() - r->statistics.search_started,
                              "evaluations", (json_int_t)run_evaluations(r), "new_trials",
                              (json_int_t)r->statistics.new_trials, "statuses", trial_counts_json(r->search.counts)));
}

void run_event_begin(const struct run *r)
{
    const struct tune_options *o = r->options;
    run_event(r, "begin",
              json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:s, s:I, s:o, s:f, s:o}", "format",
                        EVENTS_FORMAT, "version", EVENTS_VERSION, "path", r->job->path, "store", o->files.store_path,
                        "log", o->files.log_path, "device", r->pool.first.device_name, "driver", r->pool.first.driver,
                        "compiler", r->pool.first.compiler, "replayed", (int)r->pool.replay, "strategy",
                        r->search.strategy_class->name, "seed", (json_int_t)r->setup.seed, "configurations",
                        job_valid_count(r->job), "time_limit",
                        o->time > 0          ? o->time
                        : o->search_time > 0 ? o->search_time
                                             : (double)NAN,
                        "evaluations_limit", o->evaluations > 0 ? json_integer(o->evaluations) : NULL));
}

void run_event_baseline(const struct run *r, const struct baseline_answer *baseline, double objective)
{
    run_event(r, "baseline",
              json_pack("{s:s, s:f, s:s, s:s}", "name", baseline->name, "time", objective, "detail", baseline->detail,
                        "reason", baseline->reason));
}

void run_event_ceilings(const struct run *r)
{
    if (!r->ceilings) return;
    json_t *figures = json_deep_copy(r->ceilings);
    json_object_del(figures, "status");
    run_event(r, "ceilings", json_pack("{s:o}", "figures", figures));
}

void run_event_best(const struct run *r, bool first, bool stored, size_t problem)
{
    const struct incumbent *b = &r->search.incumbent;
    bool each = r->job->search.objective == OBJECTIVE_EACH;
    json_t *members = json_pack("{s:I, s:s, s:b, s:s, s:f}", "trial", (json_int_t)b->trial, "config", b->config,
                                "stored", (int)stored, "problem", each ? r->job->problems[problem].name : NULL, "time",
                                each ? b->times[problem] : b->objective);
    add_best(r, members);
    json_object_set_new(members, "evaluations", json_integer(run_evaluations(r)));
    run_event(r, first ? "first" : "best", members);
}

void run_event_progress(struct run *r)
{
    double now = clock_now();
    if (now < r->live.next_event) return;
    r->live.next_event = now + progress_every;
    json_t *members = run_event_so_far(r);
    const struct run_statistics *s = &r->statistics;
    json_object_set_new(members, "temperature", json_real(s->temperature > 0 ? s->temperature : (double)NAN));
    json_object_set_new(members, "clock_mhz", json_real(s->clock_mhz > 0 ? s->clock_mhz : (double)NAN));
    run_event(r, "progress", members);
}

void run_event_searched(const struct run *r)
{
    json_t *members = run_event_so_far(r);
    json_object_set_new(members, "reason", json_string(search_end_text(r->policy.end)));
    run_event(r, "searched", members);
}

void run_event_end(const struct run *r, int status)
{
    enum search_end end = interrupt_count() ? SEARCH_INTERRUPTED : r->policy.end;
    const char *reason = r->failure.set ? r->failure.why.message : search_end_text(end);
    run_event(r, "end", add_best(r, json_pack("{s:s, s:i}", "reason", reason, "exit_status", status)));
}
