// Timing on the device: events around work, with the L2 emptied before or deliberately left warm, in batches of one
// synchronisation each. Work shorter than graph_below is captured many times into a CUDA graph, so that launch gaps are
// not the result; with a cold cache such a graph goes round copies of the problem's memory which together exceed the
// L2.
#ifndef SWEETSPOT_GPU_MEASURE_H
#define SWEETSPOT_GPU_MEASURE_H

#include "tuner/gpu/buffers.h"
#include "tuner/gpu/sampler.h"
#include "tuner/gpu/support.h"
#include "tuner/libraries/nvml.h"

enum { MEASURE_BATCH = 64 };

// What is timed. enqueue() launches once and does not wait; `shift` is added to every buffer's address.
struct work {
    int (*enqueue)(void *self, int64_t shift, struct error *err);
    void *self;
};

// One work made ready for timing. Zeroed: nothing to free.
struct measure_plan {
    struct work work;
    struct cuda_graph *graph; // NULL: launched as it is
    unsigned repeats;         // executions in one sample
};

struct measure;

int measure_open(struct measure **out, struct cuda *, struct support *, struct nvml *, const struct measure_settings *,
                 struct error *err);
void measure_close(struct measure *); // NULL is fine

// GPU seconds spent since the last call.
double measure_take_busy(struct measure *);
// Adds to it.
void measure_add_busy(struct measure *, double seconds);
// The last reading of the device's state, taken while it was executing.
struct nvml_reading measure_reading(const struct measure *);

// Decides by `estimate` (s) how the work is timed. `buffers` is the memory that it works on.
int measure_plan(struct measure *, const struct work *, struct buffers *buffers, double estimate,
                 struct measure_plan *out, struct error *err);
void measure_plan_free(struct measure *, struct measure_plan *);

// Takes n <= MEASURE_BATCH samples, of plans[0], plans[1], ... in this order, and waits. times[i] is seconds for one
// execution.
int measure_samples(struct measure *, struct measure_plan *const *plans, size_t n, double *times, struct error *err);

// A whole measurement. `first`: a time already seen, or 0. `cutoff`: s, 0 for none. Fails only if the device does.
int measure_work(struct measure *, const struct work *, struct buffers *, double first, double cutoff,
                 struct measurement *out, struct error *err);

#endif
