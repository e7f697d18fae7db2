/* For the programs that launch an embedded binary on a GPU: memory and errors, with the driver API or, if RUNTIME is
 * defined, with the runtime API. C99, C++ and CUDA. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#ifdef RUNTIME
#include <cuda_runtime_api.h>
typedef char *device_memory;
#define MUST(call) must((int)(call), #call, __LINE__)
#define MEMORY_ALLOCATE(to, size) cudaMalloc((void **)(to), size)
#define MEMORY_UP(to, from, size) cudaMemcpy(to, from, size, cudaMemcpyHostToDevice)
#define MEMORY_DOWN(to, from, size) cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost)
#define DEVICE_WAIT() cudaDeviceSynchronize()
#define POINTER(type, memory) ((type *)(void *)(memory))
#else
#include <cuda.h>
typedef CUdeviceptr device_memory;
#define MUST(call) must((int)(call), #call, __LINE__)
#define MEMORY_ALLOCATE(to, size) cuMemAlloc(to, size)
#define MEMORY_UP(to, from, size) cuMemcpyHtoD(to, from, size)
#define MEMORY_DOWN(to, from, size) cuMemcpyDtoH(to, from, size)
#define DEVICE_WAIT() cuCtxSynchronize()
#define POINTER(type, memory) (memory)
#endif

static void must(int status, const char *what, int line)
{
    if (!status) return;
    fprintf(stderr, "line %d: %s: %d\n", line, what, status);
    exit(1);
}

static void begin(void)
{
#ifdef RUNTIME
    MUST(cudaSetDevice(0));
#else
    CUdevice device;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
#endif
}

/* Copies host memory to the device. If `host` is NULL, every byte is 255 (NaN). */
static device_memory upload(const void *host, size_t size)
{
    device_memory memory;
    void *nan = malloc(size);
    if (!nan) exit(1);
    memset(nan, 255, size);
    MUST(MEMORY_ALLOCATE(&memory, size));
    MUST(MEMORY_UP(memory, host ? host : nan, size));
    free(nan);
    return memory;
}

static void *download(device_memory memory, size_t size)
{
    void *host = malloc(size);
    if (!host) exit(1);
    MUST(DEVICE_WAIT());
    MUST(MEMORY_DOWN(host, memory, size));
    return host;
}

/* Returns -1, 0 or 1, so that sums of products are exact. */
static int small_number(void)
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 24) % 3) - 1;
}

/* expected += A*B, row-major, on the CPU. */
static inline void add_product(int m, int n, int k, const float *a, const float *b, float *expected)
{
    int i, j, l;
    for (i = 0; i < m; i++)
        for (l = 0; l < k; l++)
            for (j = 0; j < n; j++) expected[i * n + j] += a[i * k + l] * b[l * n + j];
}
