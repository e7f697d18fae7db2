// The time of a whole command, and the share of it that the end of a run needs for the final, compute-sanitizer, and
// nvcc's build of the winner. Estimates come from the measurements so far. Pure: the time is passed in.
//
// At least half of a search's time stays with the search, or a quarter if the smallest final needs the rest. The other
// half is for the following, in this order and as far as they fit: the final as planned, the sanitizer, nvcc's build,
// and the energy of the winner and the baselines. If time runs out, the final has fewer processes, then fewer rounds,
// then fewer candidates. It always has at least one process, FINAL_LEAST rounds and two candidates, if there are that
// many.
#pragma once

#include "tuner/base/base.h"

struct final_clock {
    double deadline;        // s, on the run's clock; INFINITY: no limit
    bool verifies;          // candidates are soaked
    double worker;          // s until a GPU worker knows the job
    double trial;           // s, mean GPU time of a valid trial; 0: unknown
    double kernel;          // s, the best candidate's time on all problems together; 0: unknown
    int64_t trials;         // number of trials in the mean
    double sanitizer, nvcc; // s that each may take; 0: not wanted
    double energy;          // s to measure it for one entry; 0: not wanted
    bool energy_decides;    // energy is needed for all entries; otherwise it is measured last, for winner and baselines
};

// The numbers of participants, rounds and processes of a final.
struct final_size {
    size_t candidates, baselines;
    int64_t rounds, processes;
};

double final_clock_left(const struct final_clock *, double now); // until the deadline
void final_clock_trial(struct final_clock *, double seconds);    // records a valid trial

// Each returns how long a part of the run is expected to take: the final's energy measurements (0 unless energy
// decides), the whole final as planned, and the shortest possible final.
double final_clock_energy(const struct final_clock *, const struct final_size *);
double final_clock_planned(const struct final_clock *, const struct final_size *);
double final_clock_least(const struct final_clock *, const struct final_size *);
// The time kept for the end of a run that has `left` seconds after its set-up.
double final_clock_reserve(const struct final_clock *, const struct final_size *, double left);
// The time that is available now for the rounds of a final, without taking any from the checks that still fit. Negative
// if none is left.
double final_clock_for_rounds(const struct final_clock *, const struct final_size *, double now);
// The time that is available now for measuring energy, without taking any from the checks.
double final_clock_for_energy(const struct final_clock *, double now);
// The size of a final for which `left` seconds remain.
struct final_size final_clock_fit(const struct final_clock *, const struct final_size *, double left);
