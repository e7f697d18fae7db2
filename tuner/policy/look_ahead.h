// How many proposals are kept outstanding: enough that neither GPUs nor compilers wait for the other, and no more,
// because early proposals are based on old results.
//
// A run is a closed network: so many candidates, each of which is compiled, measured, and replaced by a new one when
// the driver has come to its result. The number is the smallest with which the network does almost as many candidates a
// second as with the largest possible number. It is found by simulating the network with the times of the last
// candidates, in their order, so that differences between candidates, and candidates that never reach a GPU, are
// accounted for. So is the time from a result to the proposal that replaces it, for which the driver learns, and does
// other things. A time counts as at most ten times the median, or the second longest time if that is more, so that one
// candidate that hangs does not decide, but a few that have to be compiled among many from the cache do.
#pragma once

#include <stddef.h>

enum {
    LOOK_AHEAD_RECENT = 64, // candidates whose times are kept
    LOOK_AHEAD_FREED = 512, // results that wait for a replacement: of more, the times are not known
    LOOK_AHEAD_FIRST = 8,   // while nothing is measured: as many as a strategy proposes without results
};

struct recent_times {
    size_t count; // of all; the last LOOK_AHEAD_RECENT are kept
    double seconds[LOOK_AHEAD_RECENT];
    double mean; // of the last times that are not 0; 0 while there is none
};

struct look_ahead {
    size_t compilers, gpus;
    struct recent_times compile, gpu; // a candidate that did not reach a GPU has 0 there
    struct recent_times replace;      // from a result to the proposal in its place, of some
    double freed[LOOK_AHEAD_FREED];   // when results came that are not replaced yet: a ring
    size_t first_freed, freed_count, replaced;
    size_t number;
};

void look_ahead_init(struct look_ahead *, size_t compilers, size_t gpus);
void look_ahead_workers(struct look_ahead *, size_t compilers, size_t gpus); // there are more now
void look_ahead_compiled(struct look_ahead *, double seconds);               // also what does not compile
void look_ahead_measured(struct look_ahead *, double seconds); // 0: a candidate has ended before it reached a GPU

// A result has come, one more is proposed, no more is wanted or to be had now; at these times (s).
void look_ahead_freed(struct look_ahead *, double now);
void look_ahead_proposed(struct look_ahead *, double now);
void look_ahead_full(struct look_ahead *);

// Candidates a second with n > 0 of them outstanding, once the network is full, if the times repeat themselves.
double look_ahead_throughput(const struct look_ahead *, size_t n);
