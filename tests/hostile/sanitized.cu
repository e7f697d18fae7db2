// Kernels that compute correct results, y = a*x + y0, and also make mistakes that only compute-sanitizer detects. The
// verdicts are in tests/test_gpu_judge.c.
//
//     buffers   x, y0 (in), t (scratch, nothing promised), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread
//
//     reads_past        reads one element after x, and does nothing with it
//     reads_unwritten   reads an element of t that was never written
//     reads_far_shared  reads shared memory that the block does not have
//     same_value_race   all threads store the same number to the same place in shared memory, without a barrier
//     scratch_used      writes t and reads it back

#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS };

extern "C" __global__ void sanitized(int n, float a, const float *x, const float *y0, float *t, float *y)
{
    [[maybe_unused]] volatile float *scratch = t;
    [[maybe_unused]] __shared__ volatile float board[THREADS];
    [[maybe_unused]] float idle = 0;
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i >= n) continue;
        float value = a * x[i] + y0[i];
#if IS(reads_past)
        if (i == n - 1) idle = ((const volatile float *)x)[n];
#elif IS(reads_unwritten)
        idle = scratch[i];
#elif IS(reads_far_shared)
        if (i == n - 1) idle = board[THREADS + (n & 1)];
#elif IS(same_value_race)
        board[0] = 3;
        idle = board[0];
#elif IS(scratch_used)
        scratch[i] = value;
        value = scratch[i];
#endif
        y[i] = value;
    }
    // Never true, but the compiler cannot know this and must load the value.
    if (__float_as_uint(idle) == 0x12345678) y[0] = idle;
}
