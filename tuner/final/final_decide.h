// Who wins the final, from its rounds alone. As long as one candidate has a time, one wins.
//
// Rounds are taken in several processes of the GPU worker, since some kernels take one of two times for as long as a
// process lives. A time is the median over processes of each process's median, a ratio the same for the rounds' paired
// ratios. A round in which either of two has no time is no pair.
//
// Bounds of a ratio are order statistics of the rounds' ratios (stats_median_bounds), which assume nothing about their
// distribution. If two processes disagree on a ratio, rounds are not exchangeable between them, and bounds come from
// drawing processes first, then rounds (stats_clustered_median).
//
// The rounds are looked at repeatedly, and losers leave. Every look could err, so the probability of 2% is spent on the
// looks: 1/(k (k+1)) of it on the k-th, which adds up to at most all of it for any number of looks (alpha spending, Lan
// and DeMets, Biometrika 70, 1983, with the union bound in place of the looks' joint distribution). In a look it is
// spent equally on all pairs of candidates (Bonferroni's correction). Only one of two directions of a pair can be
// wrong, so the bounds are one-sided.
//
// The lowest time wins, unless another candidate equals it: the interval of their ratio includes 1 and is narrower than
// 0.2%. Among equals the one that takes the smallest share of an SM wins, then the smaller code, then the lower time.
// Others that the bounds do not call slower are tied with the winner if they are faster by at most 1%.
#pragma once

#include "tuner/base/limits.h"
#include "tuner/base/stats.h"

struct contender {
    bool candidate;               // a baseline cannot win
    size_t rounds;                // numbers in `objectives`
    const double *objectives;     // one a round, NaN where it has no time; borrowed
    const unsigned char *process; // of each round, from 0; the same list for all entries; NULL: all in one; borrowed
    double share;                 // of an SM that one block takes, 0..1
    double code;                  // bytes
    struct interval energy;       // J, of one execution; 0 or NaN: unknown
    bool slower;                  // than another candidate, an earlier look has shown: it has left
    // Filled in by final_examine:
    double median;                               // NaN when no round has a time: such a candidate cannot win
    double process_medians[FINAL_PROCESSES_MAX]; // NaN where it has no time
    bool by_process;                             // its time depends on the process that takes it
    // Filled in by final_decide, or by final_decide_energy:
    bool tied; // with the winner, and not the winner itself
};

// How certain the winner is: no other candidate may be as fast; others may be, or faster by at most 1%; or
// another may be faster by more.
enum final_certainty { FINAL_FASTEST, FINAL_TIED, FINAL_UNDECIDED };
struct final_verdict {
    int64_t winner; // an index; -1: no candidate has a time
    enum final_certainty certainty;
    double within;        // another may be faster than the winner by at most this share; 0: FINAL_FASTEST
    size_t rival;         // which one, unless FINAL_FASTEST
    struct error warning; // something else seems to use the device; empty: no sign of it
};

// Medians, and who takes one of two times by process: where the medians of two processes are more than 2% apart and
// their 95% intervals do not touch, after what all entries have in common (the clock, say) is divided out. A warning
// where launches of most entries, or nearly half of those of one, took over 20% longer than in other rounds.
void final_examine(struct contender *, size_t count, struct error *warning);

// Calls final_examine. `look`: how often these rounds were looked at, this time included.
void final_decide(struct contender *, size_t count, int look, struct final_verdict *);

// Changes the verdict to that by energy or, with `product`, by energy times the median time: the lowest wins. Another
// candidate whose energy may be lower by the two intervals is tied if it is lower by at most 1%. FINAL_FASTEST then
// means that no other may be lower. False, with nothing changed, where no candidate's energy is known.
bool final_decide_energy(struct contender *, size_t count, bool product, struct final_verdict *);

// A look at the rounds so far. Candidates that another one certainly beats become `slower`. In the first of several
// processes only those that no other process could make the fastest: by more than what processes are seen to differ.
// `agree`: the processes are known to agree, so that they are not compared again.
struct final_look {
    bool decided;   // every other candidate is slower than the fastest one, or they are within 1% of each other
    bool libraries; // every baseline is faster or slower than that, or within 1%
    bool differ;    // processes disagree on a ratio to the fastest candidate
};
void final_look(struct contender *, size_t count, int look, bool first_process, bool agree, struct final_look *);
const char *final_certainty_name(enum final_certainty); // as documents have it

// The paired ratio of two entries' rounds with its 95% interval, NaN without pairs. Returns the number of pairs.
size_t final_ratio(const struct contender *, const struct contender *to, struct interval *ratio);

// The share of an SM that a block takes: of its registers or of its shared memory, whichever is larger.
double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm);
