/* Tests of templates/gemm_rows.cu that a job file cannot describe: addresses that are not aligned, and empty sums. Also
 * a simple product. */
#include "gemm_rows.cu"

/* Like gemm_rows, but every matrix begins `shift` elements later. */
extern "C" __global__ void __launch_bounds__(THREADS)
    rows_shifted(int rows, int tokens, int K, float alpha, const input *W, long long ldw, const input *x, long long ldx,
                 float beta, output *D, long long ldd, int shift)
{
    multiply(rows, tokens, K, alpha, W + shift, ldw, x + shift, ldx, beta, D + shift, ldd);
}

extern "C" __global__ void rows_naive(int rows, int tokens, int K, float alpha, const input *W, long long ldw,
                                      const input *x, long long ldx, float beta, output *D, long long ldd, int shift)
{
    const int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y;
    if (i >= rows) return;
    double sum = 0.0;
    for (int k = 0; k < K; ++k)
        sum += (double)widen(W[shift + ldw * i + k], type_tag<INPUT_IS>()) *
               widen(x[shift + ldx * j + k], type_tag<INPUT_IS>());
    output *const d = D + shift + ldd * j + i;
    *d = narrow((float)(alpha * sum + (beta != 0.0f ? (double)beta * widen(*d, type_tag<OUTPUT_IS>()) : 0.0)));
}
