// The events of a final (docs/json.md).
#include <string.h>

#include "tuner/final/final.h"

static void event(const struct final_run *f, const char *kind, json_t *members)
{
    event_write(f->with.events, kind, f->with.job->name, members);
}

void final_event_winner(const struct final_run *f, const struct trial *trial, double time,
                        const struct final_compared *baselines, size_t count)
{
    json_t *ratios = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct final_compared *b = &baselines[i];
        json_array_append_new(ratios,
                              json_pack("{s:s, s:f, s:f, s:f, s:I}", "name", b->name, "ratio", b->ratio.value, "low",
                                        b->ratio.low, "high", b->ratio.high, "rounds", (json_int_t)b->rounds));
    }
    event(f, "winner",
          json_pack("{s:I, s:s, s:f, s:s, s:f, s:I, s:o}", "trial", (json_int_t)trial->id, "config", trial->config,
                    "time", time, "certainty", f->decision.certainty, "within", f->decision.within, "ties",
                    (json_int_t)f->decision.tie_count, "ratios", ratios));
}

void final_event_kernels(const struct final_run *f, const struct kernel_set *set, const int64_t *trials)
{
    json_t *kernels = json_array(), *problems = json_array();
    for (size_t k = 0; k < set->count; k++) {
        struct trial trial;
        struct error err;
        bool known = !store_get(f->with.store, trials[set->chosen[k]], &trial, &err);
        json_array_append_new(kernels, json_pack("{s:I, s:s}", "trial", (json_int_t)trials[set->chosen[k]], "config",
                                                 known ? trial.config : ""));
    }
    for (size_t p = 0; p < f->with.job->tuned_count; p++)
        json_array_append_new(problems,
                              json_pack("{s:s, s:I, s:f, s:f, s:b}", "problem", f->with.job->problems[p].name, "kernel",
                                        (json_int_t)set->kernel[p], "time", set->best[p] * (1 + set->regret[p]),
                                        "regret", set->regret[p], "held_back", (int)f->with.job->problems[p].holdout));
    event(f, "kernels", json_pack("{s:o, s:o, s:f}", "kernels", kernels, "problems", problems, "regret", set->worst));
}

void final_event_outcome(const struct final_run *f, enum final_outcome outcome, const char *reason)
{
    static const char *const texts[] = {"decided", "again", "failed"};
    event(f, "final", json_pack("{s:s, s:s}", "outcome", texts[outcome], "reason", reason));
}
