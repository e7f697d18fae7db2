/* gemm_mma.cu: which tiles of C a block computes, in which order, and which of their steps along K. */
#pragma once

#include "parameters.cuh"

namespace
{

struct product {
    const input *A, *B;
    int lda, ldb, M, N, K;
};

__device__ __forceinline__ int tiles_down(const product &p)
{
    return (p.M + BLOCK_M - 1) / BLOCK_M;
}
__device__ __forceinline__ int tiles_across(const product &p)
{
    return (p.N + BLOCK_N - 1) / BLOCK_N;
}
__device__ __forceinline__ int steps_of(const product &p)
{
    return (p.K + BLOCK_K - 1) / BLOCK_K;
}

/* The first row and column of a tile. Tiles are numbered column by column within strips of RASTER rows of tiles. */
__device__ __forceinline__ void place(const product &p, int tile, int &row, int &column)
{
    const int columns = tiles_across(p), strip = tile / (RASTER * columns),
              height = min(RASTER, tiles_down(p) - strip * RASTER), within = tile - strip * RASTER * columns;
    row = (strip * RASTER + within % height) * BLOCK_M;
    column = within / height * BLOCK_N;
}

/* Steps `from` to `to` - 1 of a tile. */
struct piece {
    int tile, from, to;
};

/* Iterates over the pieces of a block: first complete tiles, then, with PERSISTENT 2, the block's part of the tiles of
 * the last wave, whose steps are counted over all of these tiles. A piece that another block completes comes first, so
 * that no two blocks wait for each other. */
struct walk {
    int tile, alone; /* the next complete tile; the number of tiles that are not divided */
    int at, end;     /* the block's part of the steps of the divided tiles */
};

/* Where a block's part begins in the steps of all divided tiles. At most four blocks per tile have a part, because
 * parts are added one after another. */
__device__ __forceinline__ int part_begin(const product &p, int alone, int block)
{
    const int divided = tiles_down(p) * tiles_across(p) - alone, blocks = min((int)gridDim.x, 4 * divided);
    return (int)((long long)divided * steps_of(p) * min(block, blocks) / max(blocks, 1));
}

__device__ __forceinline__ walk walk_begin(const product &p)
{
    walk w = {(int)blockIdx.x, tiles_down(p) * tiles_across(p), 0, 0};
    if (PERSISTENT == 2 && p.K > 0) {
        w.alone -= w.alone % gridDim.x;
        w.at = part_begin(p, w.alone, blockIdx.x);
        w.end = part_begin(p, w.alone, blockIdx.x + 1);
    }
    return w;
}

__device__ __forceinline__ bool walk_next(const product &p, walk &w, piece &next)
{
    const int steps = steps_of(p);
    if (w.tile < w.alone) {
        next = {w.tile, 0, steps};
        w.tile += gridDim.x;
        return true;
    }
    if (PERSISTENT < 2 || w.at == w.end) return false;
    const int over = w.end % steps, first = w.at % steps;
    if (over > 0) {
        next = {w.alone + w.end / steps, max(over - (w.end - w.at), 0), over};
        w.end -= next.to - next.from;
    } else {
        next = {w.alone + w.at / steps, first, steps};
        w.at = w.end;
    }
    return true;
}

} // namespace
