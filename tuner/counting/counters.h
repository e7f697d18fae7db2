// Hardware counters of a candidate's launches, read with CUPTI's range profiler. libcupti is opened at run time
// (cupti_library.h), so the worker also starts and tunes without it.
//
// If counters are unavailable (no library, no permission, a chip that this CUPTI does not know), counters_open()
// succeeds anyway. counters_facts() then says why, and every other function does nothing and reports success, with NaN
// for values. So a caller warns once, and needs no branches.
//
// Candidates are counted in batches, since starting a pass takes a long time (15 ms on an H200), and a pass can hold
// many candidates: a single candidate takes 32 ms, but 64 together take 3.7 ms each. Opening and closing a session
// takes 0.23 s. Nothing is timed while a session is open, because a kernel that otherwise takes 60.8 us took 62.1 us in
// a session. CUPTI stays hooked into the driver from counters_open() to the end of the process. During this time, each
// launch takes 0.5 us more host time, and a kernel timed with events takes that much longer (60.35 us before, 60.8 us
// after). So open the counters before the first timing, or after the last.
//
//     counters_open(&c, context, device, metrics_find("basic"), &err);
//     ... time a few dozen candidates, and keep their modules loaded
//     counters_begin_session(c, &err);
//     counters_measure(c, candidates, stages, launch, reset, user, values, &err);
//     counters_end_session(c);
//     counters_close(c);
//
// All calls come from one thread, with the context current. One `struct counters` at a time for each context.
#pragma once

#include "tuner/trial/metrics.h"

struct counters;

enum {
    COUNTERS_FAILED = -1,        // CUPTI's fault: try once more; after a second failure in a row, give up
    COUNTERS_LAUNCH_FAILED = -2, // `launch` or `reset` reported failure: the candidate's fault
};

// Launches one stage (a kernel, or several, or a library call) of a candidate of the batch, and waits until it has
// ended. Returns 0 if this succeeded. After any other value, the context is considered unusable, and no further call is
// made.
typedef int counters_launch(void *user, size_t candidate, size_t stage);

// Prepares the candidate's buffers for its first stage, puts the L2 into the state that the job asks for, and waits.
// Called before each round of a candidate's stages. Its launches are not counted. Returns 0 or a failure, like
// counters_launch.
typedef int counters_reset(void *user, size_t candidate);

// Finds out what can be counted on this device, and how. `context` is the CUcontext of `device` (the driver API's
// ordinal). `context` and `set` must outlive `*out`. The caller closes `*out`, even after a failure. Fails only when
// memory is exhausted. Takes 0.9 s the first time in a process, and leaves no session open.
int counters_open(struct counters **out, void *context, int device, const struct metric_set *set, struct error *err);
void counters_close(struct counters *c); // NULL is fine; closes an open session

// What can be counted; lives as long as the counters.
struct counters_facts {
    const char *reason; // why nothing can be counted, and how to fix it; NULL if counting works
    const char *note;   // metrics of the set that this chip lacks, in one line for a person; NULL if there are none
    const char *chip;   // CUPTI's name for the chip ("GH100"), or "" if it is unknown
    // The columns of a result: all metrics of the set that are meant for the chip, including those that it lacks. If
    // the chip is unknown, these are the set's metrics that are meant for every chip.
    const struct metric *const *metrics;
    size_t count;
    size_t passes; // the set takes at most this many passes (0 without counters), each with two launches per candidate
};

// NULL: no counters were requested.
struct counters_facts counters_facts(const struct counters *c);

// Opens and closes the profiler's session. After a failed begin, no session is open.
int counters_begin_session(struct counters *c, struct error *err);
void counters_end_session(struct counters *c);

// Counts a batch of candidates, with stages[i] >= 1 stages each. Opens a session if none is open, and leaves it open.
// `values` has a row for every stage of every candidate, in order, with a column for each of the facts' metrics. A
// value is NaN if the metric is missing or undefined (a ratio to 0), or after a failure. In each pass a candidate runs
// twice, and only the second run is counted, because a kernel's first launch misses the instruction caches throughout.
// `reset` may be NULL.
//
// Candidates with up to 64 stages in total go through the passes together; a failure leaves all of these without
// values. 0, COUNTERS_FAILED or COUNTERS_LAUNCH_FAILED; the message then names the candidate's index.
int counters_measure(struct counters *c, size_t candidates, const size_t *stages, counters_launch *launch,
                     counters_reset *reset, void *user, double *values, struct error *err);

// Calls `each` for every base metric of the chip, with its name without roll-up ("sm__icc_requests"), its kind
// ("counter", "ratio", "throughput"), a description and a unit. The last two are "" if CUPTI has none. Needs libcupti
// but no GPU. Fails with a message if libcupti is missing or does not know the chip. Strings are valid only during the
// call.
typedef void counters_each(void *user, const char *name, const char *kind, const char *description, const char *unit);
int counters_list(const char *chip, counters_each *each, void *user, struct error *err);
