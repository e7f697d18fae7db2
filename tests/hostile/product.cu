// Matrix products that are slightly wrong, or wrong only at edges: C = A*B in f32, one element per thread, tiles of 16
// x 16.
//
//     buffers   A (M x K), B (K x N), C (M x N, out), row-major without padding
//     launch    grid (ceil_div(N, 16), ceil_div(M, 16)), block (16, 16)

#include "case.h"

enum { T = 16 };

HELPER float input_a(float x)
{
#if IS(tf32_inputs)
    return to_tf32(x);
#elif IS(bf16_inputs)
    return to_bf16(x);
#elif IS(f16_inputs)
    return to_f16(x);
#else
    return x;
#endif
}

HELPER float input_b(float x)
{
#if IS(b_in_tf32)
    return to_tf32(x);
#else
    return input_a(x);
#endif
}

#if IS(f64_accumulator)
typedef double accumulator;
#else
typedef float accumulator;
#endif

extern "C" __global__ void product(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T + 1], b[T][T + 1];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int from = col; // the column of B that this thread multiplies
#if IS(rows_swapped)
    int source = row == 3 ? 7 : row == 7 ? 3 : row;
#else
    int source = row;
#endif
#if IS(columns_swapped)
    from = col == 2 ? 9 : col == 9 ? 2 : col;
#elif IS(moved_back_columns)
    bool moved = (int)blockIdx.x * T + T > N && N >= T;
    if (moved) col = N - T + tx;
#elif IS(edge_column_repeated)
    if (from == N - 1 && N % T) from = N - 2;
#endif
    int steps = (K + T - 1) / T;
#if IS(tail_of_k_missing)
    if (steps > 1) steps = K / T;
#endif
    [[maybe_unused]] accumulator sum = 0, odd = 0, lost = 0;
    for (int i = 0; i < steps; i++) {
        int step = i;
#if IS(from_the_end)
        step = steps - 1 - i;
#endif
        int k0 = step * T;
        [[maybe_unused]] bool back = false;
#if IS(tile_moved_back) || IS(moved_back_k_doubled)
        if (k0 + T > K && K >= T) {
            k0 = K - T;
            back = true;
        }
#endif
        int ka = k0 + tx, kb = k0 + ty;
        bool in_a = source < M && ka < K, in_b = from < N && kb < K;
#if IS(tile_moved_back)
        // The previous tile has already added the terms in the overlap.
        if (back) in_a = in_a && ka >= step * T;
#endif
#if IS(tail_of_k_stale)
        if (in_a || !step) a[ty][tx] = in_a ? A[(long long)source * K + ka] : 0;
        if (in_b || !step) b[ty][tx] = in_b ? B[(long long)kb * N + from] : 0;
#else
        a[ty][tx] = in_a ? input_a(A[(long long)source * K + ka]) : 0;
        b[ty][tx] = in_b ? input_b(B[(long long)kb * N + from]) : 0;
#endif
        __syncthreads();
        int repeat = 1;
#if IS(one_tile_misses_a_step)
        if (blockIdx.x == 1 && blockIdx.y == 1 && step == 1) repeat = 0;
#elif IS(step_twice)
        if (blockIdx.x == 0 && blockIdx.y == 1 && step == 1) repeat = 2;
#endif
        for (int r = 0; r < repeat; r++)
            for (int k = 0; k < T; k++) {
                float p = a[ty][k], q = b[k][tx];
                [[maybe_unused]] int at = k0 + k;
#if IS(last_term_missing)
                if (at == K - 1) continue;
#elif IS(eight_terms_missing)
                if (row == M / 2 && col == N / 2 && at >= 8 && at < 16) continue;
#endif
#if IS(f64_accumulator)
                sum += (double)p * (double)q;
#elif IS(compensated)
                float term = __fmaf_rn(p, q, -lost), next = __fadd_rn(sum, term);
                lost = __fsub_rn(__fsub_rn(next, sum), term);
                sum = next;
#elif IS(two_accumulators)
                if (k & 1)
                    odd += p * q;
                else
                    sum += p * q;
#elif IS(f16_accumulator)
                sum = to_f16(sum + p * q);
#elif IS(three_tf32)
                float p1 = to_tf32(p), p2 = to_tf32(p - p1), p3 = p - p1 - p2;
                float q1 = to_tf32(q), q2 = to_tf32(q - q1), q3 = q - q1 - q2;
                sum += p1 * q1 + (p1 * q2 + p2 * q1 + (p1 * q3 + p2 * q2 + p3 * q1));
#else
                sum += p * q;
#endif
            }
#if IS(bf16_accumulator)
        sum = to_bf16(sum);
#endif
        __syncthreads();
    }
    float result = (float)(sum + odd);
#if IS(tail_rows_missing)
    if (M % T && row >= M / T * T) return;
#elif IS(tail_columns_missing)
    if (N % T && col >= N / T * T) return;
#elif IS(tile_transposed)
    if (blockIdx.x == 1 && blockIdx.y == 1) {
        row = T + tx;
        col = T + ty;
    }
#elif IS(two_elements_swapped)
    if (row == M - 1 && col < 2) col = 1 - col;
#endif
    if (row >= M || col >= N) return;
#if IS(bf16_result)
    result = to_bf16(result);
#elif IS(one_element_off)
    if (row == M / 3 && col == N / 3) result += 1e-3f * (1 + fabsf(result));
#elif IS(old_c_added)
    result += C[(long long)row * N + col];
#endif
    C[(long long)row * N + col] = result;
}
