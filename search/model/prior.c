// See prior.h.
#include "search/model/prior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/encoding.h"
#include "search/model/trees.h"

enum {
    TREES = 24,
    ROWS = 4000, // rows that the trees are grown on: half of them the best, the others a sample
    // In a large space, configurations are predicted one by one, by trees that fit into a core's cache.
    FEWER_TREES = 8,
    FEWER_ROWS = 1000,
    TABLED = 1 << 16, // in spaces up to this size, all slowdowns are computed in advance
    BEST = 64,        // configurations in the list
    VARIANTS = 8,     // attempts to complete a configuration of the list with values that the rows lack
};

static const double compression = 0.5; // e-folds beyond which a slowdown grows only logarithmically

static const double clear_structure = 0.3; // correlation beyond chance at which a prior counts as fully informative

struct prior {
    const struct space *space;
    size_t width;
    struct encoding encoding;
    struct trees *trees;
    float *table; // by the configuration's number in the space; NULL for a large one
    uint16_t *best;
    size_t best_count;
    double informativeness;
};

double slowdown_of(double objective, double best)
{
    return compression * log1p(fmax(log(objective) - log(best), 0) / compression);
}

struct weighed_row {
    double slowdown;
    uint64_t tie; // a hash: orders configurations with equal expectations independently of their parameters
    size_t at;
};

static int compare_weighed_rows(const void *a, const void *b)
{
    const struct weighed_row *x = a, *y = b;
    if (x->slowdown != y->slowdown) return x->slowdown < y->slowdown ? -1 : 1;
    if (x->tie != y->tie) return x->tie < y->tie ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static uint64_t tie_of(uint64_t at)
{
    at = (at ^ (at >> 30)) * 0xbf58476d1ce4e5b9u;
    return at ^ (at >> 27);
}

// Returns the rows, sorted by slowdown. Failed rows count as only somewhat worse than average, because they may have
// failed for a reason that does not apply here. Returns NULL if no row has an objective.
static struct weighed_row *rank_rows(const struct prior_rows *rows)
{
    double best = INFINITY, sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < rows->count; i++) best = fmin(best, rows->objectives[i]); // fmin ignores NaN
    if (!isfinite(best)) return NULL;
    struct weighed_row *order = memory_new(rows->count, sizeof *order);
    for (size_t i = 0; i < rows->count; i++) {
        double slowdown = slowdown_of(rows->objectives[i], best);
        order[i] = (struct weighed_row){isnan(rows->objectives[i]) ? NAN : slowdown, tie_of(i), i};
        if (isnan(order[i].slowdown)) continue;
        sum += slowdown;
        squares += slowdown * slowdown;
        n++;
    }
    double mean = sum / (double)n, failed = mean + sqrt(fmax(squares / (double)n - mean * mean, 0));
    for (size_t i = 0; i < rows->count; i++)
        if (isnan(order[i].slowdown)) order[i].slowdown = failed;
    qsort(order, rows->count, sizeof *order, compare_weighed_rows);
    return order;
}

double prior_slowdown(const struct prior *p, const uint16_t *config)
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

// Grows trees on half of the rows and returns the correlation between their predictions and the other half. Subtracts
// the correlation that chance may explain (0.1 or two standard errors, whichever is larger).
static double find_structure(const struct prior *p, const float *points, const double *targets, size_t count,
                             struct random *rng)
{
    size_t half = count / 2, n = count - half, d = p->encoding.count;
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    if (half < 2) return 0;
    trees_grow(p->trees, points, targets, half, rng);
    for (size_t i = half; i < count; i++) {
        double mean = trees_mean(p->trees, points + i * d);
        x += mean;
        y += targets[i];
        xx += mean * mean;
        yy += targets[i] * targets[i];
        xy += mean * targets[i];
    }
    double vx = xx - x * x / (double)n, vy = yy - y * y / (double)n, both = xy - x * y / (double)n;
    if (!(vx > 0 && vy > 0)) return 0;
    return fmax(both / sqrt(vx * vy) - fmax(0.1, 2 / sqrt((double)n)), 0);
}

double prior_informativeness(const struct prior *p)
{
    return p->informativeness;
}

static void swap_rows(struct weighed_row *order, size_t i, size_t j)
{
    memory_swap(order[i], order[j]);
}

static void grow(struct prior *p, const struct prior_rows *rows, struct weighed_row *order, struct random *rng)
{
    size_t most = space_size(p->space) > TABLED ? FEWER_ROWS : ROWS;
    size_t d = p->encoding.count, count = rows->count < most ? rows->count : most;
    autofree float *points = memory_new(count * d, sizeof *points);
    autofree double *targets = memory_new(count, sizeof *targets);
    for (size_t i = most / 2; i < count && rows->count > most; i++)
        swap_rows(order, i, i + random_below(rng, rows->count - i));
    for (size_t i = count; i > 1; i--) swap_rows(order, i - 1, random_below(rng, i)); // shuffled, for the halves
    for (size_t i = 0; i < count; i++) {
        encoding_of(&p->encoding, rows->configs + order[i].at * p->width, points + i * d);
        targets[i] = order[i].slowdown;
    }
    double coverage = find_coverage(p, rows), structure = find_structure(p, points, targets, count, rng);
    p->informativeness = coverage * coverage * fmin(structure / clear_structure, 1);
    trees_grow(p->trees, points, targets, count, rng);
}

bool prior_best(const struct prior *p, size_t rank, uint16_t *config)
{
    if (rank >= p->best_count) return false;
    memcpy(config, p->best + rank * p->width, p->width * sizeof *config);
    return true;
}

// For a small space: lists the best of all its configurations.
static void list_all(struct prior *p)
{
    size_t size = (size_t)space_size(p->space);
    uint16_t config[SPACE_MAX_PARAMETERS];
    autofree struct weighed_row *order = memory_new(size, sizeof *order);
    float *table = memory_new(size, sizeof *table);
    for (size_t i = 0; i < size; i++) {
        space_get(p->space, i, config);
        table[i] = (float)prior_slowdown(p, config);
        order[i] = (struct weighed_row){(double)table[i], tie_of(i), i};
    }
    p->table = table;
    qsort(order, size, sizeof *order, compare_weighed_rows);
    p->best_count = size < BEST ? size : BEST;
    for (size_t i = 0; i < p->best_count; i++) space_get(p->space, order[i].at, p->best + i * p->width);
}

static bool is_listed(const struct prior *p, const uint16_t *config)
{
    for (size_t i = 0; i < p->best_count; i++)
        if (!memcmp(p->best + i * p->width, config, p->width * sizeof *config)) return true;
    return false;
}

// For a large space: lists the best rows, made valid, with random values for parameters that they lack.
static void list_rows(struct prior *p, const struct prior_rows *rows, const struct weighed_row *order,
                      struct random *rng)
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
    autofree struct weighed_row *order = rank_rows(rows);
    if (!order) return NULL;
    struct prior *p = memory_new(1, sizeof *p);
    struct random rng;
    random_seed(&rng, 1);
    p->space = space;
    p->width = space_parameter_count(space);
    encoding_init(&p->encoding, space);
    p->trees = trees_new(p->encoding.count, space_size(space) > TABLED ? FEWER_TREES : TREES);
    p->best = memory_new(BEST * p->width, sizeof *p->best);
    if (space_size(space) > TABLED) list_rows(p, rows, order, &rng);
    grow(p, rows, order, &rng);
    if (space_size(space) <= TABLED) list_all(p);
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

enum {
    EVIDENCE_MOST = 40, // results are not independent, so a larger number counts as this many
    FADING_FROM = 15,   // beyond this many results, weights fall as 1 / results^2: the model no longer needs priors
};

static const double least_fading = 0.02; // below this, priors are not worth the time that they take

// Assumptions before anything is measured.
static const double useful_before = 0.5; // probability that a prior is informative if prior_informativeness is 1
static const double usual_error = 0.3;   // of an expected slowdown; has the weight of one result

void prior_weights_init(struct prior_weights *t, const struct prior *const *priors, size_t count)
{
    *t = (struct prior_weights){.count = count, .priors = priors, .none = 1};
    for (size_t k = 0; k < count; k++) {
        t->useful[k] = useful_before * prior_informativeness(priors[k]);
        t->none = fmin(t->none, 1 - t->useful[k]);
    }
}

void prior_weights_features(const struct prior_weights *t, const uint16_t *config, float *features)
{
    for (size_t k = 0; k < t->count; k++) features[k] = (float)prior_slowdown(t->priors[k], config);
}

bool prior_weights_any(const struct prior_weights *t)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->weights[k] > 0) return true;
    return false;
}

double prior_weights_expected(const struct prior_weights *t, const float *features)
{
    double sum = 0;
    for (size_t k = 0; k < t->count; k++) sum += t->weights[k] * (double)features[k];
    return sum;
}

// The log-likelihood of the results, given these weights.
static double evidence(const struct prior_weights *t, const float *features, const double *slowdowns, size_t count)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(slowdowns[i])) continue;
        double error = slowdowns[i] - prior_weights_expected(t, features + i * t->count);
        sum += error;
        squares += error * error;
        n++;
    }
    if (n < 2) return 0;
    double variance = (squares - sum * sum / (double)n + usual_error * usual_error) / (double)n;
    return -0.5 * (double)(n < EVIDENCE_MOST ? n : EVIDENCE_MOST) * log(variance);
}

struct hypothesis {
    double weights[PRIOR_MOST];
    double log; // log of its probability, up to a common factor
};

// Lists the hypotheses: no prior is informative; each prior, and the mean of all, with full and half weight. Returns
// their number.
static size_t list_hypotheses(const struct prior_weights *t, struct hypothesis *list)
{
    double most = 0, all = 0;
    for (size_t k = 0; k < t->count; k++) {
        most = fmax(most, t->useful[k]);
        all += t->useful[k];
    }
    size_t n = 0, sets = t->count > 1 ? t->count + 1 : t->count;
    list[n++] = (struct hypothesis){.log = log(1 - most)};
    for (size_t k = 0; k < sets; k++) {
        bool together = k == t->count;
        // The shares of all sets add up to 1.
        double share = (together ? all / (double)t->count : t->useful[k]) / (all * (double)sets / (double)t->count);
        for (int half = 0; half < 2; half++, n++) {
            list[n] = (struct hypothesis){.log = log(most * share / 2)};
            for (size_t j = 0; j < t->count; j++)
                if (together || j == k) list[n].weights[j] = (half ? 0.5 : 1) / (together ? (double)t->count : 1);
        }
    }
    return n;
}

void prior_weights_learn(struct prior_weights *t, const float *features, const double *slowdowns, size_t count)
{
    struct hypothesis list[1 + 2 * (PRIOR_MOST + 1)];
    double fading = count > FADING_FROM ? pow(FADING_FROM / (double)count, 2) : 1;
    if (fading < least_fading) fading = 0;
    size_t n = list_hypotheses(t, list);
    double most = -INFINITY, sum = 0, weights[PRIOR_MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        memcpy(t->weights, list[i].weights, sizeof t->weights);
        list[i].log += evidence(t, features, slowdowns, count);
        most = fmax(most, list[i].log);
    }
    for (size_t i = 0; i < n; i++) {
        double likely = exp(list[i].log - most);
        for (size_t k = 0; k < t->count; k++) weights[k] += likely * list[i].weights[k];
        if (i == 0) t->none = likely;
        sum += likely;
    }
    t->none /= sum;
    for (size_t k = 0; k < t->count; k++) t->weights[k] = t->none > 0.5 ? 0 : fading * weights[k] / sum;
}
