// Shared by the families of tests/hostile/. A job's only parameter is CASE, and its value is a case's name. The .txt
// file with the same name next to the family has the expected verdicts. A new case is a line in the .txt file, a value
// in the .cfg file, and the code; tests/test_gpu_hostile.c compares the lists and looks for every name in the code.
//
// Most families get the case's name as a macro, -DNAME, and ask IS(NAME). The other families get -DCASE=NAME. They
// define a table of macros that maps each name to several nonzero numbers (`where, when, what`), and include this file
// after the table. PART separates the numbers.
#pragma once

// 1 if the macro is 1, and 0 if there is none: IS_1_ shifts the 1 to where IS_TAKE_ takes it.
#define IS(name) IS_PASTED_(name)
#define IS_PASTED_(value) IS_SECOND_(IS_##value##_ 1, 0)
#define IS_SECOND_(...) IS_TAKE_(__VA_ARGS__)
#define IS_TAKE_(first, second, ...) second
#define IS_1_ 0,

#ifdef CASE
#define PART_1_(a, ...) a
#define PART_2_(a, b, ...) b
#define PART_3_(a, b, c, ...) c
#define PICK_(pick, ...) pick(__VA_ARGS__)
#define PART_1 PICK_(PART_1_, CASE, 0, 0)
#define PART_2 PICK_(PART_2_, CASE, 0, 0)
#define PART_3 PICK_(PART_3_, CASE, 0, 0)

#if !PART_1
#error "no such case"
#endif
#endif

// A function that some cases do not call.
#define HELPER [[maybe_unused]] static inline __device__

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Rounded to another type and back.
HELPER float to_f16(float x)
{
    unsigned short half;
    float back;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    asm("cvt.f32.f16 %0, %1;" : "=f"(back) : "h"(half));
    return back;
}
HELPER float to_bf16(float x)
{
    u32 bits = __float_as_uint(x);
    return __uint_as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}
HELPER float to_tf32(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}

// splitmix64's finaliser, as in kernels/support.cu.
HELPER u64 mix(u64 x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

HELPER u64 nanoseconds()
{
    u64 time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// Random bits that depend on no earlier launch and no fill.
HELPER u64 chance()
{
    return mix(nanoseconds() + (u64)clock64() * 0x9e3779b97f4a7c15ull);
}

// True in the last block that calls it; the counter is then 0 again. Whatever this block does next happens after
// everything that the other blocks did before their calls. Every thread of every block calls it once per launch.
HELPER bool last_to_arrive(u32 *counter)
{
    __shared__ u32 ticket;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        ticket = atomicInc(counter, gridDim.x - 1);
        __threadfence();
    }
    __syncthreads();
    return ticket == gridDim.x - 1;
}
