// Buffers of a problem as the host sees them, for references on the CPU.
#pragma once

#include "tuner/gpu/workload_data.h"

static inline size_t host_elements(const struct device_buffer *b)
{
    return (size_t)b->view.rows * (size_t)b->view.cols;
}

// A buffer as it lies in a copy of the memory (`shift`), with its padding. Waits.
int host_read(struct workload *, const struct device_buffer *, int64_t shift, void *to, struct error *err);
// The same of the first copy, malloc'ed; *to is to be freed also after a failure.
int host_download(struct workload *, const struct device_buffer *, void **to, struct error *err);
// Waits.
int host_upload(struct workload *, uint64_t to, const void *from, size_t bytes, struct error *err);
