/* gemm_wgmma.cu: which tiles a cluster computes, in which order, and which of their steps along K. */
#pragma once

#include "parameters.cuh"

namespace
{

struct problem {
    int m, n, k, tiles_m, tiles_n, tiles;
    int first, steps; /* this block's steps along K of every tile */
    int alone;        /* number of tiles that one cluster computes completely; the others are divided (STREAM_K) */
};

/* Row and column of a cluster's tile, in units of clusters' tiles. The first load waits for this, so there is only one
 * division except at the lower edge. */
__device__ __forceinline__ void place(const problem &p, int tile, int &row, int &col)
{
    const int band = RASTER * p.tiles_n, number = (unsigned)tile / (unsigned)band, first = number * RASTER,
              rest = tile - number * band;
    const int rows = min(RASTER, p.tiles_m - first);
    col = rows == RASTER ? (unsigned)rest / RASTER : (unsigned)rest / (unsigned)rows;
    row = first + rest - col * rows;
#if ORDER_IS == ORDER_hilbert
    const int square = col / RASTER;
    if (rows < RASTER || (square + 1) * RASTER > p.tiles_n) return;
    /* Converts the position on the curve to one in the square, two bits at a time, the lowest first. The curve ends
     * next to where it begins in the next square. */
    int at = rest - square * RASTER * RASTER, x = 0, y = 0;
#pragma unroll
    for (int side = 1; side < RASTER; side *= 2, at /= 4) {
        const int right = at / 2 & 1, up = (at ^ right) & 1;
        if (!up) {
            if (right) {
                x = side - 1 - x;
                y = side - 1 - y;
            }
            const int swap = x;
            x = y;
            y = swap;
        }
        x += side * right;
        y += side * up;
    }
    row = first + y;
    col = square * RASTER + x;
#endif
}

/* The steps of a tile that a cluster computes: all, or a part with STREAM_K. */
struct piece {
    int tile, first, count;
};

/* Iterates over the pieces of a cluster. */
struct walk {
    int tile;    /* the next tile that the cluster computes completely */
    int at, end; /* STREAM_K: the cluster's part of the steps of all divided tiles */
};

__device__ __forceinline__ int stream_begin(const problem &p, int cluster)
{
    return (int)((long long)(p.tiles - p.alone) * p.steps * cluster / (gridDim.x / CLUSTER));
}

__device__ __forceinline__ walk walk_begin(const problem &p)
{
    const int cluster = blockIdx.x / CLUSTER;
    walk w = {cluster, 0, 0};
    if (STREAM_K) {
        w.at = stream_begin(p, cluster);
        w.end = stream_begin(p, cluster + 1);
    }
    return w;
}

__device__ __forceinline__ bool walk_next(const problem &p, walk &w, piece &next)
{
    if (w.tile < p.alone) {
        next = {w.tile, p.first, p.steps};
        w.tile += PERSISTENT ? gridDim.x / CLUSTER : p.alone;
        return true;
    }
#if STREAM_K
    if (w.at < w.end) {
        const int first = w.at % p.steps;
        next = {p.alone + w.at / p.steps, first, min(p.steps - first, w.end - w.at)};
        w.at += next.count;
        return true;
    }
#endif
    return false;
}

} // namespace
