// Kernels that compute y = a*x + y0 for n elements. The results are correct, but the kernels try to be timed with warm
// caches, or to move work out of the measured time. With a cold cache this must not save time. The cases plain_after
// and unchanged_at_last do the same as `plain`.
//
//     buffers   x, y0 (in), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

#if IS(sleeps_first) || IS(sleeps_often)
__device__ u32 launches, arrived;
#endif

HELPER u64 keep_policy()
{
    u64 policy;
#if IS(loads_evict_last_half)
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
#else
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

HELPER float load(const float *at, u64 policy)
{
    (void)policy;
    float value;
#if IS(loads_evict_last) || IS(loads_evict_last_half) || IS(all_evict_last)
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(at), "l"(policy));
#elif IS(loads_last_use)
    asm volatile("ld.global.lu.f32 %0, [%1];" : "=f"(value) : "l"(at));
#else
    value = *at;
#endif
    return value;
}

HELPER void store(float *at, float value, u64 policy)
{
    (void)policy;
#if IS(stores_evict_last) || IS(all_evict_last)
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(at), "f"(value), "l"(policy) : "memory");
#elif IS(stores_evict_first)
    u64 first;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(at), "f"(value), "l"(first) : "memory");
#elif IS(stores_around_the_cache)
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(at), "f"(value) : "memory");
#else
    *at = value;
#endif
}

HELPER void prefetch(const float *at)
{
#if IS(prefetches_evict_last) || IS(pinned_by_priority)
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(at));
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

extern "C" __global__ void timing(int n, float a, const float *x, const float *y0, float *y)
{
    u64 policy = 0;
#if IS(loads_evict_last) || IS(loads_evict_last_half) || IS(all_evict_last) || IS(stores_evict_last)
    policy = keep_policy();
#endif
#if IS(sleeps_first) || IS(sleeps_often)
    u32 before = *(volatile u32 *)&launches;
    if (threadIdx.x == 0 && (IS(sleeps_first) ? before == 0 : before & 1)) __nanosleep(2000);
    __syncthreads();
#endif
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i < n) store(y + i, a * load(x + i, policy) + load(y0 + i, policy), policy);
    }
    int first = blockIdx.x * TILE + threadIdx.x * 32; // one line of 128 bytes per thread
    [[maybe_unused]] bool leads = threadIdx.x < TILE / 32 && first < n;
#if IS(prefetches_at_the_end) || IS(prefetches_evict_last)
    if (leads) {
        prefetch(x + first);
        prefetch(y0 + first);
    }
#elif IS(pinned_by_priority)
    if (leads && first < (1 << 20)) {
        prefetch(x + first);
        prefetch(y0 + first);
    }
#elif IS(bulk_prefetch)
    if (threadIdx.x == 0 && (blockIdx.x + 1) * TILE <= n) {
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(x + blockIdx.x * TILE), "r"(TILE * 4));
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(y0 + blockIdx.x * TILE), "r"(TILE * 4));
    }
#elif IS(reads_again)
    float sum = 0;
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i < n) sum += ((volatile const float *)x)[i] + ((volatile const float *)y0)[i];
    }
    if (sum == 12345.678f) y[0] = sum; // never true: the sum of eight numbers below 1
#elif IS(touches_next_copy)
    if (leads) {
        prefetch(y + n + 2048 + first);
        prefetch(y + 2 * n + 4096 + first);
    }
#elif IS(touches_before)
    if (leads && first) {
        prefetch(x - 2048 - first);
        prefetch(x - n - 4096 - first);
    }
#elif IS(sleeps_first) || IS(sleeps_often)
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = launches + 1;
#endif
}
