/* Adds up a matrix's columns in two launches, with the header of tests/test_gpu_header.c's job, and compares with the
 * CPU. */
#include "gpu.h"

#ifdef RUNTIME
#define SUMS_RUNTIME_API
#else
#define SUMS_DRIVER_API
#endif
#include "sums_best.h"

enum { ROWS = 4096, COLS = 1024 };

int main(void)
{
    static float a[ROWS * COLS], expected[COLS];
    struct sums_kernels kernels;
    device_memory A, sums, partial;
    float *found;
    int i, repeat;
    for (i = 0; i < ROWS * COLS; i++) expected[i % COLS] += a[i] = (float)small_number();
    begin();
    A = upload(a, sizeof a);
    sums = upload(0, sizeof expected);
    partial = upload(0, (size_t)sums_bytes_partial(ROWS, COLS));
    MUST(sums_load(&kernels));
    EXPECT(sums_launch(&kernels, 0, 1 << 24, COLS, POINTER(const float, A), POINTER(float, sums),
                       POINTER(float, partial)) == SUMS_SIZES);
    EXPECT(sums_launch(&kernels, 0, ROWS, COLS, POINTER(const float, A), POINTER(float, sums), POINTER(float, 0)) ==
           SUMS_NO_POINTER); /* also checks the second stage's pointers, before the first stage is launched */
    for (repeat = 0; repeat < 3; repeat++)
        MUST(sums_launch(&kernels, 0, ROWS, COLS, POINTER(const float, A), POINTER(float, sums),
                         POINTER(float, partial)));
    found = (float *)download(sums, sizeof expected);
    for (i = 0; i < COLS; i++) EXPECT(found[i] == expected[i]);
    free(found);
    sums_unload(&kernels);
    printf("right on %s\n", SUMS_DEVICE_NAME);
    return 0;
}
