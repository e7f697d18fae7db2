// Rules of thumb about blocks that hold for most CUDA kernels. Warps should be full. A block of one warp, or of nearly
// the largest number of threads, is seldom best. A dimension that is not a power of two makes index arithmetic costly.
// A thread that computes a single element reuses nothing. Measurements decide; these rules only say where to look
// first.
//
// The parameters are recognised by their names, as Kernel Tuner, CLBlast and many templates write them (block_size_x,
// BLOCK_X, THREADS, MDIMC, tile_size_x). In a space without such names, every block counts as ordinary.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "search/space/space.h"

// The most dimensions of a block (in threads) or of a thread's tile (in elements). If more parameters match, their
// names are assumed to mean something else.
enum { SHAPE_SIDES = 3 };

struct shape {
    size_t count, sides[SHAPE_SIDES]; // parameters
};

struct block_shape {
    const struct space *space; // borrowed
    struct shape block, tile;
};

void block_shape_init(struct block_shape *, const struct space *);
// Roughly how many e-folds slower than the best configuration this one is expected to be because of its block; 0 for an
// ordinary block.
double block_shape_doubt(const struct block_shape *, const uint16_t *config);
