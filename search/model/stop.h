// When to end a search before its budget is spent.
//
//   patience   no gain in this many evaluations
//   target     an objective that is good enough is reached
//   noise      the expected gain of going on as long again is below the noise of measuring: what the second half of the
//              evaluations gained over the first, as a relative difference, is less than this. (Records of a random
//              sequence come ever more rarely, after n evaluations at a rate of 1/n, so the half to come gains on
//              average no more than the last half did.) Not before STOP_NOISE_LEAST evaluations.
//   until      the gain that stop_outlook expects of as many evaluations again is less than this share. Not before
//              STOP_NOISE_LEAST evaluations.
#ifndef SWEETSPOT_STOP_H
#define SWEETSPOT_STOP_H

#include <stddef.h>
#include <stdint.h>

enum { STOP_NOISE_LEAST = 60 };

enum stop_rule { STOP_NONE, STOP_TARGET, STOP_PATIENCE, STOP_NOISE, STOP_UNTIL };

struct stop_rules {
    uint64_t patience; // evaluations; 0: no such rule
    double target;     // s; 0: no such rule
    double noise;      // relative; 0: no such rule
    double until;      // likewise
};

// The expected benefit of more evaluations, judged by how the best has improved so far.
struct stop_outlook {
    double chance; // of a gain of at least the given share
    double gain;   // expected, as a share of the best time
};

struct stop {
    struct stop_rules rules;
    double best; // INFINITY before the first valid result
    uint64_t evaluations, last_gain;
    double *trace; // best after each evaluation
    size_t room;
    double expected; // with the rule `until`: the gain of as many again, as of `expected_at` evaluations
    uint64_t expected_at;
};

void stop_init(struct stop *, const struct stop_rules *);
void stop_release(struct stop *);
// Records one finished evaluation: its objective (s), or NaN for a failure.
void stop_tell(struct stop *, double objective);
// The expected benefit of `more` evaluations, and the chance of a gain of at least `share`. Of the last `left`
// configurations of a space, at most these. NaN before there is a valid result.
struct stop_outlook stop_outlook(const struct stop *, double share, uint64_t more, uint64_t left);
// The rule by which the search should end.
enum stop_rule stop_check(const struct stop *);
// The rule in words, for reports; "" for STOP_NONE.
const char *stop_text(enum stop_rule);

#endif
