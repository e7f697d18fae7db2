/* Tests of templates/gemm_dmma.cu that a job file cannot describe: addresses that are not aligned to 16 bytes, and
 * empty sums. Also a simple product. */
#include "gemm_dmma.cu"

/* Like gemm_dmma, but every matrix begins `shift` elements later. */
extern "C" __global__ void __launch_bounds__(THREADS)
    dmma_shifted(int M, int N, int K, double alpha, const double *A, int lda, const double *B, int ldb, double beta,
                 double *C, int ldc, int shift)
{
    multiply_and_store<async_ring>({M, N, K, alpha, beta, A + shift, B + shift, C + shift, lda, ldb, ldc});
}

extern "C" __global__ void dmma_naive(int M, int N, int K, double alpha, const double *A, int lda, const double *B,
                                      int ldb, double beta, double *C, int ldc, int shift)
{
    const int i = blockIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (j >= N) return;
    double sum = 0.0;
    for (int k = 0; k < K; ++k) sum += A[shift + (long long)lda * i + k] * B[shift + (long long)ldb * k + j];
    double *const c = C + shift + (long long)ldc * i + j;
    *c = alpha * sum + (beta != 0.0 ? beta * *c : 0.0);
}
