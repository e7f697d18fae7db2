// Two tuned kernels used as source in one translation unit. The first job's parameters are undefined before the
// second's are defined, because templates use the same names for them. In the project's root:
//
//     sweetspot tune configs/sgemm_2048.cfg
//     sweetspot tune configs/example.cfg
//     sweetspot header configs/sgemm_2048.cfg
//     sweetspot header configs/example.cfg
//     OPTIONS=$(sed -n 's/^#define SGEMM_2048_OPTIONS_NVCC "\(.*\)"/\1/p' out/include/sgemm_2048_best.h)
//     nvcc $OPTIONS -Iout/include -Itemplates examples/two_jobs.cu -o out/two_jobs
//     out/two_jobs
//
// A translation unit is compiled with one set of options. If two jobs have different options, give each its own unit.
#include "product.h"

#define SGEMM_2048_DEFINE_PARAMETERS
#include "sgemm_2048_best.h"

#include "gemm_simt.cu"
#define SGEMM_2048_UNDEFINE_PARAMETERS
#include "sgemm_2048_best.h"

#define EXAMPLE_DEFINE_PARAMETERS
#include "example_best.h"

#include "axpy.cu"
#define EXAMPLE_UNDEFINE_PARAMETERS
#include "example_best.h"

static float *managed(long long bytes)
{
    float *memory;
    MUST(cudaMallocManaged(&memory, (size_t)bytes));
    return memory;
}

// C = A*B; C is filled with NaN first.
static void multiply(int M, int N, int K, const float *A, const float *B, float *C)
{
    const struct sgemm_2048_launch_shape g = sgemm_2048_geometry(M, N, K);
    const dim3 grid(g.grid[0], g.grid[1], g.grid[2]), block(g.block[0], g.block[1], g.block[2]);
    MUST(cudaFuncSetAttribute(gemm_simt, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)g.shared_bytes));
    gemm_simt<<<grid, block, g.shared_bytes>>>(M, N, K, 1, A, K, B, N, 0, C, N);
    MUST(cudaGetLastError());
}

// y = a*x + y.
static void add(long long n, float a, const float *x, float *y)
{
    const struct example_launch_shape g = example_geometry(n);
    axpy<<<dim3(g.grid[0], g.grid[1], g.grid[2]), dim3(g.block[0], g.block[1], g.block[2]), g.shared_bytes>>>(n, a, x,
                                                                                                              y);
    MUST(cudaGetLastError());
}

int main()
{
    const int M = 2048, N = 2048, K = 2048, n = M * N;
    float *A = managed(sgemm_2048_bytes_A(M, N, K)), *B = managed(sgemm_2048_bytes_B(M, N, K)),
          *C = managed(sgemm_2048_bytes_C(M, N, K)), *y = managed(example_bytes_y(n));
    fill(A, (size_t)M * K, 1);
    fill(B, (size_t)K * N, 2);
    fill(y, (size_t)n, 3);
    spoil(C, (size_t)n);
    multiply(M, N, K, A, B, C);
    add(n, 2.5f, C, y); // y = 2.5*A*B + y
    MUST(cudaDeviceSynchronize());

    bool right = is_product(A, B, C, M, N, K);
    float *before = (float *)malloc((size_t)n * sizeof *before);
    fill(before, (size_t)n, 3);
    for (int i = 0; i < n && right; i++) right = y[i] == 2.5f * C[i] + before[i];
    printf("%s and %s, tuned on %s: %s\n", SGEMM_2048_TEMPLATE, EXAMPLE_TEMPLATE, SGEMM_2048_DEVICE_NAME,
           right ? "right" : "WRONG");
    free(before);
    return right ? 0 : 1;
}
