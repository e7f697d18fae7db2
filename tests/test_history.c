// A strategy's knowledge of a space (search/model/history.c): rows can be looked up, corrections take effect, and
// `best` is always the best row. A long random sequence is compared with a plain list.
#include "tests/space_fixture.h"

#include <math.h>

#include "search/model/history.h"

enum { SIDE = 40 };

static struct fixture make_space(void)
{
    struct fixture f = open_space();
    int64_t values[SIDE];
    for (int i = 0; i < SIDE; i++) values[i] = i;
    add_values(&f, "X", SIDE, values);
    add_values(&f, "Y", SIDE, values);
    build(&f);
    return f;
}

static size_t tell(struct history *h, int x, int y, enum outcome outcome, double objective)
{
    uint16_t config[2] = {(uint16_t)x, (uint16_t)y};
    return history_tell(h, &(struct observation){.config = config, .outcome = outcome, .objective = objective});
}

TEST(the_best_is_found_again_after_a_correction)
{
    static const struct {
        enum outcome outcome;
        double objective;
        int best; // the X of the best afterwards
    } corrections[] = {
        {OUTCOME_OK, 5, 2},        // the best becomes slower than another
        {OUTCOME_INVALID, NAN, 2}, // or turns out to be wrong
        {OUTCOME_PRUNED, NAN, 2},  //
        {OUTCOME_SLOW, 0.5, 2},    // a short sample cannot be the best
        {OUTCOME_OK, NAN, 2},      // no time at all
        {OUTCOME_OK, INFINITY, 2}, //
        {OUTCOME_OK, 1.5, 1},      // slower, but still the best
        {OUTCOME_OK, 0.25, 1},     //
    };
    struct fixture f = make_space();
    for (size_t i = 0; i < sizeof corrections / sizeof *corrections; i++) {
        struct history h;
        history_init(&h, f.space);
        tell(&h, 3, 0, OUTCOME_OK, 3);
        tell(&h, 1, 0, OUTCOME_OK, 1);
        tell(&h, 2, 0, OUTCOME_OK, 2);
        tell(&h, 4, 0, OUTCOME_SLOW, 0.1);
        assert_int_equal(history_config(&h, (size_t)h.best)[0], 1);
        tell(&h, 1, 0, corrections[i].outcome, corrections[i].objective);
        if (history_config(&h, (size_t)h.best)[0] != corrections[i].best)
            fail_msg("case %zu: the best is X=%d", i, history_config(&h, (size_t)h.best)[0]);
        // A correction of another row makes that row the best.
        tell(&h, 3, 0, OUTCOME_OK, 0.125);
        assert_int_equal(history_config(&h, (size_t)h.best)[0], 3);
        assert_int_equal(h.count, 4);
        history_release(&h);
    }
    struct history h;
    history_init(&h, f.space);
    tell(&h, 1, 1, OUTCOME_OK, 1);
    tell(&h, 1, 1, OUTCOME_INVALID, NAN);
    assert_int_equal(h.best, -1); // none is left
    history_release(&h);
}

TEST(a_row_is_pending_until_it_is_told_and_has_a_time_only_where_one_was_measured)
{
    static const struct {
        enum outcome outcome;
        double objective;
        int kept;
        bool timed;
    } cases[] = {
        {OUTCOME_OK, 2, OUTCOME_OK, true},
        {OUTCOME_SLOW, 9, OUTCOME_SLOW, true},
        {OUTCOME_PRUNED, NAN, OUTCOME_PRUNED, false},
        {OUTCOME_INVALID, NAN, OUTCOME_INVALID, false},
        {OUTCOME_INVALID, 3, OUTCOME_INVALID, false},
        {OUTCOME_PRUNED, 3, OUTCOME_PRUNED, false},
        {OUTCOME_OK, NAN, OUTCOME_INVALID, false},
        {OUTCOME_SLOW, INFINITY, OUTCOME_INVALID, false},
    };
    struct fixture f = make_space();
    struct history h;
    history_init(&h, f.space);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t config[2] = {(uint16_t)i, 7};
        assert_int_equal(history_find(&h, config), -1);
        size_t row = history_propose(&h, config);
        assert_int_equal(h.pending, 1);
        assert_int_equal(h.outcomes[row], ROW_PENDING);
        assert_true(isnan(h.objectives[row]) && isinf(history_score(&h, row)));
        assert_int_equal(tell(&h, (int)i, 7, cases[i].outcome, cases[i].objective), row);
        assert_int_equal(h.pending, 0);
        assert_int_equal(h.outcomes[row], cases[i].kept);
        // A slow trial has a time, by which it ranks, ahead of every failure.
        if (cases[i].timed)
            assert_true(h.objectives[row] == cases[i].objective && history_score(&h, row) == cases[i].objective);
        else
            assert_true(isnan(h.objectives[row]) && isinf(history_score(&h, row)));
        tell(&h, (int)i, 7, OUTCOME_INVALID, NAN); // reported twice, but pending only once
        assert_int_equal(h.pending, 0);
    }
    history_release(&h);
}

TEST(a_long_history_agrees_with_a_plain_list)
{
    struct fixture f = make_space();
    struct history h;
    struct random rng;
    static int outcomes[SIDE][SIDE]; // enum outcome, -1 pending, -2 never seen
    static double objectives[SIDE][SIDE];
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++) outcomes[x][y] = -2;
    history_init(&h, f.space);
    random_seed(&rng, 5);
    for (int step = 0; step < 4000; step++) {
        uint16_t config[2] = {(uint16_t)random_below(&rng, SIDE), (uint16_t)random_below(&rng, SIDE)};
        int *outcome = &outcomes[config[0]][config[1]];
        if (*outcome == -2 && random_below(&rng, 2)) {
            history_propose(&h, config);
            *outcome = ROW_PENDING;
        } else {
            *outcome = (int)random_below(&rng, 4);
            objectives[config[0]][config[1]] = *outcome <= OUTCOME_SLOW ? 1 + random_unit(&rng) : NAN;
            tell(&h, config[0], config[1], (enum outcome) * outcome, objectives[config[0]][config[1]]);
        }
        size_t count = 0, pending = 0;
        double best = INFINITY;
        for (int x = 0; x < SIDE; x++)
            for (int y = 0; y < SIDE; y++) {
                count += outcomes[x][y] != -2;
                pending += outcomes[x][y] == ROW_PENDING;
                if (outcomes[x][y] == OUTCOME_OK && objectives[x][y] < best) best = objectives[x][y];
            }
        assert_int_equal(h.count, count);
        assert_int_equal(h.pending, pending);
        assert_true(isinf(best) ? h.best == -1 : h.best >= 0 && h.objectives[h.best] == best);
    }
    assert_true(h.count > 1000); // the table has grown several times
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++) {
            uint16_t config[2] = {(uint16_t)x, (uint16_t)y};
            int64_t row = history_find(&h, config);
            assert_int_equal(row < 0, outcomes[x][y] == -2);
            if (row < 0) continue;
            assert_memory_equal(history_config(&h, (size_t)row), config, sizeof config);
            assert_int_equal(h.outcomes[row], outcomes[x][y]);
        }
    history_release(&h);
}

TEST(what_is_forgotten_has_no_row_until_it_is_proposed_again_or_told)
{
    struct fixture f = open_space();
    ADD(&f, "X", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    ADD(&f, "Y", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    build(&f);
    struct history h;
    history_init(&h, f.space);
    uint16_t config[2], again[2] = {0, 3}, reported[2] = {0, 5};
    for (uint16_t i = 0; i < 60; i++) { // the table grows meanwhile
        memcpy(config, (uint16_t[]){(uint16_t)(i / 10), (uint16_t)(i % 10)}, sizeof config);
        history_propose(&h, config);
        if (i % 2) history_forget(&h, config);
    }
    assert_int_equal(h.pending, 30);
    for (uint16_t i = 0; i < 60; i++) {
        memcpy(config, (uint16_t[]){(uint16_t)(i / 10), (uint16_t)(i % 10)}, sizeof config);
        assert_int_equal(history_find(&h, config) < 0, i % 2);
    }
    size_t row = history_propose(&h, again);
    assert_int_equal(history_find(&h, again), row);
    history_tell(&h, &(struct observation){.config = reported, .outcome = OUTCOME_OK, .objective = 2});
    assert_int_equal(h.pending, 31);
    assert_int_equal(history_find(&h, reported), h.best);
    history_forget(&h, reported); // it has a result, so it is kept
    assert_int_equal(history_find(&h, reported), h.best);
    for (uint16_t i = 0; i < 30; i++) { // the table grows again; the rows are still found
        memcpy(config, (uint16_t[]){(uint16_t)(6 + i / 10), (uint16_t)(i % 10)}, sizeof config);
        history_propose(&h, config);
    }
    assert_int_equal(history_find(&h, again), row);
    assert_int_equal(history_find(&h, reported), h.best);
    history_release(&h);
}

TEST(new_configurations_are_drawn_until_there_are_none_and_all_alike)
{
    struct fixture f = open_space();
    ADD(&f, "X", 0, 1, 2, 3, 4, 5);
    ADD(&f, "Y", 0, 1, 2, 3);
    add_constraint(&f, "X + Y != 4");
    build(&f);
    size_t size = (size_t)space_size(f.space);
    uint16_t config[2];
    struct random rng;
    random_seed(&rng, 3);
    struct history h;
    history_init(&h, f.space);
    for (size_t i = 0; i < size; i++) {
        assert_true(history_sample_new(&h, &rng, config));
        assert_true(space_is_valid(f.space, config) && history_find(&h, config) < 0);
        history_propose(&h, config);
    }
    assert_false(history_sample_new(&h, &rng, config));
    history_release(&h);
    // If all but three are known, each of the three is drawn about equally often.
    history_init(&h, f.space);
    int counts[3] = {0};
    for (size_t i = 3; i < size; i++) {
        space_get(f.space, i, config);
        history_propose(&h, config);
    }
    for (int i = 0; i < 3000; i++) {
        assert_true(history_sample_new(&h, &rng, config));
        int64_t at = space_index(f.space, config);
        assert_in_range(at, 0, 2);
        counts[at]++;
    }
    for (int i = 0; i < 3; i++) assert_in_range(counts[i], 880, 1120);
    history_release(&h);
}

TEST_MAIN(NULL, NULL)
