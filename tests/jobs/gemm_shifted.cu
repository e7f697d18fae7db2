/* Tests of templates/gemm_simt.cu that a job file cannot describe: addresses that are not aligned to 16 bytes. Also a
 * simple product. */
#include "gemm_simt.cu"

/* Like gemm_simt, but every matrix begins `shift` floats later. */
extern "C" __global__ void GEMM_BOUNDS gemm_shifted(int M, int N, int K, float alpha, const float *__restrict__ A,
                                                    int lda, const float *__restrict__ B, int ldb, float beta,
                                                    float *__restrict__ C, int ldc, int shift)
{
    extern __shared__ float4 shared_memory[];
    const problem p = {M, N, K, alpha, beta, A + shift, B + shift, C + shift, lda, ldb, ldc};
    float sum[THREAD_M][THREAD_N];
    multiply_tile(sum, p, tile_place(block_anew(), M, N), 0, K, reinterpret_cast<float *>(shared_memory));
    store_tile(sum, p, tile_place(block_anew(), M, N), reinterpret_cast<float *>(shared_memory));
}

extern "C" __global__ void gemm_naive(int M, int N, int K, float alpha, const float *A, int lda, const float *B,
                                      int ldb, float beta, float *C, int ldc, int shift)
{
    const long long i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    double sum = 0.0;
    for (int k = 0; k < K; ++k) sum += (double)A[shift + i * lda + k] * B[shift + (long long)k * ldb + j];
    float *const c = C + shift + i * ldc + j;
    *c = (float)(alpha * sum + (beta != 0.0f ? (double)beta * *c : 0.0));
}
