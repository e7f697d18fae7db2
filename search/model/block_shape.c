// See block_shape.h.
#include "search/model/block_shape.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { WARP = 32 };

// The penalty for blocks with at least this many threads; the last row that applies is used.
static const struct {
    double threads, doubt;
} sizes[] = {{0, 0.6}, {WARP, 0.3}, {2 * WARP, 0}, {768, 0.15}};

static const double broken_warp = 0.2; // some lanes of the last warp are idle
static const double odd_side = 0.1;    // a dimension that is not a power of two
static const double one_element = 0.2; // a tile with one element

// Names of dimensions, in upper or lower case; NULL-terminated. A star matches any ending.
static const char *const block_names[] = {"block_size*", "block_x",   "block_y", "block_z", "threads", "threads_x",
                                          "threads_y",   "threads_z", "mdimc",   "ndimc",   NULL};
static const char *const tile_names[] = {"tile_size*", "tile_x", "tile_y", "tile_z", NULL};

static bool has_name(const struct parameter *p, const char *const *names)
{
    for (; *names; names++) {
        const char *star = strchr(*names, '*');
        if (star ? !strncasecmp(p->name, *names, (size_t)(star - *names)) : !strcasecmp(p->name, *names)) return true;
    }
    return false;
}

static bool are_sizes(const struct parameter *p)
{
    if (p->kind != PARAMETER_INT) return false;
    for (size_t i = 0; i < p->count; i++)
        if (p->values[i] < 1) return false;
    return true;
}

static struct shape find_shape(const struct space *space, const char *const *names)
{
    struct shape shape = {0};
    for (size_t i = 0; i < space_parameter_count(space); i++) {
        const struct parameter *p = space_parameter(space, i);
        if (!are_sizes(p) || !has_name(p, names)) continue;
        if (shape.count == SHAPE_SIDES) return (struct shape){0};
        shape.sides[shape.count++] = i;
    }
    return shape;
}

void block_shape_init(struct block_shape *b, const struct space *space)
{
    *b = (struct block_shape){space, find_shape(space, block_names), find_shape(space, tile_names)};
}

static int64_t side_of(const struct block_shape *b, const uint16_t *config, size_t parameter)
{
    return space_parameter(b->space, parameter)->values[config[parameter]];
}

static double block_doubt(const struct block_shape *b, const uint16_t *config)
{
    double threads = 1, doubt = 0;
    for (size_t i = 0; i < b->block.count; i++) {
        int64_t side = side_of(b, config, b->block.sides[i]);
        threads *= (double)side;
        doubt += (side & (side - 1)) ? odd_side : 0;
    }
    size_t row = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (threads >= sizes[i].threads) row = i;
    return doubt + sizes[row].doubt + (fmod(threads, WARP) != 0 ? broken_warp : 0);
}

static double tile_doubt(const struct block_shape *b, const uint16_t *config)
{
    for (size_t i = 0; i < b->tile.count; i++)
        if (side_of(b, config, b->tile.sides[i]) > 1) return 0;
    return one_element;
}

double block_shape_doubt(const struct block_shape *b, const uint16_t *config)
{
    return (b->block.count ? block_doubt(b, config) : 0) + (b->tile.count ? tile_doubt(b, config) : 0);
}
