// Particle swarm optimisation (Kennedy and Eberhart 1995; inertia and constants after Clerc and Kennedy 2002) on value
// indices: each particle flies on, drawn to its own best place and the swarm's, and is measured at the valid
// configuration nearest to where it is.
#include <math.h>

#include "search/strategies/strategy.h"

enum { OPTION_PARTICLES, OPTION_INERTIA, OPTION_OWN, OPTION_SWARM, OPTION_COUNT };
static const struct strategy_option options[] = {
    [OPTION_PARTICLES] = {"particles", 16, 2, 10000, true, "particles in the swarm"},
    [OPTION_INERTIA] = {"inertia", 0.729, 0, 1, false, "share of a velocity that is kept"},
    [OPTION_OWN] = {"own", 1.494, 0, 4, false, "pull of a particle's own best configuration"},
    [OPTION_SWARM] = {"swarm", 1.494, 0, 4, false, "pull of the swarm's best configuration"},
    [OPTION_COUNT] = {0},
};

struct particle {
    double at[SPACE_MAX_PARAMETERS], velocity[SPACE_MAX_PARAMETERS], best[SPACE_MAX_PARAMETERS];
    double score; // at its best
    bool placed;
};

struct particle_swarm {
    size_t count, next;
    struct particle *particles; // the history's tag of a proposal is its particle's number, from 1
};

static void particle_swarm_init(struct strategy_state *s)
{
    struct particle_swarm *w = s->own;
    w->count = (size_t)s->options[OPTION_PARTICLES];
    w->particles = arena_new(&s->memory, w->count * sizeof *w->particles);
    for (size_t i = 0; i < w->count; i++) w->particles[i].score = INFINITY;
}

static void fly(struct strategy_state *s, struct particle *q, uint16_t *config)
{
    const uint16_t *swarm = s->history.best >= 0 ? history_config(&s->history, (size_t)s->history.best) : NULL;
    for (size_t p = 0; p < s->width; p++) {
        double most = (double)(space_parameter(s->space, p)->count - 1);
        if (isfinite(q->score))
            q->velocity[p] = s->options[OPTION_INERTIA] * q->velocity[p] +
                             s->options[OPTION_OWN] * random_unit(&s->rng) * (q->best[p] - q->at[p]);
        if (swarm) q->velocity[p] += s->options[OPTION_SWARM] * random_unit(&s->rng) * ((double)swarm[p] - q->at[p]);
        q->velocity[p] = fmin(fmax(q->velocity[p], -(most + 1) / 2), (most + 1) / 2);
        q->at[p] += q->velocity[p];
        if (q->at[p] < 0 || q->at[p] > most) q->velocity[p] = 0;
        q->at[p] = fmin(fmax(q->at[p], 0), most);
        config[p] = (uint16_t)lround(q->at[p]);
    }
    space_repair(s->space, &s->rng, config);
}

static bool place(struct strategy_state *s, struct particle *q, uint16_t *config)
{
    if (!history_sample_new(&s->history, &s->rng, config)) return false;
    for (size_t p = 0; p < s->width; p++) {
        q->at[p] = config[p];
        q->velocity[p] = (random_unit(&s->rng) - 0.5) * (double)space_parameter(s->space, p)->count / 2;
    }
    q->placed = true;
    return true;
}

static bool particle_swarm_ask(struct strategy_state *s, uint16_t *config)
{
    struct particle_swarm *w = s->own;
    for (size_t attempt = 0; attempt < 4 * w->count; attempt++) {
        size_t i = w->next++ % w->count;
        if (w->particles[i].placed)
            fly(s, &w->particles[i], config);
        else if (!place(s, &w->particles[i], config))
            return false;
        if (history_find(&s->history, config) >= 0) continue;
        size_t row = history_propose(&s->history, config);
        s->history.tags[row] = (uint32_t)i + 1;
        return true;
    }
    return history_sample_new(&s->history, &s->rng, config); // the swarm no longer moves: go somewhere else
}

static void particle_swarm_tell(struct strategy_state *s, size_t row)
{
    struct particle_swarm *w = s->own;
    double score = history_score(&s->history, row);
    uint32_t tag = s->history.tags[row];
    if (!tag || !(score < w->particles[tag - 1].score)) return;
    struct particle *q = &w->particles[tag - 1];
    q->score = score;
    for (size_t p = 0; p < s->width; p++) q->best[p] = history_config(&s->history, row)[p];
}

const struct strategy_class strategy_particle_swarm = {
    .name = "particle_swarm",
    .summary = "particle swarm on value indices",
    .options = options,
    .state_size = sizeof(struct particle_swarm),
    .init = particle_swarm_init,
    .ask = particle_swarm_ask,
    .tell = particle_swarm_tell,
};
