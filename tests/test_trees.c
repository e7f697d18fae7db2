// Extremely randomised trees (search/model/trees.c): they find a step, keep to what they were shown, and are the same
// for the same seed.
#include "search/model/trees.h"
#include "tests/random_normal.h"
#include "tests/testing.h"

enum { D = 3, POINTS = 200, TREES = 50 };

struct data {
    float points[POINTS][D];
    double targets[POINTS];
};

// A step along the second dimension; the others are noise.
static void make_step(struct data *d)
{
    struct random rng;
    random_seed(&rng, 2);
    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < D; k++) d->points[i][k] = (float)random_unit(&rng);
        d->targets[i] = d->points[i][1] < 0.4f ? -1 : 3;
    }
}

static struct trees *grow(const struct data *d, size_t count, size_t least, uint64_t seed)
{
    struct random rng;
    random_seed(&rng, seed);
    struct trees *t = trees_new(D, TREES);
    trees_grow(t, d->points[0], d->targets, count, least, &rng);
    return t;
}

TEST(a_step_is_found_and_what_does_not_matter_is_ignored)
{
    struct data d;
    make_step(&d);
    struct trees *t = grow(&d, POINTS, 1, 1);
    for (int i = 0; i < POINTS; i++) assert_true(fabs(trees_mean(t, d.points[i]) - d.targets[i]) < 1e-12);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++) {
            float low[D] = {(float)i / 8, 0.3f, (float)k / 8}, high[D] = {(float)i / 8, 0.5f, (float)k / 8};
            assert_true(fabs(trees_mean(t, low) + 1) < 0.4);
            assert_true(fabs(trees_mean(t, high) - 3) < 0.4);
        }
    trees_free(t);
}

TEST(predictions_are_means_of_what_was_shown)
{
    struct data d;
    make_step(&d);
    struct random rng;
    random_seed(&rng, 9);
    double sum = 0;
    for (int i = 0; i < POINTS; i++) sum += d.targets[i] = random_normal(&rng);
    // Leaves of half the points and more: no split, each tree is one leaf.
    struct trees *t = grow(&d, POINTS, POINTS / 2 + 1, 1);
    assert_true(fabs(trees_mean(t, d.points[3]) - sum / POINTS) < 1e-12);
    trees_free(t);
    // Leaves of one point: every point is predicted as it was, and nothing outside of the targets' range.
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < POINTS; i++) {
        low = fmin(low, d.targets[i]);
        high = fmax(high, d.targets[i]);
    }
    t = grow(&d, POINTS, 1, 1);
    for (int i = 0; i < POINTS; i++) assert_true(fabs(trees_mean(t, d.points[i]) - d.targets[i]) < 1e-12);
    for (int i = 0; i < 300; i++) {
        float point[D];
        for (int k = 0; k < D; k++) point[k] = (float)(3 * random_unit(&rng) - 1);
        double mean = trees_mean(t, point);
        assert_true(mean >= low - 1e-12 && mean <= high + 1e-12);
    }
    trees_free(t);
}

TEST(no_leaf_is_smaller_than_requested)
{
    // Ten points at 0, nine at 1, and one far out at 9, which random thresholds nearly always cut off alone.
    struct data d = {.points = {{0}}};
    for (int i = 0; i < 20; i++) {
        d.points[i][0] = i < 10 ? 0.0f : i < 19 ? 1.0f : 9.0f;
        d.targets[i] = i < 10 ? 0 : i < 19 ? 1 : 100;
    }
    struct trees *t = grow(&d, 20, 2, 4);
    double far_out = trees_mean(t, d.points[19]), middle = trees_mean(t, d.points[12]),
           low = trees_mean(t, d.points[0]);
    // Leaves of two: some trees part the zeros from the rest, whose mean is 10.9, the others nothing from
    // nothing, 5.45.
    assert_true(far_out == middle && far_out > 5.46 && far_out < 10.9);
    assert_true(low > 0 && low < 5.44);
    trees_free(t);
    t = grow(&d, 20, 1, 4);
    assert_true(fabs(trees_mean(t, d.points[19]) - 100) < 1e-12);
    assert_true(fabs(trees_mean(t, d.points[0])) < 1e-12);
    trees_free(t);
}

TEST(the_same_seed_grows_the_same_trees_and_another_one_others)
{
    struct data d;
    make_step(&d);
    struct trees *a = grow(&d, POINTS, 3, 5), *b = grow(&d, POINTS, 3, 5), *c = grow(&d, POINTS, 3, 6);
    int different = 0;
    for (int i = 0; i < 200; i++) {
        float point[D] = {0.1f, 0.3f + (float)i / 1000, 0.7f};
        assert_true(trees_mean(a, point) == trees_mean(b, point));
        different += trees_mean(a, point) != trees_mean(c, point);
    }
    assert_true(different > 20);
    trees_free(a);
    trees_free(b);
    trees_free(c);
}

TEST(growing_again_forgets_what_was_learnt)
{
    struct data d;
    make_step(&d);
    struct random rng;
    random_seed(&rng, 1);
    struct trees *t = grow(&d, POINTS, 1, 1);
    for (int i = 0; i < POINTS; i++) d.targets[i] = 7;
    trees_grow(t, d.points[0], d.targets, 20, 1, &rng);
    for (int i = 0; i < POINTS; i++) assert_true(trees_mean(t, d.points[i]) == 7);
    trees_free(t);
}

TEST_MAIN(NULL, NULL)
