// The bench in simulated time: strategies on recorded spaces, under the driver's own policy
// (tuner/policy/simulation.h), with compilers and GPUs that take as long as the recording or the user says. It shows
// how close to the optimum a run is after given numbers of evaluations and seconds, when it is within 5% and 1%, how
// many candidates are compiled for each that is measured, and how long the GPUs are idle. No clock is read: the figures
// are the same on every machine.
//
// A failed compilation or launch check costs the compiler's time, a failure on the GPU also the GPU's. Where a
// single trial of a recording lacks its time, the median of the others is used. Proposals take no time.
#pragma once

#include "tuner/simulate/bench.h"

enum { SIMULATE_MAX_TIMES = 16, SIMULATE_MAX_WORKERS = 1024 };

struct simulate_settings {
    size_t compilers, gpus;
    double compile, gpu; // s per candidate; NaN: as recorded
};
// "compilers=16,compile=recorded|SECONDS,gpu=recorded|SECONDS[,gpus=N]". -1 with a message that says what is wrong.
int simulate_parse(const char *text, struct simulate_settings *, struct error *);

struct simulate_options {
    struct bench_options bench; // ahead and score are not used
    struct simulate_settings settings;
    size_t time_count;
    double times[SIMULATE_MAX_TIMES]; // s, ascending: also report at these times
};

// The figures of one run, or their means over a file's runs or over the files. Quality is optimum / best found.
struct simulate_figures {
    double at_budget[BENCH_MAX_BUDGETS], at_time[SIMULATE_MAX_TIMES];
    double seconds_to_95, seconds_to_99; // a run that does not get there counts with its length
    double reached_95, reached_99;       // share of the runs that got there
    double evaluations_to_95;            // the same for 95%
    double compiled_per_measured;
    double idle; // the GPUs' share of the time, from the first candidate that was compiled to the last budget
};

// Runs everything: each run to the last of the budgets and times, and on until it is within 1%, at most four times as
// many evaluations as the last budget. Each cell is a struct simulate_figures; bench_release releases the rows. Borrows
// the options. -1 with a message: as bench_run; times that are to be taken from a recording that has none.
int simulate_run(struct bench_rows *, const struct simulate_options *, struct error *);
