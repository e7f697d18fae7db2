// Candidates of two launches: t = a*x, then y = t + y0, for n elements. The second may begin before the first has ended
// (programmatic dependent launch) in the cases that say so in stages.cfg, and must then wait for it.
//
//     buffers   x, y0 (in), t (scratch without a fill), y (out)
//     launch    both: grid ceil_div(n, 1024), block 256, four elements a thread

// Right.
#define plain 1
#define overlap_waits 2
#define overlap_waits_late 3 // after it has read y0
#define overlap_announced 4  // the first launch says early that the second may begin
#define first_does_all 5
#define second_does_all 6
#define first_in_place 7       // t goes to y, and the second launch adds to it
#define first_done_once_more 8 // the second launch makes t once more
#define wait_without_overlap 9
// Wrong.
#define overlap_does_not_wait 20 // and the first launch is late
#define overlap_waits_at_the_end 21
#define overlap_waits_in_one_warp 22
#define first_does_nothing 23
#define second_does_nothing 24
#define half_each 25         // the first launch makes half of t
#define first_only_once 26   // in the first launch, as a __device__ flag says
#define rest_left_to_next 27 // the last quarter of y is written by the next launch's first part
#define second_only_odd 28   // in every other launch, as a __device__ counter says
#define t_shifted 29
// No gain.
#define first_if_not_done 40 // each thread looks whether t is a number
#define first_if_block_not_done 41
#define second_if_not_done 42

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

__device__ u32 launches, arrived;
#if CASE == rest_left_to_next
__device__ const float *left_t, *left_y0;
__device__ float *left_y;
#endif

HELPER int element(int k)
{
    return blockIdx.x * TILE + k * THREADS + threadIdx.x;
}
// The second launch goes from the end where it does not wait: that is where the first is last.
HELPER int element_of_second(int k)
{
    u32 block =
        CASE >= overlap_does_not_wait && CASE <= overlap_waits_in_one_warp ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    return block * TILE + k * THREADS + threadIdx.x;
}
HELPER void wait()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

extern "C" __global__ void stages_first(int n, float a, const float *x, const float *y0, float *t, float *y)
{
    (void)y0, (void)y, (void)t;
#if CASE == overlap_announced || CASE == overlap_does_not_wait || CASE == overlap_waits_at_the_end || \
    CASE == overlap_waits_in_one_warp
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
#if CASE == overlap_does_not_wait || CASE == overlap_waits_at_the_end || CASE == overlap_waits_in_one_warp
    for (u64 end = nanoseconds() + 40000; nanoseconds() < end;) {
    }
#endif
#if CASE == first_does_nothing || CASE == second_does_all
    if (n) return;
#elif CASE == first_only_once
    if (*(volatile u32 *)&launches) return;
#elif CASE == first_if_block_not_done
    __shared__ bool done;
    if (threadIdx.x == 0) done = ((volatile float *)t)[element(0)] == ((volatile float *)t)[element(0)];
    __syncthreads();
    if (done) return;
#elif CASE == rest_left_to_next
    if (left_y)
        for (int k = 0; k < ELEMENTS; k++) {
            int i = element(k);
            if (i >= n / 4 * 3 && i < n) left_y[i] = left_t[i] + left_y0[i];
        }
#endif
    for (int k = 0; k < ELEMENTS; k++) {
        int i = element(k);
        if (i >= n) continue;
#if CASE == first_does_all
        y[i] = a * x[i] + y0[i];
#elif CASE == first_in_place
        y[i] = a * x[i];
#elif CASE == half_each
        if (i < n / 2) t[i] = a * x[i];
#elif CASE == first_if_not_done
        if (t[i] != t[i]) t[i] = a * x[i];
#else
        t[i] = a * x[i];
#endif
    }
}

extern "C" __global__ void stages_second(int n, float a, const float *x, const float *y0, float *t, float *y)
{
    (void)a, (void)x, (void)t, (void)y0;
#if CASE == overlap_waits || CASE == overlap_announced || CASE == wait_without_overlap
    wait();
#elif CASE == overlap_waits_in_one_warp
    if (threadIdx.x < 32) wait();
#endif
#if CASE == first_does_all
    return;
#elif CASE == second_does_nothing
    if (n) return;
#elif CASE == second_only_odd
    bool skip = *(volatile u32 *)&launches & 1;
#endif
#if CASE != first_does_all
    for (int k = 0; k < ELEMENTS; k++) {
        int i = element_of_second(k);
        if (i >= n) continue;
#if CASE == second_does_all
        y[i] = a * x[i] + y0[i];
#elif CASE == first_in_place
        y[i] = y[i] + y0[i];
#elif CASE == first_done_once_more
        t[i] = a * x[i];
        y[i] = t[i] + y0[i];
#elif CASE == rest_left_to_next
        if (i < n / 4 * 3) y[i] = t[i] + y0[i];
#elif CASE == second_only_odd
        if (!skip) y[i] = t[i] + y0[i];
#elif CASE == t_shifted
        y[i] = t[i ? i - 1 : 0] + y0[i];
#elif CASE == second_if_not_done
        if (y[i] != y[i]) y[i] = t[i] + y0[i];
#elif CASE == overlap_waits_late
        float add = ((volatile const float *)y0)[i];
        wait();
        y[i] = ((volatile float *)t)[i] + add;
#else
        y[i] = ((volatile float *)t)[i] + y0[i];
#endif
    }
#if CASE == overlap_waits_at_the_end
    wait();
#endif
#if CASE == first_only_once || CASE == second_only_odd || CASE == rest_left_to_next
    if (last_to_arrive(&arrived) && threadIdx.x == 0) {
        launches = launches + 1;
#if CASE == rest_left_to_next
        left_y = y;
        left_t = t;
        left_y0 = y0;
#endif
    }
#endif
#endif
}
