// Finds the smallest set of kernels that is good enough on every problem.
//
// Given the times of candidates on problems, a candidate covers a problem if it takes at most (1 + regret) times the
// problem's shortest time among all candidates. The result is a smallest set of candidates that together cover every
// problem that is not held back. This is minimum set cover. It is solved exactly by branching on the problem that the
// fewest candidates cover (as Knuth 2000 chooses a column). If this takes too long, the greedy cover of Chvatal 1979 is
// used. The set is then improved by exchanging one member at a time, to lower the mean regret. Each problem gets the
// member that is fastest on it. A problem that is held back does not influence the set: it gets the member that the
// header's selector would choose (fn_selector.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KERNEL_SET_MAX_PROBLEMS = 64, KERNEL_SET_MAX_CHOSEN = 64 };

struct kernel_set {
    size_t count;                           // kernels chosen
    size_t chosen[KERNEL_SET_MAX_CHOSEN];   // candidates, beginning with the one used for most problems
    size_t kernel[KERNEL_SET_MAX_PROBLEMS]; // by problem: index into chosen
    double regret[KERNEL_SET_MAX_PROBLEMS]; // by problem: its kernel's time / the shortest time, minus 1;
                                            // INFINITY if no chosen kernel supports it
    double best[KERNEL_SET_MAX_PROBLEMS];   // by problem: the shortest time, s
    double worst, worst_holdout;            // largest regret: of problems not held back; of held-back ones (NaN: none)
    bool exact;                             // no smaller cover exists
};

struct kernel_times {
    size_t candidates, problems, size_count;
    const double *times;  // [candidate * problems + problem], s; NaN if a candidate was not timed
    const bool *holdout;  // by problem
    const int64_t *sizes; // [problem * size_count + i]: for distances between problems
    // [candidate * problems + problem], all > 0: a candidate's times on two problems are expected to be in this
    // proportion. NULL: they are expected to be equal.
    const double *relative_times;
};

// Returns -1 if some problem has no time at all.
int kernel_set_find(const struct kernel_times *, double regret, struct kernel_set *out);

// Returns the index into `kernels` of the candidate that is expected to be the fastest on a problem, judged by the
// candidates' times on the problems that are not held back. A candidate without a time on the problem does not support
// it. Returns -1 if no candidate supports it.
int kernel_set_select(const struct kernel_times *, const size_t *kernels, size_t count, size_t problem);
