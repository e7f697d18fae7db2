// Ways in which published harnesses were fooled, except those in the other families. The kernel computes y = x*x for n
// elements; the job's only parameter is CASE. The verdicts are in tests/test_gpu_judge.c.
//
//     buffers   x (in), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread
//
//     kept_for_address    keeps the answers of its first launch for the address of x
//     kept_for_sample     keeps these answers for three elements of x
//     constant_answer     writes the mean of y, whatever x is
//     smallest_zero       writes zeros where the answer is below 1e-4
//     half_precision      computes in f16, which is off by up to 5e-4
//     left_to_the_next    does the previous launch's work, and leaves its own to the next launch
//     sleeps_at_first     sleeps in its first eight launches, and not later: correct
//     fast_at_first       sleeps from its ninth launch on: correct
//     answers_in_warm_up  computes only in its first eight launches
//     assumes_positive    computes the root of x's fourth power, as |x| x: correct only for x >= 0

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS, ROOM = 1 << 20, WARM_UP = 8 };

#if IS(kept_for_address) || IS(kept_for_sample)
__device__ float answers[ROOM], sample[3];
__device__ const float *address;
__device__ u32 arrived, kept;
#elif IS(left_to_the_next)
__device__ const float *last_x;
__device__ float *last_y;
__device__ u32 arrived;
#elif IS(sleeps_at_first) || IS(fast_at_first) || IS(answers_in_warm_up)
__device__ u32 launches, arrived;
#endif

HELPER float square(float x)
{
#if IS(constant_answer)
    return 1.0f / 3 + 0 * x;
#elif IS(smallest_zero)
    return x * x < 1e-4f ? 0 : x * x;
#elif IS(half_precision)
    return to_f16(to_f16(x) * to_f16(x));
#elif IS(assumes_positive)
    return fabsf(x) * x;
#else
    return x * x;
#endif
}

extern "C" __global__ void fooled(int n, const float *x, float *y)
{
#if IS(kept_for_address) || IS(kept_for_sample)
    bool know = kept && address == x;
#if IS(kept_for_sample)
    know = kept && sample[0] == x[0] && sample[1] == x[n / 2] && sample[2] == x[n - 1];
#endif
#elif IS(left_to_the_next)
    const float *from = last_x;
    float *to = last_y;
#elif IS(sleeps_at_first) || IS(fast_at_first) || IS(answers_in_warm_up)
    u32 before = *(volatile u32 *)&launches;
    [[maybe_unused]] bool warm = before < WARM_UP;
#if !IS(answers_in_warm_up)
    if (threadIdx.x == 0 && (IS(sleeps_at_first)) == warm) __nanosleep(20000);
    __syncthreads();
#endif
#endif
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i >= n) continue;
#if IS(kept_for_address) || IS(kept_for_sample)
        y[i] = know ? answers[i % ROOM] : x[i] * x[i];
        if (!kept) answers[i % ROOM] = x[i] * x[i];
#elif IS(left_to_the_next)
        if (from) to[i] = from[i] * from[i];
#elif IS(answers_in_warm_up)
        if (warm) y[i] = x[i] * x[i];
#else
        y[i] = square(x[i]);
#endif
    }
#if IS(kept_for_address) || IS(kept_for_sample)
    if (last_to_arrive(&arrived) && threadIdx.x == 0 && !kept) {
        address = x;
        sample[0] = x[0];
        sample[1] = x[n / 2];
        sample[2] = x[n - 1];
        kept = 1;
    }
#elif IS(left_to_the_next)
    if (last_to_arrive(&arrived) && threadIdx.x == 0) {
        last_x = x;
        last_y = y;
    }
#elif IS(sleeps_at_first) || IS(fast_at_first) || IS(answers_in_warm_up)
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = before + 1;
#endif
}
