// CUB's sum and inclusive prefix sum: baselines (kernels/sweetspot_baseline.h) for configs/sum.cfg and
// configs/prefix_sum.cfg. The arguments are the input and the output.
#include <climits>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <sweetspot_baseline.h>

static void *space; // CUB's temporary storage, enough for the largest problem
static size_t bytes;

enum what { SUM, SCAN };

static int call(what does, void *where, size_t &size, void *stream, void **arguments, long long n)
{
    const float *x = *(const float **)arguments[0];
    float *y = *(float **)arguments[1];
    if (n > INT_MAX) return cudaErrorInvalidValue;
    if (does == SUM) return cub::DeviceReduce::Sum(where, size, x, y, (int)n, (cudaStream_t)stream);
    return cub::DeviceScan::InclusiveSum(where, size, x, y, (int)n, (cudaStream_t)stream);
}

static int begin(what does, void *stream, void **arguments, const long long *sizes)
{
    size_t need = 0;
    int failed = call(does, nullptr, need, stream, arguments, sizes[0]);
    if (failed || need <= bytes) return failed;
    bytes = need; // graphs may use the smaller storage, so it is not freed
    return cudaMalloc(&space, need);
}

extern "C" int cub_sum_begin(void *stream, void **arguments, const long long *sizes)
{
    return begin(SUM, stream, arguments, sizes);
}

extern "C" int cub_sum(void *stream, void **arguments, const long long *sizes)
{
    return call(SUM, space, bytes, stream, arguments, sizes[0]);
}

extern "C" int cub_scan_begin(void *stream, void **arguments, const long long *sizes)
{
    return begin(SCAN, stream, arguments, sizes);
}

extern "C" int cub_scan(void *stream, void **arguments, const long long *sizes)
{
    return call(SCAN, space, bytes, stream, arguments, sizes[0]);
}
