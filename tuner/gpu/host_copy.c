// See host_copy.h.
#include "tuner/gpu/host_copy.h"

#include "tuner/base/memory.h"

int host_read(struct workload *w, const struct device_buffer *b, int64_t shift, void *to, struct error *err)
{
    int failed = cuda_download(w->cuda, to, b->view.device + (uint64_t)shift, b->bytes, err);
    return failed ? failed : cuda_sync(w->cuda, err);
}

int host_download(struct workload *w, const struct device_buffer *b, void **to, struct error *err)
{
    *to = memory_try(b->bytes, 1, err);
    return *to ? host_read(w, b, 0, *to, err) : -1;
}

int host_upload(struct workload *w, uint64_t to, const void *from, size_t bytes, struct error *err)
{
    int failed = cuda_upload(w->cuda, to, from, bytes, err);
    return failed ? failed : cuda_sync(w->cuda, err);
}
