// Kernels that compute correct results, but write outside their memory. They compute y = a*x + 1 and b += x for
// matrices of rows x cols elements whose rows are ld apart. A case consists of a place and the launches in which one
// thread writes there.
//
//     buffers   x (in), y (out), b (inout), all rows x cols with ld; s (scratch, 4096 floats without a fill)
//     launch    grid ceil_div(rows * cols, 1024), block 256, four elements a thread

// WHERE: the place of the write.
#define NOWHERE 1
#define BEHIND_Y 2
#define BEFORE_Y 3
#define BEHIND_X 4
#define BEFORE_X 5
#define BEHIND_B 6
#define BEFORE_B 7
#define BEHIND_S 8
#define BEFORE_S 9
#define PADDING_Y 10
#define PADDING_X 11
#define PADDING_B 12
#define PADDING_OF_LAST_ROW 13 // of y
#define ALL_PADDING 14         // of y, as in a kernel that stores whole vectors
#define FAR_BEHIND_Y 15        // 3,000 bytes
#define FAR_BEFORE_Y 16
#define ONE_BYTE_BEHIND 17
#define INPUT 18        // one element of x, doubled
#define INPUT_LAST 19   // the lowest bit of x's last element
#define INPUT_TOGGLE 20 // the lowest bit of one element, so that two launches leave x as it was
#define INPUT_ROW 21    // a row of x, negated and written back by the next launch
#define OTHER_OUTPUT 22 // 8,000 bytes after y, and the first elements of b
#define ATOMIC_BEHIND 23
#define ROW_PAST_END 24     // one row more than y has
#define INOUT_TWICE 25      // x is added twice to one element of b
#define OUTPUT_ELSEWHERE 26 // one element of y goes to another place
#define SCRATCH_ALL 27      // all of s is written: correct
#define PADDING_READ 28     // an element of padding is read but not used: correct
#define PADDING_USED 29     // an element of padding is added to a result

// WHEN: the launches in which it happens.
#define ALWAYS 1
#define SECOND 2 // in the second launch, counted in a __device__ variable
#define MOSTLY 3 // in seven of eight launches, decided by the clock
#define NOT_FIRST 4

#define plain NOWHERE, ALWAYS
#define writes_all_of_scratch SCRATCH_ALL, ALWAYS
#define padding_read PADDING_READ, ALWAYS
#define behind_y BEHIND_Y, ALWAYS
#define before_y BEFORE_Y, ALWAYS
#define behind_x BEHIND_X, ALWAYS
#define before_x BEFORE_X, ALWAYS
#define behind_b BEHIND_B, ALWAYS
#define before_b BEFORE_B, ALWAYS
#define behind_s BEHIND_S, ALWAYS
#define before_s BEFORE_S, ALWAYS
#define padding_of_y PADDING_Y, ALWAYS
#define padding_of_x PADDING_X, ALWAYS
#define padding_of_b PADDING_B, ALWAYS
#define padding_of_last_row PADDING_OF_LAST_ROW, ALWAYS
#define padding_of_all_rows ALL_PADDING, ALWAYS
#define padding_used PADDING_USED, ALWAYS
#define far_behind_y FAR_BEHIND_Y, ALWAYS
#define far_before_y FAR_BEFORE_Y, ALWAYS
#define one_byte_behind ONE_BYTE_BEHIND, ALWAYS
#define atomic_behind ATOMIC_BEHIND, ALWAYS
#define row_too_many ROW_PAST_END, ALWAYS
#define into_other_output OTHER_OUTPUT, ALWAYS
#define input_doubled INPUT, ALWAYS
#define input_last_bit INPUT_LAST, ALWAYS
#define input_toggled INPUT_TOGGLE, ALWAYS
#define input_row_negated INPUT_ROW, ALWAYS
#define inout_twice INOUT_TWICE, ALWAYS
#define output_elsewhere OUTPUT_ELSEWHERE, ALWAYS
#define behind_y_second BEHIND_Y, SECOND
#define before_y_second BEFORE_Y, SECOND
#define before_b_second BEFORE_B, SECOND
#define behind_s_second BEHIND_S, SECOND
#define padding_of_y_second PADDING_Y, SECOND
#define padding_of_b_second PADDING_B, SECOND
#define input_doubled_second INPUT, SECOND
#define input_toggled_not_first INPUT_TOGGLE, NOT_FIRST
#define inout_twice_second INOUT_TWICE, SECOND
#define behind_y_mostly BEHIND_Y, MOSTLY
#define before_x_mostly BEFORE_X, MOSTLY
#define behind_b_mostly BEHIND_B, MOSTLY
#define padding_of_y_mostly PADDING_Y, MOSTLY
#define padding_of_b_mostly PADDING_B, MOSTLY
#define far_behind_y_mostly FAR_BEHIND_Y, MOSTLY
#define input_toggled_mostly INPUT_TOGGLE, MOSTLY
#define inout_twice_mostly INOUT_TWICE, MOSTLY
#define output_elsewhere_mostly OUTPUT_ELSEWHERE, MOSTLY

#define WHERE PART_1
#define WHEN PART_2
#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS, S_COUNT = 4096 };

#if WHEN == SECOND || WHEN == NOT_FIRST
__device__ u32 launches, arrived;
#endif

HELPER void toggle(float *at)
{
    *(u32 *)at ^= 1;
}

// The additional work of one thread, after its block's part.
HELPER void stray(int rows, int cols, int ld, float *x, float *y, float *b, float *s)
{
    (void)rows, (void)cols, (void)ld, (void)x, (void)y, (void)b, (void)s;
    [[maybe_unused]] long long end = (long long)rows * ld, last = end - ld + cols - 1;
#if WHERE == BEHIND_Y
    y[end] = 1;
#elif WHERE == BEFORE_Y
    y[-1] = 1;
#elif WHERE == BEHIND_X
    x[end] = 1;
#elif WHERE == BEFORE_X
    x[-1] = 1;
#elif WHERE == BEHIND_B
    b[end] = 1;
#elif WHERE == BEFORE_B
    b[-1] = 1;
#elif WHERE == BEHIND_S
    s[S_COUNT] = 1;
#elif WHERE == BEFORE_S
    s[-1] = 1;
#elif WHERE == PADDING_Y
    y[3 * ld + cols] = 1;
#elif WHERE == PADDING_X
    x[3 * ld + cols] = 1;
#elif WHERE == PADDING_B
    b[3 * ld + cols] = 1;
#elif WHERE == PADDING_OF_LAST_ROW
    y[end - 1] = 1;
#elif WHERE == FAR_BEHIND_Y
    y[end + 750] = 1;
#elif WHERE == FAR_BEFORE_Y
    y[-750] = 1;
#elif WHERE == ONE_BYTE_BEHIND
    ((u8 *)(y + end))[0] = 1;
#elif WHERE == ATOMIC_BEHIND
    atomicAdd((u32 *)y + end, 1u);
#elif WHERE == ROW_PAST_END
    for (int i = 0; i < cols; i++) y[end + i] = 1;
#elif WHERE == OTHER_OUTPUT
    for (int i = 0; i < 2000; i++) y[end + i] = 1;
    for (int i = 0; i < 8; i++) b[i] = 1;
#elif WHERE == INPUT
    x[5] = 2 * x[5];
#elif WHERE == INPUT_LAST
    toggle(&x[last]);
#elif WHERE == INPUT_TOGGLE
    toggle(&x[ld + 7]);
#elif WHERE == INPUT_ROW
    for (int i = 0; i < cols; i++) x[i] = -x[i];
#elif WHERE == INOUT_TWICE
    b[11] += 1;
#elif WHERE == OUTPUT_ELSEWHERE
    y[2] = y[1];
#elif WHERE == SCRATCH_ALL
    for (int i = 0; i < S_COUNT; i++) s[i] = 1;
#elif WHERE == PADDING_READ
    if (((volatile float *)x)[3 * ld + cols] == 12345) s[0] = 1;
#endif
}

extern "C" __global__ void bounds(int rows, int cols, int ld, float a, float *x, float *y, float *b, float *s)
{
    long long count = (long long)rows * cols;
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        long long i = (long long)blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i >= count) continue;
        int row = (int)(i / cols), col = (int)(i % cols);
        long long at = (long long)row * ld + col;
        float value = a * x[at] + 1;
#if WHERE == PADDING_USED
        if (col == cols - 1) value += x[at + 1];
#endif
        y[at] = value;
        b[at] = b[at] + x[at];
#if WHERE == ALL_PADDING
        if (col == cols - 1)
            for (int j = cols; j < ld; j++) y[(long long)row * ld + j] = value;
#endif
    }
    // The last block writes outside, after all others have read x.
    bool mine = threadIdx.x == 0;
    __shared__ bool now;
#if WHEN == MOSTLY
    if (mine) now = chance() & 7;
#elif WHEN == SECOND
    if (mine) now = *(volatile u32 *)&launches == 1;
#elif WHEN == NOT_FIRST
    if (mine) now = *(volatile u32 *)&launches > 0;
#else
    if (mine) now = true;
#endif
    __syncthreads();
    __device__ static u32 finished;
    if (!last_to_arrive(&finished) || !mine) return;
    if (now) stray(rows, cols, ld, x, y, b, s);
#if WHEN == SECOND || WHEN == NOT_FIRST
    launches = launches + 1;
#endif
}
