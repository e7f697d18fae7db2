// When to end a search before its budget is spent.
//
//   patience   no gain in this many evaluations
//   target     an objective that is good enough is reached
//   noise      the expected gain of going on as long again is below the noise of measuring: what the second half of the
//              evaluations gained over the first, as a relative difference, is less than this. (Records of a random
//              sequence come ever more rarely, after n evaluations at a rate of 1/n, so the half to come gains on
//              average no more than the last half did.) Not before STOP_NOISE_LEAST evaluations.
#ifndef SWEETSPOT_STOP_H
#define SWEETSPOT_STOP_H

#include <stddef.h>
#include <stdint.h>

enum { STOP_NOISE_LEAST = 60 };

enum stop_rule { STOP_NONE, STOP_TARGET, STOP_PATIENCE, STOP_NOISE };

struct stop_rules {
    uint64_t patience; // evaluations; 0: no such rule
    double target;     // s; 0: no such rule
    double noise;      // relative; 0: no such rule
};

struct stop {
    struct stop_rules rules;
    double best; // INFINITY before the first valid result
    uint64_t evaluations, last_gain;
    double *trace; // best after each evaluation
    size_t room;
};

void stop_init(struct stop *, const struct stop_rules *);
void stop_release(struct stop *);
// One evaluation came to its end: its objective (s), or NaN for a failure.
void stop_tell(struct stop *, double objective);
// The rule by which the search should end.
enum stop_rule stop_check(const struct stop *);
// That rule in words, for reports; "" for STOP_NONE.
const char *stop_text(enum stop_rule);

#endif
