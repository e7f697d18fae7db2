// One of the header's kernels, and the function that launches it. This file is compiled once for each kernel
// (Makefile): -DSGEMM_EACH_KERNEL=0 -DKERNEL=sgemm_0 -DLAUNCH=launch_0 and so on.
#define SGEMM_EACH_DEFINE_PARAMETERS
#include "sgemm_each_best.h"

#define gemm_simt KERNEL // renames the entry, so that several can be linked
#include "gemm_simt.cu"

extern "C" cudaError_t LAUNCH(int M, int N, int K, const float *A, const float *B, float *C, cudaStream_t stream)
{
    const struct sgemm_each_launch_shape g = sgemm_each_geometry_on(SGEMM_EACH_SECTION, M, N, K);
    const dim3 grid(g.grid[0], g.grid[1], g.grid[2]), block(g.block[0], g.block[1], g.block[2]);
    cudaError_t failed = cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)g.shared_bytes);
    if (failed != cudaSuccess) return failed;
    KERNEL<<<grid, block, g.shared_bytes, stream>>>(M, N, K, 1.0f, A, K, B, N, 0.0f, C, N);
    return cudaGetLastError();
}
