// A cublasLt for emulated_gpu.c. Each request for heuristics appends a line to the file $FAKE_CUBLAS. The library
// multiplies row-major square matrices of floats. Its 32 algorithms differ in their times. The enum below lists the
// fastest algorithm and those that misbehave.
#pragma once

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>

static double *fake_clock; // s, virtual

enum {
    FAKE_FIRST = 4,     // the fastest; then FAKE_FIRST + 5 and FAKE_FIRST + 8
    FAKE_FADES = 2,     // is fast only in its first runs
    FAKE_UNFIT = 11,    // must not be used
    FAKE_FAILS = 13,    // does not run
    FAKE_AGAIN = 21,    // is the same as FAKE_FIRST
    FAKE_FAST_RUNS = 12 // number of fast runs of FAKE_FADES: its first ones, including the warm-up
};

static double fake_seconds_of(uint64_t algorithm)
{
    static int runs;
    if (algorithm == FAKE_FADES && runs++ < FAKE_FAST_RUNS) return 3.6e-3;
    return algorithm == FAKE_FIRST       ? 4e-3
           : algorithm == FAKE_FIRST + 5 ? 4.04e-3
           : algorithm == FAKE_FIRST + 8 ? 4.08e-3
                                         : 4.8e-3 + 0.2e-3 * (double)algorithm;
}

static cublasStatus_t fake_find(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
                                cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                cublasLtMatmulPreference_t preference, int wanted,
                                cublasLtMatmulHeuristicResult_t *found, int *count)
{
    (void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d, (void)preference;
    FILE *asked = fopen(getenv("FAKE_CUBLAS"), "a");
    if (asked) fprintf(asked, "%d\n", wanted), fclose(asked);
    for (int i = 0; i < wanted; i++) {
        const uint64_t id = i == FAKE_AGAIN ? FAKE_FIRST : (uint64_t)i;
        found[i] = (cublasLtMatmulHeuristicResult_t){.algo.data = {id, ~id}, .state = i == FAKE_UNFIT};
    }
    *count = wanted;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t fake_attribute(const cublasLtMatmulAlgo_t *algorithm, cublasLtMatmulAlgoConfigAttributes_t which,
                                     void *to, size_t size, size_t *written)
{
    const bool cluster = which == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
               narrow = cluster || which == CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID;
    uint32_t value = which == CUBLASLT_ALGO_CONFIG_TILE_ID ? CUBLASLT_MATMUL_TILE_128x256
                     : which == CUBLASLT_ALGO_CONFIG_ID    ? 60 + (uint32_t)algorithm->data[0]
                     : cluster                             ? CUBLASLT_CLUSTER_SHAPE_2x1x1
                                                           : 1;
    if (size != (narrow ? sizeof(uint16_t) : sizeof value)) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, &value, *written = size);
    return CUBLAS_STATUS_SUCCESS;
}

// A layout holds only the number of rows.
static cublasStatus_t fake_layout(cublasLtMatrixLayout_t *to, cudaDataType type, uint64_t rows, uint64_t cols,
                                  int64_t ld)
{
    (void)type, (void)cols, (void)ld;
    *to = (cublasLtMatrixLayout_t)(uintptr_t)rows;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t fake_multiply(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void *alpha,
                                    const void *a, cublasLtMatrixLayout_t layout, const void *b,
                                    cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                                    cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
                                    const cublasLtMatmulAlgo_t *algorithm, void *workspace, size_t bytes,
                                    cudaStream_t stream)
{
    (void)handle, (void)operation, (void)alpha, (void)b_layout, (void)beta, (void)c, (void)c_layout, (void)d_layout;
    (void)workspace, (void)bytes, (void)stream;
    const size_t n = (uintptr_t)layout;
    const float *left = b, *right = a; // row-major
    float *to = d;
    if (algorithm->data[0] == FAKE_FAILS) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (algorithm->data[1] != ~algorithm->data[0]) return CUBLAS_STATUS_INVALID_VALUE;
    *fake_clock += fake_seconds_of(algorithm->data[0]);
    memset(to, 0, n * n * sizeof *to);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) to[i * n + j] += left[i * n + k] * right[k * n + j];
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t fake_version(libraryPropertyType which, int *value)
{
    *value = which == MAJOR_VERSION ? 13 : 0;
    return CUBLAS_STATUS_SUCCESS;
}

static const char *fake_words(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "failed";
}
