// The power of a device from readings of its energy counter, which changes in steps, about ten times a second. Pure:
// the time is passed in.
//
// A window begins and ends at a change, so no part of a step is counted for time outside the window. A change is as
// sharp as the readings around it are close: changes that were seen more than 3 ms after the reading before do not
// count, so the window's length is wrong by at most 3 ms, 0.15% of two seconds. A counter that runs backwards (it
// overflowed, or the driver was loaded again) begins the window again, once.
#ifndef SWEETSPOT_GPU_ENERGY_WINDOW_H
#define SWEETSPOT_GPU_ENERGY_WINDOW_H

#include "tuner/base/base.h"
#include "tuner/base/stats.h"

enum { ENERGY_PARTS = 4 };

struct energy_window {
    double least;                            // s that it lasts
    double joules, read, changed;            // of the newest reading; when it was taken, when the counter changed
    double from_joules, from, to_joules, to; // of the window; `from` is NaN before its first change
    double part_joules[ENERGY_PARTS], parts[ENERGY_PARTS]; // the last changes of its parts
    size_t part_count;
    bool ran_backwards;
};

enum energy_step { ENERGY_CONTINUES, ENERGY_COMPLETE, ENERGY_FAILED };

void energy_window_begin(struct energy_window *, double least, double now);
// Takes a reading of the counter, in J; NaN: it cannot be read. ENERGY_FAILED with the reason.
enum energy_step energy_window_read(struct energy_window *, double joules, double now, struct error *why);
// W of a complete window; the interval has the lowest and the highest of its four parts.
struct interval energy_window_watts(const struct energy_window *);

// The energy of one execution, in J. A repetition prepares the data (restored buffers, flushed caches) and then
// executes; a bare one only prepares. With the power P and the time T of a repetition, P' and T' of a bare one:
//
//     joules = (P T - P' T') / executions in a repetition
//
// The board's power while it is idle is part of both, so the energy contains the idle power for as long as the
// execution takes. What an execution does to the preparation after it (a fuller cache to write back, say) counts as its
// own. NaN where nothing is left. `share`: of the repetition's energy that the preparation takes.
struct interval energy_of_execution(struct interval watts, double seconds, struct interval bare_watts,
                                    double bare_seconds, double executions, double *share);

#endif
