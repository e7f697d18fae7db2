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

void host_widen(const struct device_buffer *b, const void *data, void *wide)
{
    bool floats = element_is_float(b->view.type);
    size_t size = element_size(b->view.type), n = 0;
    for (int64_t r = 0; r < b->view.rows; r++)
        for (int64_t c = 0; c < b->view.cols; c++, n++) {
            const char *from = (const char *)data + (size_t)(r * b->view.ld + c) * size;
            if (floats)
                ((double *)wide)[n] = element_load(b->view.type, from);
            else
                ((int64_t *)wide)[n] = element_load_integer(b->view.type, from);
        }
}
