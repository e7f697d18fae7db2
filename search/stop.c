// See stop.h.
#include "search/stop.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/base/memory.h"

void stop_init(struct stop *s, const struct stop_rules *rules)
{
    *s = (struct stop){.rules = *rules, .best = INFINITY};
}

void stop_release(struct stop *s)
{
    free(s->trace);
    s->trace = NULL;
}

void stop_tell(struct stop *s, double objective)
{
    if (objective < s->best) {
        s->best = objective;
        s->last_gain = s->evaluations;
    }
    if (s->evaluations == s->room) {
        s->room = 2 * s->room + 256;
        s->trace = memory_grow(s->trace, s->room, sizeof *s->trace);
    }
    s->trace[s->evaluations++] = s->best;
}

enum stop_rule stop_check(const struct stop *s)
{
    if (!isfinite(s->best)) return STOP_NONE; // nothing valid yet: there is everything to gain
    if (s->rules.target > 0 && s->best <= s->rules.target) return STOP_TARGET;
    if (s->rules.patience && s->evaluations - s->last_gain > s->rules.patience) return STOP_PATIENCE;
    if (s->rules.noise > 0 && s->evaluations >= STOP_NOISE_LEAST) {
        double before = s->trace[s->evaluations / 2 - 1];
        if (isfinite(before) && before / s->best - 1 < s->rules.noise) return STOP_NOISE;
    }
    return STOP_NONE;
}

const char *stop_text(enum stop_rule rule)
{
    switch (rule) {
    case STOP_TARGET:
        return "the target is reached";
    case STOP_PATIENCE:
        return "no gain for as long as patience allows";
    case STOP_NOISE:
        return "the expected gain is below the noise";
    default:
        return "";
    }
}
