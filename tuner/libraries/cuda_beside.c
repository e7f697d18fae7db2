// See cuda.h.
#include "tuner/libraries/cuda_driver.h"

struct cuda_beside {
    struct cuda *cuda;
    CUstream stream;
    CUevent before, after; // events before and after the kernel
};

int cuda_beside_open(struct cuda_beside **out, struct cuda *c, struct error *err)
{
    struct cuda_beside *b = memory_try(1, sizeof *b, err);
    CUresult r;
    *out = NULL;
    if (!b) return CUDA_MEMORY;
    b->cuda = c;
    if ((r = driver.cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING)) ||
        (r = driver.cuEventCreate(&b->before, CU_EVENT_DISABLE_TIMING)) ||
        (r = driver.cuEventCreate(&b->after, CU_EVENT_DISABLE_TIMING))) {
        cuda_beside_close(b);
        return cuda_check(err, r, "cannot create a second stream");
    }
    *out = b;
    return 0;
}

void cuda_beside_close(struct cuda_beside *b)
{
    if (!b) return;
    if (b->before) driver.cuEventDestroy(b->before);
    if (b->after) driver.cuEventDestroy(b->after);
    if (b->stream) driver.cuStreamDestroy(b->stream);
    free(b);
}

int cuda_beside_launch(struct cuda_beside *b, struct cuda_kernel *kernel, const struct cuda_geometry *g, void **args,
                       struct error *err)
{
    CUstream own = b->cuda->stream;
    CUresult r;
    if ((r = driver.cuEventRecord(b->before, own)) || (r = driver.cuStreamWaitEvent(b->stream, b->before, 0)))
        return cuda_check(err, r, "cannot order two streams");
    b->cuda->stream = b->stream;
    int failed = cuda_launch(b->cuda, kernel, g, args, err);
    b->cuda->stream = own;
    return failed ? failed : cuda_check(err, driver.cuEventRecord(b->after, b->stream), "cannot record an event");
}

int cuda_beside_join(struct cuda_beside *b, struct error *err)
{
    return cuda_check(err, driver.cuStreamWaitEvent(b->cuda->stream, b->after, 0), "cannot order two streams");
}
