/* Replaces the runtime API's library for examples/two_devices.c, and simulates a machine with three devices. The only
 * kernel that can be launched is an FP32 product, which is computed from its arguments when the program waits for the
 * device. If WRONG is set in the environment, one element is off. */
#include <stdlib.h>

#include "fake_runtime.h"

static const struct {
    const char *name;
    int major, multiprocessors;
} devices[] = {{"NVIDIA H200", 9, 132}, {"NVIDIA B200", 10, 148}, {"NVIDIA A100", 8, 108}};

cudaError_t CUDARTAPI cudaGetDeviceCount(int *count)
{
    *count = (int)(sizeof devices / sizeof *devices);
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaSetDevice(int device)
{
    static const int sizes[] = {4, 4, 4, 4, 8, 4, 8, 4, 4, 8, 4, 0};
    memcpy(fake_sizes[0], sizes, sizeof sizes);
    fake_device = device;
    fake_name = devices[device].name;
    fake_major = devices[device].major;
    fake_multiprocessors = devices[device].multiprocessors;
    return cudaSuccess;
}
cudaError_t CUDARTAPI cudaMallocManaged(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    *memory = malloc(size);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t CUDARTAPI cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}

static float *pointer_of(int argument)
{
    return (float *)(size_t)fake_launch[0].arguments[argument];
}

static int number_of(int argument)
{
    return (int)fake_launch[0].arguments[argument];
}

cudaError_t CUDARTAPI cudaDeviceSynchronize(void)
{
    const float *A = pointer_of(4), *B = pointer_of(6);
    float *C = pointer_of(9), alpha, beta;
    int m = number_of(0), n = number_of(1), k = number_of(2), i, j, p;
    memcpy(&alpha, &fake_launch[0].arguments[3], sizeof alpha);
    memcpy(&beta, &fake_launch[0].arguments[8], sizeof beta);
    if (fake_launches != 1 || strcmp(fake_launch[0].symbol, "gemm_simt")) return cudaErrorLaunchFailure;
    if (alpha < 1 || alpha > 1 || beta < 0 || beta > 0) return cudaErrorInvalidValue;
    for (i = 0; i < m; i++) {
        float *to = C + (size_t)i * (size_t)number_of(10);
        memset(to, 0, (size_t)n * sizeof *to);
        for (p = 0; p < k; p++) {
            const float a = A[(size_t)i * (size_t)number_of(5) + (size_t)p];
            const float *row = B + (size_t)p * (size_t)number_of(7);
            if (a > 0 || a < 0)
                for (j = 0; j < n; j++) to[j] += a * row[j];
        }
    }
    if (getenv("WRONG")) C[1234567] += 1;
    fake_launches = 0;
    return cudaSuccess;
}
