// Candidates of two launches: t = a*x, then y = t + y0, for n elements. In the cases marked in stages.cfg, the second
// launch may begin before the first launch has ended (programmatic dependent launch). It must then wait for the first
// launch.
//
//     buffers   x, y0 (in), t (scratch without a fill), y (out)
//     launch    both: grid ceil_div(n, 1024), block 256, four elements a thread

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

__device__ u32 launches, arrived;
#if IS(rest_left_to_next)
__device__ const float *left_t, *left_y0;
__device__ float *left_y;
#endif

HELPER int element(int k)
{
    return blockIdx.x * TILE + k * THREADS + threadIdx.x;
}
// If the second launch does not wait, its blocks start from the end, which the first launch writes last.
HELPER int element_of_second(int k)
{
    u32 block = IS(overlap_does_not_wait) || IS(overlap_waits_at_the_end) || IS(overlap_waits_in_one_warp)
                    ? gridDim.x - 1 - blockIdx.x
                    : blockIdx.x;
    return block * TILE + k * THREADS + threadIdx.x;
}
HELPER void wait()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

extern "C" __global__ void stages_first(int n, float a, const float *x, const float *y0, float *t, float *y)
{
    (void)y0, (void)y, (void)t;
#if IS(overlap_announced) || IS(overlap_does_not_wait) || IS(overlap_waits_at_the_end) || IS(overlap_waits_in_one_warp)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
#if IS(overlap_does_not_wait) || IS(overlap_waits_at_the_end) || IS(overlap_waits_in_one_warp)
    for (u64 end = nanoseconds() + 40000; nanoseconds() < end;) {
    }
#endif
#if IS(first_does_nothing) || IS(second_does_all)
    if (n) return;
#elif IS(first_only_once)
    if (*(volatile u32 *)&launches) return;
#elif IS(first_if_block_not_done)
    __shared__ bool done;
    if (threadIdx.x == 0) done = ((volatile float *)t)[element(0)] == ((volatile float *)t)[element(0)];
    __syncthreads();
    if (done) return;
#elif IS(rest_left_to_next)
    if (left_y)
        for (int k = 0; k < ELEMENTS; k++) {
            int i = element(k);
            if (i >= n / 4 * 3 && i < n) left_y[i] = left_t[i] + left_y0[i];
        }
#endif
    for (int k = 0; k < ELEMENTS; k++) {
        int i = element(k);
        if (i >= n) continue;
#if IS(first_does_all)
        y[i] = a * x[i] + y0[i];
#elif IS(first_in_place)
        y[i] = a * x[i];
#elif IS(half_each)
        if (i < n / 2) t[i] = a * x[i];
#elif IS(first_if_not_done)
        if (t[i] != t[i]) t[i] = a * x[i];
#else
        t[i] = a * x[i];
#endif
    }
}

extern "C" __global__ void stages_second(int n, float a, const float *x, const float *y0, float *t, float *y)
{
    (void)a, (void)x, (void)t, (void)y0;
#if IS(overlap_waits) || IS(overlap_announced) || IS(wait_without_overlap)
    wait();
#elif IS(overlap_waits_in_one_warp)
    if (threadIdx.x < 32) wait();
#endif
#if IS(first_does_all)
    return;
#elif IS(second_does_nothing)
    if (n) return;
#elif IS(second_only_odd)
    bool skip = *(volatile u32 *)&launches & 1;
#endif
#if !IS(first_does_all)
    for (int k = 0; k < ELEMENTS; k++) {
        int i = element_of_second(k);
        if (i >= n) continue;
#if IS(second_does_all)
        y[i] = a * x[i] + y0[i];
#elif IS(first_in_place)
        y[i] = y[i] + y0[i];
#elif IS(first_done_once_more)
        t[i] = a * x[i];
        y[i] = t[i] + y0[i];
#elif IS(rest_left_to_next)
        if (i < n / 4 * 3) y[i] = t[i] + y0[i];
#elif IS(second_only_odd)
        if (!skip) y[i] = t[i] + y0[i];
#elif IS(t_shifted)
        y[i] = t[i ? i - 1 : 0] + y0[i];
#elif IS(second_if_not_done)
        if (y[i] != y[i]) y[i] = t[i] + y0[i];
#elif IS(overlap_waits_late)
        float add = ((volatile const float *)y0)[i];
        wait();
        y[i] = ((volatile float *)t)[i] + add;
#else
        y[i] = ((volatile float *)t)[i] + y0[i];
#endif
    }
#if IS(overlap_waits_at_the_end)
    wait();
#endif
#if IS(first_only_once) || IS(second_only_odd) || IS(rest_left_to_next)
    if (last_to_arrive(&arrived) && threadIdx.x == 0) {
        launches = launches + 1;
#if IS(rest_left_to_next)
        left_y = y;
        left_t = t;
        left_y0 = y0;
#endif
    }
#endif
#endif
}
