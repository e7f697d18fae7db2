// The accuracy that the model of a long search (search/model/surrogate.h) claims, on a landscape with a fixed seed.
#include "search/model/surrogate.h"
#include "tests/space_fixture.h"

enum { PARAMETERS = 10, VALUES = 4, NEAR = 400, FAR = 400, ASKED = 300, MOST = 5 };

// A plateau where at most two parameters differ from 0, and elsewhere times that depend on pairs of parameters.
static double time_of(const uint16_t *c)
{
    static const double effects[VALUES] = {0, 0.2, -0.1, 0.3};
    double logarithm = 0;
    size_t changed = 0;
    for (size_t i = 0; i < PARAMETERS; i++) {
        logarithm += effects[(c[i] + 3 * c[(i + 1) % PARAMETERS]) % VALUES];
        changed += c[i] != 0;
    }
    return changed <= 2 ? 1 + 0.001 * logarithm : 1.5 * exp(fmax(logarithm, 0));
}

TEST(the_model_of_a_long_search_knows_how_little_it_knows_of_distant_configurations)
{
    struct fixture f = open_space();
    const int64_t values[VALUES] = {0, 1, 2, 3};
    static const char *const names[PARAMETERS] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"};
    for (size_t i = 0; i < PARAMETERS; i++) add_values(&f, names[i], VALUES, values);
    build(&f);
    struct random rng;
    struct history history;
    struct surrogate model;
    random_seed(&rng, 1);
    history_init(&history, f.space);
    surrogate_init(&model, f.space, &history, NULL, 0);
    uint16_t config[SPACE_MAX_PARAMETERS];
    for (size_t i = 0; i < NEAR + FAR; i++) {
        if (i % 2) {
            space_sample(f.space, &rng, config);
        } else {
            memset(config, 0, sizeof config);
            for (int k = 0; k < 2; k++) config[random_below(&rng, PARAMETERS)] = (uint16_t)random_below(&rng, VALUES);
        }
        history_tell(&history, &(struct observation){config, OUTCOME_OK, time_of(config), NULL});
    }
    surrogate_learn(&model, history.reported, &rng);
    // The errors are divided by the standard deviations that the model claims. Their root mean square is 2.2. It is 193
    // if the hyperparameters are fitted to the best rows only.
    double squares = 0;
    for (size_t i = 0; i < ASKED; i++) {
        float point[SPACE_MAX_PARAMETERS * 3];
        double mean, bound;
        space_sample(f.space, &rng, config);
        encoding_of(&model.encoding, config, point);
        gp_means(model.gp, point, 1, &mean, &bound);
        double slowdown = slowdown_of(time_of(config), history.objectives[history.best]);
        double error = model.best_measured + slowdown / model.scale - mean;
        squares += error * error / gp_variance(model.gp, point);
    }
    surrogate_release(&model);
    history_release(&history);
    if (squares > MOST * MOST * ASKED) fail_msg("errors are %.1f times as large as announced", sqrt(squares / ASKED));
}

TEST_MAIN(NULL, NULL)
