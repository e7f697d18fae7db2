// How many proposals are kept outstanding: enough that neither GPUs nor compilers wait for the other, and no more,
// because what is proposed early is proposed on old knowledge.
//
// A run is a closed network: so many candidates, each of which is compiled, measured, and replaced by a new one when
// its result is there. The number is the least with which the network does almost as much a second as with as many as
// there may be, found by going through it with the times of the last candidates, as they came. What varies from
// candidate to candidate, and what never reaches a GPU, thereby counts as it is. A time counts as at most ten times the
// median, so that one candidate that hangs does not decide.
#ifndef SWEETSPOT_LOOK_AHEAD_H
#define SWEETSPOT_LOOK_AHEAD_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LOOK_AHEAD_RECENT = 64, // candidates whose times are kept
    LOOK_AHEAD_FIRST = 8,   // while nothing is measured: as many as a strategy proposes without results
};

struct recent_times {
    size_t count; // of all; the last LOOK_AHEAD_RECENT are kept
    double seconds[LOOK_AHEAD_RECENT];
};

struct look_ahead {
    size_t compilers, gpus;
    struct recent_times compile, gpu; // a candidate that did not reach a GPU has 0 there
    size_t number;
};

void look_ahead_init(struct look_ahead *, size_t compilers, size_t gpus);
void look_ahead_compiled(struct look_ahead *, double seconds); // also what does not compile
void look_ahead_measured(struct look_ahead *, double seconds);
void look_ahead_unmeasured(struct look_ahead *); // a candidate has ended before it reached a GPU
// The mean of the last times that are not 0; 0 while there is none.
double recent_mean(const struct recent_times *);

// Candidates a second with n > 0 of them outstanding, once the network is full, if the times repeat themselves.
double look_ahead_throughput(const struct look_ahead *, size_t n);

#endif
