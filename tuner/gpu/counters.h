// Hardware counters of a candidate's launches, by CUPTI's range profiler. The only module that includes CUPTI; it opens
// libcupti at run time, so the worker starts and tunes where there is none.
//
// Where counters cannot be had (no library, no permission, a chip that this CUPTI does not know, another profiler on
// the device), counters_open() succeeds all the same: counters_reason() then says why, and every other function does
// nothing and reports success, with NaN for values. So a caller warns once, and needs no branches.
//
// Counting goes in batches, and never at the same time as timing: while a session is open every kernel is about 1%
// slower (61.4 us became 62.0 on an H200).
//
//     counters_open(&c, context, device, metrics_find("basic"), &err);
//     counters_begin_session(c, &err);
//     for each candidate that was timed
//         counters_measure(c, stages, launch, reset, candidate, values, &err);
//     counters_end_session(c, &err);
//     counters_close(c);
//
// All calls come from one thread, with the context current. One `struct counters` at a time for each context.
#ifndef SWEETSPOT_COUNTERS_H
#define SWEETSPOT_COUNTERS_H

#include <stddef.h>

#include "tuner/base/error.h"
#include "tuner/gpu/metrics.h"

struct counters;

enum {
    COUNTERS_FAILED = -1,        // CUPTI's fault: later candidates may well be counted
    COUNTERS_LAUNCH_FAILED = -2, // `launch` or `reset` reported failure: the candidate's fault
};

// Launches one stage (a kernel, or several, or a library call) of the candidate and waits until it has ended. Returns
// 0, or anything else when it failed; the context then counts as unusable, and no further call is made.
typedef int counters_launch(void *user, size_t stage);

// Makes the candidate's buffers what they were before the first launch, and the L2 as the job wants it, and waits
// until that is done. Called before each round of launches; nothing it launches is counted. 0, or failure.
typedef int counters_reset(void *user);

// Finds out what can be counted on this device, and how. `context` is the CUcontext of `device` (the driver API's
// ordinal); both it and `set` must outlive `*out`. The caller closes `*out`. Fails only for want of memory.
int counters_open(struct counters **out, void *context, int device, const struct metric_set *set, struct error *err);
void counters_close(struct counters *c); // NULL is fine; closes an open session

// Why nothing can be counted, with the way to mend it; NULL where counting works. Lives as long as `c`.
const char *counters_reason(const struct counters *c);

// Metrics of the set that this chip lacks, in one line for a person; NULL where there are none. Lives as long as `c`.
const char *counters_note(const struct counters *c);

// CUPTI's name for the chip ("GH100"), or "" where not even that is known.
const char *counters_chip(const struct counters *c);

// The columns of a result: all metrics of the set that are meant for the chip, those that it lacks included. Where the
// chip is not known: the set's metrics that are meant for every chip.
size_t counters_count(const struct counters *c);
const struct metric *counters_metric(const struct counters *c, size_t column); // column < counters_count()

// How often a candidate is launched for its counters, besides the one launch that is not counted. 0 without counters.
size_t counters_passes(const struct counters *c);

// Opens and closes the profiler's session. After a failed begin, no session is open.
int counters_begin_session(struct counters *c, struct error *err);
int counters_end_session(struct counters *c, struct error *err);

// Counts one candidate of `stages` >= 1 stages; needs an open session. Fills values[stage * counters_count(c) + column],
// NaN where a metric is missing, and all NaN on failure. Launches everything once without counting (the first launch
// after loading misses the instruction caches all along, later ones do not), then once for every pass.
// 0, COUNTERS_FAILED or COUNTERS_LAUNCH_FAILED.
int counters_measure(struct counters *c, size_t stages, counters_launch *launch, counters_reset *reset, void *user,
                     double *values, struct error *err);

// Without a GPU: what this CUPTI knows about chips. Both need libcupti alone, and fail with a message where it is
// missing or does not know the chip.

// How many passes the set takes on the chip, and how many of its metrics the chip lacks.
int counters_plan(const char *chip, const struct metric_set *set, size_t *passes, size_t *missing, struct error *err);

// Calls `each` for every base metric of the chip: its name without roll-up ("sm__icc_requests"), its kind ("counter",
// "ratio", "throughput"), a description and a unit, which are "" where CUPTI has none. Strings live during the call.
typedef void counters_each(void *user, const char *name, const char *kind, const char *description, const char *unit);
int counters_list(const char *chip, counters_each *each, void *user, struct error *err);

#endif
