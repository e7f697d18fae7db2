// Emulates templates/gemm_mma/instructions.cuh: the instructions that the lanes of a warp execute together (PTX ISA,
// ldmatrix and mma.sync for bf16, f16, tf32 and s8). The eight rows of a matrix, and the 32 lanes of a load, must lie
// in different banks.
#pragma once

#include "gemm_mma/parameters.cuh"

#include "device/ptx.cuh"

namespace
{

// The words that each thread of the block gives to its warp. There are two sets, because a thread may give its next
// words before the other threads have read its previous ones.
struct given {
    unsigned words[2][6];
    unsigned calls;
};
given given_words[1024];

// Gives words to the warp, waits until all lanes have given theirs, and returns the set that holds them.
template <int N> unsigned give(const unsigned (&words)[N])
{
    given &mine = given_words[threadIdx.x], *const first = &given_words[threadIdx.x / 32 * 32];
    const unsigned set = mine.calls++ % 2, calls = mine.calls;
    std::copy(words, words + N, mine.words[set]);
    do emulation::yield();
    while (std::any_of(first, first + 32, [=](const given &lane) { return lane.calls < calls; }));
    return set;
}
unsigned taken(unsigned set, unsigned lane, int word)
{
    return given_words[threadIdx.x / 32 * 32 + lane].words[set][word];
}

template <class T> T at_shared(unsigned address)
{
    if (address % sizeof(T) || address + sizeof(T) > sizeof emulation::shared) emulation::fail("a load is not aligned");
    T value;
    std::memcpy(&value, emulation::shared + address, sizeof value);
    return value;
}

void load_all(unsigned *to, unsigned from, bool transposed)
{
    const unsigned set = give({from}), lane = threadIdx.x % 32;
    for (unsigned matrix = 0; matrix < 4; matrix++) {
        unsigned banks = 0;
        for (unsigned row = 0; row < 8; row++) {
            const unsigned address = taken(set, matrix * 8 + row, 0);
            if (address % 16) emulation::fail("a row of a matrix is not aligned");
            banks |= 1u << address / 16 % 8;
        }
        if (banks != 0xff) emulation::fail("rows of a matrix are in the same banks");
        if (transposed) {
            const unsigned row = matrix * 8 + lane % 4 * 2;
            to[matrix] = at_shared<unsigned short>(taken(set, row, 0) + lane / 4 * 2) |
                         (unsigned)at_shared<unsigned short>(taken(set, row + 1, 0) + lane / 4 * 2) << 16;
        } else {
            to[matrix] = at_shared<unsigned>(taken(set, matrix * 8 + lane / 4, 0) + lane % 4 * 4);
        }
    }
}
void load_matrices(unsigned &x, unsigned &y, unsigned &z, unsigned &w, unsigned from)
{
    unsigned to[4];
    load_all(to, from, false);
    x = to[0], y = to[1], z = to[2], w = to[3];
}
void load_transposed(unsigned &x, unsigned &y, unsigned &z, unsigned &w, unsigned from)
{
    unsigned to[4];
    load_all(to, from, true);
    x = to[0], y = to[1], z = to[2], w = to[3];
}
void load_word(unsigned &x, unsigned from)
{
    const unsigned set = give({from});
    unsigned banks = 0;
    for (unsigned lane = 0; lane < 32; lane++) banks |= 1u << taken(set, lane, 0) / 4 % 32;
    if (~banks) emulation::fail("words are in the same bank");
    x = at_shared<unsigned>(from);
}

void store_words(unsigned to, const unsigned (&v)[4])
{
    if (to % 16) emulation::fail("a store is not aligned");
    std::memcpy(emulation::shared + to, v, sizeof v);
}

bool readable(const void *from, size_t bytes); // whether it lies in A or B, or between their rows

void copy_async_if(unsigned there, unsigned to, const input *from)
{
    if (!there) return;
    if (!readable(from, 16)) emulation::fail("a copy reads beyond its matrix");
    emulation::copy_async(to, from, 16);
}

float as_float(unsigned bits)
{
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
}

// The bits of BF16, rounded to nearest even, or of FP16. The tests have only FP16 numbers that are exact and not
// subnormal.
unsigned short rounded(float f)
{
    unsigned bits;
    std::memcpy(&bits, &f, sizeof f);
    if (f != f) return 0x7fff;
#if OUTPUT_IS == TYPE_f16
    return (unsigned short)(f == 0 ? 0 : (bits >> 16 & 0x8000) | ((bits >> 13 & 0x3ffff) - (112 << 10)));
#else
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}
float from_half(unsigned bits)
{
    const float f = (float)(bits & 0x7fff ? (1024 + (bits & 1023)) * std::ldexp(1.0, (int)(bits >> 10 & 31) - 25) : 0);
    return (bits >> 10 & 31) == 31 ? NAN : bits >> 15 ? -f : f;
}

// Element i of a word.
number element(unsigned word, int i)
{
#if INPUT_IS == TYPE_tf32
    return as_float(word & ~0x1fffu);
#elif INPUT_IS == TYPE_i8
    return (signed char)(word >> i * 8);
#elif INPUT_IS == TYPE_bf16
    return as_float(word >> i * 16 << 16);
#else
    return from_half(word >> i * 16 & 0xffff);
#endif
}

void multiply(number (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    constexpr int K = 32 / SIZE, EACH = 4 / SIZE; // the instruction's K; elements of a word
    const unsigned set = give({a[0], a[1], a[2], a[3], b[0], b[1]}), lane = threadIdx.x % 32;
    number x[2][K], y[2][K]; // two rows of A, two columns of B
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < K; k++) {
            const int half = k / (K / 2);
            const unsigned word = (unsigned)(k % (K / 2) / EACH);
            x[i][k] = element(taken(set, lane / 4 * 4 + word, i + 2 * half), k % EACH);
            y[i][k] = element(taken(set, (lane % 4 * 2 + (unsigned)i) * 4 + word, 4 + half), k % EACH);
        }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < K; k++) d[i] += x[i / 2][k] * y[i % 2][k];
}

void load_sums(number (&v)[4], const number *from)
{
    std::copy(from, from + 4, v);
}
void raise(unsigned *flag)
{
    *flag = 1;
}
void wait_until_raised(const unsigned *flag)
{
    if (*flag != 1) emulation::fail("an earlier block has left nothing");
}

#if OUTPUT_IS == TYPE_bf16 || OUTPUT_IS == TYPE_f16
unsigned pack(float low, float high)
{
    return rounded(low) | (unsigned)rounded(high) << 16;
}
#endif
number from_output(output v)
{
#if OUTPUT_IS == TYPE_bf16
    return as_float((unsigned)v << 16);
#elif OUTPUT_IS == TYPE_f16
    return from_half(v);
#else
    return v;
#endif
}

} // namespace
