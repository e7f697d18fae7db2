// Kernels that end the context, never end, or exhaust resources that others need: y = a*x + y0 for n elements.
//
//     buffers   x, y0 (in), y (out), z (scratch, 64 u32, zero)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread; waits_for_too_many: cooperative, one block
//               per SM
//
// The cases plain_after and plain_at_last do the same as `plain`.

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

#if IS(hangs_second) || IS(traps_second)
__device__ u32 launches, arrived;
#endif

#if IS(recursion)
static __device__ __noinline__ float endless(float x, int depth)
{
    volatile float room[64];
    room[depth & 63] = x;
    return x == 12345.5f ? x : endless(x + room[depth & 63], depth + 1) * 0.5f + room[0];
}
#endif

HELPER void do_it(int n, float *x, float *y, u32 *z, bool second)
{
    (void)n, (void)x, (void)y, (void)z, (void)second;
    [[maybe_unused]] bool one = blockIdx.x == 0 && threadIdx.x == 0;
#if IS(hangs)
    if (one)
        while (*(volatile float *)x < 1e30f) {
        }
#elif IS(hangs_second)
    if (one && second)
        while (*(volatile float *)x < 1e30f) {
        }
#elif IS(waits_for_too_many)
    if (threadIdx.x == 0) {
        atomicAdd(z, 1u);
        while (*(volatile u32 *)z <= gridDim.x) {
        }
    }
    __syncthreads();
#elif IS(traps)
    if (one) __trap();
#elif IS(traps_second)
    if (one && second) __trap();
#elif IS(traps_sometimes)
    if (one && (chance() & 7)) __trap();
#elif IS(breakpoint)
    if (one) asm volatile("brkpt;");
#elif IS(misaligned)
    if (one) *(volatile u64 *)((u8 *)y + 4) = 0;
#elif IS(null_written)
    if (one) *(volatile u32 *)(u64)(n & 0) = 1;
#elif IS(null_read)
    if (one && *(volatile u32 *)(u64)(n & 0) == 77) y[0] = 1;
#elif IS(far_written)
    if (one) *(volatile float *)(y + (1ll << 40)) = 1;
#elif IS(far_read)
    if (one && *(volatile float *)(y + (1ll << 40)) == 77) y[0] = 1;
#elif IS(shared_beyond)
    extern __shared__ volatile float pool[];
    if (one) pool[1 << 22] = 1;
#elif IS(local_beyond)
    volatile float room[16];
    room[threadIdx.x & 15] = 1;
    if (one)
        for (int i = 0; i < 1 << 24; i += 4096) room[i + (n & 15)] = 1;
#elif IS(recursion)
    if (one) y[0] = endless(x[0], 0);
#elif IS(bad_call)
    if (one) ((void (*)(int))(u64)(0x7fff0000u + (n & 16)))(n);
#elif IS(misaligned_shared)
    [[maybe_unused]] __shared__ u8 bytes[64];
    if (one) *(volatile u64 *)(bytes + (n | 1) % 8) = 1;
#elif IS(assertion)
    if (one) __assertfail("x[0] > 2", "crashes.cu", 1, "do_it", 1);
#endif
}

extern "C" __global__ void crashes(int n, float a, float *x, const float *y0, float *y, u32 *z)
{
    bool second = false, broken = false;
#if IS(hangs_second) || IS(traps_second)
    second = *(volatile u32 *)&launches == 1;
#endif
    do_it(n, x, y, z, second);
#if IS(leaks) || IS(uses_heap)
    // The heap has 8 MB, so a second launch that leaks gets no memory.
    __shared__ float *volatile mine;
    if (threadIdx.x == 0) mine = IS(leaks) || blockIdx.x < 64 ? (float *)malloc(8000) : 0;
    __syncthreads();
    broken = !mine && (IS(leaks) || blockIdx.x < 64);
    if (mine) mine[threadIdx.x] = a;
#if IS(uses_heap)
    __syncthreads();
    if (threadIdx.x == 0) free(mine);
#endif
#elif IS(prints)
    if (blockIdx.x < 8) printf("block %u thread %u: {\"status\":\"ok\"}\n", blockIdx.x, threadIdx.x);
    broken = blockIdx.x == 0;
#elif IS(prints_one)
    if (blockIdx.x == 0 && threadIdx.x == 0) printf("%d elements\n", n);
#elif IS(forged_answer)
    if (blockIdx.x == 0 && threadIdx.x < 64)
        printf("\n{\"id\":%u,\"status\":\"ok\",\"reason\":\"\",\"problems\":[{\"problem\":0,\"time\":1e-7,\"low\":1e-7,"
               "\"high\":1e-7,\"samples\":[1e-7],\"count\":9,\"error\":0.0,\"bad\":0}],\"stages\":[],\"busy\":0.1,"
               "\"wall\":0.1}\n",
               threadIdx.x);
    broken = blockIdx.x == 0;
#endif
    for (int k = 0; k < ELEMENTS; k++) {
        int i = (int)blockIdx.x * TILE + k * THREADS + (int)threadIdx.x;
        if (IS(waits_for_too_many)) continue;
        if (i < n) y[i] = broken ? 0 : a * x[i] + y0[i];
    }
#if IS(hangs_second) || IS(traps_second)
    if (last_to_arrive(&arrived) && threadIdx.x == 0) launches = launches + 1;
#endif
}
