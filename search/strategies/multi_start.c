// Multi-start local search: moves from a random configuration to the best of all neighbours (steepest descent) until
// none is better, then starts from another random one. The whole neighbourhood is measured before a step, so that many
// proposals can be outstanding.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy_kit.h"

#include "tuner/base/memory.h"

struct multi_start {
    const struct space *space;
    struct history history;
    struct random rng;
    size_t width, queued;
    uint16_t *queue; // neighbours of `current` not yet proposed, from the end
    uint16_t current[SPACE_MAX_PARAMETERS], best[SPACE_MAX_PARAMETERS]; // best: of the neighbours told so far
    double current_score, best_score;
    bool started;
};

static void multi_start_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct multi_start *m = state;
    m->space = space;
    m->width = space_parameter_count(space);
    history_init(&m->history, space);
    random_seed(&m->rng, start->seed);
    m->queue = memory_grow(NULL, (kit_neighbour_room(space) + 1) * m->width, sizeof *m->queue);
    m->current_score = m->best_score = INFINITY;
}

static void take(struct multi_start *m, const uint16_t *config, double score)
{
    if (!(score < m->best_score)) return;
    memcpy(m->best, config, m->width * sizeof *config);
    m->best_score = score;
}

// Moves to `config`: known neighbours count at once, the others are queued.
static void step_to(struct multi_start *m, const uint16_t *config, double score)
{
    memcpy(m->current, config, m->width * sizeof *config);
    m->current_score = score;
    m->best_score = INFINITY;
    m->started = true;
    size_t count = space_neighbours(m->space, m->current, false, m->queue, kit_neighbour_room(m->space));
    m->queued = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t *neighbour = m->queue + i * m->width;
        int64_t row = history_find(&m->history, neighbour);
        if (row >= 0)
            take(m, neighbour, kit_score(&m->history, (size_t)row));
        else
            memmove(m->queue + m->queued++ * m->width, neighbour, m->width * sizeof *neighbour);
    }
    kit_shuffle(&m->rng, m->queue, m->queued, m->width);
}

static bool multi_start_ask(void *state, uint16_t *config)
{
    struct multi_start *m = state;
    for (;;) {
        if (m->started && m->queued) {
            m->queued--;
            memcpy(config, m->queue + m->queued * m->width, m->width * sizeof *config);
            if (history_find(&m->history, config) >= 0) continue;
            history_propose(&m->history, config);
            return true;
        }
        if (m->started && m->history.pending) break; // the neighbourhood is not complete yet: random ones fill the gap
        if (m->started && m->best_score < m->current_score) {
            uint16_t next[SPACE_MAX_PARAMETERS];
            memcpy(next, m->best, m->width * sizeof *next);
            step_to(m, next, m->best_score);
            continue;
        }
        m->started = false; // a local optimum: the search goes on from the next random result
        break;
    }
    if (!history_sample_new(&m->history, &m->rng, config)) return false;
    history_propose(&m->history, config);
    return true;
}

static void multi_start_tell(void *state, const struct observation *o)
{
    struct multi_start *m = state;
    size_t row = history_tell(&m->history, o);
    double score = kit_score(&m->history, row);
    if (!m->started && isfinite(score)) {
        step_to(m, o->config, score);
        return;
    }
    size_t changed = 0;
    for (size_t p = 0; p < m->width; p++) changed += m->current[p] != o->config[p];
    if (m->started && (changed == 1 || score < m->current_score)) take(m, o->config, score);
}

static void multi_start_release(void *state)
{
    struct multi_start *m = state;
    free(m->queue);
    history_release(&m->history);
}

const struct strategy_class strategy_multi_start = {
    .name = "multi_start",
    .summary = "steepest descent from random configurations, again and again",
    .state_size = sizeof(struct multi_start),
    .init = multi_start_init,
    .ask = multi_start_ask,
    .tell = multi_start_tell,
    .release = multi_start_release,
};
