// Timing on the device. A kernel cannot tell a timed launch from one that will be judged. Before every launch, all
// writable memory that outlives a launch is put into a state that the job allows. The launches to be judged are drawn
// afterwards, from the system's entropy.
//
// Single launches: draw the data, restore the buffers and usually the module's variables, overwrite shared memory,
//                  empty the L2 (or, with a warm cache, launch once untimed and restore again), event, launch, event
// In a graph:      for work shorter than graph_below. There are as many launches as copies of the memory; each copy is
//                  used once, and all are restored between executions. Copies are added until an execution lasts 300 us
//                  (at most 128). Launches are timed one by one if there is no room for the copies, if a warm cache
//                  does not hold them, or if the module has arrays, variables that change, or variables that the
//                  job sets.
//
// Samples are taken in batches, with one synchronisation per batch.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/gpu/buffers.h"
#include "tuner/gpu/sampler.h"
#include "tuner/gpu/support.h"
#include "tuner/libraries/nvml.h"

enum { MEASURE_BATCH = 64 };

// Work that is timed. enqueue() launches once and does not wait; `shift` is added to every buffer's address. The other
// functions may be NULL. restore() enqueues restoring everything else that must be restored before a launch. Before a
// launch, copy() enqueues copying the buffers to where kernels see them. After the launch (`back`) it copies them from
// there, to be judged (symbol_bindings.h). Work with restore() or copy() is not put into graphs. prepare() enqueues the
// stages that are not timed.
struct work {
    int (*enqueue)(void *self, int64_t shift, struct error *err);
    int (*restore)(void *self, struct error *err);
    int (*copy)(void *self, int64_t shift, bool back, struct error *err);
    int (*prepare)(void *self, int64_t shift, struct error *err);
    void *self;
};

// Enqueues the work between restoring the buffers and a launch on them.
static inline int work_begin(const struct work *w, int64_t shift, struct error *err)
{
    int failed = w->copy ? w->copy(w->self, shift, false, err) : 0;
    return failed || !w->prepare ? failed : w->prepare(w->self, shift, err);
}

// The judge of timed launches; there is none if `compare` is NULL. compare() enqueues the comparison of the last
// launch's results in a copy that was prepared with `key`. After a wait, verdict() returns the result. slot <
// MEASURE_BATCH.
struct measure_verifier {
    int (*compare)(void *self, unsigned copy, uint64_t key, unsigned slot, struct error *err);
    enum trial_status (*verdict)(void *self, unsigned slot, struct error *reason);
    void *self;
};

// Work, the memory that it works on, and its judge.
struct measure_subject {
    struct work work;
    struct buffers *buffers;
    struct measure_verifier judge;
};

// A subject prepared for timing. Zeroed: nothing to free.
struct measure_plan {
    struct measure_subject subject;
    struct cuda_graph *graph; // NULL: it is launched without a graph
    unsigned repeats;         // launches in one sample: the copies 0 .. repeats-1
    int64_t launches_judged;
    enum trial_status status; // of the judged samples so far
    struct error reason;      // for a status other than STATUS_OK
};

struct measure;

int measure_open(struct measure **out, struct cuda *, struct support *, struct nvml *, const struct measure_settings *,
                 struct error *err);
void measure_close(struct measure *); // NULL is fine

// GPU seconds spent since the last call.
double measure_take_busy(struct measure *);
// Adds to these GPU seconds.
void measure_add_busy(struct measure *, double seconds);
// The last reading of the device's state that was taken while the device was executing.
struct nvml_reading measure_reading(const struct measure *);

// Decides from `estimate` (s) how the subject is timed.
int measure_plan(struct measure *, const struct measure_subject *, double estimate, struct measure_plan *out,
                 struct error *err);
void measure_plan_free(struct measure_plan *);

// Takes n <= MEASURE_BATCH samples, of plans[0], plans[1], ... in this order, and waits. times[i]: seconds for one
// launch. The given share of the samples is judged. If it is above 0, at least one sample of each plan is judged.
// Verdicts go into the plans.
int measure_samples(struct measure *, struct measure_plan *const *plans, size_t n, double share, double *times,
                    struct error *err);

// Like measure_samples(), but takes any number of plans and judges all samples. *hot: the device was throttled
// meanwhile.
int measure_plans(struct measure *, struct measure_plan *const *plans, size_t n, double *times, bool *hot,
                  struct error *err);

// Enqueues the preparation and the work of a sample that follows another sample of the same plan, without a pause and
// without events. `bare`: only the preparation.
int measure_repeat(struct measure *, const struct measure_plan *, bool bare, struct error *err);

// A whole measurement. `first`: a time already seen (s), or 0. `best`: the best candidate's time (s), or 0. Ends at the
// first judged launch that fails verification; *status and *reason then describe it. Fails only if the device does.
int measure_work(struct measure *, const struct measure_subject *, double first, double best, struct measurement *out,
                 enum trial_status *status, struct error *reason, struct error *err);
