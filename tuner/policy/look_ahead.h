// Computes how many proposals are kept outstanding: enough that GPUs and compilers do not wait for each other, and no
// more, because early proposals are based on old results.
//
// A run is a closed network with a fixed number of candidates. Each is compiled, measured, and replaced by a new one
// once the driver has processed its result. The chosen number is the smallest one with which the network completes
// almost as many candidates per second as with the largest possible number. It is found by simulating the network with
// the times of the last candidates, in their original order. The simulation therefore accounts for differences between
// candidates and for candidates that never reach a GPU. It also includes the time from a result to the proposal that
// replaces it, while the driver learns and does other work. Each time is limited to ten times the median, or to the
// second longest time if that is more. So a single candidate that hangs does not decide the number. A few candidates
// that must be compiled do decide it, even if many others come from the cache.
#pragma once

#include <stddef.h>

enum {
    LOOK_AHEAD_RECENT = 64, // candidates whose times are kept
    LOOK_AHEAD_FREED = 512, // results that wait for a replacement; further ones are not recorded
    LOOK_AHEAD_FIRST = 8,   // used before the first result: as many as a strategy proposes without results
};

struct recent_times {
    size_t count; // times so far; the last LOOK_AHEAD_RECENT are kept
    double seconds[LOOK_AHEAD_RECENT];
    double mean; // of the kept times that are not 0; 0 while there are none
};

struct look_ahead {
    size_t compilers, gpus;
    struct recent_times compile, gpu; // `gpu` is 0 for a candidate that did not reach a GPU
    struct recent_times replace;      // from a result to the proposal that replaces it, for some results
    double freed[LOOK_AHEAD_FREED];   // arrival times of results that are not replaced yet: a ring buffer
    size_t first_freed, freed_count, replaced;
    size_t number;
};

void look_ahead_init(struct look_ahead *, size_t compilers, size_t gpus);
void look_ahead_workers(struct look_ahead *, size_t compilers, size_t gpus); // call this when workers are added
void look_ahead_compiled(struct look_ahead *, double seconds);               // also for candidates that do not compile
void look_ahead_measured(struct look_ahead *, double seconds); // 0: the candidate ended before it reached a GPU

// Events, with their times (s): a result has arrived; a candidate is proposed; no more proposals are wanted or
// available.
void look_ahead_freed(struct look_ahead *, double now);
void look_ahead_proposed(struct look_ahead *, double now);
void look_ahead_full(struct look_ahead *);

// Candidates per second with n > 0 candidates outstanding, once the network is full. Assumes that the times repeat.
double look_ahead_throughput(const struct look_ahead *, size_t n);
