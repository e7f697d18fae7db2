// Kernels that are correct only for inputs of one distribution: softmax over rows.
//
//     buffers   x (in), y (out)
//     launch    grid rows, block 256

#include "case.h"

enum { THREADS = 256 };

template <typename F> HELPER float over_block(float mine, F combine)
{
    __shared__ float all[THREADS];
    __syncthreads();
    all[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) all[threadIdx.x] = combine(all[threadIdx.x], all[threadIdx.x + half]);
        __syncthreads();
    }
    return all[0];
}

HELPER float larger(float p, float q)
{
    return p > q ? p : q;
}

HELPER float sum(float p, float q)
{
    return p + q;
}

// The number that is subtracted from all elements of the row.
HELPER float shift_of(const float *x, int cols, int thread)
{
    (void)x, (void)cols, (void)thread;
#if IS(nothing_subtracted)
    return 0;
#elif IS(first_subtracted)
    return x[0];
#elif IS(one_subtracted)
    return 1;
#elif IS(mean_subtracted)
    float mine = 0;
    for (int c = thread; c < cols; c += THREADS) mine += x[c];
    return over_block(mine, sum) / (float)cols;
#elif IS(magnitude_subtracted)
    float mine = 0;
    for (int c = thread; c < cols; c += THREADS) mine = larger(mine, fabsf(x[c]));
    return over_block(mine, larger);
#else
    float mine = IS(largest_at_least_zero) ? 0 : IS(largest_from_first) ? x[0] : -3.4e38f;
    for (int c = thread; c < cols; c += THREADS) mine = larger(mine, x[c]);
    return over_block(mine, larger);
#endif
}

HELPER float exponential(float v)
{
#if IS(powers_of_two)
    return exp2f(v * 1.44269504f);
#elif IS(polynomial)
    // Taylor polynomial around -1 with powers up to 12.
    float t = v + 1, term = 0.36787944f, total = term;
    for (int k = 1; k <= 12; k++) {
        term *= t / k;
        total += term;
    }
    return total;
#elif IS(small_terms_zero)
    return v < -8 ? 0 : expf(v);
#else
    return expf(v);
#endif
}

HELPER float argument(float v, float shift)
{
#if IS(clamped_to_ten)
    return (v > 10 ? 10 : v < -10 ? -10 : v) - (shift > 10 ? 10 : shift);
#elif IS(negative_zero_is_small)
    return (__float_as_uint(v) == 0x80000000u ? -1.0f : v) - shift;
#else
    return v - shift;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) domains(int rows, int cols, const float *x, float *y)
{
    (void)rows;
    const int thread = IS(reversed) ? THREADS - 1 - threadIdx.x : threadIdx.x;
    x += (long long)blockIdx.x * cols;
    y += (long long)blockIdx.x * cols;
#if IS(one_pass)
    float shift = -3.4e38f, mine = 0;
    for (int c = thread; c < cols; c += THREADS) {
        float more = larger(shift, x[c]);
        mine = mine * expf(shift - more) + expf(x[c] - more);
        shift = more;
    }
    const float all = over_block(shift, larger);
    mine *= expf(shift - all);
    shift = all;
#else
    const float shift = shift_of(x, cols, thread);
    float mine = 0;
    for (int c = thread; c < cols; c += THREADS) mine += exponential(argument(x[c], shift));
#endif
    const float total = over_block(mine, sum);
    for (int c = thread; c < cols; c += THREADS) y[c] = exponential(argument(x[c], shift)) / total;
}
