// Kernels that compute what they should, y = a*x + y0, and also make mistakes that only compute-sanitizer sees.
// tests/test_gpu_judge.c has the verdicts.
//
//     buffers   x, y0 (in), t (scratch, nothing promised), y (out)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread

#define plain 1
#define reads_past 2       // one element after x, and does nothing with it
#define reads_unwritten 3  // an element of t that was never written
#define reads_far_shared 4 // shared memory that the block does not have
#define same_value_race 5  // all threads store the same number to the same place in shared memory, without a barrier
#define scratch_used 6     // writes t and reads it back

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
#if CASE == reads_past
        if (i == n - 1) idle = ((const volatile float *)x)[n];
#elif CASE == reads_unwritten
        idle = scratch[i];
#elif CASE == reads_far_shared
        if (i == n - 1) idle = board[THREADS + (n & 1)];
#elif CASE == same_value_race
        board[0] = 3;
        idle = board[0];
#elif CASE == scratch_used
        scratch[i] = value;
        value = scratch[i];
#endif
        y[i] = value;
    }
    // Never true: the compiler does not know it, and must load.
    if (__float_as_uint(idle) == 0x12345678) y[0] = idle;
}
