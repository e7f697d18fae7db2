// Counts bytes, with an #if switch and a number that cannot be set from outside.
#define BINS 256
#ifndef ORDER
#define ORDER forwards
#endif
#ifndef FIRST
#define FIRST -4
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ORDER_forwards 1
#define ORDER_IS JOIN(ORDER_, ORDER)
typedef unsigned char byte;
#if 0
__global__ void disused(int n) {}
#endif
__device__ void add(unsigned int *to, unsigned int value)
{
    const char *text = "__global__ void quoted(int n)"; /* __global__ void commented(int n) */
    if (text[0]) atomicAdd(to, value);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    histogram(unsigned int *__restrict__ counts, const byte *data, const long long n)
{
    __shared__ unsigned int local[BINS];
    for (int i = threadIdx.x; i < BINS; i += THREADS) local[i] = FIRST + 4;
    __syncthreads();
    for (long long i = (long long)blockIdx.x * THREADS + threadIdx.x; i < n; i += (long long)gridDim.x * THREADS) {
#if USE_AGGREGATION
        unsigned int same = __match_any_sync(__activemask(), data[i]);
        if ((threadIdx.x & 31) == __ffs((int)same) - 1) add(&local[data[i]], __popc(same));
#else
        add(&local[data[i]], 1);
#endif
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += THREADS) atomicAdd(&counts[i], local[i]);
}
