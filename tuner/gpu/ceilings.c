// See ceilings.h. The fastest of several launches counts: a ceiling is what was reached once.
#include "tuner/gpu/ceilings.h"

#include <math.h>

enum { LAUNCHES = 12, LOOPS = 64 };

struct reading {
    struct support *support;
    uint64_t memory; // 0: the multiply-adds
    size_t bytes;
    double flops;
};

static int enqueue(struct reading *r, struct error *err)
{
    return r->memory ? support_ceiling_read(r->support, r->memory, r->bytes, err) : support_ceiling_fma(r->support, LOOPS, &r->flops, err);
}

static int fastest(struct workload *w, struct reading *r, double *seconds, struct error *err)
{
    struct cuda_event *from = NULL, *to = NULL;
    int failed = cuda_event_create(w->cuda, &from, err);
    if (!failed) failed = cuda_event_create(w->cuda, &to, err);
    *seconds = INFINITY;
    for (int i = 0; i < LAUNCHES && !failed; i++) {
        double one;
        failed = cuda_event_record(w->cuda, from, err);
        if (!failed) failed = enqueue(r, err);
        if (!failed) failed = cuda_event_record(w->cuda, to, err);
        if (!failed) failed = cuda_sync(w->cuda, err);
        if (!failed) failed = cuda_event_seconds(w->cuda, from, to, &one, err);
        if (!failed && i >= 2 && one < *seconds) *seconds = one; // the first ones warm up
    }
    if (from) cuda_event_destroy(w->cuda, from);
    if (to) cuda_event_destroy(w->cuda, to);
    return failed;
}

int ceilings_measure(struct workload *w, json_t *answer, struct error *err)
{
    struct reading fma = {.support = w->support}, read = {.support = w->support, .bytes = (size_t)2 << 30};
    double seconds;
    int failed = fastest(w, &fma, &seconds, err);
    if (failed) return failed;
    json_object_set_new(answer, "flops_per_second", json_real(fma.flops / seconds));
    while ((failed = cuda_alloc(w->cuda, read.bytes, &read.memory, err)) == CUDA_MEMORY && read.bytes > (size_t)64 << 20) read.bytes /= 2;
    if (!failed) failed = cuda_zero(w->cuda, read.memory, read.bytes, err);
    if (!failed) failed = fastest(w, &read, &seconds, err);
    if (failed != CUDA_CRASHED && read.memory) cuda_free(w->cuda, read.memory);
    if (failed) return failed;
    json_object_set_new(answer, "bytes_per_second", json_real((double)read.bytes / seconds));
    json_object_set_new(answer, "status", json_string("ok"));
    return 0;
}
