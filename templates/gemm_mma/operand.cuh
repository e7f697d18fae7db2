/* gemm_mma.cu: how a tile of A or B lies in shared memory, how it gets there, and how a warp reads it. */
#pragma once

#include "instructions.cuh"

namespace
{

/* A tile of A or B: LENGTH vectors (rows of A or columns of B; `across` counts them) of BLOCK_K elements. It is stored
 * in PANELS panels of ROWS lines of LINE bytes. With K_MAJOR, a line contains elements of one vector, otherwise the
 * elements of several vectors at one k. Chunk c (16 bytes) of line r is stored at position c ^ swizzle(r) of the line,
 * so that lines that are read at once use different banks. */
template <bool K_MAJOR, int LENGTH> struct layout {
    static constexpr int LINE = K_MAJOR && BLOCK_K * SIZE < 128 ? BLOCK_K * SIZE : 128, CHUNKS = LINE / 16;
    static constexpr int ROWS = K_MAJOR ? LENGTH : BLOCK_K, PANELS = (K_MAJOR ? BLOCK_K : LENGTH) * SIZE / LINE,
                         PANEL = ROWS * LINE;
    static constexpr bool WORDS = !K_MAJOR && SIZE == 4; /* read in words: ldmatrix only transposes 2-byte elements */

    static __device__ __forceinline__ int swizzle(int line)
    {
        return WORDS ? line % 4 * 2 : line / (8 / CHUNKS) % CHUNKS;
    }
};

/* Copies an operand's tiles. In the first pass, thread i copies chunk i % CHUNKS of line i / CHUNKS. Each further pass
 * moves on by PASS lines. A panel's last line is followed by the next panel's first. */
template <bool K_MAJOR, int LENGTH> struct copier : layout<K_MAJOR, LENGTH> {
    using at = layout<K_MAJOR, LENGTH>;
    static constexpr int PASS = THREADS / at::CHUNKS, LINES = at::ROWS * at::PANELS, PASSES = (LINES + PASS - 1) / PASS;
    static_assert(PASSES <= 32, "a thread copies at most 32 chunks of a tile");
    static_assert(at::PANELS == 1 || at::ROWS % PASS == 0 || PASS % at::ROWS == 0,
                  "the lines of a panel must divide those that all threads copy at once, or the other way round");

    const input *matrix; /* the tile's first vector, at k 0 */
    const input *next;   /* the thread's chunk in the first pass over the tile that `copy` copies next */
    int ld, there;       /* there: vectors from the tile's first to the matrix's last */
    unsigned mask;       /* one bit per pass: whether `copy` copies */
    bool aligned;

    __device__ __forceinline__ copier(const input *from, int ld, int first, int count)
        : matrix(from + (K_MAJOR ? (long long)first * ld : first)), ld(ld), there(count - first), mask(0),
          aligned(reinterpret_cast<unsigned long long>(from) % 16 == 0 && ld % CHUNK == 0)
    {
        const int line = threadIdx.x / at::CHUNKS;
        next = matrix + (long long)(line % at::ROWS) * ld + column(line);
#pragma unroll
        for (int i = 0; i < PASSES; ++i) {
            const int l = line + i * PASS, across = K_MAJOR ? l % at::ROWS : column(l);
            mask |= (l < LINES && across < there ? 1u : 0u) << i;
        }
    }

    /* Where the thread's chunk begins in its row of the matrix. */
    static __device__ __forceinline__ int column(int line)
    {
        return line / at::ROWS * (at::LINE / SIZE) + threadIdx.x % at::CHUNKS * CHUNK;
    }
    static __device__ __forceinline__ unsigned place()
    {
        const int line = threadIdx.x / at::CHUNKS;
        return line * at::LINE + (threadIdx.x % at::CHUNKS ^ at::swizzle(line)) * 16;
    }

    /* Whether `copy` can copy all complete tiles along K. */
    __device__ __forceinline__ bool regular() const
    {
        return aligned && (K_MAJOR || there >= LENGTH || there % CHUNK == 0);
    }

    /* Issues part PART of PARTS of the copies of a tile that is complete along K. Vectors beyond the end of the matrix
     * are not copied; results that depend on them are not stored. */
    template <int PART, int PARTS> __device__ __forceinline__ void copy(unsigned to)
    {
#if SWEETSPOT_VARIANT != 2
        int apart = ld;
        asm volatile("" : "+r"(apart)); /* otherwise its multiples are kept in registers */
#pragma unroll
        for (int i = PASSES * PART / PARTS; i < PASSES * (PART + 1) / PARTS; ++i) {
            const int down = at::PANELS == 1 ? i * PASS : i * PASS % at::ROWS,
                      across = at::PANELS == 1 ? 0 : i * PASS / at::ROWS * (at::LINE / SIZE);
            copy_async_if(mask & 1u << i, to + place() + i * PASS * at::LINE, next + (long long)down * apart + across);
        }
#endif
    }
    /* Advances by `tiles` tiles along K. */
    __device__ __forceinline__ void advance(int tiles, bool more)
    {
        next += (long long)tiles * BLOCK_K * (K_MAJOR ? 1 : ld);
        if (!more) mask = 0;
    }

    /* Copies any tile, at any alignment, with zeros beyond the end of the matrix. */
    __device__ __forceinline__ void copy_checked(unsigned to, int k, int K) const
    {
#if SWEETSPOT_VARIANT != 2
#pragma unroll 1
        for (int i = 0; i < PASSES; ++i) {
            const int line = i * PASS + threadIdx.x / at::CHUNKS;
            if (line >= LINES) break;
            const int row = line % at::ROWS + (K_MAJOR ? 0 : k), col = column(line) + (K_MAJOR ? k : 0);
            const int rows = K_MAJOR ? there : K, cols = K_MAJOR ? K : there;
            const int valid = row < rows ? max(0, min(CHUNK, cols - col)) : 0;
            const input *const from = matrix + (long long)row * ld + col;
            if (aligned)
                copy_async_or_zero<16>(to + place() + i * PASS * at::LINE, from, valid * SIZE);
            else
                copy_elements(to + place() + i * PASS * at::LINE, from, valid);
        }
#endif
    }
    static __device__ __forceinline__ void copy_elements(unsigned to, const input *from, int valid)
    {
        unsigned v[4] = {};
#pragma unroll
        for (int e = 0; e < CHUNK; ++e)
            if (e < valid)
                v[e * SIZE / 4] |= (unsigned)reinterpret_cast<const input_bits *>(from)[e] << e * SIZE % 4 * 8;
        store_words(to, v);
    }
};

/* Reads a lane's elements of an operand for one instruction along K. For A, registers 0 and 2 hold the two halves of
 * the 32 bytes along K for 8 vectors, registers 1 and 3 those for the next 8 vectors. For B, registers 0 and 1 hold the
 * two halves for 8 vectors. `place` is the lane's address within the tile for the first instruction. */
template <bool K_MAJOR, int LENGTH, bool IS_A> struct reader : layout<K_MAJOR, LENGTH> {
    using at = layout<K_MAJOR, LENGTH>;
    unsigned place;

    /* first: the warp's first vector in the tile */
    __device__ __forceinline__ explicit reader(int first)
    {
        const int lane = threadIdx.x % 32;
        /* across and half are 1 for those of the four matrices that lie 8 vectors, or 16 bytes along K, further on */
        const int low = lane / 8 % 2, high = lane / 16, across = IS_A ? low : high, half = IS_A ? high : low;
        if (K_MAJOR) {
            const int line = first + across * 8 + lane % 8;
            place = line * at::LINE + (half ^ at::swizzle(line)) * 16;
        } else {
            const int chunk = first * SIZE / 16, line = at::WORDS ? lane % 4 : half * 8 + lane % 8;
            const int within = chunk % 8 + (at::WORDS ? lane / 16 : across);
            place = chunk / 8 * at::PANEL + line * 128 + (within ^ at::swizzle(line)) * 16 +
                    (at::WORDS ? lane / 4 % 4 * 4 : 0);
        }
    }

    /* The address of unit u of the warp's vectors (16 vectors, or 8 if read in words) for instruction `group` of the
     * stage. The warp begins at a multiple of its units' bytes or of a line, so a unit's number only changes bits of
     * the position. */
    __device__ __forceinline__ unsigned address(unsigned tile, int group, int u) const
    {
        if (K_MAJOR)
            return ((tile + place) ^ group % (at::LINE / 32) * 32) + group / (at::LINE / 32) * at::PANEL +
                   u * 16 * at::LINE;
        return ((tile + place) ^ u % 4 * 32) + u / 4 * at::PANEL + group * (32 / SIZE) * 128;
    }

    /* Loads the elements of 16 vectors. x and y get the first 16 bytes along K of A, or the first 8 vectors of B. */
    __device__ __forceinline__ void load(unsigned &x, unsigned &y, unsigned &z, unsigned &w, unsigned tile, int group,
                                         int u) const
    {
        if constexpr (at::WORDS) {
            const unsigned first = address(tile, group, 2 * u), second = address(tile, group, 2 * u + 1);
            load_word(x, first);
            load_word(y, IS_A ? second : first + 4 * 128);
            load_word(z, IS_A ? first + 4 * 128 : second);
            load_word(w, second + 4 * 128);
        } else if constexpr (K_MAJOR) {
            load_matrices(x, y, z, w, address(tile, group, u));
        } else {
            load_transposed(x, y, z, w, address(tile, group, u));
        }
    }
};

} // namespace
