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

const char *stop_reason(const struct stop *s)
{
    if (!isfinite(s->best)) return NULL; // nothing valid yet: there is everything to gain
    if (s->rules.target > 0 && s->best <= s->rules.target) return "the target is reached";
    if (s->rules.patience && s->evaluations - s->last_gain > s->rules.patience)
        return "no gain for as long as patience allows";
    if (s->rules.noise > 0 && s->evaluations >= STOP_NOISE_LEAST) {
        double before = s->trace[s->evaluations / 2 - 1];
        if (isfinite(before) && before / s->best - 1 < s->rules.noise) return "the expected gain is below the noise";
    }
    return NULL;
}
