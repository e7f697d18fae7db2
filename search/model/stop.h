// When to end a search before its budget is spent, and why searches end.
//
//   target     an objective that is good enough is reached
//   ceiling    a share of the measured ceiling is reached: the caller sets the target when it knows the ceiling
//   until      the gain that stop_outlook expects from doubling the evaluations is less than this share. Applies
//              from STOP_LEAST evaluations on.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STOP_LEAST = 60 };

// Why a search ended.
enum search_end {
    SEARCH_GOES_ON,
    SEARCH_TARGET, // ended by a rule
    SEARCH_UNTIL,
    SEARCH_INTERRUPTED, // this and all following: ended by the caller
    SEARCH_TIME_UP,
    SEARCH_EVALUATIONS_USED,
    SEARCH_EXHAUSTED,    // the strategy has nothing more to propose
    SEARCH_NO_PROPOSALS, // the strategy proposes nothing, although there are configurations left
    SEARCH_NOT_WANTED,   // only a final was wanted
};
const char *search_end_text(enum search_end); // "time is up", for the log and the store; "" while it continues

struct stop_rules {
    double target;  // s; 0: no such rule
    double ceiling; // share; 0: no such rule
    double until;   // relative; 0: no such rule
};

// Reads "1%" or "0.01" into `until`, "95% of ceiling" into `ceiling`, or "330us" into `target`; the other rules are set
// to 0. Returns false if the text has none of these forms.
bool stop_read_until(const char *text, struct stop_rules *);

// The expected benefit of more evaluations, judged by how the best has improved so far.
struct stop_outlook {
    double chance; // probability of a gain of at least the given share
    double gain;   // the expected gain, as a share of the best time
};

struct stop {
    struct stop_rules rules;
    double best; // INFINITY before the first valid result
    uint64_t evaluations;
    double *trace;   // best after each evaluation
    double expected; // with the rule `until`: the gain from doubling the evaluations, computed at `expected_at`
    uint64_t expected_at;
};

void stop_init(struct stop *, const struct stop_rules *);
void stop_release(struct stop *);
// Records one finished evaluation: its objective (s), or NaN for a failure.
void stop_tell(struct stop *, double objective);
// The expected benefit of `more` evaluations, and the chance of a gain of at least `share`. If only `left`
// configurations of the space remain, `more` is limited to `left`. NaN before there is a valid result.
struct stop_outlook stop_outlook(const struct stop *, double share, uint64_t more, uint64_t left);
// The rule by which the search should end, or SEARCH_GOES_ON.
enum search_end stop_check(const struct stop *);
