// Tests which block shapes count as doubtful (search/model/block_shape.c), and that the default strategy begins with
// ordinary ones.
#include "tests/space_fixture.h"

#include <math.h>

#include "search/model/block_shape.h"
#include "search/strategies/strategy.h"

static void expect_doubt(const struct space *space, const uint16_t *config, double expected)
{
    struct block_shape shape;
    block_shape_init(&shape, space);
    double found = block_shape_doubt(&shape, config);
    if (fabs(found - expected) > 1e-9) fail_msg("a doubt of %g, expected %g", found, expected);
}

TEST(blocks_are_doubted_for_few_or_many_threads_broken_warps_and_odd_sides)
{
    static const struct {
        int64_t x, y;
        double doubt;
    } cases[] = {
        {8, 2, 0.6 + 0.2},        {32, 1, 0.3}, {64, 1, 0},           {128, 4, 0},    {48, 2, 0.1},
        {48, 1, 0.3 + 0.2 + 0.1}, {96, 4, 0.1}, {256, 3, 0.15 + 0.1}, {256, 4, 0.15},
    };
    struct fixture f = open_space();
    ADD(&f, "block_size_x", 8, 32, 48, 64, 96, 128, 256);
    ADD(&f, "BLOCK_SIZE_Y", 1, 2, 3, 4);
    ADD(&f, "unroll", 1, 2);
    build(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t config[SPACE_MAX_PARAMETERS] = {0};
        while (space_parameter(f.space, 0)->values[config[0]] != cases[i].x) config[0]++;
        while (space_parameter(f.space, 1)->values[config[1]] != cases[i].y) config[1]++;
        expect_doubt(f.space, config, cases[i].doubt);
    }
}

TEST(a_tile_of_one_element_is_doubted)
{
    struct fixture f = open_space();
    ADD(&f, "tile_size_x", 1, 2);
    ADD(&f, "TILE_Y", 1, 4);
    build(&f);
    expect_doubt(f.space, (uint16_t[]){0, 0}, 0.2);
    expect_doubt(f.space, (uint16_t[]){1, 0}, 0);
    expect_doubt(f.space, (uint16_t[]){0, 1}, 0);
}

TEST(names_that_tell_nothing_leave_no_doubt)
{
    struct fixture f = open_space();
    ADD(&f, "BLOCK_M", 1, 3);         // a tile of a matrix
    ADD(&f, "block_size_x", 0, 3);    // 0: a switch
    ADD(&f, "THREADS_PER_ROW", 1, 3); // only a part of the block
    build(&f);
    expect_doubt(f.space, (uint16_t[]){1, 1, 0}, 0);
    expect_doubt(f.space, (uint16_t[]){0, 0, 1}, 0);
}

TEST(more_sides_than_a_block_has_mean_something_else)
{
    struct fixture f = open_space();
    ADD(&f, "block_size_x", 1, 3);
    ADD(&f, "block_size_y", 1, 3);
    ADD(&f, "block_size_z", 1, 3);
    ADD(&f, "block_size_k", 1, 3);
    build(&f);
    expect_doubt(f.space, (uint16_t[]){1, 1, 1, 1}, 0);
}

// The mean of block_shape_doubt over the first proposals of several searches in the same space with these parameter
// names.
static double first_doubt(const char *x, const char *y)
{
    enum { SEEDS = 10, FIRST = 8 };
    struct fixture f = open_space(), reported = open_space();
    struct block_shape shape;
    double sum = 0;
    ADD(&reported, "block_size_x", 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256);
    ADD(&reported, "block_size_y", 1, 2, 3, 4, 5, 6, 7, 8);
    build(&reported);
    block_shape_init(&shape, reported.space);
    ADD(&f, x, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256);
    ADD(&f, y, 1, 2, 3, 4, 5, 6, 7, 8);
    build(&f);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct strategy *s =
            strategy_new(strategy_choose("default", NULL), f.space, &(struct strategy_options){.seed = seed});
        assert_non_null(s);
        for (int i = 0; i < FIRST; i++) {
            uint16_t config[SPACE_MAX_PARAMETERS];
            assert_true(strategy_ask(s, config));
            sum += block_shape_doubt(&shape, config) / (SEEDS * FIRST);
        }
        strategy_free(s);
    }
    return sum;
}

TEST(the_default_strategy_begins_with_ordinary_blocks)
{
    double named = first_doubt("block_size_x", "block_size_y"), unnamed = first_doubt("A", "B");
    if (named > 0.5 * unnamed) fail_msg("a mean doubt of %g with names, %g without", named, unnamed);
}

TEST_MAIN(NULL, NULL)
