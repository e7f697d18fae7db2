// Whether times on a cheaper problem, the guide, suffice to leave out the job's problems for some candidates. Pure:
// times are passed in, and the same times give the same answers.
//
// A candidate that was timed on both is a *pair*. The times' ratio varies from candidate to candidate; the time on the
// guide times one of the lowest ratios seen is what a candidate takes at least. Where that is well above the best, the
// candidate is screened out. It is never called the best because of its guide: what is not screened out is verified and
// measured as without one.
//
// The ranks must agree: Kendall's tau over the pairs, of which first a lower confidence limit counts (the jackknife's
// deviation, one-sided 95%). Until they do, every candidate is measured on both; if they do not soon, or cease to, the
// guide is off. One in GUIDE_AUDIT of the candidates that would be screened out is measured anyway and counts for
// as many in tau, so that tau describes all candidates, not only those that the guide favours.
#ifndef SWEETSPOT_GUIDE_H
#define SWEETSPOT_GUIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GUIDE_LEAST = 8,     // pairs before anything is screened out
    GUIDE_PATIENCE = 24, // pairs by which ranks that are seen not to agree turn it off; twice as many where it is open
    GUIDE_AUDIT = 8,
    GUIDE_PAIRS = 256,  // the last ones are kept
    GUIDE_FAILURES = 6, // on the guide, before it is off where there are more of them than successes
};

enum guide_state {
    GUIDE_OFF, // not used; `why` says why, "" where there is none
    GUIDE_LEARNING,
    GUIDE_SCREENING,
};

struct guide_pair {
    double guide, objective; // natural logarithms of seconds
    double weight;
};

struct guide {
    enum guide_state state;
    const char *why; // static text
    double worth;    // s: off where the best objective is less; 0: never
    size_t count;    // pairs, of all
    size_t since;    // of these, when the ranks last agreed
    struct guide_pair pairs[GUIDE_PAIRS];
    size_t failures;     // candidates that the guide has no time for
    double least;        // s: lowest time on the guide; 0: none
    double tau, tau_low; // NaN while there are too few pairs
    double low, typical; // logarithms of objective / guide: one of the lowest, the median. NaN likewise
    uint64_t screened;   // counted by the caller
    uint64_t audited;
};

// A guide that is used. `worth`: the objective below which it is not worth its time (s); 0: it is.
void guide_init(struct guide *, double worth);
void guide_set_off(struct guide *, const char *why); // static text

// A candidate was timed on the guide and on the problems, when `best` was the best objective so far (s; INFINITY:
// none).
void guide_learn(struct guide *, double seconds, double objective, double best);
// A candidate failed on the guide, or could not be launched there.
void guide_failed(struct guide *);

// Whether a candidate is certainly too slow, by its time on the guide.
bool guide_screens_out(const struct guide *, double seconds, double best);
// Whether a candidate that is to be screened out is measured anyway: one in GUIDE_AUDIT, by its number alone.
bool guide_audits(uint64_t seed, uint64_t configuration);
// The objective that a candidate is expected to have. NaN while there are too few pairs.
double guide_expected(const struct guide *, double seconds);

#endif
