/* Tests of templates/gemm_mma.cu that a job file cannot describe: addresses that are not aligned, and empty sums. Also
 * a simple product of BF16 matrices. */
#include "gemm_mma.cu"

/* Like gemm_mma, but every matrix begins `shift` elements later. */
extern "C" __global__ void __launch_bounds__(THREADS)
    mma_shifted(int M, int N, int K, float alpha, const input *A, int lda, const input *B, int ldb, float beta,
                output *C, int ldc, int shift)
{
    multiply_and_store({A + shift, B + shift, lda, ldb, M, N, K}, {C + shift, ldc, M, N, alpha, beta}, {});
}

extern "C" __global__ void mma_naive(int M, int N, int K, float alpha, const input *A, int lda, const input *B, int ldb,
                                     float beta, output *C, int ldc, int shift)
{
    const int i = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (j >= N) return;
    double sum = 0.0;
    for (int k = 0; k < K; ++k)
        sum += (double)__uint_as_float((unsigned)A[shift + (long long)lda * i + k] << 16) *
               __uint_as_float((unsigned)B[shift + (long long)ldb * j + k] << 16);
    output *const c = C + shift + (long long)ldc * i + j;
    *c = (float)(alpha * sum + (beta != 0.0f ? (double)beta * *c : 0.0));
}
