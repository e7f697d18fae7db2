// Which values of a space are missing or do not help (search/space/value_use.h).
#include "tests/testing.h"

#include "search/space/value_use.h"

static struct space *make_space(struct symbols *symbols)
{
    static const int64_t tiles[] = {16, 64, 32}, stages[] = {2, 3, 4}, unroll[] = {1, 2, 4}, flag[] = {0, 1};
    struct error err;
    struct space *s = space_new(symbols);
    assert_int_equal(space_add_parameter(s, "TILE", PARAMETER_INT, tiles, 3, &err), 0);
    assert_int_equal(space_add_parameter(s, "STAGES", PARAMETER_INT, stages, 3, &err), 0);
    assert_int_equal(space_add_parameter(s, "UNROLL", PARAMETER_INT, unroll, 3, &err), 0);
    assert_int_equal(space_add_parameter(s, "FLAG", PARAMETER_INT, flag, 2, &err), 0);
    if (space_build(s, NULL, &err)) fail_msg("%s", err.message);
    return s;
}

// TILE=64 is the largest value, although it is not the last in the list. UNROLL=1 and flags are not reported: no
// smaller UNROLL is possible, and flags have no edge.
TEST(the_winners_edges_are_named)
{
    struct symbols *symbols = symbols_new();
    struct space *s = make_space(symbols);
    assert_string_equal(test_owned(value_use_edges(s, (uint16_t[]){1, 0, 0, 1})),
                        "the largest TILE (64), the smallest STAGES (2)");
    assert_null(value_use_edges(s, (uint16_t[]){2, 1, 0, 0}));
    space_free(s);
    symbols_free(symbols);
}

// STAGES=4 is 6% slower at best. UNROLL=4 was tried too rarely to judge, and TILE=16 came close to the best once.
TEST(values_that_never_help_are_named)
{
    struct symbols *symbols = symbols_new();
    struct space *s = make_space(symbols);
    struct value_use use;
    value_use_begin(&use, s, 1e-3);
    assert_null(value_use_idle(&use));
    for (int i = 0; i < 16; i++) {
        uint16_t config[] = {(uint16_t)(i % 3), (uint16_t)(i % 2 ? 2 : 0), (uint16_t)(i == 15 ? 2 : 0), 1};
        value_use_add(&use, config, i % 2 ? 1.06e-3 : i % 3 == 0 && i ? 1.2e-3 : 1.04e-3);
    }
    assert_string_equal(test_owned(value_use_idle(&use)), "STAGES=4");
    value_use_release(&use);
    space_free(s);
    symbols_free(symbols);
}

TEST_MAIN(NULL, NULL)
