/* Launches the measured binary of a tuned kernel from plain C with the driver API, without nvcc. Run this in the
 * project's root; CUDA_HOME is the toolkit's folder:
 *
 *     sweetspot tune configs/sgemm_2048.cfg
 *     sweetspot header configs/sgemm_2048.cfg --embed
 *     gcc -std=c99 -Iout/include -isystem $CUDA_HOME/include examples/driver_embedded.c \
 *       out/include/sgemm_2048_best_binary.c -L$CUDA_HOME/lib64/stubs -lcuda -o out/driver_embedded
 *     out/driver_embedded
 */
#include "product.h"

#define SGEMM_2048_DRIVER_API
#include "sgemm_2048_best.h"

enum { M = 2048, N = 2048, K = 2048 };

int main(void)
{
    struct sgemm_2048_kernels kernels;
    CUdeviceptr a, b, c;
    CUcontext context;
    CUdevice device;
    float *A, *B, *C;
    int status, right;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAllocManaged(&a, (size_t)sgemm_2048_bytes_A(M, N, K), CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemAllocManaged(&b, (size_t)sgemm_2048_bytes_B(M, N, K), CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemAllocManaged(&c, (size_t)sgemm_2048_bytes_C(M, N, K), CU_MEM_ATTACH_GLOBAL));
    A = (float *)(size_t)a;
    B = (float *)(size_t)b;
    C = (float *)(size_t)c;
    fill(A, (size_t)M * K, 1);
    fill(B, (size_t)K * N, 2);
    spoil(C, (size_t)M * N);

    status = sgemm_2048_load(&kernels); /* for the current context's device */
    if (!status) status = sgemm_2048_launch(&kernels, 0, M, N, K, a, b, c);
    if (status) {
        fprintf(stderr, "%s (status %d)\n", sgemm_2048_status_text(status), status);
        return 1;
    }
    MUST(cuCtxSynchronize());

    right = is_product(A, B, C, M, N, K);
    printf("the binary for %s: %s\n", sgemm_2048_loaded(&kernels), right ? "right" : "WRONG");
    sgemm_2048_unload(&kernels);
    return right ? 0 : 1;
}
