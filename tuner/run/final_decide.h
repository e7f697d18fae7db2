// Who wins the final, from its rounds alone.
//
// The lowest median objective wins. Candidates whose paired ratio to it (median over rounds) is at most 1 + tie are
// tied with it; among the tied the one that takes the smallest share of an SM wins, then the smaller code, then the
// lower median. A round in which either of two has no time is no pair.
#ifndef SWEETSPOT_FINAL_DECIDE_H
#define SWEETSPOT_FINAL_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct contender {
    bool candidate;           // a baseline cannot win
    size_t rounds;            // numbers in `objectives`
    const double *objectives; // one a round, NaN where it has no time; borrowed
    double share;             // of an SM that one block takes, 0..1
    double code;              // bytes
    // Filled in by final_decide:
    double median; // of the rounds that have a time; NaN when none has: such a candidate cannot win
    bool tied;     // with the winner, and not the winner itself
};

// The winner's index, or -1 when no candidate has a time.
int64_t final_decide(struct contender *, size_t count, double tie);

// The paired ratio of two entries' rounds with its 95% interval (stats_paired_ratio), NaN without pairs. Returns the
// number of pairs.
size_t final_ratio(const struct contender *, const struct contender *to, double *ratio, double *low, double *high);

// The share of an SM that a block takes: of its registers or of its shared memory, whichever is larger.
double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm);

#endif
