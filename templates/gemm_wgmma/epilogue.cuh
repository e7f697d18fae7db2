/* gemm_wgmma.cu: stores a tile from registers to C. */
#pragma once

#include "parameters.cuh"
#include "ring.cuh"

namespace
{

__device__ __forceinline__ float from_output(output v)
{
#if OUTPUT_IS == TYPE_f32
    return v;
#elif OUTPUT_IS == TYPE_bf16
    return __uint_as_float((unsigned)v << 16);
#else
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(v));
    return f;
#endif
}

#if OUTPUT_IS != TYPE_f32
/* Packs two values as they lie in memory, `low` first. */
__device__ __forceinline__ unsigned pack(float low, float high)
{
    unsigned both;
    asm("cvt.rn." TEXT(OUTPUT) "x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
}
#endif

/* Where a consumer's results go. */
struct target {
    output *c;
    long long ldc;
    int m, n;
    float alpha, beta;
    const tensor_map *map;
    int group;        /* the consumer */
    unsigned buffers; /* its store buffers */
    unsigned loaded;  /* STORE tma: one barrier per buffer, for the arrival of the old C */
    unsigned phases;  /* the parities of these barriers, one bit each */
};

__device__ __forceinline__ output *element(const target &t, int row, int col)
{
    return t.c + (TRANSPOSE_C ? col * t.ldc + row : row * t.ldc + col);
}

/* Whether two adjacent elements of a row can be accessed at once. */
__device__ __forceinline__ bool in_pairs(const target &t)
{
    return !TRANSPOSE_C && t.ldc % 2 == 0 && ((unsigned long long)t.c & (2 * sizeof(output) - 1)) == 0;
}

/* Computes alpha * sum + beta * C in place for N of a thread's elements. Element j*4 + h*2 + e of part p lies at row
 * 64*p + 8*h + lane/4 (of its warp's 16) and column 8*j + 2*(lane%4) + e; `row` and `col` are the position of the first
 * element. C is read in this order. */
template <int N> __device__ __forceinline__ void scale_sums(float *d, const target &t, int row, int col)
{
#pragma unroll
    for (int i = 0; i < N; i++) d[i] *= t.alpha;
    if (t.beta == 0) return;
    const bool pairs = in_pairs(t);
#pragma unroll
    for (int i = 0; i < N; i += 2) {
        const int r = row + i / 2 % 2 * 8, c = col + i / 4 * 8;
        if (r >= t.m) continue;
        if (pairs && c + 1 < t.n) {
#if OUTPUT_IS == TYPE_f32
            const float2 old = *reinterpret_cast<const float2 *>(element(t, r, c));
            d[i] += t.beta * old.x;
            d[i + 1] += t.beta * old.y;
#else
            const unsigned old = *reinterpret_cast<const unsigned *>(element(t, r, c));
            d[i] += t.beta * from_output((output)old);
            d[i + 1] += t.beta * from_output((output)(old >> 16));
#endif
            continue;
        }
        if (c < t.n) d[i] += t.beta * from_output(*element(t, r, c));
        if (c + 1 < t.n) d[i + 1] += t.beta * from_output(*element(t, r, c + 1));
    }
}

#if STORE_IS == STORE_direct || TWO_PASS
/* Stores elements of columns 8*j to 8*j+7 from registers. `row` and `col` are the position of the thread's first
 * element. */
__device__ __forceinline__ void store_direct(const float *d, const target &t, int row, int col, bool pairs)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int r = row + 8 * h;
        if (r >= t.m) continue;
#if OUTPUT_IS == TYPE_f32
        if (pairs && col + 1 < t.n) {
            *reinterpret_cast<float2 *>(element(t, r, col)) = make_float2(d[2 * h], d[2 * h + 1]);
            continue;
        }
        if (col < t.n) *element(t, r, col) = d[2 * h];
        if (col + 1 < t.n) *element(t, r, col + 1) = d[2 * h + 1];
#else
        const unsigned both = pack(d[2 * h], d[2 * h + 1]);
        if (pairs && col + 1 < t.n) {
            *reinterpret_cast<unsigned *>(element(t, r, col)) = both;
            continue;
        }
        if (col < t.n) *element(t, r, col) = (output)both;
        if (col + 1 < t.n) *element(t, r, col + 1) = (output)(both >> 16);
#endif
    }
}
#endif

#if STORE_IS != STORE_direct
/* The offset of 16 bytes of a staged line, with TMA's swizzle over the line's width. */
__device__ __forceinline__ unsigned staged(int line, int bytes)
{
    constexpr unsigned MASK = STORE_WIDTH >= 128 ? 7 : STORE_WIDTH == 64 ? 3 : STORE_WIDTH == 32 ? 1 : 0;
    const unsigned offset = (unsigned)(line * STORE_WIDTH + bytes);
    return offset ^ ((offset >> 7 & MASK) << 4);
}

constexpr int CHUNKS = BLOCK_N / STORE_COLS; /* per 64 rows; a chunk is staged at a time */
constexpr int CHUNK_SUMS = STORE_COLS / 2;   /* per thread */
/* The words of a chunk that a thread stores: one f32 or two 16-bit elements each, in the order of its sums. */
constexpr int WORDS = OUTPUT_IS == TYPE_f32 ? CHUNK_SUMS : CHUNK_SUMS / 2;

__device__ __forceinline__ void encode(unsigned *v, const float *d)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++)
#if OUTPUT_IS == TYPE_f32
        v[i] = __float_as_uint(d[i]);
#else
        v[i] = pack(d[2 * i], d[2 * i + 1]);
#endif
}

#if OUTPUT_IS == TYPE_f32
/* The address in the buffer of a thread's sums 4*j + 2*h and 4*j + 2*h + 1. */
__device__ __forceinline__ unsigned pair_address(unsigned buffer, int j, int h, int warp, int lane)
{
    return buffer + staged(warp * 16 + lane / 4 + 8 * h, (8 * j + 2 * (lane % 4)) * 4);
}
#else
/* The address that a lane passes to stmatrix and ldmatrix for columns 16*j to 16*j + 15 of its warp's 16 rows, or for
 * the only 8 columns. */
__device__ __forceinline__ unsigned matrix_address(unsigned buffer, int j, int warp, int lane)
{
    const int matrix = lane / 8, line = lane % 8, low = warp * 16 + matrix % 2 * 8,
              right = 16 * j + (STORE_COLS == 8 ? 0 : matrix / 2 * 8);
    return buffer + (TRANSPOSE_C ? staged(right + line, low * 2) : staged(low + line, right * 2));
}
#if TRANSPOSE_C
#define TRANSPOSED ".trans"
#else
#define TRANSPOSED ""
#endif
#endif

/* Writes a warp's 16 rows of a chunk to the buffer. */
__device__ __forceinline__ void stage(unsigned buffer, const unsigned *v, int warp, int lane)
{
#if OUTPUT_IS == TYPE_f32
#pragma unroll
    for (int j = 0; j < STORE_COLS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++)
            asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(pair_address(buffer, j, h, warp, lane)),
                         "r"(v[4 * j + 2 * h]), "r"(v[4 * j + 2 * h + 1])
                         : "memory");
#else
    if constexpr (STORE_COLS == 8) {
        asm volatile("stmatrix.sync.aligned.m8n8.x2" TRANSPOSED
                     ".shared.b16 [%0], {%1, %2};" ::"r"(matrix_address(buffer, 0, warp, lane)),
                     "r"(v[0]), "r"(v[1])
                     : "memory");
    } else {
#pragma unroll
        for (int j = 0; j < STORE_COLS / 16; j++)
            asm volatile("stmatrix.sync.aligned.m8n8.x4" TRANSPOSED
                         ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(matrix_address(buffer, j, warp, lane)),
                         "r"(v[4 * j]), "r"(v[4 * j + 1]), "r"(v[4 * j + 2]), "r"(v[4 * j + 3])
                         : "memory");
    }
#endif
}

/* Adds beta times the old C, which lies in the buffer as stage() would put it, to a thread's sums of a chunk. */
__device__ __forceinline__ void add_old(float *d, unsigned buffer, float beta, int warp, int lane)
{
#if OUTPUT_IS == TYPE_f32
#pragma unroll
    for (int j = 0; j < STORE_COLS / 8; j++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float old[2];
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                         : "=f"(old[0]), "=f"(old[1])
                         : "r"(pair_address(buffer, j, h, warp, lane))
                         : "memory");
            d[4 * j + 2 * h] += beta * old[0];
            d[4 * j + 2 * h + 1] += beta * old[1];
        }
#else
#pragma unroll
    for (int j = 0; j < (STORE_COLS + 15) / 16; j++) {
        unsigned old[4];
        if constexpr (STORE_COLS == 8)
            asm volatile("ldmatrix.sync.aligned.m8n8.x2" TRANSPOSED ".shared.b16 {%0, %1}, [%2];"
                         : "=r"(old[0]), "=r"(old[1])
                         : "r"(matrix_address(buffer, j, warp, lane))
                         : "memory");
        else
            asm volatile("ldmatrix.sync.aligned.m8n8.x4" TRANSPOSED ".shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(old[0]), "=r"(old[1]), "=r"(old[2]), "=r"(old[3])
                         : "r"(matrix_address(buffer, j, warp, lane))
                         : "memory");
#pragma unroll
        for (int i = 0; i < (STORE_COLS == 8 ? 2 : 4); i++) {
            d[8 * j + 2 * i] += beta * from_output((output)old[i]);
            d[8 * j + 2 * i + 1] += beta * from_output((output)(old[i] >> 16));
        }
    }
#endif
    __syncwarp();
}

#if STORE_IS == STORE_rows
/* Stores staged lines to C, each warp a line at a time. x, y: where the buffer begins in C, x along C's rows. */
__device__ __forceinline__ void store_rows(const target &t, unsigned buffer, int x, int y, int warp, int lane)
{
    constexpr int COLS = STORE_WIDTH / (int)sizeof(output);
    const int lines = TRANSPOSE_C ? t.n : t.m, cols = min(COLS, (TRANSPOSE_C ? t.m : t.n) - x);
    for (int line = warp; line < STORE_LINES && y + line < lines; line += 4) {
        output *to = t.c + (y + line) * t.ldc + x;
#if OUTPUT_IS == TYPE_f32
        float v;
        if (lane >= cols) continue;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(buffer + staged(line, lane / 4 * 16) + lane % 4 * 4));
        to[lane] = v;
#else
        /* Words of two elements. If the row begins in the middle of a word, a lane combines its second element with the
         * next lane's first. */
        unsigned v = 0;
        if (2 * lane < COLS)
            asm volatile("ld.shared.u32 %0, [%1];"
                         : "=r"(v)
                         : "r"(buffer + staged(line, lane / 4 * 16) + lane % 4 * 4));
        const bool odd = (unsigned long long)to & 2;
        const unsigned next = __shfl_down_sync(0xffffffffu, v, 1);
        if (odd) {
            if (lane == 0 && cols > 0) to[0] = (output)v;
            v = v >> 16 | next << 16;
        }
        const int first = 2 * lane + odd;
        if (first + 1 < cols)
            *reinterpret_cast<unsigned *>(to + first) = v;
        else if (first < cols)
            to[first] = (output)v;
#endif
    }
}

/* The reverse: loads the old C into the buffer. */
__device__ __forceinline__ void load_rows(const target &t, unsigned buffer, int x, int y, int warp, int lane)
{
    constexpr int COLS = STORE_WIDTH / (int)sizeof(output), EACH = 4 / (int)sizeof(output); /* elements per word */
    const int lines = TRANSPOSE_C ? t.n : t.m, cols = min(COLS, (TRANSPOSE_C ? t.m : t.n) - x);
    unsigned v[STORE_LINES / 4];
#pragma unroll
    for (int i = 0; i < STORE_LINES / 4; i++) {
        const int line = warp + 4 * i;
        const output *from = t.c + (y + line) * t.ldc + x;
        v[i] = 0;
        if (y + line >= lines) continue;
#if OUTPUT_IS == TYPE_f32
        if (lane < cols) v[i] = __float_as_uint(from[lane]);
#else
        if (2 * lane < cols) v[i] = from[2 * lane];
        if (2 * lane + 1 < cols) v[i] |= (unsigned)from[2 * lane + 1] << 16;
#endif
    }
#pragma unroll
    for (int i = 0; i < STORE_LINES / 4; i++)
        if (EACH * lane < COLS)
            asm volatile("st.shared.u32 [%0], %1;" ::"r"(buffer + staged(warp + 4 * i, lane / 4 * 16) + lane % 4 * 4),
                         "r"(v[i])
                         : "memory");
}
#endif
#endif

#if STORE_IS != STORE_direct
/* Where a chunk begins in C. The consumer's part of the tile begins at `row` and `col`. */
struct chunk_place {
    int x, y; /* x along C's rows */
};

__device__ __forceinline__ chunk_place place_chunk(int p, int chunk, int row, int col)
{
    const int r = row + 64 * p, c = col + chunk * STORE_COLS;
    return TRANSPOSE_C ? chunk_place{r, c} : chunk_place{c, r};
}

__device__ __forceinline__ unsigned chunk_buffer(const target &t, int slot)
{
    return t.buffers + slot % STORE_BUFFERS * STORE_BYTES;
}

/* Waits until the buffer for a tile's chunk number `slot`, in the order of storing, is free. */
__device__ __forceinline__ void free_buffer(const target &t, int slot)
{
#if STORE_IS == STORE_tma
    if (threadIdx.x % 128 == 0) {
        if (slot == 0)
            stores_read<0>(); /* the last chunk of the previous tile may be in this buffer */
        else
            stores_read<STORE_BUFFERS - 1>();
    }
    group_sync(t.group);
#else
    if (slot == 0 || STORE_BUFFERS == 1) group_sync(t.group);
#endif
}

/* Stages a chunk's words and stores them to C. */
__device__ __forceinline__ void send_chunk(const unsigned *words, int slot, const target &t, const chunk_place &at)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const unsigned buffer = chunk_buffer(t, slot);
    stage(buffer, words, warp, lane);
#if STORE_IS == STORE_tma
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    group_sync(t.group);
    if (threadIdx.x % 128 == 0) store_box(t.map, buffer, at.x, at.y);
#else
    group_sync(t.group);
    store_rows(t, buffer, at.x, at.y, warp, lane);
#endif
}

#if STORE_IS == STORE_tma
/* Loads the old C of a chunk into its buffer, which must be free. One thread calls it. */
__device__ __forceinline__ void load_old(const target &t, int slot, const chunk_place &at)
{
    const unsigned barrier = t.loaded + slot % STORE_BUFFERS * 8;
    barrier_expect(barrier, 64 * STORE_COLS * (int)sizeof(output));
    load_box<1, 0>(chunk_buffer(t, slot), t.map, at.x, at.y, barrier, 0, 0);
}

/* Loads as much of a tile's old C as the buffers hold, before it is needed. */
__device__ __forceinline__ void load_old_ahead(const target &t, int row, int col)
{
    if (t.beta == 0 || threadIdx.x % 128) return;
    stores_read<0>();
#pragma unroll
    for (int slot = 0; slot < STORE_BUFFERS && slot < PARTS * CHUNKS; slot++)
        load_old(t, slot, place_chunk(slot / CHUNKS, slot % CHUNKS, row, col));
}
#endif

/* C = alpha * sums + beta * C for a chunk of part p. d: the chunk's sums; AHEAD: load_old_ahead has begun the loads. */
template <bool AHEAD>
__device__ __forceinline__ void store_chunk(float *d, int p, int chunk, int slot, target &t, int row, int col)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const unsigned buffer = chunk_buffer(t, slot);
    const chunk_place at = place_chunk(p, chunk, row, col);
    unsigned words[WORDS];
#pragma unroll
    for (int i = 0; i < CHUNK_SUMS; i++) d[i] *= t.alpha;
    if (t.beta == 0) {
        free_buffer(t, slot);
    } else {
#if STORE_IS == STORE_tma
        if (!AHEAD) {
            free_buffer(t, slot);
            if (threadIdx.x % 128 == 0) load_old(t, slot, at);
        }
        barrier_wait(t.loaded + slot % STORE_BUFFERS * 8, t.phases >> slot % STORE_BUFFERS & 1);
        t.phases ^= 1u << slot % STORE_BUFFERS;
#else
        free_buffer(t, slot);
        load_rows(t, buffer, at.x, at.y, warp, lane);
        group_sync(t.group);
#endif
        add_old(d, buffer, t.beta, warp, lane);
    }
    encode(words, d);
    send_chunk(words, slot, t, at);
#if STORE_IS == STORE_tma
    constexpr int BEHIND = STORE_BUFFERS > 1 ? 1 : 0; /* chunks whose buffers may still be read */
    const int next = slot - BEHIND + STORE_BUFFERS;
    if (AHEAD && t.beta != 0 && slot >= BEHIND && next < PARTS * CHUNKS && threadIdx.x % 128 == 0) {
        stores_read<BEHIND>();
        load_old(t, next, place_chunk(next / CHUNKS, next % CHUNKS, row, col));
    }
#endif
}
#endif

/* Stores a consumer's part of a tile, whose rows begin at `row` and columns at `col`, to C. */
__device__ __forceinline__ void store_tile(float (&d)[PARTS][SUMS], target &t, int row, int col)
{
#if STORE_IS == STORE_direct
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    const bool pairs = in_pairs(t);
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        const int own_row = row + 64 * p + warp * 16 + lane / 4, own_col = col + 2 * (lane % 4);
        scale_sums<SUMS>(d[p], t, own_row, own_col);
#pragma unroll
        for (int j = 0; j < BLOCK_N / 8; j++) store_direct(&d[p][4 * j], t, own_row, own_col + 8 * j, pairs);
    }
#else
#pragma unroll
    for (int i = 0; i < PARTS * CHUNKS; i++)
        store_chunk<true>(&d[i / CHUNKS][i % CHUNKS * CHUNK_SUMS], i / CHUNKS, i % CHUNKS, i, t, row, col);
#endif
}

/* A tile's results that wait to be stored. Empty without DEFER. */
struct deferred {
#if DEFER
    unsigned words[PARTS * CHUNKS][WORDS];
    int row, col;
    bool waiting;
#endif
};

#if DEFER
__device__ __forceinline__ void defer_tile(deferred &later, float (&d)[PARTS][SUMS], const target &t, int row, int col)
{
    const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        scale_sums<SUMS>(d[p], t, row + 64 * p + warp * 16 + lane / 4, col + 2 * (lane % 4));
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) encode(later.words[p * CHUNKS + chunk], &d[p][chunk * CHUNK_SUMS]);
    }
    later.row = row;
    later.col = col;
    later.waiting = true;
}

__device__ __forceinline__ void store_deferred(deferred &later, int i, const target &t)
{
    free_buffer(t, i);
    send_chunk(later.words[i], i, t, place_chunk(i / CHUNKS, i % CHUNKS, later.row, later.col));
}

__device__ __forceinline__ void store_all_deferred(deferred &later, const target &t)
{
#pragma unroll
    for (int i = 0; i < PARTS * CHUNKS; i++) store_deferred(later, i, t);
}
#endif

} // namespace
