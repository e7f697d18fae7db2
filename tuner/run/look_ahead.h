// How many proposals are kept outstanding: enough that neither GPUs nor compilers wait for the other, and no more,
// because what is proposed early is proposed on old knowledge.
//
// A run is a closed network of two stations: `compilers` workers that take C seconds a candidate, then `gpus` that take
// G. With n candidates in it, the throughput is g(n-1) / g(n), where g(n) is the sum over i + k = n of f(i; C,
// compilers) f(k; G, gpus), and f(n; S, m) the product over j <= n of S / min(j, m) (Gordon and Newell 1967). The
// number is the least that reaches all but LOOK_AHEAD_LOSS of what the slower station can do. As long as there are
// compilers enough, only the mean of C matters and not how much C varies (Baskett et al. 1975), so that compile times
// which vary a hundredfold need nothing further.
//
// C and G are means over the last candidates, each counted as at most ten times the median, so that one that hangs
// does not decide. What never reaches a GPU makes G the shorter.
#ifndef SWEETSPOT_LOOK_AHEAD_H
#define SWEETSPOT_LOOK_AHEAD_H

#include <stddef.h>

enum {
    LOOK_AHEAD_RECENT = 64, // candidates that C and G are taken from
    LOOK_AHEAD_FIRST = 8,   // while nothing is measured: as many as a strategy proposes without results
};

struct recent_times {
    size_t count; // of all; the last LOOK_AHEAD_RECENT are kept
    double seconds[LOOK_AHEAD_RECENT];
};

struct look_ahead {
    size_t compilers, gpus;
    struct recent_times compile, gpu;
    double share; // of the candidates that reach a GPU, lately
    size_t ended; // candidates
    size_t number;
};

void look_ahead_init(struct look_ahead *, size_t compilers, size_t gpus);
void look_ahead_compiled(struct look_ahead *, double seconds); // also what does not compile
void look_ahead_measured(struct look_ahead *, double seconds);
void look_ahead_unmeasured(struct look_ahead *); // a candidate has ended before it reached a GPU
// The mean of the last times; 0 while there is none.
double recent_mean(const struct recent_times *);

// The throughput, a second, with n > 0 candidates. For tests.
double look_ahead_throughput(double compile, size_t compilers, double gpu, size_t gpus, size_t n);

#endif
