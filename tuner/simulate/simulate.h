// The bench in simulated time. It runs strategies on recorded spaces under the driver's own policy
// (tuner/policy/simulation.h). The simulated compilers and GPUs take as long as the recording or the user says. It
// shows how close to the optimum a run is after given numbers of evaluations and seconds, and when it gets within 5%
// and within 1% of the optimum. It also shows how many candidates are compiled for each one measured, and how long the
// GPUs are idle. No clock is read: the figures are the same on every machine.
//
// A failed compilation or launch check costs the compiler's time; a failure on the GPU also costs the GPU's time. If a
// trial of a recording lacks its time, the median of the other trials is used. Proposals take no time.
#pragma once

#include "tuner/simulate/bench.h"

enum { SIMULATE_MAX_WORKERS = 1024 };

struct simulate_settings {
    size_t compilers, gpus;
    double compile, gpu; // s per candidate; NaN: as recorded
};
// "compilers=16,compile=recorded|SECONDS,gpu=recorded|SECONDS[,gpus=N]". On failure, returns -1 with a message.
int simulate_parse(const char *text, struct simulate_settings *, struct error *);

struct simulate_options {
    struct bench_options bench; // ahead is not used
    struct simulate_settings settings;
    size_t time_count;
    double times[BENCH_MAX_BUDGETS]; // s, ascending: also report at these times
};

// The figures of one run, or their means over a file's runs or over the files. Quality is optimum / best found.
struct simulate_figures {
    double at_budget[BENCH_MAX_BUDGETS], at_time[BENCH_MAX_BUDGETS];
    double seconds_to_95, seconds_to_99; // until 95% or 99%; a run that does not reach it counts with its full length
    double reached_95, reached_99;       // share of the runs that reached 95% or 99%
    double evaluations_to_95;            // evaluations to 95%, with the same rule
    double compiled_per_measured;
    double idle; // share of the GPUs' time from the first compiled candidate to the last budget
};

// Runs everything. Each run lasts at least until the last budget and the last time. It then continues until it is
// within 1% of the optimum, but for at most four times as many evaluations as the last budget. Each cell is a struct
// simulate_figures; bench_release releases the rows. Borrows the options. Returns -1 with a message for the same
// reasons as bench_run, or if times must be taken from a recording that has none.
int simulate_run(struct bench_rows *, const struct simulate_options *, struct error *);
