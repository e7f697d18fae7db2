// See history.h.
#include "search/model/history.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

// The number of draws before the configurations without a row are enumerated. If this many draws fail, the space is
// nearly exhausted and so not much larger than the history.
enum { DRAWS = 400 };

void history_init(struct history *h, const struct space *space)
{
    *h = (struct history){.space = space, .width = space_parameter_count(space), .best = -1};
}

void history_release(struct history *h)
{
    free(h->configs);
    free(h->outcomes);
    free(h->objectives);
    hash_index_release(&h->index);
    *h = (struct history){0};
}

static uint32_t hash_config(const struct history *h, const uint16_t *config)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < h->width; i++) hash = hash_mix(hash, config[i] + 1u);
    return hash;
}

struct wanted_row {
    const struct history *history;
    const uint16_t *config;
};

static bool is_row(const void *wanted, size_t row)
{
    const struct wanted_row *w = wanted;
    const struct history *h = w->history;
    return h->outcomes[row] != ROW_FORGOTTEN &&
           memcmp(history_config(h, row), w->config, h->width * sizeof *w->config) == 0;
}

int64_t history_find(const struct history *h, const uint16_t *config)
{
    return hash_index_find(&h->index, hash_config(h, config), is_row, &(struct wanted_row){h, config});
}

void history_forget(struct history *h, const uint16_t *config)
{
    int64_t row = history_find(h, config);
    if (row < 0 || h->outcomes[row] != ROW_PENDING) return;
    h->outcomes[row] = ROW_FORGOTTEN;
    h->pending--;
}

static void grow(struct history *h)
{
    h->room = h->room ? 2 * h->room : 64;
    h->configs = memory_grow(h->configs, h->room * h->width, sizeof *h->configs);
    h->outcomes = memory_grow(h->outcomes, h->room, sizeof *h->outcomes);
    h->objectives = memory_grow(h->objectives, h->room, sizeof *h->objectives);
}

size_t history_propose(struct history *h, const uint16_t *config)
{
    if (h->count == h->room) grow(h);
    assert(history_find(h, config) < 0);
    size_t row = h->count++;
    memcpy(h->configs + row * h->width, config, h->width * sizeof *config);
    h->outcomes[row] = ROW_PENDING;
    h->objectives[row] = NAN;
    hash_index_add(&h->index, hash_config(h, config), row);
    h->pending++;
    return row;
}

static void find_best(struct history *h)
{
    h->best = -1;
    for (size_t row = 0; row < h->count; row++)
        if (h->outcomes[row] == OUTCOME_OK && (h->best < 0 || h->objectives[row] < h->objectives[h->best]))
            h->best = (int64_t)row;
}

size_t history_tell(struct history *h, const struct observation *o)
{
    int64_t found = history_find(h, o->config);
    size_t row = found >= 0 ? (size_t)found : history_propose(h, o->config);
    h->reported++;
    if (h->outcomes[row] == ROW_PENDING) h->pending--;
    // A time that is NaN counts as a failure, regardless of the outcome.
    bool timed = (o->outcome == OUTCOME_OK || o->outcome == OUTCOME_SLOW) && isfinite(o->objective);
    h->outcomes[row] = timed ? (int)o->outcome : o->outcome == OUTCOME_PRUNED ? OUTCOME_PRUNED : OUTCOME_INVALID;
    h->objectives[row] = timed ? o->objective : NAN;
    if (h->best == (int64_t)row)
        find_best(h);
    else if (h->outcomes[row] == OUTCOME_OK && (h->best < 0 || o->objective < h->objectives[h->best]))
        h->best = (int64_t)row;
    return row;
}

double history_score(const struct history *h, size_t row)
{
    return h->outcomes[row] == OUTCOME_OK || h->outcomes[row] == OUTCOME_SLOW ? h->objectives[row] : INFINITY;
}

bool history_sample_new(const struct history *h, struct random *rng, uint16_t *config)
{
    uint64_t size = space_size(h->space);
    if (h->count < size) {
        for (int i = 0; i < DRAWS; i++) {
            space_sample(h->space, rng, config);
            if (history_find(h, config) < 0) return true;
        }
    }
    // Some rows may not be valid here (results from another job), so a first pass counts the configurations without a
    // row.
    uint64_t fresh = 0;
    if (h->count >= size || size / 16 <= h->count) {
        for (uint64_t i = 0; i < size; i++) {
            space_get(h->space, i, config);
            fresh += history_find(h, config) < 0;
        }
    }
    if (fresh == 0) return false;
    uint64_t wanted = random_below(rng, fresh);
    for (uint64_t i = 0; i < size; i++) {
        space_get(h->space, i, config);
        if (history_find(h, config) < 0 && wanted-- == 0) return true;
    }
    return false;
}
