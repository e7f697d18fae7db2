// Decides who wins the final, from its rounds only. There is a winner if any candidate has a time.
//
// Rounds are taken in several processes of the GPU worker, since some kernels run at one of two speeds and keep it for
// the whole process. A time is the median over processes of each process's median, and a ratio is computed in the same
// way from the rounds' paired ratios. A round in which either of the two entries has no time is left out.
//
// Bounds of a ratio are order statistics of the rounds' ratios (stats_median_bounds), which assume nothing about the
// ratios' distribution. If two processes disagree on a ratio, rounds are not exchangeable between them, and bounds come
// from drawing processes first, then rounds (stats_clustered_median).
//
// The rounds are looked at repeatedly, and losers leave. Each look could give a wrong decision, so the error
// probability of 2% is divided among the looks. The k-th look gets 1/(k (k+1)) of the total, so that any number of
// looks together stays below the total. This is alpha spending (Lan and DeMets, Biometrika 70, 1983), with the union
// bound instead of the looks' joint distribution. The probability for one look is divided equally among all pairs of
// candidates (Bonferroni's correction). Only one of the two directions of a pair can be wrong, so the bounds are
// one-sided.
//
// The lowest time wins, unless other candidates equal it. A candidate equals another if the interval of their ratio
// includes 1 and is narrower than 0.2%. Among equals, the one that uses the smallest share of an SM wins, then the one
// with the smallest code, then the fastest. Other candidates that the bounds do not show to be slower are tied with the
// winner if they may be faster by at most 1%.
#pragma once

#include "tuner/base/limits.h"
#include "tuner/base/stats.h"

struct contender {
    bool candidate;               // a baseline cannot win
    size_t rounds;                // length of `objectives`
    const double *objectives;     // one per round, NaN for a round without a time; borrowed
    const unsigned char *process; // of each round, from 0; all entries share the list; NULL: one process; borrowed
    double share;                 // of an SM that one block takes, 0..1
    double code;                  // bytes
    struct interval energy;       // J per execution; 0 or NaN: unknown
    bool slower;                  // an earlier look has shown that another candidate is faster: this one has left
    // Filled in by final_examine:
    double median;                               // NaN when no round has a time; such a candidate cannot win
    double process_medians[FINAL_PROCESSES_MAX]; // NaN for a process without a time
    bool by_process;                             // its time depends on the process that measures it
    // Filled in by final_decide, or by final_decide_energy:
    bool tied; // it is tied with the winner, and is not the winner itself
};

// How certain the winner is. FASTEST: no other candidate could be as fast. TIED: other candidates could be as fast, or
// faster by at most 1%. UNDECIDED: another could be faster by more.
enum final_certainty { FINAL_FASTEST, FINAL_TIED, FINAL_UNDECIDED };
struct final_verdict {
    int64_t winner; // an index; -1: no candidate has a time
    enum final_certainty certainty;
    double within;        // another candidate may be faster by at most this share; 0: FINAL_FASTEST
    size_t rival;         // that candidate, unless FINAL_FASTEST
    struct error warning; // something else seems to use the device; empty: no sign of it
};

// Computes medians, and finds entries whose time depends on the process. For such an entry, the medians of two
// processes are more than 2% apart and their 95% intervals do not overlap, even after changes common to all entries (in
// the clock, for example) are divided out. Sets a warning if launches of most entries, or nearly half of one entry's
// launches, took over 20% longer than in other rounds.
void final_examine(struct contender *, size_t count, struct error *warning);

// Calls final_examine. `look`: the number of looks at these rounds, including this one.
void final_decide(struct contender *, size_t count, int look, struct final_verdict *);

// Bases the verdict on energy or, with `product`, on energy times the median time; the lowest wins. Another candidate
// is tied if its interval and the winner's allow its energy to be lower, but by at most 1%. FINAL_FASTEST then means
// that no other candidate's energy could be lower. Returns false, with nothing changed, if no candidate's energy is
// known.
bool final_decide_energy(struct contender *, size_t count, bool product, struct final_verdict *);

// Looks at the rounds so far. Marks as `slower` the candidates that are certainly slower than another one. In the first
// of several processes, a candidate must be slower by more than processes are known to differ, because any other
// candidate could be the fastest in another process. `agree`: the processes are known to agree, so that they are not
// compared again.
struct final_look {
    bool decided;   // every other candidate is slower than the fastest one, or they are within 1% of each other
    bool libraries; // every baseline is faster or slower than the fastest, or within 1% of it
    bool differ;    // processes disagree on a ratio to the fastest candidate
};
void final_look(struct contender *, size_t count, int look, bool first_process, bool agree, struct final_look *);
const char *final_certainty_name(enum final_certainty); // the name used in documents

// The paired ratio of two entries' rounds with its 95% interval, NaN without pairs. Returns the number of pairs.
size_t final_ratio(const struct contender *, const struct contender *to, struct interval *ratio);

// The share of an SM that a block takes: its share of the registers or of the shared memory, whichever is larger.
double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm);
