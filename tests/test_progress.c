// Strategies that learn from results improve during a search: late proposals are faster than early ones. The space is a
// bowl over two ordered parameters; 150 evaluations are far from exhausting its 4,096 configurations.
#include "tests/space_fixture.h"
#include "tests/testing.h"

#include <math.h>

#include "search/strategies/strategy.h"

enum { SIDE = 64, EVALUATIONS = 150, EARLY = 20, LATE = 50, SEEDS = 8 };

static double time_of(const uint16_t *config)
{
    double x = config[0] - 41.0, y = config[1] - 17.0;
    return 1e-3 * (1 + 0.01 * (x * x + y * y));
}

// The ratio of the late mean logarithm to the early one. Blind strategies do not improve. `default` is not tested here:
// after a few dozen evaluations it has found the best configurations, and the remaining ones are slower.
static const struct {
    const char *name;
    double least, most;
} cases[] = {
    {"random", 0.9, 1.1},
    {"local", 0, 0.95},
    {"genetic", 0, 0.8},
    {"trees", 0, 0.8},
};

// Computes the mean logarithm of time / best time. mean[0] is the mean over the early proposals, and mean[1] is the
// mean over the late proposals.
static void watch(const struct strategy_class *class, const struct space *space, double mean[2])
{
    mean[0] = mean[1] = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct strategy *s = strategy_new(class, space, &(struct strategy_options){.seed = seed});
        for (int i = 0; i < EVALUATIONS; i++) {
            uint16_t config[SPACE_MAX_PARAMETERS];
            if (!strategy_ask(s, config)) fail_msg("%s stops after %d", class->name, i);
            struct observation o = {.config = config, .outcome = OUTCOME_OK, .objective = time_of(config)};
            strategy_tell(s, &o);
            if (i < EARLY) mean[0] += log(o.objective / 1e-3) / (EARLY * SEEDS);
            if (i >= EVALUATIONS - LATE) mean[1] += log(o.objective / 1e-3) / (LATE * SEEDS);
        }
        strategy_free(s);
    }
}

TEST(what_is_proposed_late_is_faster_than_what_was_proposed_early)
{
    struct fixture f = open_space();
    int64_t values[SIDE];
    for (int i = 0; i < SIDE; i++) values[i] = i;
    add_values(&f, "X", SIDE, values);
    add_values(&f, "Y", SIDE, values);
    build(&f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double mean[2];
        const struct strategy_class *class = strategy_choose(cases[i].name, NULL);
        assert_non_null(class);
        watch(class, f.space, mean);
        double share = mean[1] / mean[0];
        if (share < cases[i].least || share > cases[i].most)
            fail_msg("%s: early %.3f, late %.3f e-folds above the best", cases[i].name, mean[0], mean[1]);
    }
}

TEST_MAIN(NULL, NULL)
