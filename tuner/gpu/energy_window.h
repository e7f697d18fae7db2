// Computes a device's power from readings of its energy counter, which changes in steps, about ten times a second. Pure
// functions: the time is passed in.
//
// A window begins and ends at a change, so no part of a step is counted for time outside the window. A change is taken
// to be halfway between the two readings around it. The interval includes this uncertainty. A change is used only if
// the readings around it are at most 50 ms apart. On an H100 in a virtual machine, changes were seen only between
// readings at least 3 ms apart.
#pragma once

#include "tuner/base/stats.h"

enum { ENERGY_PARTS = 4 };

struct energy_window {
    double least;                   // s, minimum length
    double joules, read, changed;   // the newest reading; when it began; when the counter last changed
    double gap;                     // s, the longest time around a change in `at`
    double at[ENERGY_PARTS + 1][2]; // s and J: of the window's beginning, and of the end of each of its parts
    size_t known;                   // number of entries in `at`; the window is complete when it is full
};

void energy_window_begin(struct energy_window *, double least, double now);
// Takes a reading of the counter, in J, that was taken at some moment between `begin` and `now`; NaN: it cannot be
// read. Returns NULL or, as a static string, the reason why the window will never be complete.
const char *energy_window_read(struct energy_window *, double joules, double begin, double now);
// The power over a complete window, in W. The interval covers the power over each part of the window, and the error
// caused by the uncertainty of the window's length.
struct interval energy_window_watts(const struct energy_window *);

// The energy of one execution, in J. A repetition prepares the data (restored buffers, flushed caches) and then
// executes; a bare one only prepares. With power P and time T for a repetition, and P' and T' for a bare one:
//
//     joules = (P T - P' T') / executions in a repetition
//
// The board's idle power is part of both, so the energy includes it for as long as the execution takes. The effect of
// an execution on the preparation after it (such as a fuller cache to write back) counts as the execution's own. NaN if
// the difference is not positive. `share`: the preparation's share of the repetition's energy.
struct interval energy_of_execution(struct interval watts, double seconds, struct interval bare_watts,
                                    double bare_seconds, double executions, double *share);
