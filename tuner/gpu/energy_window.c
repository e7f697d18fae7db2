// See energy_window.h.
#include "tuner/gpu/energy_window.h"

static const double sharp = 3e-3; // s between readings around a change that counts
static const double patience = 3; // s without a change that counts

void energy_window_begin(struct energy_window *w, double least, double now)
{
    *w = (struct energy_window){.least = least, .joules = NAN, .read = now, .changed = now, .from = NAN};
}

static enum energy_step fail(struct error *why, const char *text)
{
    error_set(why, "%s", text);
    return ENERGY_FAILED;
}

// A change that was seen in time.
static enum energy_step take_change(struct energy_window *w, double joules, double now)
{
    w->changed = now;
    if (isnan(w->from)) {
        w->from = now;
        w->from_joules = joules;
        return ENERGY_CONTINUES;
    }
    w->to = now;
    w->to_joules = joules;
    if (now - w->from < (double)(w->part_count + 1) * w->least / ENERGY_PARTS) return ENERGY_CONTINUES;
    w->parts[w->part_count] = now;
    w->part_joules[w->part_count++] = joules;
    return w->part_count == ENERGY_PARTS ? ENERGY_COMPLETE : ENERGY_CONTINUES;
}

enum energy_step energy_window_read(struct energy_window *w, double joules, double now, struct error *why)
{
    double before = w->joules, gap = now - w->read;
    w->joules = joules;
    w->read = now;
    if (isnan(joules)) return fail(why, "the device's energy counter cannot be read");
    if (joules < before && w->ran_backwards) return fail(why, "the device's energy counter ran backwards twice");
    if (joules < before) {
        energy_window_begin(w, w->least, now);
        w->joules = joules;
        w->ran_backwards = true;
        return ENERGY_CONTINUES;
    }
    if (joules > before && gap <= sharp) return take_change(w, joules, now);
    if (now - w->changed > patience)
        return fail(why, "the device's energy counter does not change, or its changes were seen too late");
    return ENERGY_CONTINUES;
}

struct interval energy_window_watts(const struct energy_window *w)
{
    struct interval watts = {(w->to_joules - w->from_joules) / (w->to - w->from), INFINITY, 0};
    double joules = w->from_joules, time = w->from;
    for (size_t i = 0; i < w->part_count; i++) {
        double part = (w->part_joules[i] - joules) / (w->parts[i] - time);
        watts.low = fmin(watts.low, part);
        watts.high = fmax(watts.high, part);
        joules = w->part_joules[i];
        time = w->parts[i];
    }
    return watts;
}

struct interval energy_of_execution(struct interval watts, double seconds, struct interval bare_watts,
                                    double bare_seconds, double executions, double *share)
{
    struct interval bare = {bare_watts.value * bare_seconds, bare_watts.low * bare_seconds,
                            bare_watts.high * bare_seconds};
    struct interval joules = {(watts.value * seconds - bare.value) / executions,
                              fmax(watts.low * seconds - bare.high, 0) / executions,
                              (watts.high * seconds - bare.low) / executions};
    *share = bare.value / (watts.value * seconds);
    return joules.value > 0 ? joules : (struct interval){NAN, NAN, NAN};
}
