/* Computes C = A*B' in BF16 with TMA and wgmma, in one launch or two, with a shipped job's header. Compares with the
 * CPU. */
#include "gpu.h"

#ifdef RUNTIME
#define WGMMA_RUNTIME_API
#else
#define WGMMA_DRIVER_API
#endif
#include "wgmma_best.h"

enum { M = 512, N = 512, K = 512 };

/* Exact for small integers. */
static unsigned short to_bf16(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return (unsigned short)(bits >> 16);
}

int main(void)
{
    static unsigned short a[M * K], b[N * K];
    static float wide_a[M * K], wide_b[N * K];
    struct wgmma_kernels kernels;
    device_memory A, B, C, sums, counts;
    unsigned short *c;
    size_t count_bytes = (size_t)wgmma_bytes_counts(M, N, K);
    void *zero = calloc(count_bytes, 1);
    int i, j, k;
    for (i = 0; i < M * K; i++) a[i] = to_bf16(wide_a[i] = (float)small_number());
    for (i = 0; i < N * K; i++) b[i] = to_bf16(wide_b[i] = (float)small_number());
    begin();
    A = upload(a, sizeof a);
    B = upload(b, sizeof b);
    C = upload(0, 2 * M * N);
    sums = upload(0, (size_t)wgmma_bytes_sums(M, N, K));
    counts = upload(zero, count_bytes);
    free(zero);
    MUST(wgmma_load(&kernels));
    EXPECT(wgmma_launch(&kernels, 0, M, 511, K, POINTER(const void, A), POINTER(const void, B), POINTER(void, C),
                        POINTER(float, sums), POINTER(unsigned, counts)) == WGMMA_SIZES); /* not a multiple of 8 */
    EXPECT(wgmma_launch(&kernels, 0, M, N, K, POINTER(const void, A + 8), POINTER(const void, B), POINTER(void, C),
                        POINTER(float, sums), POINTER(unsigned, counts)) == WGMMA_MISALIGNED);
    MUST(wgmma_launch(&kernels, 0, M, N, K, POINTER(const void, A), POINTER(const void, B), POINTER(void, C),
                      POINTER(float, sums), POINTER(unsigned, counts)));
    c = (unsigned short *)download(C, 2 * M * N);
    for (i = 0; i < M; i++)
        for (j = 0; j < N; j++) {
            float sum = 0;
            for (k = 0; k < K; k++) sum += wide_a[i * K + k] * wide_b[j * K + k];
            EXPECT(sum >= -256 && sum <= 256); /* exact in BF16 */
            EXPECT(c[i * N + j] == to_bf16(sum));
        }
    free(c);
    wgmma_unload(&kernels);
    printf("right on %s\n", WGMMA_DEVICE_NAME);
    return 0;
}
