// A program that uses a tuned header: multiplies two matrices with the kernel that the header selects for their sizes,
// and compares it with cuBLAS.
//
//     ./sgemm [M N K] without sizes: some tuned sizes and some others
//
// The exit status is 0 if every element is within the error bound of an FP32 product.
#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sgemm_each_best.h"

#define CHECK(call)                                                                        \
    do {                                                                                   \
        const int status_ = (int)(call);                                                   \
        if (status_) {                                                                     \
            fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, status_); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

typedef cudaError_t launch(int M, int N, int K, const float *A, const float *B, float *C, cudaStream_t stream);

// KERNELS is K(0) K(1) ... (Makefile).
#define K(i) extern "C" launch launch_##i;
KERNELS
#undef K
#define K(i) launch_##i,
static launch *const kernels[] = {KERNELS};
#undef K
static_assert(sizeof kernels / sizeof *kernels == SGEMM_EACH_KERNELS, "one function for each of the header's kernels");

static float *random_matrix(size_t n)
{
    float *host = (float *)malloc(n * sizeof *host), *device;
    for (size_t i = 0; i < n; i++) host[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    CHECK(cudaMalloc((void **)&device, n * sizeof *device));
    CHECK(cudaMemcpy(device, host, n * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

// Milliseconds per product: the best of three batches of ten.
template <class F> static float time_of(F run)
{
    cudaEvent_t begin, end;
    float best = INFINITY;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    run();
    for (int batch = 0; batch < 3; batch++) {
        float ms;
        CHECK(cudaEventRecord(begin));
        for (int i = 0; i < 10; i++) run();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        best = fminf(best, ms / 10);
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    return best;
}

static bool product(cublasHandle_t blas, int M, int N, int K)
{
    const int kernel = sgemm_each_select(M, N, K);
    if (kernel < 0) {
        printf("%d x %d x %d: no kernel for these sizes; a program would call cuBLAS\n", M, N, K);
        return true;
    }
    const size_t count = (size_t)M * (size_t)N;
    const float one = 1, zero = 0;
    float *A = random_matrix((size_t)M * (size_t)K), *B = random_matrix((size_t)K * (size_t)N), *C, *D;
    CHECK(cudaMalloc((void **)&C, count * sizeof *C));
    CHECK(cudaMalloc((void **)&D, count * sizeof *D));
    CHECK(cudaMemset(C, 0xff, count * sizeof *C)); // NaN reveals elements that no kernel writes
    const float ours = time_of([&] { CHECK(kernels[kernel](M, N, K, A, B, C, 0)); });
    // Row-major C = A*B is column-major C' = B'*A'.
    const float theirs =
        time_of([&] { CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, N, A, K, &zero, D, N)); });
    float *mine = (float *)malloc(count * sizeof *mine), *expected = (float *)malloc(count * sizeof *expected);
    CHECK(cudaMemcpy(mine, C, count * sizeof *mine, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(expected, D, count * sizeof *expected, cudaMemcpyDeviceToHost));
    // Elements are at most 1/2, so a sum of K products is at most K / 4. The error of each result is at most about
    // sqrt(K) rounding errors of such a sum.
    const double allowed = 2 * (2 * sqrt(K) + 4) * 5.96e-8 * K / 4;
    double worst = 0;
    for (size_t i = 0; i < count; i++) {
        const double error = fabs((double)mine[i] - (double)expected[i]);
        if (!(error <= worst)) worst = error;
    }
    const bool right = worst <= allowed;
    printf("%d x %d x %d: kernel %d of %d, %.4f ms; cuBLAS %.4f ms, %.3f times; largest difference %.2g%s\n", M, N, K,
           kernel, SGEMM_EACH_KERNELS, ours, theirs, theirs / ours, worst, right ? "" : "  WRONG");
    free(mine);
    free(expected);
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    CHECK(cudaFree(D));
    return right;
}

int main(int argc, char **argv)
{
    static const int some[][3] = {{512, 512, 512},  {1024, 1024, 1024}, {1023, 1023, 1023}, {4096, 4096, 4096},
                                  {777, 1300, 600}, {3000, 2000, 1000}, {1, 1, 1}};
    cublasHandle_t blas;
    bool right = true;
    CHECK(cublasCreate(&blas));
    if (argc == 4) {
        right = product(blas, atoi(argv[1]), atoi(argv[2]), atoi(argv[3]));
    } else {
        for (size_t i = 0; i < sizeof some / sizeof *some; i++)
            right &= product(blas, some[i][0], some[i][1], some[i][2]);
    }
    CHECK(cublasDestroy(blas));
    return right ? 0 : 1;
}
