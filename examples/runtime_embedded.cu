// Launches the measured binary of a tuned kernel with the runtime API. In the project's root:
//
//     sweetspot tune configs/sgemm_2048.cfg
//     sweetspot header configs/sgemm_2048.cfg --embed
//     nvcc -Iout/include examples/runtime_embedded.cu out/include/sgemm_2048_best_binary.c -o out/runtime_embedded
//     out/runtime_embedded
#include "product.h"

#define SGEMM_2048_RUNTIME_API
#include "sgemm_2048_best.h"

int main()
{
    const int M = 2048, N = 2048, K = 2048;
    float *A, *B, *C;
    MUST(cudaMallocManaged(&A, (size_t)sgemm_2048_bytes_A(M, N, K)));
    MUST(cudaMallocManaged(&B, (size_t)sgemm_2048_bytes_B(M, N, K)));
    MUST(cudaMallocManaged(&C, (size_t)sgemm_2048_bytes_C(M, N, K)));
    fill(A, (size_t)M * K, 1);
    fill(B, (size_t)K * N, 2);
    spoil(C, (size_t)M * N);

    struct sgemm_2048_kernels kernels;
    MUST(sgemm_2048_load(&kernels));
    MUST(sgemm_2048_launch(&kernels, 0, M, N, K, A, B, C));
    MUST(cudaDeviceSynchronize());

    const bool right = is_product(A, B, C, M, N, K);
    printf("the binary for %s: %s\n", sgemm_2048_loaded(&kernels), right ? "right" : "WRONG");
    sgemm_2048_unload(&kernels);
    return right ? 0 : 1;
}
