// See energy_window.h.
#include "tuner/gpu/energy_window.h"

#include "tuner/base/base.h"

static const double sharp = 0.05; // s from the beginning of the reading before a change to the end of the next reading
static const double patience = 3; // s without such a change, after which the window fails

void energy_window_begin(struct energy_window *w, double least, double now)
{
    *w = (struct energy_window){.least = least, .joules = NAN, .read = now, .changed = now};
}

const char *energy_window_read(struct energy_window *w, double joules, double begin, double now)
{
    double gap = now - w->read;
    bool backwards = joules<w->joules, change = joules> w->joules && gap <= sharp;
    w->joules = joules;
    w->read = begin;
    if (isnan(joules)) return "the device's energy counter cannot be read";
    if (backwards) return "the device's energy counter ran backwards";
    if (!change && now - w->changed > patience) return "changes of the device's energy counter were seen too late";
    if (!change || w->known > ENERGY_PARTS) return NULL;
    w->changed = now;
    double at = now - gap / 2;
    if (w->known && at - w->at[0][0] < (double)w->known * w->least / ENERGY_PARTS) return NULL;
    if (gap > w->gap) w->gap = gap;
    w->at[w->known][0] = at;
    w->at[w->known++][1] = joules;
    return NULL;
}

static double watts_between(const struct energy_window *w, size_t from, size_t to)
{
    return (w->at[to][1] - w->at[from][1]) / (w->at[to][0] - w->at[from][0]);
}

struct interval energy_window_watts(const struct energy_window *w)
{
    struct interval watts = {watts_between(w, 0, ENERGY_PARTS), INFINITY, 0};
    double error = w->gap / (w->at[ENERGY_PARTS][0] - w->at[0][0]); // half a gap at either end
    for (size_t i = 0; i < ENERGY_PARTS; i++) {
        watts.low = fmin(watts.low, watts_between(w, i, i + 1));
        watts.high = fmax(watts.high, watts_between(w, i, i + 1));
    }
    watts.low = fmin(watts.low, watts.value * (1 - error));
    watts.high = fmax(watts.high, watts.value * (1 + error));
    return watts;
}

struct interval energy_of_execution(struct interval watts, double seconds, struct interval bare_watts,
                                    double bare_seconds, double executions, double *share)
{
    double bare = bare_watts.value * bare_seconds, whole = watts.value * seconds;
    *share = bare / whole;
    if (!(whole > bare)) return (struct interval){NAN, NAN, NAN};
    return (struct interval){(whole - bare) / executions,
                             fmax(watts.low * seconds - bare_watts.high * bare_seconds, 0) / executions,
                             (watts.high * seconds - bare_watts.low * bare_seconds) / executions};
}
