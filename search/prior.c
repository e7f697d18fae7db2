// See prior.h.
#include "search/prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/encoding.h"
#include "search/random.h"
#include "search/trees.h"
#include "tuner/base/memory.h"

enum {
    TREES = 24,
    ROWS = 4000,      // that the trees are grown on: the best half of them, a sample of the others
    TABLED = 1 << 16, // configurations of a space whose excesses are all computed at once
    BEST = 64,        // configurations of the list
    VARIANTS = 8,     // tries for a configuration of the list where parameters are not known
};

static const double compression = 0.5; // e-folds from which on an excess grows only logarithmically

struct prior {
    const struct space *space;
    size_t width;
    struct encoding encoding;
    struct trees *trees;
    float *table; // by the configuration's number in the space; NULL for a large one
    uint16_t *best;
    size_t best_count;
    double coverage;
};

double excess_of(double objective, double best)
{
    return compression * log1p(fmax(log(objective) - log(best), 0) / compression);
}

struct ranked {
    double excess;
    uint64_t tie; // a hash: configurations that are expected to be equal come in no order of their parameters
    size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->excess != y->excess) return x->excess < y->excess ? -1 : 1;
    if (x->tie != y->tie) return x->tie < y->tie ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint64_t tie_of(uint64_t at)
{
    at = (at ^ (at >> 30)) * 0xbf58476d1ce4e5b9u;
    return at ^ (at >> 27);
}

// The rows in the order of their excesses, with those that failed as somewhat worse than the usual one: they may fail
// for a reason that does not hold here. NULL where none has an objective.
static struct ranked *rank_rows(const struct prior_rows *rows)
{
    double best = INFINITY, sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < rows->count; i++) best = fmin(best, rows->objectives[i]); // fmin ignores NaN
    if (!isfinite(best)) return NULL;
    struct ranked *order = memory_new(rows->count, sizeof *order);
    for (size_t i = 0; i < rows->count; i++) {
        double excess = excess_of(rows->objectives[i], best);
        order[i] = (struct ranked){isnan(rows->objectives[i]) ? NAN : excess, tie_of(i), i};
        if (isnan(order[i].excess)) continue;
        sum += excess;
        squares += excess * excess;
        n++;
    }
    double mean = sum / (double)n, failed = mean + sqrt(fmax(squares / (double)n - mean * mean, 0));
    for (size_t i = 0; i < rows->count; i++)
        if (isnan(order[i].excess)) order[i].excess = failed;
    qsort(order, rows->count, sizeof *order, compare_ranked);
    return order;
}

static void grow(struct prior *p, const struct prior_rows *rows, struct ranked *order, struct random *rng)
{
    size_t d = p->encoding.count, count = rows->count < ROWS ? rows->count : ROWS;
    float *points = memory_new(count * d, sizeof *points);
    double *targets = memory_new(count, sizeof *targets);
    for (size_t i = 0; i < count; i++) {
        if (rows->count > ROWS && i >= ROWS / 2) {
            size_t j = i + random_below(rng, rows->count - i);
            struct ranked swap = order[i];
            order[i] = order[j];
            order[j] = swap;
        }
        encoding_of(&p->encoding, rows->configs + order[i].at * p->width, points + i * d);
        targets[i] = order[i].excess;
    }
    trees_grow(p->trees, points, targets, count, 1, rng);
    free(points);
    free(targets);
}

double prior_excess(const struct prior *p, const uint16_t *config)
{
    if (p->table) {
        int64_t index = space_index(p->space, config);
        if (index >= 0) return (double)p->table[index];
    }
    float point[4 * SPACE_MAX_PARAMETERS];
    encoding_of(&p->encoding, config, point);
    return trees_mean(p->trees, point);
}

static double find_coverage(const struct prior *p, const struct prior_rows *rows)
{
    size_t open = 0, said = 0;
    for (size_t k = 0; k < p->width; k++) {
        if (space_parameter(p->space, k)->count < 2) continue;
        size_t i = 1;
        while (i < rows->count && rows->configs[i * p->width + k] == rows->configs[k]) i++;
        open++;
        said += i < rows->count;
    }
    return open ? (double)said / (double)open : 0;
}

double prior_coverage(const struct prior *p)
{
    return p->coverage;
}

bool prior_best(const struct prior *p, size_t rank, uint16_t *config)
{
    if (rank >= p->best_count) return false;
    memcpy(config, p->best + rank * p->width, p->width * sizeof *config);
    return true;
}

// Of a small space: from all of it.
static void list_all(struct prior *p)
{
    size_t size = (size_t)space_size(p->space);
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct ranked *order = memory_new(size, sizeof *order);
    float *table = memory_new(size, sizeof *table);
    for (size_t i = 0; i < size; i++) {
        space_get(p->space, i, config);
        table[i] = (float)prior_excess(p, config);
        order[i] = (struct ranked){(double)table[i], tie_of(i), i};
    }
    p->table = table;
    qsort(order, size, sizeof *order, compare_ranked);
    p->best_count = size < BEST ? size : BEST;
    for (size_t i = 0; i < p->best_count; i++) space_get(p->space, order[i].at, p->best + i * p->width);
    free(order);
}

static bool is_listed(const struct prior *p, const uint16_t *config)
{
    for (size_t i = 0; i < p->best_count; i++)
        if (!memcmp(p->best + i * p->width, config, p->width * sizeof *config)) return true;
    return false;
}

// Of a large space: the best rows, made valid, with any values of the parameters that they do not say.
static void list_rows(struct prior *p, const struct prior_rows *rows, const struct ranked *order, struct random *rng)
{
    uint16_t config[SPACE_MAX_PARAMETERS], other[SPACE_MAX_PARAMETERS];
    for (size_t i = 0; i < rows->count && p->best_count < BEST; i++) {
        for (int attempt = 0; attempt < VARIANTS; attempt++) {
            memcpy(config, rows->configs + order[i].at * p->width, p->width * sizeof *config);
            space_sample(p->space, rng, other);
            for (size_t k = 0; k < p->width; k++)
                if (!rows->known[k]) config[k] = other[k];
            space_repair(p->space, rng, config);
            if (is_listed(p, config)) continue;
            memcpy(p->best + p->best_count++ * p->width, config, p->width * sizeof *config);
            break;
        }
    }
}

struct prior *prior_new(const struct space *space, const struct prior_rows *rows)
{
    struct ranked *order = rank_rows(rows);
    if (!order) return NULL;
    struct prior *p = memory_new(1, sizeof *p);
    struct random rng;
    random_seed(&rng, 1);
    p->space = space;
    p->width = space_parameter_count(space);
    encoding_init(&p->encoding, space);
    p->trees = trees_new(p->encoding.count, TREES);
    p->best = memory_new(BEST * p->width, sizeof *p->best);
    p->coverage = find_coverage(p, rows);
    if (space_size(space) > TABLED) list_rows(p, rows, order, &rng);
    grow(p, rows, order, &rng);
    if (space_size(space) <= TABLED) list_all(p);
    free(order);
    return p;
}

void prior_free(struct prior *p)
{
    if (!p) return;
    encoding_release(&p->encoding);
    trees_free(p->trees);
    free(p->table);
    free(p->best);
    free(p);
}
