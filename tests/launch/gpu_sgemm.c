/* Computes C = A*B with the header of tests/test_gpu_header.c's FP32 job, compares with the CPU, and tests refusals. */
#include "gpu.h"

#ifdef RUNTIME
#define SGEMM_RUNTIME_API
#else
#define SGEMM_DRIVER_API
#endif
#include "sgemm_best.h"

enum { M = 512, N = 384, K = 256 };

int main(void)
{
    static float a[M * K], b[K * N], expected[M * N];
    struct sgemm_kernels kernels;
    device_memory A, B, C;
    float *c;
    int i;
    for (i = 0; i < M * K; i++) a[i] = (float)small_number();
    for (i = 0; i < K * N; i++) b[i] = (float)small_number();
    add_product(M, N, K, a, b, expected);
    begin();
    A = upload(a, sizeof a);
    B = upload(b, sizeof b);
    C = upload(0, sizeof expected);
    MUST(sgemm_load(&kernels));
    EXPECT(sgemm_launch(&kernels, 0, 1 << 20, N, K, POINTER(const float, A), POINTER(const float, B),
                        POINTER(float, C)) == SGEMM_SIZES);
    EXPECT(sgemm_launch(&kernels, 0, M, N, K, POINTER(const float, A + 4), POINTER(const float, B),
                        POINTER(float, C)) == SGEMM_MISALIGNED);
    c = (float *)download(C, sizeof expected);
    for (i = 0; i < M * N; i++) EXPECT(c[i] != c[i]); /* nothing has been launched */
    free(c);
    MUST(sgemm_launch(&kernels, 0, M, N, K, POINTER(const float, A), POINTER(const float, B), POINTER(float, C)));
    c = (float *)download(C, sizeof expected);
    for (i = 0; i < M * N; i++) EXPECT(c[i] == expected[i]);
    free(c);
    sgemm_unload(&kernels);
    printf("right on %s\n", sgemm_loaded(&kernels)[0] ? "?" : SGEMM_DEVICE_NAME);
    return 0;
}
