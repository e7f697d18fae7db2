// Uses a tuned kernel as source: the template is compiled with the header's parameters and options, and launched with
// the runtime API. In the project's root:
//
//     sweetspot tune configs/sgemm_2048.cfg
//     sweetspot header configs/sgemm_2048.cfg
//     OPTIONS=$(sed -n 's/^#define SGEMM_2048_OPTIONS_NVCC "\(.*\)"/\1/p' out/include/sgemm_2048_best.h)
//     nvcc $OPTIONS -Iout/include -Itemplates examples/runtime_source.cu -o out/runtime_source
//     out/runtime_source
#include "product.h"

#define SGEMM_2048_DEFINE_PARAMETERS // with the names that the template uses
#include "sgemm_2048_best.h"

#include "gemm_simt.cu"

int main()
{
    const int M = 2048, N = 2048, K = 2048;
    const struct sgemm_2048_launch_shape g = sgemm_2048_geometry(M, N, K);
    const dim3 grid(g.grid[0], g.grid[1], g.grid[2]), block(g.block[0], g.block[1], g.block[2]);
    float *A, *B, *C;
    MUST(cudaMallocManaged(&A, (size_t)sgemm_2048_bytes_A(M, N, K)));
    MUST(cudaMallocManaged(&B, (size_t)sgemm_2048_bytes_B(M, N, K)));
    MUST(cudaMallocManaged(&C, (size_t)sgemm_2048_bytes_C(M, N, K)));
    fill(A, (size_t)M * K, 1);
    fill(B, (size_t)K * N, 2);
    spoil(C, (size_t)M * N);

    // The header's first comment lists the arguments and everything else that must be set.
    MUST(cudaFuncSetAttribute(gemm_simt, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)g.shared_bytes));
    gemm_simt<<<grid, block, g.shared_bytes>>>(M, N, K, 1, A, K, B, N, 0, C, N);
    MUST(cudaGetLastError());
    MUST(cudaDeviceSynchronize());

    const bool right = is_product(A, B, C, M, N, K);
    printf("%s, tuned on %s: %s\n", SGEMM_2048_TEMPLATE, SGEMM_2048_DEVICE_NAME, right ? "right" : "WRONG");
    return right ? 0 : 1;
}
