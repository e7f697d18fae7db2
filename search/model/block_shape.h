// Rules of thumb about blocks that hold for most CUDA kernels: warps should be full; one warp, or close to
// the largest number of threads, is seldom best; a side that is not a power of two makes indices costly; a thread that
// computes a single element reuses nothing. Measurements decide; this only says where to look first.
//
// The parameters are known by their names, as Kernel Tuner, CLBlast and many templates write them (block_size_x,
// BLOCK_X, THREADS, MDIMC, tile_size_x). A space without such names has no doubtful blocks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "search/space/space.h"

// The most sides of a block (in threads) and of a thread's tile (in elements). If more parameters match, they mean
// something else.
enum { SHAPE_SIDES = 3 };

struct shape {
    size_t count, sides[SHAPE_SIDES]; // parameters
};

struct block_shape {
    const struct space *space; // borrowed
    struct shape block, tile;
};

void block_shape_init(struct block_shape *, const struct space *);
// By how many e-folds, roughly, a configuration is expected to be slower than the best because of its block: 0 is an
// ordinary block.
double block_shape_doubt(const struct block_shape *, const uint16_t *config);
