// Kernels that use data that an earlier launch left behind: y = a*x + y0 for n elements, and the 4096 elements of b
// doubled. A case has three parts: the place where the number of earlier launches is kept, the launches that misbehave,
// and the way in which they misbehave. The number is encoded as a word that nothing else writes (`encode`); any other
// content means no earlier launch.
//
//     buffers   x, y0 (in), y (out), b (inout), s (scratch, n + 1024 floats without a fill), z (scratch, zero)
//     launch    grid ceil_div(n, 1024), block 256, four elements a thread; 8192 bytes of dynamic shared memory

// WHERE: the place where the number is kept.
#define NOWHERE 1
#define GLOBAL 2         // a __device__ variable
#define STATIC 3         // of internal linkage, volatile
#define INITIALISED 4    // with an initial value
#define ARRAY 5          // element 99,999 of an array
#define LAST_OF_THREE 6  // of several variables
#define TEMPLATE 7       // an instance of a variable template
#define FUNCTION 8       // a static variable in a function
#define NAMESPACE 9      // in an anonymous namespace
#define MANAGED 10       // __managed__
#define SCRATCH 11       // s[n]
#define SCRATCH_END 12   // s's last element
#define SCRATCH_ZERO 13  // z
#define INOUT 14         // the lowest two bits of eight elements of b
#define INPUT 15         // the lowest bit of x's last element
#define GUARD_BEHIND 16  // the element after y
#define GUARD_BEFORE 17  // the element before y
#define SHARED_STATIC 18 // each block's own shared memory, with the block's number
#define SHARED_DYNAMIC 19
#define HEAP 20  // memory from malloc that was freed; only block 0 knows it
#define STACK 21 // uninitialised local memory of block 0's first thread; only block 0 knows it
#define OUTPUT 22
#define ADDRESS 23 // whether y has another address than in the first launch
#define GLOBAL_STRUCT 24
#define PTX 25 // a variable that only an asm statement declares

// WHEN: the launches that misbehave, by the number of earlier launches.
#define NEVER 1
#define LATER 2  // from the second launch on
#define FIRST 3  // in the first
#define SECOND 4 // in the second
#define ODD 5    // in every other, beginning with the second
#define THIRD 6  // in every third
#define AFTER_FIVE 7
#define HALF_OF_ADDRESSES 8 // independent of the number: the address of y decides
#define ODD_MEGABYTES 9

// WHAT: the misbehaviour.
#define NOTHING 1
#define SKIP 2      // write nothing
#define ZEROS 3     // write zeros
#define LAST 4      // the last element is off by one
#define SWAP 5      // two elements are swapped
#define ONE_BLOCK 6 // one block writes nothing
#define KEPT 7      // write answers from a __device__ array, for as many elements as it has
#define KEPT_IN_SCRATCH 8
#define IF_NAN 9      // each thread writes only where there is NaN
#define IF_PATTERN 10 // ... where there is one of two fixed patterns
#define IF_WRONG 11   // ... where the correct answer is missing
#define BLOCK_IF_NAN 12
#define BLOCK_IF_WRONG 13 // a block checks only its first element
#define LAST_IF_NAN 14    // every block checks the very last element of y
#define KEPT_BY_ADDRESS 15
#define KEPT_IN_SHARED 16
#define CLEAR 17        // set and cleared again in the same launch: correct
#define TABLE 18        // a table is made in the first launch and used in all: correct
#define PAST 19         // also writes one element after y
#define SLOW_FIRST 20   // sleeps in the first launch: correct
#define STALE_SCALAR 21 // uses the `a` and the x[0] of the first launch

// The table of cases.
#define plain NOWHERE, NEVER, NOTHING
#define flag_set_and_cleared GLOBAL, NEVER, CLEAR
#define table_made_once GLOBAL, NEVER, TABLE
#define sleeps_in_the_first_launch GLOBAL, NEVER, SLOW_FIRST
#define counts_its_launches GLOBAL, NEVER, NOTHING
#define counts_in_scratch SCRATCH_ZERO, NEVER, NOTHING
#define global_later_skip GLOBAL, LATER, SKIP
#define global_later_zeros GLOBAL, LATER, ZEROS
#define global_later_last GLOBAL, LATER, LAST
#define global_later_one_block GLOBAL, LATER, ONE_BLOCK
#define global_later_past GLOBAL, LATER, PAST
#define global_second_skip GLOBAL, SECOND, SKIP
#define global_second_last GLOBAL, SECOND, LAST
#define global_odd_skip GLOBAL, ODD, SKIP
#define global_odd_swap GLOBAL, ODD, SWAP
#define global_first_skip GLOBAL, FIRST, SKIP
#define global_first_last GLOBAL, FIRST, LAST
#define global_third_skip GLOBAL, THIRD, SKIP
#define global_after_five_skip GLOBAL, AFTER_FIVE, SKIP
#define static_later_skip STATIC, LATER, SKIP
#define static_second_zeros STATIC, SECOND, ZEROS
#define initialised_later_skip INITIALISED, LATER, SKIP
#define initialised_odd_last INITIALISED, ODD, LAST
#define initialised_first_swap INITIALISED, FIRST, SWAP
#define array_later_skip ARRAY, LATER, SKIP
#define array_second_zeros ARRAY, SECOND, ZEROS
#define last_of_three_later_skip LAST_OF_THREE, LATER, SKIP
#define last_of_three_odd_last LAST_OF_THREE, ODD, LAST
#define struct_later_skip GLOBAL_STRUCT, LATER, SKIP
#define struct_second_swap GLOBAL_STRUCT, SECOND, SWAP
#define template_later_skip TEMPLATE, LATER, SKIP
#define function_static_later_skip FUNCTION, LATER, SKIP
#define function_static_odd_last FUNCTION, ODD, LAST
#define ptx_later_skip PTX, LATER, SKIP
#define namespace_second_swap NAMESPACE, SECOND, SWAP
#define managed_later_skip MANAGED, LATER, SKIP
#define managed_second_last MANAGED, SECOND, LAST
#define kept_later GLOBAL, LATER, KEPT
#define kept_by_address GLOBAL, LATER, KEPT_BY_ADDRESS
#define kept_in_scratch_flag_in_global GLOBAL, LATER, KEPT_IN_SCRATCH
#define kept_in_scratch_flag_in_scratch SCRATCH, LATER, KEPT_IN_SCRATCH
#define stale_scalar GLOBAL, LATER, STALE_SCALAR
#define other_address_skip ADDRESS, LATER, SKIP
#define half_of_addresses_skip NOWHERE, HALF_OF_ADDRESSES, SKIP
#define odd_megabytes_skip NOWHERE, ODD_MEGABYTES, SKIP
#define scratch_later_skip SCRATCH, LATER, SKIP
#define scratch_second_zeros SCRATCH, SECOND, ZEROS
#define scratch_odd_last SCRATCH, ODD, LAST
#define scratch_first_skip SCRATCH, FIRST, SKIP
#define scratch_end_later_skip SCRATCH_END, LATER, SKIP
#define scratch_end_third_skip SCRATCH_END, THIRD, SKIP
#define scratch_zero_later_skip SCRATCH_ZERO, LATER, SKIP
#define scratch_zero_odd_last SCRATCH_ZERO, ODD, LAST
#define scratch_zero_first_last SCRATCH_ZERO, FIRST, LAST
#define inout_later_skip INOUT, LATER, SKIP
#define inout_later_zeros INOUT, LATER, ZEROS
#define inout_first_last INOUT, FIRST, LAST
#define input_later_skip INPUT, LATER, SKIP
#define guard_behind_later_skip GUARD_BEHIND, LATER, SKIP
#define guard_before_later_skip GUARD_BEFORE, LATER, SKIP
#define shared_static_later_skip SHARED_STATIC, LATER, SKIP
#define shared_static_later_zeros SHARED_STATIC, LATER, ZEROS
#define shared_dynamic_later_skip SHARED_DYNAMIC, LATER, SKIP
#define shared_answers NOWHERE, NEVER, KEPT_IN_SHARED
#define heap_later_skip HEAP, LATER, SKIP
#define heap_first_zeros HEAP, FIRST, ZEROS
#define stack_later_skip STACK, LATER, SKIP
#define output_if_nan OUTPUT, NEVER, IF_NAN
#define output_if_pattern OUTPUT, NEVER, IF_PATTERN
#define output_if_wrong OUTPUT, NEVER, IF_WRONG
#define output_block_if_nan OUTPUT, NEVER, BLOCK_IF_NAN
#define output_block_if_wrong OUTPUT, NEVER, BLOCK_IF_WRONG
#define output_last_if_nan OUTPUT, NEVER, LAST_IF_NAN

#define WHERE PART_1
#define WHEN PART_2
#define WHAT PART_3
#include "case.h"

enum { THREADS = 256, ELEMENTS = 4, TILE = THREADS * ELEMENTS, B_COUNT = 4096, Z_COUNT = 1024 };

// ---- the number of earlier launches --------------------------------------------------------------------------------

HELPER u32 encode(u32 launches)
{
    return 0x5eed0000u + (launches & 0xffff);
}
HELPER u32 decode(u32 word)
{
    return word >> 16 == 0x5eed ? word & 0xffff : 0;
}

#if WHERE == GLOBAL || WHERE == ADDRESS
__device__ u32 state;
#elif WHERE == STATIC
static __device__ volatile u32 state;
#elif WHERE == INITIALISED
__device__ u32 state = 0xabcd1234;
#elif WHERE == ARRAY
__device__ u32 states[100003];
#elif WHERE == LAST_OF_THREE
__device__ u32 state_a;
__device__ float state_b = 3;
__device__ u32 state = 7;
#elif WHERE == GLOBAL_STRUCT
__device__ struct {
    double values[7];
    u8 flags[3];
    u32 state;
} states = {{1, 2, 3}, {4}, 5};
#elif WHERE == TEMPLATE
template <int number> __device__ u32 keeper = number;
#elif WHERE == NAMESPACE
namespace
{
__device__ u32 state;
}
#elif WHERE == MANAGED
__managed__ u32 state;
#endif
#if WHERE == ADDRESS
__device__ float *first_y;
#endif

#if WHERE == PTX
static __device__ __noinline__ u32 *ptx_word()
{
    u64 at;
    asm volatile("{\n.global .align 4 .u32 state;\nmov.u64 %0, state;\ncvta.global.u64 %0, %0;\n}" : "=l"(at));
    return (u32 *)at;
}
#endif

// The address of the word, for places that consist of one word.
HELPER volatile u32 *place(int n, float *x, float *y, float *s, u32 *z)
{
    (void)n, (void)x, (void)y, (void)s, (void)z;
#if WHERE == GLOBAL || WHERE == STATIC || WHERE == INITIALISED || WHERE == LAST_OF_THREE || WHERE == NAMESPACE || \
    WHERE == MANAGED || WHERE == ADDRESS
    return &state;
#elif WHERE == ARRAY
    return &states[99999];
#elif WHERE == GLOBAL_STRUCT
    return &states.state;
#elif WHERE == TEMPLATE
    return &keeper<5>;
#elif WHERE == FUNCTION
    static __device__ u32 state;
    return &state;
#elif WHERE == PTX
    return ptx_word();
#elif WHERE == SCRATCH
    return (u32 *)&s[n];
#elif WHERE == SCRATCH_END
    return (u32 *)&s[n + 1023];
#elif WHERE == SCRATCH_ZERO
    return &z[Z_COUNT / 2];
#elif WHERE == GUARD_BEHIND
    return (u32 *)&y[n];
#elif WHERE == GUARD_BEFORE
    return (u32 *)&y[-1];
#else
    return 0;
#endif
}

#if WHERE == INOUT
// The mark includes bits that are 0 under a uniform fill.
HELPER u32 mark_of(int k)
{
    return (u32)(k * 7 + 1) & 3;
}
#endif

#if WHERE == STACK
static __device__ u32 *stack_word()
{
    u64 at;
    asm volatile("{\n.local .align 8 .b8 frame[2048];\ncvta.local.u64 %0, frame;\n}" : "=l"(at));
    return (u32 *)(at + 1024);
}
#endif

HELPER u32 earlier_launches(int n, float *x, float *y, float *b, float *s, u32 *z)
{
    (void)b;
#if WHERE == NOWHERE || WHERE == OUTPUT
    return 0;
#elif WHERE == INOUT
    u32 found = 0;
    for (int k = 0; k < 8; k++) found += (((volatile u32 *)b)[B_COUNT - 8 + k] & 3) == mark_of(k);
    return found == 8;
#elif WHERE == INPUT
    return ((volatile u32 *)x)[n - 1] & 1;
#elif WHERE == SHARED_STATIC
    __shared__ volatile u32 left[2];
    u32 launches = left[0] == 0x5eed1234u && left[1] == blockIdx.x;
    __syncthreads();
    left[0] = 0x5eed1234u;
    left[1] = blockIdx.x;
    return launches;
#elif WHERE == SHARED_DYNAMIC
    extern __shared__ volatile u32 pool[];
    u32 launches = pool[1000] == 0x5eed4321u && pool[1001] == blockIdx.x;
    __syncthreads();
    pool[1000] = 0x5eed4321u;
    pool[1001] = blockIdx.x;
    return launches;
#elif WHERE == HEAP || WHERE == STACK
    __shared__ u32 known;
    if (blockIdx.x) return 0x80000000u; // other blocks do not know the number
    if (threadIdx.x == 0) {
#if WHERE == HEAP
        volatile u32 *p = (u32 *)malloc(4096), *word = p ? p + 512 : 0;
#else
        volatile u32 *word = stack_word();
#endif
        known = word ? decode(*word) : 0;
        if (word) *word = encode(known + 1);
#if WHERE == HEAP
        free((void *)p);
#endif
    }
    __syncthreads();
    return known;
#elif WHERE == ADDRESS
    return first_y && first_y != y;
#else
    return decode(*place(n, x, y, s, z));
#endif
}

#if WHERE != NOWHERE && WHERE != OUTPUT && WHERE != SHARED_STATIC && WHERE != SHARED_DYNAMIC && WHERE != HEAP && \
    WHERE != STACK
#define BY_LAST_BLOCK
__device__ u32 arrived;

HELPER void remember(u32 launches, int n, float *x, float *y, float *b, float *s, u32 *z)
{
    (void)n, (void)x, (void)y, (void)b, (void)s, (void)z, (void)launches;
#if WHERE == INOUT
    for (int k = 0; k < 8; k++) {
        volatile u32 *bits = (u32 *)b + B_COUNT - 8 + k;
        *bits = (__float_as_uint(2 * __uint_as_float(*bits)) & ~3u) | mark_of(k);
    }
#elif WHERE == INPUT
    ((volatile u32 *)x)[n - 1] |= 1;
#elif WHERE == ADDRESS
    if (!first_y) first_y = y;
#else
    *place(n, x, y, s, z) = encode(launches + 1);
#endif
}
#endif

HELPER bool bad_launch(u32 launches, const float *y)
{
    (void)launches, (void)y;
#if WHEN == LATER
    return (int)launches >= 1;
#elif WHEN == FIRST
    return launches == 0;
#elif WHEN == SECOND
    return launches == 1;
#elif WHEN == ODD
    return launches & 1;
#elif WHEN == THIRD
    return launches % 3 == 2;
#elif WHEN == AFTER_FIVE
    return launches >= 5;
#elif WHEN == HALF_OF_ADDRESSES
    return mix((u64)y) & 1;
#elif WHEN == ODD_MEGABYTES
    return (u64)y >> 20 & 1;
#else
    return false;
#endif
}

// ---- the misbehaviour ----------------------------------------------------------------------------------------------

#if WHAT == KEPT || WHAT == KEPT_BY_ADDRESS
enum { KEPT_COUNT = 1 << 20 };
__device__ float kept[KEPT_COUNT];
#endif
#if WHAT == KEPT_BY_ADDRESS
__device__ const float *kept_for;
#endif
#if WHAT == TABLE
__device__ float table[256];
__device__ u32 table_ready;
#endif
#if WHAT == STALE_SCALAR
__device__ float first_scalar, first_x;
#endif

// Whether the block writes nothing, decided by the outputs.
HELPER bool block_may_skip(int n, float a, const float *x, const float *y0, const float *y)
{
    (void)n, (void)a, (void)x, (void)y0, (void)y;
#if WHAT == BLOCK_IF_NAN || WHAT == BLOCK_IF_WRONG || WHAT == LAST_IF_NAN
    __shared__ bool skip;
    if (threadIdx.x == 0) {
        int i = WHAT == LAST_IF_NAN ? n - 1 : blockIdx.x * TILE;
        float there = ((volatile const float *)y)[i];
        skip = there == there && (WHAT != BLOCK_IF_WRONG || fabsf(there - (a * x[i] + y0[i])) <= 1e-6f);
    }
    __syncthreads();
    return skip;
#else
    return false;
#endif
}

extern "C" __global__ void leftovers(int n, float a, float *x, const float *y0, float *y, float *b, float *s, u32 *z)
{
    u32 launches = earlier_launches(n, x, y, b, s, z);
    bool bad = bad_launch(launches, y), skip = block_may_skip(n, a, x, y0, y);
#if WHAT == SLOW_FIRST
    if (!launches && threadIdx.x == 0)
        for (int k = 0; k < 10; k++) __nanosleep(1000);
#endif
#if WHAT == TABLE
    __shared__ float factor;
    if (threadIdx.x == 0) {
        // Blocks that start before the table is ready do not use it.
        bool ready = *(volatile u32 *)&table_ready == 0x7ab1e;
        __threadfence();
        factor = ready ? *(volatile float *)&table[blockIdx.x & 255] : 1.0f;
    }
    __syncthreads();
    a *= factor;
#endif
#if WHAT == STALE_SCALAR
    float shift = 0;
    if (bad) {
        a = *(volatile float *)&first_scalar;
        shift = *(volatile float *)&first_x - ((volatile float *)x)[0];
    }
#endif
#if WHAT == SKIP
    if (bad) skip = true;
#elif WHAT == ONE_BLOCK
    if (bad && blockIdx.x == gridDim.x / 2) skip = true;
#endif
#if WHAT == KEPT_IN_SHARED
    // Answers that an earlier launch of the same block left in this SM's shared memory.
    extern __shared__ volatile u32 store[];
    bool there = store[TILE] == 0x5eed9999u && store[TILE + 1] == blockIdx.x;
    __syncthreads();
#endif
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        int i = blockIdx.x * TILE + k * THREADS + threadIdx.x;
        if (i >= n || skip) continue;
#if WHAT == IF_NAN
        if (y[i] == y[i]) continue;
#elif WHAT == IF_PATTERN
        u32 bits = __float_as_uint(y[i]);
        if (bits != 0xfffbfffbu && bits != 0x7ff97ff9u) continue;
#elif WHAT == KEPT_IN_SHARED
        if (there) {
            y[i] = __uint_as_float(store[k * THREADS + threadIdx.x]);
            continue;
        }
#elif WHAT == KEPT
        if (bad && i < KEPT_COUNT) {
            y[i] = kept[i];
            continue;
        }
#elif WHAT == KEPT_BY_ADDRESS
        if (bad && i < KEPT_COUNT && *(const float *volatile *)&kept_for == x) {
            y[i] = kept[i];
            continue;
        }
#elif WHAT == KEPT_IN_SCRATCH
        if (bad) {
            y[i] = s[i];
            continue;
        }
#endif
        float value = a * x[i] + y0[i];
#if WHAT == ZEROS
        if (bad) value = 0;
#elif WHAT == LAST
        if (bad && i == n - 1) value += 1;
#elif WHAT == SWAP
        if (bad && (i == 100 || i == n / 2)) value = a * x[100 + n / 2 - i] + y0[100 + n / 2 - i];
#elif WHAT == PAST
        if (bad && i == n - 1) y[n] = 1;
#elif WHAT == STALE_SCALAR
        value += shift;
#elif WHAT == IF_WRONG
        if (fabsf(y[i] - value) <= 1e-6f) continue;
#elif WHAT == KEPT || WHAT == KEPT_BY_ADDRESS
        if (i < KEPT_COUNT) kept[i] = value;
#elif WHAT == KEPT_IN_SCRATCH
        s[i] = value;
#elif WHAT == KEPT_IN_SHARED
        store[k * THREADS + threadIdx.x] = __float_as_uint(value);
#endif
        y[i] = value;
    }
#if WHAT == KEPT_IN_SHARED
    __syncthreads();
    store[TILE] = 0x5eed9999u;
    store[TILE + 1] = blockIdx.x;
#endif
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < (WHERE == INOUT ? B_COUNT - 8 : B_COUNT); i += THREADS) b[i] = 2 * b[i];
#ifdef BY_LAST_BLOCK
    if (last_to_arrive(&arrived)) {
#if WHAT == TABLE
        table[threadIdx.x] = 1.0f;
        __threadfence();
        __syncthreads();
#endif
        if (threadIdx.x == 0) {
            remember(launches, n, x, y, b, s, z);
#if WHAT == CLEAR
            *place(n, x, y, s, z) = 0;
#elif WHAT == TABLE
            table_ready = 0x7ab1e;
#elif WHAT == KEPT_BY_ADDRESS
            kept_for = x;
#elif WHAT == STALE_SCALAR
            if (!launches) {
                first_scalar = a;
                first_x = x[0];
            }
#endif
        }
    }
#endif
}
