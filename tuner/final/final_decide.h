// Who wins the final, from its rounds alone.
//
// Rounds are taken in several processes of the GPU worker, since some kernels take one of two times for as long as a
// process lives. A time is the median over processes of each process's median, a ratio the same for the rounds' paired
// ratios, and intervals come from drawing processes first, then rounds (stats_clustered_median). A round in which
// either of two has no time is no pair.
//
// The lowest time wins. A candidate is tied with it where its ratio to it is at most 1 + tie, or where the interval
// does not tell it from 1, as long as the interval, and that of the inverse, end below 1 + 2 tie, or 1.01 if that is
// more: a wide interval makes no tie. Among the tied the one that takes the smallest share of an SM wins, then the
// smaller code, then the faster one where the interval says so, then the first in the list. Which one is fastest is
// found by looking at all pairs, so intervals hold with 95% for all pairs of candidates together (Bonferroni's
// correction).
//
// Nothing is decided where a candidate may win or not within its interval, as when it is faster in some processes and
// slower in others. In the last final of a run that is no hindrance where such a candidate is, with certainty, no
// faster than the fastest by more than a tie allows: then it only may be tied. Nothing is decided either where launches
// of most entries took much longer in many rounds than in others, because something else uses the device.
#ifndef SWEETSPOT_FINAL_DECIDE_H
#define SWEETSPOT_FINAL_DECIDE_H

#include "tuner/base/base.h"
#include "tuner/base/limits.h"
#include "tuner/base/stats.h"

struct contender {
    bool candidate;               // a baseline cannot win
    size_t rounds;                // numbers in `objectives`
    const double *objectives;     // one a round, NaN where it has no time; borrowed
    const unsigned char *process; // of each round, from 0; the same list for all entries; NULL: all in one; borrowed
    double share;                 // of an SM that one block takes, 0..1
    double code;                  // bytes
    // Filled in by final_examine:
    double median;                               // NaN when no round has a time: such a candidate cannot win
    double process_medians[FINAL_PROCESSES_MAX]; // NaN where it has no time
    double held_up;     // share of its rounds that took over 20% longer than its tenth percentile
    double undisturbed; // that percentile
    bool by_process;    // its time depends on the process that takes it
    // Filled in by final_decide:
    bool tied; // with the winner, and not the winner itself
};

enum { FINAL_NOBODY = -1, FINAL_UNDECIDED = -2 };

// Medians, and who takes one of two times by process: where the medians of two processes are more than 2% apart and
// their 95% intervals do not touch, after what all entries have in common (the clock, say) is divided out. -1 with a
// reason where the device was disturbed.
int final_examine(struct contender *, size_t count, struct error *why);

// The winner's index; FINAL_NOBODY when no candidate has a time; FINAL_UNDECIDED with a reason. Calls final_examine.
// `last`: there will be no other final. *why is empty unless something is doubtful, which may be so of a winner, too.
int64_t final_decide(struct contender *, size_t count, double tie, bool last, struct error *why);

// What the interval of a ratio to the fastest says: more than 1 + tie; a tie; or neither.
enum final_standing { FINAL_SLOWER, FINAL_TIED, FINAL_DOUBTFUL };
enum final_standing final_stand(const struct interval *ratio, double tie);

// The paired ratio of two entries' rounds with its 95% interval, NaN without pairs. Returns the number of pairs.
size_t final_ratio(const struct contender *, const struct contender *to, struct interval *ratio);

// The share of an SM that a block takes: of its registers or of its shared memory, whichever is larger.
double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm);

#endif
