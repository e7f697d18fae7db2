// Extremely randomised trees (search/model/trees.c): they find a step, predict only within the range of their data, and
// are the same for the same seed.
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

static struct trees *grow(const struct data *d, size_t count, uint64_t seed)
{
    struct random rng;
    random_seed(&rng, seed);
    struct trees *t = trees_new(D, TREES);
    trees_grow(t, d->points[0], d->targets, count, &rng);
    return t;
}

TEST(a_step_is_found_and_what_does_not_matter_is_ignored)
{
    struct data d;
    make_step(&d);
    struct trees *t = grow(&d, POINTS, 1);
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
    for (int i = 0; i < POINTS; i++) d.targets[i] = random_normal(&rng);
    // If each leaf has one point, every point is predicted exactly. No prediction is outside the range of the targets.
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < POINTS; i++) {
        low = fmin(low, d.targets[i]);
        high = fmax(high, d.targets[i]);
    }
    struct trees *t = grow(&d, POINTS, 1);
    for (int i = 0; i < POINTS; i++) assert_true(fabs(trees_mean(t, d.points[i]) - d.targets[i]) < 1e-12);
    for (int i = 0; i < 300; i++) {
        float point[D];
        for (int k = 0; k < D; k++) point[k] = (float)(3 * random_unit(&rng) - 1);
        double mean = trees_mean(t, point);
        assert_true(mean >= low - 1e-12 && mean <= high + 1e-12);
    }
    trees_free(t);
}

TEST(the_same_seed_grows_the_same_trees_and_another_one_others)
{
    struct data d;
    make_step(&d);
    struct trees *a = grow(&d, POINTS, 5), *b = grow(&d, POINTS, 5), *c = grow(&d, POINTS, 6);
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
    struct trees *t = grow(&d, POINTS, 1);
    for (int i = 0; i < POINTS; i++) d.targets[i] = 7;
    trees_grow(t, d.points[0], d.targets, 20, &rng);
    for (int i = 0; i < POINTS; i++) assert_true(trees_mean(t, d.points[i]) == 7);
    trees_free(t);
}

TEST_MAIN(NULL, NULL)
