// The contract of search/strategies/strategy.h, for every strategy of the table, on synthetic landscapes with fixed
// seeds.
#include "search/strategies/strategy.h"
#include "tests/space_fixture.h"

enum { SIDE = 8, LEVELS = 3, MOST_OUTSTANDING = 16 };

static struct fixture make_space(int64_t side, const char *constraint)
{
    struct fixture f = open_space();
    struct error err;
    int64_t values[64], words[LEVELS] = {symbols_intern(f.symbols, "a"), symbols_intern(f.symbols, "b"),
                                         symbols_intern(f.symbols, "c")};
    for (int64_t i = 0; i < side; i++) values[i] = i;
    add_values(&f, "X", (size_t)side, values);
    add_values(&f, "Y", (size_t)side, values);
    assert_int_equal(space_add_parameter(f.space, "Z", PARAMETER_STRING, words, side > 1 ? LEVELS : 1, &err), 0);
    if (constraint) add_constraint(&f, constraint);
    build(&f);
    return f;
}

// A bowl with ripples; every 7th configuration fails, or (`mostly_failing`) all but one in a hundred.
static struct observation result(const uint16_t *c, bool mostly_failing)
{
    unsigned mix = c[0] * 7u + c[1] * 3u + c[2] * 5u;
    double x = c[0] - 5.0, y = c[1] - 2.0;
    bool fails = mostly_failing ? (c[0] * 31u + c[1] * 17u + c[2]) % 100 != 0 : mix % 7 == 3;
    struct observation o = {.config = c, .outcome = fails ? (mix % 2 ? OUTCOME_INVALID : OUTCOME_PRUNED) : OUTCOME_OK};
    o.objective = fails ? NAN : 1e-3 * (1 + 0.05 * x * x + 0.08 * y * y + 0.02 * (mix % 5) + (c[2] == 1 ? 0 : 0.1));
    return o;
}

struct search {
    uint64_t seed;
    size_t evaluations, ahead; // proposals outstanding
    bool backwards;            // results are reported in reverse order
    bool mostly_failing;
};

struct found {
    size_t reported;
    double best;
    uint64_t trace; // a hash of the sequence of proposals
};

static struct strategy *open_strategy(const struct strategy_class *class, const struct space *space,
                                      struct strategy_options options)
{
    return strategy_new(class, space, &options);
}

// Runs until `evaluations` results are reported or the strategy is done. Asserts that every proposal is valid and new.
static struct found run(const struct strategy_class *class, const struct space *space, struct search o)
{
    struct strategy *s = open_strategy(class, space, (struct strategy_options){.seed = o.seed});
    struct found f = {0, INFINITY, 14695981039346656037u};
    uint16_t waiting[MOST_OUTSTANDING][SPACE_MAX_PARAMETERS], config[SPACE_MAX_PARAMETERS];
    size_t outstanding = 0, asked = 0, refused = 0;
    while (f.reported < o.evaluations) {
        while (outstanding < o.ahead && asked < o.evaluations && strategy_ask(s, config)) {
            if (!space_is_valid(space, config)) fail_msg("%s proposes an invalid configuration", class->name);
            for (size_t i = 0; i < outstanding; i++)
                if (!memcmp(waiting[i], config, 3 * sizeof *config))
                    fail_msg("%s proposes a configuration that is outstanding", class->name);
            for (int i = 0; i < 3; i++) f.trace = (f.trace ^ config[i]) * 1099511628211u;
            memcpy(waiting[outstanding++], config, sizeof config);
            asked++;
        }
        if (!outstanding) {
            if (strategy_exhausted(s) || ++refused > 3) break;
            continue;
        }
        size_t pick = o.backwards ? outstanding - 1 : 0;
        memcpy(config, waiting[pick], sizeof config);
        memmove(waiting[pick], waiting[pick + 1], (outstanding - pick - 1) * sizeof waiting[0]);
        outstanding--;
        struct observation observed = result(config, o.mostly_failing);
        strategy_tell(s, &observed);
        assert_true(strategy_seen(s, config));
        if (observed.objective < f.best) f.best = observed.objective;
        f.reported++;
    }
    strategy_free(s);
    return f;
}

#define FOR_EACH(class) \
    for (const struct strategy_class *const *at = strategy_classes, *class = *at; (class = *at); at++)

TEST(every_strategy_proposes_each_configuration_of_a_small_space_exactly_once)
{
    struct fixture f = make_space(SIDE, "X + Y != 9");
    FOR_EACH(class)
    {
        size_t reported = run(class, f.space, (struct search){3, 100000, 4, false, false}).reported;
        if (reported != space_size(f.space))
            fail_msg("%s proposed %zu of %zu", class->name, reported, (size_t)space_size(f.space));
    }
}

struct stubborn {
    uint16_t config[SPACE_MAX_PARAMETERS];
};

static void insist_on_the_first(struct strategy_state *s)
{
    space_get(s->space, 0, ((struct stubborn *)s->own)->config);
}

static bool propose_the_same(struct strategy_state *s, uint16_t *config)
{
    memcpy(config, ((struct stubborn *)s->own)->config, 3 * sizeof *config);
    return true;
}

TEST(a_strategy_that_insists_on_what_is_known_gets_all_the_others)
{
    static const struct strategy_class stubborn = {.name = "stubborn",
                                                   .state_size = sizeof(struct stubborn),
                                                   .init = insist_on_the_first,
                                                   .ask = propose_the_same};
    struct fixture f = make_space(SIDE, "X + Y != 9");
    assert_int_equal(run(&stubborn, f.space, (struct search){3, 100000, 4, false, false}).reported,
                     space_size(f.space));
}

TEST(the_same_seed_gives_the_same_proposals_and_another_seed_others)
{
    struct fixture f = make_space(32, NULL);
    FOR_EACH(class)
    {
        uint64_t one = run(class, f.space, (struct search){1, 60, 3, false, false}).trace,
                 again = run(class, f.space, (struct search){1, 60, 3, false, false}).trace,
                 other = run(class, f.space, (struct search){2, 60, 3, false, false}).trace;
        if (one != again) fail_msg("%s is not reproducible", class->name);
        if (one == other && strcmp(class->name, "exhaustive")) fail_msg("%s does not look at its seed", class->name);
    }
}

TEST(results_may_come_in_reverse_order)
{
    struct fixture f = make_space(SIDE, NULL);
    FOR_EACH(class)
    {
        size_t reported = run(class, f.space, (struct search){5, 100, MOST_OUTSTANDING, true, false}).reported;
        if (reported != 100) fail_msg("%s stopped after %zu", class->name, reported);
    }
}

TEST(a_space_where_nearly_all_fails_is_searched_to_its_end)
{
    struct fixture f = make_space(SIDE, NULL);
    FOR_EACH(class)
    {
        struct found found = run(class, f.space, (struct search){7, 100000, 2, false, true});
        if (found.reported != space_size(f.space)) fail_msg("%s gave up after %zu", class->name, found.reported);
        if (!isfinite(found.best)) fail_msg("%s found nothing valid", class->name);
    }
}

// Sometimes the most promising waiting configuration is forgotten instead of reported. Every configuration is proposed
// again until its result is reported.
TEST(what_is_forgotten_is_neither_lost_nor_told_and_comes_again)
{
    struct fixture f = make_space(SIDE, "X + Y != 9");
    int ranking = 0;
    FOR_EACH(class)
    {
        struct strategy *s = open_strategy(class, f.space, (struct strategy_options){.seed = 4});
        uint16_t waiting[MOST_OUTSTANDING][SPACE_MAX_PARAMETERS], start[SPACE_MAX_PARAMETERS] = {7, 7, 0};
        size_t outstanding = 0, reported = 0, forgotten = 0, size = (size_t)space_size(f.space);
        ranking += strategy_ranks(s);
        while (strategy_ranks(s) && reported < size) {
            while (outstanding < 6 && strategy_ask(s, waiting[outstanding])) outstanding++;
            if (!outstanding) fail_msg("%s has nothing to propose after %zu of %zu", class->name, reported, size);
            const uint16_t *configs[MOST_OUTSTANDING];
            double acquisition[MOST_OUTSTANDING];
            size_t first = 0;
            for (size_t i = 0; i < outstanding; i++) configs[i] = waiting[i];
            bool unasked = !strategy_seen(s, start);
            configs[outstanding] = start;
            strategy_rank(s, configs, outstanding + unasked, acquisition);
            if (unasked) assert_true(isinf(acquisition[outstanding]));
            for (size_t i = 1; i < outstanding; i++)
                if (acquisition[i] > acquisition[first]) first = i;
            bool forget = forgotten < reported / 2;
            if (forget) {
                strategy_forget(s, waiting[first]);
                assert_false(strategy_seen(s, waiting[first]));
                forgotten++;
            } else {
                struct observation o = result(waiting[first], false);
                strategy_tell(s, &o);
                reported++;
            }
            memcpy(waiting[first], waiting[--outstanding], sizeof waiting[0]);
        }
        if (strategy_ranks(s)) assert_false(strategy_ask(s, waiting[0]));
        strategy_free(s);
    }
    assert_true(ranking >= 1);
}

// Of two waiting configurations, the configuration with better results around it ranks higher.
TEST(the_ranking_prefers_what_the_results_speak_for)
{
    struct fixture f = make_space(SIDE, NULL);
    struct strategy *s = open_strategy(strategy_choose("default", NULL), f.space, (struct strategy_options){.seed = 9});
    uint16_t waiting[2][SPACE_MAX_PARAMETERS];
    const uint16_t *configs[] = {waiting[0], waiting[1]};
    double acquisition[2];
    assert_true(strategy_ask(s, waiting[0]) && strategy_ask(s, waiting[1]));
    strategy_rank(s, configs, 2, acquisition);
    assert_true(acquisition[0] == 0 && acquisition[1] == 0); // nothing is known yet
    // Results around the first configuration are bad, and those around the second are good.
    for (uint64_t i = 0; i < space_size(f.space); i += 3) {
        uint16_t config[SPACE_MAX_PARAMETERS];
        space_get(f.space, i, config);
        if (strategy_seen(s, config)) continue;
        double apart[2] = {0};
        for (int k = 0; k < 2; k++)
            for (int m = 0; m < 3; m++) apart[k] += (config[m] - waiting[k][m]) * (config[m] - waiting[k][m]);
        strategy_tell(s, &(struct observation){config, OUTCOME_OK, 1 + apart[1] - 0.1 * apart[0] + 10, NULL});
    }
    strategy_rank(s, configs, 2, acquisition);
    assert_true(acquisition[1] > acquisition[0]);
    assert_true(acquisition[0] < 0); // hopeless
    assert_true(acquisition[1] > 0);
    strategy_free(s);
}

TEST(a_space_of_one_is_proposed_once)
{
    struct fixture f = make_space(1, NULL);
    FOR_EACH(class)
    {
        assert_int_equal(run(class, f.space, (struct search){1, 50, 4, false, false}).reported, 1);
    }
}

TEST(unrequested_results_are_taken_and_not_proposed_again)
{
    struct fixture f = make_space(SIDE, NULL);
    FOR_EACH(class)
    {
        struct strategy *s = open_strategy(class, f.space, (struct strategy_options){.seed = 9});
        uint16_t config[SPACE_MAX_PARAMETERS];
        uint64_t size = space_size(f.space);
        for (uint64_t i = 0; i < size; i += 2) { // an earlier run has measured every second configuration
            space_get(f.space, i, config);
            struct observation o = result(config, false);
            strategy_tell(s, &o);
        }
        for (uint64_t i = 0; i < size / 2; i++) {
            if (!strategy_ask(s, config))
                fail_msg("%s stops after %zu of %zu", class->name, (size_t)i, (size_t)size / 2);
            assert_int_equal(space_index(f.space, config) % 2, 1);
            struct observation o = result(config, false);
            strategy_tell(s, &o);
        }
        assert_false(strategy_ask(s, config));
        assert_true(strategy_exhausted(s));
        strategy_free(s);
    }
}

// Compares the best result after 60 of 3,072 configurations, as the mean over seeds. All strategies except the two that
// ignore results must beat random search.
TEST(strategies_that_look_at_results_beat_random_search)
{
    enum { SEEDS = 30 };
    struct fixture f = make_space(32, NULL);
    double random_mean = 0;
    for (int pass = 0; pass < 2; pass++) FOR_EACH(class)
        {
            bool blind = !strcmp(class->name, "random") || !strcmp(class->name, "exhaustive");
            if (pass == 0 ? strcmp(class->name, "random") : blind) continue;
            double sum = 0;
            for (uint64_t seed = 1; seed <= SEEDS; seed++)
                sum += run(class, f.space, (struct search){seed, 60, 1, false, false}).best;
            if (pass == 0)
                random_mean = sum / SEEDS;
            else if (!(sum / SEEDS < random_mean))
                fail_msg("%s: mean best %g, random %g", class->name, sum / SEEDS, random_mean);
        }
}

TEST(names_are_found_and_the_nearest_is_proposed)
{
    assert_string_equal(strategy_classes[0]->name, "default");
    FOR_EACH(class) assert_ptr_equal(strategy_choose(class->name, NULL), class);
    assert_null(strategy_choose("nosuch", NULL));
    struct error err = {""};
    autofree char *names = strategy_names();
    FOR_EACH(class) assert_ptr_equal(strategy_choose(class->name, &err), class);
    assert_null(strategy_choose("randon", &err));
    assert_contains(err.message, "unknown strategy 'randon'; did you mean 'random'?", names);
    FOR_EACH(class) assert_non_null(strstr(names, class->name));
    FOR_EACH(class) assert_true(*class->summary);
    assert_null(strategy_choose("multi_start", &err));
    assert_string_equal(err.message, "strategy 'multi_start' was removed; use 'local'");
}

TEST_MAIN(NULL, NULL)
