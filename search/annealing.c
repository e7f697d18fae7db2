// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): a walk over neighbours that always takes a better one and sometimes a worse one, by Metropolis's rule
// on the relative difference, ever more rarely as the temperature falls geometrically over the budget. With several proposals outstanding each is judged against
// where the walk stands when its result comes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategy_kit.h"

enum { KNOB_HOT, KNOB_COLD, KNOB_LENGTH, KNOB_COUNT };
static const struct strategy_knob knobs[] = {
    { "hot", 0.3, 1e-6, 100, "first temperature, as a relative difference" },
    { "cold", 0.005, 1e-9, 100, "last temperature" },
    { "length", 0, 0, 1e9, "results from first to last, 0: the budget, or 500" },
    { NULL, 0, 0, 0, NULL },
};

struct annealing {
    const struct space *space;
    struct history history;
    struct random rng;
    double knobs[KNOB_COUNT], score;
    uint16_t *neighbours, current[SPACE_MAX_PARAMETERS];
    size_t width, told;
    bool started;
};

static int annealing_init(void *state, const struct space *space, const struct strategy_options *options, struct error *err)
{
    struct annealing *a = state;
    if (strategy_knobs(knobs, options->text, a->knobs, err) < 0) return -1;
    if (a->knobs[KNOB_LENGTH] <= 0) a->knobs[KNOB_LENGTH] = options->budget ? (double)options->budget : 500;
    a->space = space;
    a->width = space_parameter_count(space);
    history_init(&a->history, space);
    random_seed(&a->rng, options->seed);
    a->neighbours = malloc((kit_neighbour_room(space) + 1) * a->width * sizeof *a->neighbours);
    if (!a->neighbours) abort();
    return 0;
}

static bool annealing_ask(void *state, uint16_t *config)
{
    struct annealing *a = state;
    if (a->started) {
        size_t count = space_neighbours(a->space, a->current, false, a->neighbours, kit_neighbour_room(a->space));
        kit_shuffle(&a->rng, a->neighbours, count, a->width);
        for (size_t i = 0; i < count; i++) {
            if (history_find(&a->history, a->neighbours + i * a->width) >= 0) continue;
            memcpy(config, a->neighbours + i * a->width, a->width * sizeof *config);
            history_propose(&a->history, config);
            return true;
        }
    }
    if (!history_sample_new(&a->history, &a->rng, config)) return false; // the start, or all neighbours are known: a jump
    history_propose(&a->history, config);
    return true;
}

static void annealing_tell(void *state, const struct observation *o)
{
    struct annealing *a = state;
    double score = kit_score(&a->history, history_tell(&a->history, o));
    double done = fmin(1, (double)a->told++ / a->knobs[KNOB_LENGTH]);
    double temperature = a->knobs[KNOB_HOT] * pow(a->knobs[KNOB_COLD] / a->knobs[KNOB_HOT], done);
    if (!isfinite(score)) return;
    if (a->started && score > a->score && random_unit(&a->rng) >= exp(-(score - a->score) / (temperature * a->score))) return;
    memcpy(a->current, o->config, a->width * sizeof *o->config);
    a->score = score;
    a->started = true;
}

static void annealing_release(void *state)
{
    struct annealing *a = state;
    free(a->neighbours);
    history_release(&a->history);
}

const struct strategy_class strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing over neighbours",
    .state_size = sizeof(struct annealing),
    .init = annealing_init,
    .ask = annealing_ask,
    .tell = annealing_tell,
    .release = annealing_release,
};
