// Particle swarm optimisation (Kennedy and Eberhart 1995; inertia and constants after Clerc and Kennedy 2002) on value
// indices: each particle flies on, drawn to its own best place and the swarm's, and is measured at the valid
// configuration nearest to where it is.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/strategies/strategy_kit.h"

#include "tuner/base/memory.h"

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
    const struct space *space;
    struct history history;
    struct random rng;
    const double *options; // by OPTION_*
    size_t width, count, next;
    struct particle *particles;
    struct kit_owners owner; // the particle that a proposal belongs to
};

static void particle_swarm_init(void *state, const struct space *space, const struct strategy_start *start)
{
    struct particle_swarm *s = state;
    s->options = start->options;
    s->space = space;
    s->width = space_parameter_count(space);
    s->count = (size_t)s->options[OPTION_PARTICLES];
    history_init(&s->history, space);
    random_seed(&s->rng, start->seed);
    s->particles = memory_new(s->count, sizeof *s->particles);
    for (size_t i = 0; i < s->count; i++) s->particles[i].score = INFINITY;
}

static void fly(struct particle_swarm *s, struct particle *q, uint16_t *config)
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

static bool particle_swarm_ask(void *state, uint16_t *config)
{
    struct particle_swarm *s = state;
    for (size_t attempt = 0; attempt < 4 * s->count; attempt++) {
        size_t i = s->next++ % s->count;
        struct particle *q = &s->particles[i];
        if (q->placed) {
            fly(s, q, config);
        } else {
            if (!history_sample_new(&s->history, &s->rng, config)) return false;
            for (size_t p = 0; p < s->width; p++) {
                q->at[p] = config[p];
                q->velocity[p] = (random_unit(&s->rng) - 0.5) * (double)space_parameter(s->space, p)->count / 2;
            }
            q->placed = true;
        }
        if (history_find(&s->history, config) >= 0) continue;
        kit_own(&s->owner, history_propose(&s->history, config), (int)i);
        return true;
    }
    if (!history_sample_new(&s->history, &s->rng, config)) return false; // the swarm no longer moves: go somewhere else
    history_propose(&s->history, config);
    return true;
}

static void particle_swarm_tell(void *state, const struct observation *o)
{
    struct particle_swarm *s = state;
    size_t row = history_tell(&s->history, o);
    double score = kit_score(&s->history, row);
    int owner = kit_owner(&s->owner, row);
    if (owner < 0 || !(score < s->particles[owner].score)) return;
    s->particles[owner].score = score;
    for (size_t p = 0; p < s->width; p++) s->particles[owner].best[p] = o->config[p];
}

static void particle_swarm_release(void *state)
{
    struct particle_swarm *s = state;
    free(s->particles);
    kit_owners_release(&s->owner);
    history_release(&s->history);
}

const struct strategy_class strategy_particle_swarm = {
    .name = "particle_swarm",
    .summary = "particle swarm on value indices",
    .options = options,
    .state_size = sizeof(struct particle_swarm),
    .init = particle_swarm_init,
    .ask = particle_swarm_ask,
    .tell = particle_swarm_tell,
    .release = particle_swarm_release,
};
