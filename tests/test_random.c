// Random numbers (search/space/random.c): the published sequence, and the distributions derived from it.
#include "search/space/random.h"
#include "tests/testing.h"

enum { DRAWS = 100000 };

// xoshiro256** with the initial state 1, 2, 3, 4: the first numbers that its authors' program prints.
TEST(the_sequence_is_that_of_its_authors)
{
    static const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u};
    struct random r = {{1, 2, 3, 4}};
    for (int i = 0; i < 4; i++) assert_true(random_next(&r) == expected[i]);
}

TEST(units_and_bounded_numbers_are_uniform)
{
    struct random r;
    int counts[7] = {0};
    double sum = 0, squares = 0;
    random_seed(&r, 1);
    for (int i = 0; i < DRAWS; i++) {
        double u = random_unit(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
        uint64_t below = random_below(&r, 7);
        assert_true(below < 7);
        counts[below]++;
    }
    // The tolerance is five standard deviations.
    assert_true(fabs(sum / DRAWS - 0.5) < 5 * sqrt(1 / 12.0 / DRAWS));
    assert_true(fabs(squares / DRAWS - 1 / 3.0) < 5 * sqrt(4 / 45.0 / DRAWS));
    for (int i = 0; i < 7; i++) assert_true(fabs(counts[i] - DRAWS / 7.0) < 5 * sqrt(DRAWS * 6 / 49.0));
    // The bound is three quarters of the range. Without a second draw, numbers below a third of the bound would occur
    // twice as often as the others.
    int first = 0;
    for (int i = 0; i < DRAWS; i++) first += random_below(&r, 3ull << 62) < 1ull << 62;
    assert_true(fabs(first - DRAWS / 3.0) < 5 * sqrt(DRAWS * 2 / 9.0));
}

TEST(seeds_give_sequences_of_their_own)
{
    struct random a, b, c;
    random_seed(&a, 0);
    random_seed(&b, 0);
    random_seed(&c, 1);
    int same = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = random_next(&a);
        assert_true(x == random_next(&b));
        same += x == random_next(&c);
    }
    assert_int_equal(same, 0);
}

TEST_MAIN(NULL, NULL)
