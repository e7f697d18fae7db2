// See stop.h.
#include "search/model/stop.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

bool stop_read_until(const char *text, struct stop_rules *rules)
{
    char *end;
    double share = strtod(text, &end);
    const bool percent = end != text && *end == '%', ceiling = !strcmp(end + percent, " of ceiling");
    if (isalpha((unsigned char)*end)) { // a unit
        *rules = (struct stop_rules){0};
        return !text_duration(text, &rules->target);
    }
    if (percent) share /= 100;
    if (end == text || !(share >= 0 && share <= 1) || (end[percent] && !(ceiling && share > 0))) return false;
    rules->ceiling = ceiling ? share : 0;
    rules->until = ceiling ? 0 : share;
    return true;
}

void stop_init(struct stop *s, const struct stop_rules *rules)
{
    *s = (struct stop){.rules = *rules, .best = INFINITY, .expected = INFINITY};
}

void stop_release(struct stop *s)
{
    free(s->trace);
    s->trace = NULL;
}

// A gain is counted when the best has improved by at least a given share since the previous gain. Gains are modelled as
// a Poisson process over the logarithm of the number of evaluations. The records of a random sequence are such a
// process with rate 1. A search does better than chance while it learns, and worse when it is near the optimum, so the
// rate is unknown. Its gamma distribution combines experience from typical searches with the gains so far; newer gains
// count more. The constants were fitted to searches in recorded spaces (docs/experiments/search.md).
static const double usual_gains = 0.2, usual_time = 0.5; // the gamma distribution's shape and rate
static const double usual_pause = 0.2;                   // added to the time seen, as time without a gain
static const double fading = 3;                          // a gain after e of n evaluations weighs (e / n)^fading

struct stop_outlook stop_outlook(const struct stop *s, double share, uint64_t more, uint64_t left)
{
    if (!isfinite(s->best)) return (struct stop_outlook){NAN, NAN};
    double n = (double)s->evaluations, shape = usual_gains, sum = 0, reference = INFINITY, before = INFINITY;
    uint64_t first = 0;
    for (uint64_t i = 0; i < s->evaluations; i++) {
        double best = s->trace[i];
        if (!isfinite(best)) continue;
        double weight = pow((double)(i + 1) / n, fading);
        if (!isfinite(before)) {
            first = i + 1;
            reference = before = best;
        }
        if (best < before) sum += weight * (1 - best / before);
        if (best <= reference * (1 - share)) {
            shape += weight;
            reference = best;
        }
        before = best;
    }
    double seen = (1 - pow((double)first / n, fading)) / fading, time = usual_time + seen;
    double span = log1p((double)(more < left ? more : left) / n);
    return (struct stop_outlook){.chance = 1 - pow(time / (time + span), shape),
                                 .gain = fmin(sum / (seen + usual_pause) * span, 1)};
}

void stop_tell(struct stop *s, double objective)
{
    if (objective < s->best) s->best = objective;
    memory_add(s->trace, s->evaluations) = s->best;
    // The outlook reads the whole trace, so it is only recomputed after 2% more evaluations.
    if (s->rules.until <= 0 || s->evaluations < STOP_LEAST || !isfinite(s->best) ||
        s->evaluations - s->expected_at < s->evaluations / 50)
        return;
    s->expected = stop_outlook(s, s->rules.until, s->evaluations, UINT64_MAX).gain;
    s->expected_at = s->evaluations;
}

enum search_end stop_check(const struct stop *s)
{
    if (!isfinite(s->best)) return SEARCH_GOES_ON; // nothing valid yet: any result is a gain
    if (s->rules.target > 0 && s->best <= s->rules.target) return SEARCH_TARGET;
    return s->rules.until > 0 && s->expected < s->rules.until ? SEARCH_UNTIL : SEARCH_GOES_ON;
}

const char *search_end_text(enum search_end end)
{
    static const char *const texts[] = {
        [SEARCH_GOES_ON] = "",
        [SEARCH_TARGET] = "the target is reached",
        [SEARCH_UNTIL] = "the expected gain of doubling the evaluations is below 'until'",
        [SEARCH_INTERRUPTED] = "interrupted",
        [SEARCH_TIME_UP] = "time is up",
        [SEARCH_EVALUATIONS_USED] = "evaluations are used up",
        [SEARCH_EXHAUSTED] = "the strategy has nothing more to propose",
        [SEARCH_NO_PROPOSALS] = "no proposals",
        [SEARCH_NOT_WANTED] = "no search was requested",
    };
    return texts[end];
}
