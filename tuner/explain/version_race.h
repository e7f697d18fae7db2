// Races two versions of a kernel against each other on the same data. As in a final, the order within each round is
// random, and the rounds are divided among several processes of the GPU worker.
#pragma once

#include "tuner/setup/single_run.h"

enum version_verdict { VERSION_FASTER, VERSION_SAME, VERSION_UNDECIDED, VERSION_SLOWER };
extern const char *const version_verdicts[]; // "faster", ...; ends with NULL

// The verdict of paired times (s) of the old and the new version. `process`: the process that took each pair; `allow`:
// the share of the speed that the new version may lose. *ratio: the speed of the new version relative to the old, as
// the median of the pairs with its 99% interval (stats_paired_ratio). The new version is faster if the interval lies
// above 1.002, slower if it lies below 1/(1 + allow) and below 1/1.002, and the same if it does not extend below
// 1/(1 + allow).
enum version_verdict version_decide(const double *old, const double *new, const unsigned char *process, size_t count,
                                    double allow, struct interval *ratio);

struct version_problem {
    double *old, *new; // s, one pair for each round that has both
    unsigned char *process;
    size_t count;
    enum version_verdict verdict;
    struct interval ratio;
};

struct version_race {
    struct version_problem problems[JOB_MAX_PROBLEMS]; // the job's tuned problems
    enum version_verdict verdict;                      // the worst verdict of all problems
    size_t processes;
    const char *failed;  // "the new version" or "the base" if it did not pass verification; NULL: both did
    struct error reason; // why it did not
};

// Both versions must be compiled, and it must be possible to launch them. While a problem is undecided, more rounds run
// in further processes, up to a limit. Returns -1 with a message if the race cannot be run. The caller releases the
// race, even after a failure.
int version_race_run(struct version_race *, struct single_run *, const struct single_run_candidate *old,
                     const struct single_run_candidate *new, double allow, struct error *);
void version_race_release(struct version_race *);
