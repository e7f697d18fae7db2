/* One program for two kinds of GPU: its header has a section and a measured binary for each. Loading chooses the binary
 * for the current device, or the nearest one that the device can run. Tune on both machines, here into one.db and
 * two.db; the second header is merged into the first. Run this in the project's root (CUDA_HOME: the toolkit's folder):
 *
 *     sweetspot tune configs/sgemm_2048.cfg --store out/one.db
 *     sweetspot tune configs/sgemm_2048.cfg --store out/two.db
 *     sweetspot header configs/sgemm_2048.cfg --store out/one.db --embed
 *     sweetspot header configs/sgemm_2048.cfg --store out/two.db --embed
 *     gcc -std=c99 -Iout/include -isystem $CUDA_HOME/include examples/two_devices.c \
 *       out/include/sgemm_2048_best_binary.c -L$CUDA_HOME/lib64 -lcudart_static -ldl -lrt -lpthread -o out/two_devices
 *     out/two_devices
 *
 * It computes a product on every GPU of the machine for which there is a binary. */
#include "product.h"

#define SGEMM_2048_RUNTIME_API
#include "sgemm_2048_best.h"

enum { M = 2048, N = 2048, K = 2048 };

/* Runs on the current device. Returns whether the result is correct. */
static int compute(const struct sgemm_2048_kernels *kernels)
{
    float *A, *B, *C;
    int right;
    MUST(cudaMallocManaged((void **)&A, (size_t)sgemm_2048_bytes_A(M, N, K), cudaMemAttachGlobal));
    MUST(cudaMallocManaged((void **)&B, (size_t)sgemm_2048_bytes_B(M, N, K), cudaMemAttachGlobal));
    MUST(cudaMallocManaged((void **)&C, (size_t)sgemm_2048_bytes_C(M, N, K), cudaMemAttachGlobal));
    fill(A, (size_t)M * K, 1);
    fill(B, (size_t)K * N, 2);
    spoil(C, (size_t)M * N);
    MUST(sgemm_2048_launch(kernels, 0, M, N, K, A, B, C));
    MUST(cudaDeviceSynchronize());
    right = is_product(A, B, C, M, N, K);
    MUST(cudaFree(A));
    MUST(cudaFree(B));
    MUST(cudaFree(C));
    return right;
}

int main(void)
{
    struct sgemm_2048_kernels kernels; /* for one device; a program that uses more needs one for each */
    int count, i, right = 0, wrong = 0;
    MUST(cudaGetDeviceCount(&count));
    for (i = 0; i < count; i++) {
        int status, good;
        MUST(cudaSetDevice(i));
        status = sgemm_2048_load(&kernels);
        if (status) {
            printf("device %d: %s\n", i, sgemm_2048_status_text(status));
            continue;
        }
        good = compute(&kernels);
        printf("device %d: the binary for %s: %s\n", i, sgemm_2048_loaded(&kernels), good ? "right" : "WRONG");
        right += good;
        wrong += !good;
        sgemm_2048_unload(&kernels);
    }
    return right && !wrong ? 0 : 1;
}
