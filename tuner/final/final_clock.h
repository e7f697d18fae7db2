// The time of a whole command, and what of it the end of a run needs: the final, compute-sanitizer, and nvcc's build of
// the winner. Estimates come from what was measured so far. Pure: the time is passed in.
//
// At least half of a search's time stays with the search, or a quarter if the smallest final needs the rest. From the
// other half come a final as it is planned, then the sanitizer, then nvcc's build, then the energy of the winner and
// the baselines, as far as they fit. If time runs out, the final has fewer processes, then fewer rounds, then fewer
// candidates. It always has one process, FINAL_LEAST rounds and two candidates, if there are so many.
#pragma once

#include "tuner/base/base.h"

struct final_clock {
    double deadline;        // s, on the clock of the run; INFINITY: there is no limit
    bool verifies;          // candidates are soaked
    double worker;          // s until a GPU worker knows the job
    double trial;           // s that a valid trial takes on its GPU, mean; 0: unknown
    double kernel;          // s, the best candidate's time on all problems together; 0: unknown
    int64_t trials;         // in the mean
    double sanitizer, nvcc; // s that they may take; 0: not wanted
    double energy;          // s that it takes of one entry; 0: not wanted
    bool energy_decides;    // so it is needed, of all entries; else it comes last, of the winner and the baselines
};

// What takes part in a final.
struct final_size {
    size_t candidates, baselines;
    int64_t rounds, processes;
};

double final_clock_left(const struct final_clock *, double now); // until the deadline
void final_clock_trial(struct final_clock *, double seconds);    // a valid one

// What of a final is for energy, if that decides; how long it takes as it is planned, and at the least.
double final_clock_energy(const struct final_clock *, const struct final_size *);
double final_clock_planned(const struct final_clock *, const struct final_size *);
double final_clock_least(const struct final_clock *, const struct final_size *);
// What is kept for the end of a run of which so many seconds are left after its set-up.
double final_clock_reserve(const struct final_clock *, const struct final_size *, double left);
// What the rounds of a final may use now, so that the checks that still fit have their time. Below 0: nothing is left.
double final_clock_for_rounds(const struct final_clock *, const struct final_size *, double now);
// What measuring energy may use now, after which the checks still have their time.
double final_clock_for_energy(const struct final_clock *, double now);
// The size of a final for which so many seconds are left.
struct final_size final_clock_fit(const struct final_clock *, const struct final_size *, double left);
