// See surrogate.h.
#include "search/model/surrogate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

enum {
    MAX_ROWS = 220,    // rows learnt at a fit; a longer history is sampled
    AWAITED_ROWS = 32, // of MAX_ROWS, this many may be awaited; more awaited rows are learnt in addition
    AWAITED_MOST = 512,
    SPARE_ROWS = 40,   // rows that may be added before the next fit
    BATCH = 8,         // results are learnt in batches of an eighth of the outstanding proposals
    BATCH_WIDE = 128,  // above this many outstanding proposals, that share grows in proportion to their number
    SMALL_BATCH = 4,   // a ranking learns first if a batch has at most this many results
    FIT_BATCH = 8,     // batches between fits, once fits change little
    BEST_ROWS = 60,    // from a longer history: this many of the best, the rest at random
    FIT_ROWS = 120,    // rows that the hyperparameters are fitted to
    TOP = 5,           // rows whose neighbours are candidates
    POOL = 4000,       // random candidates; spaces up to this size are searched completely
    PARTS = 2,         // candidates that serve several proposals are drawn in this many parts
    KEPT = 512,        // candidates kept from each part
    SPREAD_FROM = 150, // results; with fewer, a fit is cheap and made all at once
    STEPS = 5,         // steps of a fit; the first fit has FIRST_STEPS
    FIRST_STEPS = 20,
    MAX_NEIGHBOURS = 2000,
};

// The error that priors are assumed to have until enough results are known, and the number of results that this
// assumption is worth.
static const double usual_error = 0.3;
enum { USUAL_RESULTS = 4 };

// Makes room for this many rows. The model's rows are kept, but the process then has no points.
static void make_room(struct surrogate *s, size_t rows)
{
    size_t d = s->encoding.count;
    struct gp *gp = gp_new(s->encoding.ordinal, s->encoding.count - s->encoding.ordinal, rows);
    if (s->gp) gp_set_theta(gp, gp_theta(s->gp));
    gp_free(s->gp);
    s->gp = gp;
    s->rows.room = rows;
    s->rows.row = memory_grow(s->rows.row, rows, sizeof *s->rows.row);
    s->rows.points = memory_grow(s->rows.points, rows * d, sizeof *s->rows.points);
    s->rows.targets = memory_grow(s->rows.targets, rows, sizeof *s->rows.targets);
    s->rows.awaited_variance = memory_grow(s->rows.awaited_variance, rows, sizeof *s->rows.awaited_variance);
    s->rows.features = memory_grow(s->rows.features, rows * s->prior_weights.count + 1, sizeof *s->rows.features);
}

void surrogate_init(struct surrogate *s, const struct space *space, const struct history *history,
                    const struct prior *const *priors, size_t prior_count)
{
    *s = (struct surrogate){.space = space, .history = history, .width = space_parameter_count(space)};
    encoding_init(&s->encoding, space);
    size_t d = s->encoding.count;
    s->next_fit.gp = gp_new(s->encoding.ordinal, s->encoding.count - s->encoding.ordinal, FIT_ROWS);
    prior_weights_init(&s->prior_weights, priors, prior_count);
    make_room(s, MAX_ROWS + SPARE_ROWS);
    s->pool.features = arena_new(&s->memory, POOL * prior_count * sizeof *s->pool.features);
    s->candidates.room = smaller_of(TOP * space_neighbour_room(space), MAX_NEIGHBOURS);
    s->pool.configs = arena_new(&s->memory, POOL * s->width * sizeof *s->pool.configs);
    s->pool.mean = arena_new(&s->memory, POOL * sizeof *s->pool.mean);
    s->pool.variance = arena_new(&s->memory, POOL * sizeof *s->pool.variance);
    s->candidates.configs = arena_new(&s->memory, s->candidates.room * s->width * sizeof *s->candidates.configs);
    s->candidates.encoded = arena_new(&s->memory, s->candidates.room * d * sizeof *s->candidates.encoded);
    s->candidates.mean = arena_new(&s->memory, s->candidates.room * sizeof *s->candidates.mean);
    s->candidates.bound = arena_new(&s->memory, s->candidates.room * sizeof *s->candidates.bound);
    s->candidates.acquisition = arena_new(&s->memory, s->candidates.room * sizeof *s->candidates.acquisition);
    s->proposal.config = arena_new(&s->memory, s->width * sizeof *s->proposal.config);
}

void surrogate_release(struct surrogate *s)
{
    encoding_release(&s->encoding);
    gp_free(s->gp);
    gp_free(s->next_fit.gp);
    arena_release(&s->memory);
    free(s->rows.row);
    free(s->rows.points);
    free(s->rows.targets);
    free(s->rows.awaited_variance);
    free(s->rows.features);
}

// The factor by which the model's standard deviations are widened. The model uses only the most likely hyperparameters
// instead of averaging over all likely ones, and an overconfident model explores too little.
static const double caution = 1.5;

// The expected improvement of a candidate over the best.
static double improvement_expected(double best, double mean, double variance)
{
    double deviation = caution * sqrt(fmax(variance, 1e-12)), z = (best - mean) / deviation;
    if (z < -12) return 0;
    return deviation * (z * 0.5 * erfc(-z * 0.7071067811865476) + 0.3989422804014327 * exp(-0.5 * z * z));
}

// An upper bound on the expected improvement that avoids exp and erfc, which account for most of the cost. With t = -z
// > 0, the improvement is at most deviation phi(t) / (1 + t^2) (Mills's ratio: Gordon 1941), and e^x is at least the
// sum of the first terms of its series.
static double improvement_most(double best, double mean, double variance)
{
    double deviation = caution * sqrt(fmax(variance, 1e-12)), t = (mean - best) / deviation, x = 0.5 * t * t;
    if (t <= 0) return INFINITY;
    return deviation * 0.3989422804014328 / ((1 + t * t) * (1 + x * (1 + x * (0.5 + x / 6))));
}

// Learning -----------------------------------------------------------------------------------------

static void add_row(struct surrogate *s, size_t row)
{
    size_t d = s->encoding.count;
    float *point = s->rows.points + s->rows.count * d;
    encoding_of(&s->encoding, history_config(s->history, row), point);
    prior_weights_features(&s->prior_weights, history_config(s->history, row),
                           s->rows.features + s->rows.count * s->prior_weights.count);
    s->rows.row[s->rows.count++] = row;
}

struct scored {
    double score;
    size_t row;
};

static int compare_scored(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// The largest number of rows that are learnt at a fit.
static size_t most_rows(const struct surrogate *s)
{
    size_t pending = smaller_of(s->history->pending, AWAITED_MOST);
    return MAX_ROWS + (pending > AWAITED_ROWS ? pending - AWAITED_ROWS : 0);
}

// Measured rows come first, because the hyperparameters are fitted only to them.
static void add_all_rows(struct surrogate *s)
{
    const struct history *h = s->history;
    for (size_t i = 0; i < h->count; i++)
        if (h->outcomes[i] >= 0) add_row(s, i);
    for (size_t i = 0; i < h->count && h->pending; i++)
        if (h->outcomes[i] == ROW_PENDING) add_row(s, i);
}

// From a history that is too long, chooses the best rows and a sample of the others. Their order is random, because the
// hyperparameters are fitted to the first ones. The best rows resemble each other. A model fitted only to the best rows
// would be far too sure about regions that it knows nothing about, and the search would not move.
static void choose_rows(struct surrogate *s, struct random *rng)
{
    size_t count = s->history->count;
    autofree struct scored *order = memory_new(count, sizeof *order);
    size_t measured = 0;
    for (size_t i = 0; i < count; i++)
        if (s->history->outcomes[i] >= 0) order[measured++] = (struct scored){history_score(s->history, i), i};
    qsort(order, measured, sizeof *order, compare_scored);
    size_t pending = smaller_of(s->history->pending, AWAITED_MOST);
    size_t rows = smaller_of(measured, most_rows(s) - pending);
    for (size_t i = BEST_ROWS; i < rows; i++) {
        size_t j = i + random_below(rng, measured - i);
        memory_swap(order[i], order[j]);
    }
    for (size_t i = 0; i < rows; i++) {
        size_t j = i + random_below(rng, rows - i);
        memory_swap(order[i], order[j]);
        add_row(s, order[i].row);
    }
    for (size_t i = count; i-- > 0 && pending;) {
        if (s->history->outcomes[i] != ROW_PENDING) continue;
        add_row(s, i);
        pending--;
    }
}

// A forgotten row is treated like an awaited one until the next fit.
static bool is_awaited(const struct surrogate *s, size_t i)
{
    return s->history->outcomes[s->rows.row[i]] < 0;
}

// The priors' expectation, in units of the targets.
static double expected(const struct surrogate *s, const float *features)
{
    return s->prior_weights.count ? prior_weights_expected(&s->prior_weights, features) / s->scale : 0;
}

static double expected_of(const struct surrogate *s, const uint16_t *config)
{
    float features[PRIOR_MOST];
    prior_weights_features(&s->prior_weights, config, features);
    return expected(s, features);
}

static double expected_of_row(const struct surrogate *s, size_t i)
{
    return expected(s, s->rows.features + i * s->prior_weights.count);
}

// The slowdowns of all rows; NaN for awaited ones.
static void find_slowdowns(struct surrogate *s)
{
    const struct history *h = s->history;
    double best = h->best >= 0 ? h->objectives[h->best] : 1, worst = 0;
    for (size_t i = 0; i < s->rows.count; i++) {
        double objective = history_score(h, s->rows.row[i]);
        s->rows.targets[i] = isfinite(objective) ? slowdown_of(objective, best) : NAN;
        if (s->rows.targets[i] > worst) worst = s->rows.targets[i];
    }
    if (worst == 0) worst = 1;
    for (size_t i = 0; i < s->rows.count; i++)
        if (!is_awaited(s, i) && isnan(s->rows.targets[i])) s->rows.targets[i] = worst;
}

// Computes the standardised targets of all rows and of the best row. Awaited rows get 0, the mean.
static void find_targets(struct surrogate *s)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    find_slowdowns(s);
    if (s->prior_weights.count) {
        prior_weights_learn(&s->prior_weights, s->rows.features, s->rows.targets, s->rows.count);
        for (size_t i = 0; i < s->rows.count; i++)
            s->rows.targets[i] -=
                prior_weights_expected(&s->prior_weights, s->rows.features + i * s->prior_weights.count);
        if (s->prior_weights.none <= 0.5) squares = USUAL_RESULTS * usual_error * usual_error;
    }
    for (size_t i = 0; i < s->rows.count; i++) {
        if (isnan(s->rows.targets[i])) continue;
        sum += s->rows.targets[i];
        squares += s->rows.targets[i] * s->rows.targets[i];
        n++;
    }
    double mean = sum / (double)n, deviation = sqrt(fmax(squares / (double)n - mean * mean, 1e-8));
    for (size_t i = 0; i < s->rows.count; i++)
        s->rows.targets[i] = isnan(s->rows.targets[i]) ? 0 : (s->rows.targets[i] - mean) / deviation;
    s->scale = deviation;
    s->best_target = (0 - mean) / deviation;
}

void surrogate_weigh(struct surrogate *s)
{
    if (s->known.reported_at_fit || s->history->count > s->rows.room) return;
    s->rows.count = 0;
    add_all_rows(s);
    find_slowdowns(s);
    prior_weights_learn(&s->prior_weights, s->rows.features, s->rows.targets, s->rows.count);
    s->rows.count = 0;
}

// An awaited row counts with the result that the model expects from the measured rows, so that the next proposal goes
// elsewhere (the kriging believer: Ginsbourger, Le Riche and Carraro 2010). If the best of these expected results beats
// the best measured one, it is the incumbent to improve on.
static void expect_awaited(struct surrogate *s)
{
    size_t *numbers = memory_new(s->rows.count, sizeof *numbers), count = 0;
    double *mean = memory_new(2 * s->rows.count, sizeof *mean), *variance = mean + s->rows.count;
    for (size_t i = 0; i < s->rows.count; i++)
        if (is_awaited(s, i)) numbers[count++] = i;
    s->best_measured = s->best_target;
    if (count == s->rows.count) count = 0;
    if (count) gp_without(s->gp, numbers, count, s->rows.targets, mean, variance);
    for (size_t i = 0; i < count; i++) {
        s->rows.targets[numbers[i]] = mean[i];
        s->rows.awaited_variance[numbers[i]] = variance[i];
        s->best_target = fmin(s->best_target, mean[i] + expected_of_row(s, numbers[i]));
    }
    if (count) gp_condition(s->gp, s->rows.targets);
    free(numbers);
    free(mean);
}

// Adds to the pool only the most promising of these configurations, judged by the means and bounds of gp_means, because
// each configuration costs time in all proposals that the pool serves. Their points come first in `points`. Returns
// their number.
static size_t keep_promising(struct surrogate *s, const uint16_t *configs, float *points, size_t count)
{
    size_t d = s->encoding.count, kept = smaller_of(count, KEPT);
    autofree struct scored *order = memory_new(count, sizeof *order);
    double *mean = memory_new(2 * count, sizeof *mean), *bound = mean + count;
    autofree float *best = memory_new(kept * d, sizeof *best);
    gp_means(s->gp, points, count, mean, bound);
    bool trusts = prior_weights_any(&s->prior_weights);
    for (size_t i = 0; i < count; i++) {
        if (trusts) mean[i] += expected_of(s, configs + i * s->width);
        order[i] = (struct scored){-improvement_expected(s->best_target, mean[i], bound[i]), i};
    }
    qsort(order, count, sizeof *order, compare_scored);
    for (size_t i = 0; i < kept; i++) {
        const uint16_t *config = configs + order[i].row * s->width;
        memcpy(s->pool.configs + (s->pool.count + i) * s->width, config, s->width * sizeof *config);
        memcpy(best + i * d, points + order[i].row * d, d * sizeof *best);
    }
    memcpy(points, best, kept * d * sizeof *best);
    free(mean);
    return kept;
}

// Adds the next part of a new pool. A pool that serves only one proposal has one part; otherwise it has PARTS parts, so
// that no proposal takes long.
static void add_to_pool(struct surrogate *s, bool used_again, struct random *rng)
{
    uint64_t size = space_size(s->space);
    size_t d = s->encoding.count, whole = size < POOL ? (size_t)size : POOL;
    // From a small space, every `step`-th configuration is taken, because those with neighbouring numbers are alike.
    size_t first = s->pool.parts, step = used_again ? PARTS : 1, count = (whole - first + step - 1) / step;
    autofree float *points = memory_new(count * d, sizeof *points);
    autofree uint16_t *configs = memory_new(count * s->width, sizeof *configs);
    for (size_t i = 0; i < count; i++) {
        uint16_t *config = configs + i * s->width;
        if (size <= POOL)
            space_get(s->space, first + i * step, config);
        else
            space_sample(s->space, rng, config);
        encoding_of(&s->encoding, config, points + i * d);
    }
    if (used_again)
        count = keep_promising(s, configs, points, count);
    else
        memcpy(s->pool.configs, configs, count * s->width * sizeof *configs);
    gp_pool_add(s->gp, points, count);
    s->pool.count += count;
    s->pool.parts = used_again ? s->pool.parts + 1 : PARTS;
}

// How many results are learnt at once. With more proposals outstanding, learning costs more and results arrive faster.
static size_t batch_of(const struct surrogate *s)
{
    size_t pending = smaller_of(s->history->pending, AWAITED_MOST), batch = larger_of(pending / BATCH, 1);
    return pending > BATCH_WIDE ? batch * pending / BATCH_WIDE : batch;
}

// The number of results after which the hyperparameters are fitted. This happens often at first, and less often when a
// fit costs more and changes less, or when many proposals are outstanding.
static size_t fit_interval(const struct surrogate *s, size_t reported)
{
    size_t batch = batch_of(s);
    return reported < 60 ? batch : reported < SPREAD_FROM ? larger_of(10, batch) : larger_of(20, FIT_BATCH * batch);
}

// The number of rows, counted from the first, that the hyperparameters are fitted to. Awaited rows at the end are left
// out.
static size_t fit_rows(const struct surrogate *s)
{
    size_t measured = s->rows.count;
    while (measured && is_awaited(s, measured - 1)) measured--;
    return smaller_of(measured, FIT_ROWS);
}

// Makes one step of the next fit, so that no proposal takes long. It uses a separate Gaussian process with the current
// data; meanwhile, the model keeps its hyperparameters.
static void prepare_fit(struct surrogate *s)
{
    size_t d = s->encoding.count, rows = fit_rows(s);
    if (s->next_fit.steps++ == 0) {
        gp_set_theta(s->next_fit.gp, gp_theta(s->gp));
        gp_fit_begin(s->next_fit.gp);
    }
    gp_clear(s->next_fit.gp);
    for (size_t i = 0; i < rows; i++) gp_add(s->next_fit.gp, s->rows.points + i * d);
    gp_fit_step(s->next_fit.gp, s->rows.targets, rows);
}

// Gives the model its new hyperparameters, and a new pool, which is still empty.
static void fit(struct surrogate *s, size_t reported, bool at_once)
{
    if (at_once)
        gp_fit(s->gp, s->rows.targets, s->known.reported_at_fit == 0 ? FIRST_STEPS : STEPS, fit_rows(s));
    else
        gp_set_theta(s->gp, gp_theta(s->next_fit.gp));
    s->known.reported_at_fit = reported;
    s->next_fit.steps = s->pool.count = s->pool.parts = s->pool.featured = 0;
    gp_pool_clear(s->gp);
}

static void choose_new_rows(struct surrogate *s, struct random *rng)
{
    s->rows.count = 0;
    if (most_rows(s) + SPARE_ROWS > s->rows.room) make_room(s, 2 * most_rows(s) + SPARE_ROWS);
    gp_clear(s->gp);
    if (s->history->count <= most_rows(s))
        add_all_rows(s);
    else
        choose_rows(s, rng);
}

bool surrogate_is_recent(const struct surrogate *s, size_t reported)
{
    size_t batch = batch_of(s);
    if (!s->known.reported_at_fit || s->known.rows < s->history->count || batch <= SMALL_BATCH) return false;
    return reported < s->known.reported + 2 * batch;
}

// Whether the model knows all rows, and has learnt enough of the results.
static bool is_up_to_date(const struct surrogate *s, size_t reported)
{
    if (!s->known.reported_at_fit || s->known.rows < s->history->count || s->known.best != s->history->best)
        return false;
    return reported < s->known.reported + batch_of(s);
}

void surrogate_learn(struct surrogate *s, size_t reported, struct random *rng)
{
    if (is_up_to_date(s, reported)) return;
    size_t d = s->encoding.count, every = fit_interval(s, reported);
    size_t new_results = reported - s->known.reported;
    bool at_once = s->known.reported_at_fit == 0 || reported < SPREAD_FROM;
    bool renew = at_once && (s->known.reported_at_fit == 0 || reported >= s->known.reported_at_fit + every);
    if (!renew && s->rows.count + (s->history->count - s->known.rows) > s->rows.room) {
        if (!s->next_fit.steps) prepare_fit(s);
        renew = true;
    }
    if (!renew) {
        for (size_t i = s->known.rows; i < s->history->count; i++) add_row(s, i);
        find_targets(s);
        // Makes as many steps as there are new results, as if each had been learnt when it arrived.
        for (size_t i = 0; i < new_results && s->next_fit.steps < STEPS && !at_once; i++)
            if (reported + STEPS > s->known.reported_at_fit + every + i) prepare_fit(s);
        renew = s->next_fit.steps == STEPS;
    }
    if (renew) {
        choose_new_rows(s, rng);
        find_targets(s);
    }
    s->known.rows = s->history->count;
    s->known.reported = reported;
    s->known.best = s->history->best;
    s->candidates.rated = s->proposal.known = false;
    for (size_t i = gp_count(s->gp); i < s->rows.count; i++) gp_add(s->gp, s->rows.points + i * d);
    if (renew) fit(s, reported, at_once);
    gp_condition(s->gp, s->rows.targets);
    expect_awaited(s);
    if (s->pool.parts < PARTS) add_to_pool(s, every > 1, rng);
}

void surrogate_await(struct surrogate *s)
{
    size_t d = s->encoding.count, i = s->rows.count;
    if (!s->known.reported_at_fit || s->known.rows + 1 != s->history->count || i == s->rows.room)
        return; // the next surrogate_learn adds the row
    add_row(s, s->known.rows++);
    gp_add(s->gp, s->rows.points + i * d);
    s->rows.targets[i] = s->proposal.mean - expected_of_row(s, i);
    s->rows.awaited_variance[i] = s->proposal.variance;
    s->best_target = fmin(s->best_target, s->proposal.mean);
    gp_add_fantasy(s->gp);
    s->proposal.known = false;
}

// Proposing ------------------------------------------------------------------------------------------

// Returns the best candidate, with its acquisition and variance, or -1 if no candidate is better than `*acquisition`.
// Exact variances are computed only if the bounds do not decide, and serve as bounds for the next proposal.
static int64_t best_candidate(struct surrogate *s, double *acquisition, double *variance)
{
    size_t d = s->encoding.count;
    int64_t best = -1;
    for (size_t i = 0; i < s->candidates.count; i++) {
        bool known = history_find(s->history, s->candidates.configs + i * s->width) >= 0;
        s->candidates.acquisition[i] =
            known ? -1 : improvement_expected(s->best_target, s->candidates.mean[i], s->candidates.bound[i]);
    }
    for (;;) {
        size_t top = 0;
        for (size_t i = 0; i < s->candidates.count; i++)
            if (s->candidates.acquisition[i] > s->candidates.acquisition[top]) top = i;
        if (top >= s->candidates.count || s->candidates.acquisition[top] <= *acquisition) return best;
        s->candidates.bound[top] = gp_variance(s->gp, s->candidates.encoded + top * d);
        double exact = improvement_expected(s->best_target, s->candidates.mean[top], s->candidates.bound[top]);
        s->candidates.acquisition[top] = -1;
        if (exact <= *acquisition) continue;
        *acquisition = exact;
        *variance = s->candidates.bound[top];
        best = (int64_t)top;
    }
}

static void add_best_neighbours(struct surrogate *s)
{
    struct scored top[TOP + 1];
    size_t count = 0;
    for (size_t i = 0; i < s->rows.count; i++) {
        struct scored one = {history_score(s->history, s->rows.row[i]), s->rows.row[i]};
        if (!isfinite(one.score)) continue;
        size_t at = count;
        for (; at > 0 && compare_scored(&one, &top[at - 1]) < 0; at--) top[at] = top[at - 1];
        top[at] = one;
        if (count < TOP) count++;
    }
    for (size_t i = 0; i < count; i++)
        s->candidates.count += space_neighbours(s->space, history_config(s->history, top[i].row),
                                                s->candidates.configs + s->candidates.count * s->width,
                                                s->candidates.room - s->candidates.count);
}

// Finds the candidates outside the pool, which are new neighbours of the best rows, with their expectations and upper
// bounds on their variances.
static void rate_neighbours(struct surrogate *s)
{
    size_t d = s->encoding.count, kept = 0;
    s->candidates.count = 0;
    if (space_size(s->space) <= POOL) return; // the whole space is in the pool
    add_best_neighbours(s);
    for (size_t i = 0; i < s->candidates.count; i++) {
        uint16_t *config = s->candidates.configs + i * s->width;
        if (history_find(s->history, config) >= 0) continue;
        if (kept < i) memcpy(s->candidates.configs + kept * s->width, config, s->width * sizeof *config);
        encoding_of(&s->encoding, config, s->candidates.encoded + kept * d);
        kept++;
    }
    s->candidates.count = kept;
    gp_means(s->gp, s->candidates.encoded, kept, s->candidates.mean, s->candidates.bound);
    for (size_t i = 0; i < kept && prior_weights_any(&s->prior_weights); i++)
        s->candidates.mean[i] += expected_of(s, s->candidates.configs + i * s->width);
}

static void add_pool_expectations(struct surrogate *s)
{
    size_t count = s->prior_weights.count;
    for (; s->pool.featured < s->pool.count; s->pool.featured++)
        prior_weights_features(&s->prior_weights, s->pool.configs + s->pool.featured * s->width,
                               s->pool.features + s->pool.featured * count);
    for (size_t i = 0; i < s->pool.count; i++) s->pool.mean[i] += expected(s, s->pool.features + i * count);
}

// Writes the best of all candidates to s->proposal.config.
static void find_proposal(struct surrogate *s)
{
    double best = -1;
    const uint16_t *chosen = NULL;
    gp_pool_moments(s->gp, s->candidates.rated ? NULL : s->pool.mean, s->pool.variance);
    if (!s->candidates.rated && prior_weights_any(&s->prior_weights)) add_pool_expectations(s);
    for (size_t i = 0; i < s->pool.count; i++) {
        if (improvement_most(s->best_target, s->pool.mean[i], s->pool.variance[i]) < best) continue;
        double acquisition = improvement_expected(s->best_target, s->pool.mean[i], s->pool.variance[i]);
        const uint16_t *candidate = s->pool.configs + i * s->width;
        if (acquisition <= best || history_find(s->history, candidate) >= 0) continue;
        best = acquisition;
        chosen = candidate;
        s->proposal.mean = s->pool.mean[i];
        s->proposal.variance = s->pool.variance[i];
    }
    if (!s->candidates.rated) rate_neighbours(s);
    s->candidates.rated = true;
    if (s->candidates.count) {
        int64_t neighbour = best_candidate(s, &best, &s->proposal.variance);
        if (neighbour >= 0) {
            chosen = s->candidates.configs + (size_t)neighbour * s->width;
            s->proposal.mean = s->candidates.mean[neighbour];
        }
    }
    if (chosen) memcpy(s->proposal.config, chosen, s->width * sizeof *chosen);
    s->proposal.known = chosen != NULL;
    s->proposal.acquisition = best;
}

double surrogate_propose(struct surrogate *s, uint16_t *config)
{
    if (!s->proposal.known || history_find(s->history, s->proposal.config) >= 0) find_proposal(s);
    if (s->proposal.known) memcpy(config, s->proposal.config, s->width * sizeof *config);
    return s->proposal.acquisition;
}

void surrogate_acquisitions(struct surrogate *s, const uint16_t *const *configs, size_t count, double *acquisition)
{
    size_t d = s->encoding.count;
    autofree float *point = memory_new(d, sizeof *point);
    for (size_t c = 0; c < count; c++) {
        double mean, bound, variance;
        int64_t row = history_find(s->history, configs[c]);
        size_t i = 0;
        while (i < s->rows.count && (row < 0 || s->rows.row[i] != (size_t)row)) i++;
        if (i < s->rows.count && is_awaited(s, i)) {
            mean = s->rows.targets[i] + expected_of_row(s, i);
            variance = s->rows.awaited_variance[i];
        } else { // another state's proposal
            encoding_of(&s->encoding, configs[c], point);
            gp_means(s->gp, point, 1, &mean, &bound);
            mean += expected_of(s, configs[c]);
            variance = gp_variance(s->gp, point);
        }
        acquisition[c] = improvement_expected(s->best_measured, mean, variance);
    }
}
