/* gemm_mma.cu: stores a tile from registers to C. */
#pragma once

#include "mainloop.cuh"

namespace
{

struct target {
    output *c;
    long long ldc;
    int M, N;
    number alpha, beta;
};

/* For blocks that share a tile: each block has space for its partial sums of one tile, and a flag that is raised when
 * they are complete. */
struct workspace {
    number *parts;
    unsigned *flags;
};

__device__ __forceinline__ number *part_of(const workspace &space, int block)
{
    return space.parts + ((long long)block * (TILES_M * TILES_N) * THREADS + threadIdx.x) * 4;
}

/* Stores the sums in the workspace for the next block. */
__device__ __forceinline__ void leave_part(const sums &sum, const workspace &space)
{
    struct alignas(16) four {
        number v[4];
    };
    number *const to = part_of(space, blockIdx.x);
#pragma unroll
    for (int i = 0; i < TILES_M * TILES_N; ++i)
        *reinterpret_cast<four *>(to + i * THREADS * 4) =
            *reinterpret_cast<const four *>(sum[i / TILES_N][i % TILES_N]);
    __syncthreads();
    if (threadIdx.x == 0) raise(space.flags + blockIdx.x);
}

/* Adds the partial sums that the preceding blocks left for this block's tile, always in the same order. This block
 * began at step `from` of the tile. */
__device__ __forceinline__ void add_parts(sums &sum, const product &p, const workspace &space, int alone, int from)
{
#pragma unroll 1
    for (int block = blockIdx.x - 1; from > 0; --block) {
        const int steps = part_begin(p, alone, block + 1) - part_begin(p, alone, block);
        if (steps == 0) continue;
        if (threadIdx.x == 0) {
            wait_until_raised(space.flags + block);
            space.flags[block] = 0;
        }
        __syncthreads();
        const number *const left = part_of(space, block);
#pragma unroll
        for (int i = 0; i < TILES_M * TILES_N; ++i) {
            number v[4];
            load_sums(v, left + i * THREADS * 4);
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[i / TILES_N][i % TILES_N][e] += v[e];
        }
        from -= steps;
    }
}

/* Adjacent elements of a row of C: the two that a lane gets from an instruction, and as many as fill 16 bytes. */
struct alignas(2 * sizeof(output)) output_pair {
    output x, y;
};
constexpr int WIDTH = 16 / sizeof(output);
struct alignas(16) output_row {
    output x[WIDTH];
};

__device__ __forceinline__ output_pair to_output(number x, number y)
{
#if OUTPUT_IS == TYPE_bf16 || OUTPUT_IS == TYPE_f16
    const unsigned both = pack(x, y);
    return {(output)both, (output)(both >> 16)};
#else
    return {x, y};
#endif
}

/* Copies 8 rows of the warp's results between its part of shared memory and C, where they begin at (row, column). A
 * lane copies 16 bytes at a time if all rows of C are aligned to 16 bytes (`wide`). */
template <bool TO_C>
__device__ __forceinline__ void copy_rows(const target &t, char *memory, int row, int column, bool wide)
{
    constexpr int PIECES = STORE_ROW / 16; /* per row */
#pragma unroll
    for (int piece = threadIdx.x % 32; piece < 8 * PIECES; piece += 32) {
        const int i = row + piece / PIECES, j = column + piece % PIECES * WIDTH;
        output *const staged = reinterpret_cast<output *>(memory + piece / PIECES * PITCH + piece % PIECES * 16),
                      *const c = t.c + i * t.ldc + j;
        if (i < t.M && wide && j + WIDTH <= t.N)
            *reinterpret_cast<output_row *>(TO_C ? c : staged) = *reinterpret_cast<output_row *>(TO_C ? staged : c);
        else if (i < t.M)
#pragma unroll 1
            for (int e = 0; e < WIDTH && j + e < t.N; ++e) (TO_C ? c : staged)[e] = (TO_C ? staged : c)[e];
    }
    __syncwarp();
}

/* Stores the warp's part of the block's tile, which begins at (row, column) of C. 8 rows at a time pass through the
 * warp's part of shared memory, so that a lane stores 16 bytes; the old C is read in the same way. From each
 * instruction, a lane has the results in columns 2 * (lane % 4) and the next, in rows lane / 4 and lane / 4 + 8. Rows
 * in shared memory are PITCH bytes apart, which avoids bank conflicts. */
__device__ __forceinline__ void store_tile(const sums &sum, const target &t, char *memory, int row, int column)
{
    const int lane = threadIdx.x % 32;
    const bool wide =
        (reinterpret_cast<unsigned long long>(t.c) | (unsigned long long)t.ldc * sizeof(output)) % 16 == 0;
    memory += threadIdx.x / 32 * (8 * PITCH);
    char *const mine = memory + lane / 4 * PITCH + lane % 4 * 2 * (int)sizeof(output);
#pragma unroll
    for (int i = 0; i < 2 * TILES_M; ++i) {
        if (t.beta != 0) copy_rows<false>(t, memory, row + i * 8, column, wide);
#pragma unroll
        for (int n = 0; n < TILES_N; ++n) {
            output_pair &v = *reinterpret_cast<output_pair *>(mine + n * 8 * (int)sizeof(output));
            number x = t.alpha * sum[i / 2][n][i % 2 * 2], y = t.alpha * sum[i / 2][n][i % 2 * 2 + 1];
            if (t.beta != 0) {
                x += t.beta * from_output(v.x);
                y += t.beta * from_output(v.y);
            }
            v = to_output(x, y);
        }
        __syncwarp();
        copy_rows<true>(t, memory, row + i * 8, column, wide);
    }
}

} // namespace
