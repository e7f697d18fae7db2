// See gp.h.
//
// The factor is kept as the upper triangle U with U'U = K, row-major, so that inner loops run along a row and add a
// multiple of it. The inner loops are either in gp_loops.h or simple enough for the compiler to vectorise.
#include "search/model/gp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/gp_loops.h"
#include "tuner/base/memory.h"

enum { ROWS = 8 }; // rows of V that are computed at once

struct gp {
    struct arena memory;                     // for everything but the pool
    size_t dimensions, ordinal, room, count; // the first `ordinal` dimensions are ordinal
    float *points;                           // room x dimensions
    float *turned;                           // dimensions x room: the same points, dimension by dimension
    double *theta;                           // log length scales, log signal variance, log noise variance
    double *factor;                          // U, room x room
    size_t factored;                         // points that the factor includes
    double *weights;                         // K^-1 y
    double *column;                          // room
    struct gp_metric metric;
    double signal, noise;
    double *solved; // U'^-1 y
    // The pool: its points, and V = U'^-1 k(points, pool), with a row per known point; `rows` of them are up to date.
    struct {
        float *points, *kernel; // by chunks of GP_CHUNK points, the last one padded: dimensions, then rows of V
        float *squares;         // by point: the sum of the squares of V's rows
        size_t *rows;           // by chunk: rows of V that are up to date
        size_t count, room;
    } pool;
    struct { // by line: room x room, dimensions x room, one element per hyperparameter
        double *work, *kernel, *fall, *inverse;
        double *slopes;
        double *gradient, *slope, *step;
    } fit;
};

static const double least_noise = 1e-6;

static size_t pool_chunks(const struct gp *g)
{
    return (g->pool.count + GP_CHUNK - 1) / GP_CHUNK;
}

static void use_theta(struct gp *g)
{
    size_t d = g->dimensions;
    for (size_t i = 0; i < d; i++) g->metric.inverse[i] = exp(-2 * g->theta[i]);
    g->signal = exp(g->theta[d]);
    g->noise = exp(g->theta[d + 1]);
}

// The centre of the prior for a log length scale. It is chosen so that configurations stay well correlated if one
// parameter moves across its whole range or to another value.
static double prior_scale(const struct gp *g, size_t dimension)
{
    return 0.5 * log((double)(g->ordinal ? g->ordinal : 1)) + (dimension >= g->ordinal ? 0.5 : 0);
}

static double *doubles(struct gp *g, size_t count)
{
    return arena_new(&g->memory, count * sizeof(double));
}

struct gp *gp_new(size_t ordinal, size_t nominal, size_t max_points)
{
    struct gp *g = memory_new(1, sizeof *g);
    size_t dimensions = ordinal + nominal, matrix = max_points * max_points;
    g->theta = doubles(g, dimensions + 2);
    g->metric = (struct gp_metric){dimensions, ordinal, doubles(g, dimensions)};
    g->fit.gradient = doubles(g, dimensions + 2);
    g->fit.slope = doubles(g, dimensions + 2);
    g->fit.step = doubles(g, dimensions + 2);
    g->factor = doubles(g, matrix);
    g->fit.work = doubles(g, matrix);
    g->fit.kernel = doubles(g, matrix);
    g->fit.fall = doubles(g, matrix);
    g->fit.inverse = doubles(g, matrix);
    g->fit.slopes = doubles(g, max_points * dimensions);
    g->weights = doubles(g, max_points);
    g->column = doubles(g, max_points);
    g->solved = doubles(g, max_points);
    g->points = arena_new(&g->memory, max_points * dimensions * sizeof *g->points);
    g->turned = arena_new(&g->memory, max_points * dimensions * sizeof *g->turned);
    g->dimensions = dimensions;
    g->ordinal = ordinal;
    g->room = max_points;
    for (size_t i = 0; i < dimensions; i++) g->theta[i] = prior_scale(g, i);
    g->theta[dimensions + 1] = log(1e-3);
    use_theta(g);
    return g;
}

void gp_free(struct gp *g)
{
    if (!g) return;
    arena_release(&g->memory);
    free(g->pool.points);
    free(g->pool.kernel);
    free(g->pool.squares);
    free(g->pool.rows);
    free(g);
}

size_t gp_count(const struct gp *g)
{
    return g->count;
}

void gp_clear(struct gp *g)
{
    g->count = g->factored = 0;
    for (size_t c = 0; c < pool_chunks(g); c++) g->pool.rows[c] = 0;
}

void gp_add(struct gp *g, const float *point)
{
    assert(g->count < g->room);
    memcpy(g->points + g->count * g->dimensions, point, g->dimensions * sizeof *point);
    for (size_t m = 0; m < g->dimensions; m++) g->turned[m * g->room + g->count] = point[m];
    g->count++;
}

// g->column = U'^-1 k(point, the first n points).
static void find_column(struct gp *g, const float *point, size_t n)
{
    gp_relate(&g->metric, point, g->turned, g->room, n, g->column, NULL);
    for (size_t j = 0; j < n; j++) g->column[j] *= g->signal;
    gp_solve_forward(g->column, g->factor, g->room, n);
}

// Brings the factor up to date with the points.
static void extend_factor(struct gp *g)
{
    for (; g->factored < g->count; g->factored++) {
        size_t n = g->factored;
        double rest = g->signal + g->noise + least_noise;
        find_column(g, g->points + n * g->dimensions, n);
        for (size_t j = 0; j < n; j++) {
            g->factor[j * g->room + n] = g->column[j];
            rest -= g->column[j] * g->column[j];
        }
        g->factor[n * g->room + n] = sqrt(fmax(rest, least_noise));
    }
}

// Replaces a by the triangle R with a = R'R, row-major; only the upper triangle is read. `column` has room for n.
// `least` is a lower bound for the squares of the diagonal elements.
static void factor_in_place(double *a, size_t stride, size_t n, double *column, double least)
{
    for (size_t i = 0; i < n; i++) {
        double *row = a + i * stride;
        for (size_t k = 0; k < i; k++) column[k] = a[k * stride + i];
        gp_eliminate(row + i, n - i, a + i, stride, column, i);
        double pivot = sqrt(fmax(row[i], least));
        row[i] = pivot;
        for (size_t j = i + 1; j < n; j++) row[j] /= pivot;
    }
}

// Factorises the kernel matrix of the first n points. Writes the matrix to g->fit.kernel, and exp(-r) of the kernel's
// product part to `fall` (may be NULL).
static void factorise(struct gp *g, size_t n, double *fall)
{
    size_t stride = g->room;
    for (size_t i = 0; i < n; i++) {
        double *row = g->fit.kernel + i * stride;
        row[i] = g->signal + g->noise + least_noise;
        gp_relate(&g->metric, g->points + i * g->dimensions, g->turned + i + 1, stride, n - i - 1, row + i + 1,
                  fall ? fall + i * stride + i + 1 : NULL);
        for (size_t j = i + 1; j < n; j++) row[j] *= g->signal;
        memcpy(g->factor + i * stride + i, row + i, (n - i) * sizeof *row);
    }
    factor_in_place(g->factor, stride, n, g->column, least_noise);
    g->factored = n;
}

// x = U^-1 x for the first n rows of the upper triangle U.
static void solve_backward(double *x, const double *factor, size_t stride, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = factor + i * stride;
        double v = x[i];
        for (size_t j = i + 1; j < n; j++) v -= row[j] * x[j];
        x[i] = v / row[i];
    }
}

static void find_weights(struct gp *g, const double *targets, size_t n)
{
    memcpy(g->weights, targets, n * sizeof *targets);
    gp_solve_forward(g->weights, g->factor, g->room, n);
    memcpy(g->solved, g->weights, n * sizeof *g->solved);
    solve_backward(g->weights, g->factor, g->room, n);
}

// Writes U'^-1 of the upper triangle U to `inverse`; row i is 0 beyond column i. `column` has room for n.
static void invert_factor(const double *factor, size_t stride, double *inverse, size_t n, double *column)
{
    for (size_t i = 0; i < n; i++) {
        double *row = inverse + i * stride, f = 1 / factor[i * stride + i];
        memset(row, 0, n * sizeof *row);
        for (size_t k = 0; k < i; k++) column[k] = factor[k * stride + i];
        gp_eliminate(row, i, inverse, stride, column, i);
        row[i] = 1;
        for (size_t j = 0; j <= i; j++) row[j] *= f;
    }
}

// Writes the upper triangle of K^-1 to `out`. `inverse` gets U'^-1.
static void invert(struct gp *g, double *out, double *inverse, size_t n)
{
    size_t stride = g->room;
    invert_factor(g->factor, stride, inverse, n, g->column);
    // Row i of K^-1 is the sum over k of row k times its element in column i.
    for (size_t i = 0; i < n; i++) {
        memset(out + i * stride + i, 0, (n - i) * sizeof *out);
        for (size_t k = i; k < n; k++) g->column[k] = -inverse[k * stride + i];
        gp_eliminate(out + i * stride + i, n - i, inverse + i * stride + i, stride, g->column + i, n - i);
    }
}

// Recomputes the factor after a change of the hyperparameters; the pool is then out of date.
static void refactorise(struct gp *g)
{
    factorise(g, g->count, NULL);
    for (size_t c = 0; c < pool_chunks(g); c++) g->pool.rows[c] = 0;
}

// Half the trace of (w w' - K^-1) dK/dtheta, plus the gradient of the priors.
const double *gp_gradient(struct gp *g, const double *targets, size_t n)
{
    size_t d = g->dimensions, stride = g->room;
    double *gradient = g->fit.gradient, *w = g->column;
    factorise(g, n, g->fit.fall);
    find_weights(g, targets, n);
    invert(g, g->fit.work, g->fit.inverse, n);
    memset(gradient, 0, (d + 2) * sizeof *gradient);
    for (size_t m = 0; m < d; m++) memset(g->fit.slopes + m * stride, 0, n * sizeof *g->fit.slopes);
    for (size_t i = 0; i < n; i++) {
        double own = g->weights[i] * g->weights[i] - g->fit.work[i * stride + i];
        gradient[d] += 0.5 * own * g->signal;
        gradient[d + 1] += 0.5 * own * g->noise;
        for (size_t j = i + 1; j < n; j++) {
            w[j] = g->weights[i] * g->weights[j] - g->fit.work[i * stride + j];
            gradient[d] += w[j] * g->fit.kernel[i * stride + j];
            w[j] *= g->signal;
        }
        gp_add_slopes(&g->metric, g->points + i * d, g->turned + i + 1, stride, n - i - 1, w + i + 1,
                      g->fit.fall + i * stride + i + 1, g->fit.slopes + i + 1);
    }
    for (size_t m = 0; m < d; m++)
        for (size_t j = 0; j < n; j++) gradient[m] += g->fit.slopes[m * stride + j];
    // The priors, normal in the logarithms, favour scales that keep neighbours correlated, a signal near the targets'
    // variance, and little noise.
    for (size_t m = 0; m < d; m++) gradient[m] -= g->theta[m] - prior_scale(g, m);
    gradient[d] -= g->theta[d];
    gradient[d + 1] -= (g->theta[d + 1] - log(1e-3)) / 2.25;
    return gradient;
}

const double *gp_theta(const struct gp *g)
{
    return g->theta;
}

void gp_set_theta(struct gp *g, const double *theta)
{
    memcpy(g->theta, theta, (g->dimensions + 2) * sizeof *theta);
    use_theta(g);
    refactorise(g);
}

void gp_fit_begin(struct gp *g)
{
    size_t d = g->dimensions;
    memset(g->fit.slope, 0, (d + 2) * sizeof *g->fit.slope);
    for (size_t i = 0; i < d + 2; i++) g->fit.step[i] = 0.15;
}

void gp_fit_step(struct gp *g, const double *targets, size_t most)
{
    size_t d = g->dimensions;
    const double *gradient = gp_gradient(g, targets, smaller_of(g->count, most));
    for (size_t i = 0; i < d + 2; i++) {
        double slope = gradient[i];
        if (slope * g->fit.slope[i] > 0)
            g->fit.step[i] = fmin(g->fit.step[i] * 1.3, 0.7);
        else if (slope * g->fit.slope[i] < 0)
            g->fit.step[i] = fmax(g->fit.step[i] * 0.5, 0.005);
        g->fit.slope[i] = slope;
        double low = i < d ? log(0.03) : i == d ? log(0.05) : log(1e-6);
        double high = i < d ? log(50) : i == d ? log(20) : log(0.5);
        g->theta[i] = fmin(fmax(g->theta[i] + (slope > 0 ? g->fit.step[i] : -g->fit.step[i]), low), high);
    }
    use_theta(g);
}

void gp_fit(struct gp *g, const double *targets, int steps, size_t most)
{
    gp_fit_begin(g);
    for (int s = 0; s < steps; s++) gp_fit_step(g, targets, most);
    refactorise(g);
}

void gp_condition(struct gp *g, const double *targets)
{
    extend_factor(g);
    find_weights(g, targets, g->count);
}

void gp_add_fantasy(struct gp *g)
{
    size_t known = g->factored;
    extend_factor(g);
    for (size_t i = known; i < g->count; i++) g->weights[i] = g->solved[i] = 0;
}

// Stores at most GP_CHUNK points dimension by dimension.
static void turn(const struct gp *g, const float *points, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < g->dimensions; m++) out[m * GP_CHUNK + i] = points[i * g->dimensions + m];
}

void gp_pool_clear(struct gp *g)
{
    g->pool.count = 0;
}

void gp_pool_add(struct gp *g, const float *points, size_t count)
{
    size_t d = g->dimensions, chunks = (g->pool.count + count + GP_CHUNK - 1) / GP_CHUNK;
    if (chunks > g->pool.room) {
        g->pool.points = memory_grow(g->pool.points, chunks * GP_CHUNK * d, sizeof *g->pool.points);
        g->pool.kernel = memory_grow(g->pool.kernel, chunks * GP_CHUNK * g->room, sizeof *g->pool.kernel);
        g->pool.squares = memory_grow(g->pool.squares, chunks * GP_CHUNK, sizeof *g->pool.squares);
        g->pool.rows = memory_grow(g->pool.rows, chunks, sizeof *g->pool.rows);
        g->pool.room = chunks;
    }
    while (count) {
        size_t chunk = g->pool.count / GP_CHUNK, lane = g->pool.count % GP_CHUNK;
        size_t width = smaller_of(count, GP_CHUNK - lane);
        float *at = g->pool.points + chunk * GP_CHUNK * d;
        if (!lane) memset(at, 0, GP_CHUNK * d * sizeof *at);
        turn(g, points, width, at + lane);
        g->pool.rows[chunk] = 0;
        g->pool.count += width;
        points += width * d;
        count -= width;
    }
}

// Brings a chunk of V up to date, a few rows at a time so that they stay in the cache. The rows of `factors` are the
// factor's columns from `least` on.
static void extend_chunk(struct gp *g, size_t c, const float *factors, size_t least)
{
    const float *points = g->pool.points + c * GP_CHUNK * g->dimensions;
    float *chunk = g->pool.kernel + c * GP_CHUNK * g->room, *squares = g->pool.squares + c * GP_CHUNK;
    size_t n = g->count, known = g->pool.rows[c];
    float signal = (float)g->signal;
    if (!known) memset(squares, 0, GP_CHUNK * sizeof *squares);
    for (size_t first = known; first < n; first += ROWS) {
        size_t end = smaller_of(first + ROWS, n);
        float *rows = chunk + first * GP_CHUNK;
        for (size_t k = first; k < end; k++) {
            float *row = chunk + k * GP_CHUNK;
            gp_relate_chunk(&g->metric, g->points + k * g->dimensions, points, row);
            for (size_t i = 0; i < GP_CHUNK; i++) row[i] *= signal;
        }
        gp_eliminate_chunk(rows, end - first, chunk, factors + (first - least) * n, n, first);
        for (size_t k = first; k < end; k++) {
            float *row = chunk + k * GP_CHUNK, f = (float)(1 / g->factor[k * g->room + k]);
            gp_eliminate_chunk(row, 1, rows, factors + (k - least) * n + first, n, k - first);
            for (size_t i = 0; i < GP_CHUNK; i++) {
                row[i] *= f;
                squares[i] += row[i] * row[i];
            }
        }
    }
    g->pool.rows[c] = n;
}

void gp_pool_moments(struct gp *g, double *mean, double *variance)
{
    size_t n = g->count, least = n;
    for (size_t c = 0; c < pool_chunks(g); c++) least = smaller_of(least, g->pool.rows[c]);
    float *minus_solved = memory_new(n + (n - least) * n, sizeof *minus_solved), *factors = minus_solved + n;
    for (size_t j = 0; j < n; j++) {
        for (size_t k = j > least ? j : least; k < n; k++)
            factors[(k - least) * n + j] = (float)g->factor[j * g->room + k];
        minus_solved[j] = -(float)g->solved[j];
    }
    for (size_t c = 0; c < pool_chunks(g); c++) {
        size_t first = c * GP_CHUNK, width = smaller_of(g->pool.count - first, GP_CHUNK);
        float sum[GP_CHUNK] = {0};
        extend_chunk(g, c, factors, least);
        if (mean) gp_eliminate_chunk(sum, 1, g->pool.kernel + first * g->room, minus_solved, 0, n);
        for (size_t i = 0; i < width; i++) {
            if (mean) mean[first + i] = (double)sum[i];
            variance[first + i] = fmax(g->signal - (double)g->pool.squares[first + i], 1e-6 * g->signal);
        }
    }
    free(minus_solved);
}

void gp_means(const struct gp *g, const float *points, size_t count, double *mean, double *bound)
{
    size_t d = g->dimensions;
    float *turned = memory_new(d * GP_CHUNK, sizeof *turned), row[GP_CHUNK];
    for (size_t first = 0; first < count; first += GP_CHUNK) {
        size_t width = smaller_of(count - first, GP_CHUNK);
        double means[GP_CHUNK] = {0}, bounds[GP_CHUNK] = {0};
        turn(g, points + first * d, width, turned);
        for (size_t j = 0; j < g->count; j++) {
            gp_relate_chunk(&g->metric, g->points + j * d, turned, row);
            gp_gather_chunk(row, g->weights[j], means, bounds);
        }
        for (size_t i = 0; i < width; i++) {
            double k = g->signal * bounds[i];
            mean[first + i] = g->signal * means[i];
            bound[first + i] = g->signal - k * k / (g->signal + g->noise + least_noise);
        }
    }
    free(turned);
}

double gp_variance(struct gp *g, const float *point)
{
    size_t n = g->count;
    double rest = g->signal;
    find_column(g, point, n);
    for (size_t j = 0; j < n; j++) rest -= g->column[j] * g->column[j];
    return fmax(rest, 1e-9);
}

// Let A be the rows and columns of K^-1 that belong to the points P in question. Given the other points, their
// covariance is A^-1, and their mean is -A^-1 (K^-1 y)_P, where y is 0 at P (the inverse of a block matrix). With V =
// U'^-1 E, where E consists of the columns of the identity matrix for P, A = V'V and (K^-1 y)_P = V' U'^-1 y.
void gp_without(const struct gp *g, const size_t *numbers, size_t count, const double *targets, double *mean,
                double *variance)
{
    size_t n = g->count, first = numbers[0], width = 0;
    double *y = memory_new(2 * n + n * count + 2 * count * count, sizeof *y), *column = y + n, *v = column + n,
           *a = v + n * count, *inverse = a + count * count;
    memcpy(y, targets, n * sizeof *y);
    for (size_t i = 0; i < count; i++) {
        y[numbers[i]] = 0;
        v[numbers[i] * count + i] = 1;
    }
    gp_solve_forward(y, g->factor, g->room, n);
    for (size_t k = first; k < n; k++) { // a column of V is 0 before its point's row
        double *row = v + k * count, f = 1 / g->factor[k * g->room + k];
        while (width < count && numbers[width] <= k) width++;
        for (size_t j = first; j < k; j++) column[j] = g->factor[j * g->room + k];
        gp_eliminate(row, width, v + first * count, count, column + first, k - first);
        for (size_t i = 0; i < width; i++) row[i] *= f;
    }
    for (size_t i = 0; i < count; i++) {
        size_t from = numbers[i];
        mean[i] = 0;
        for (size_t k = from; k < n; k++) {
            column[k] = -v[k * count + i];
            mean[i] += column[k] * y[k];
        }
        gp_eliminate(a + i * count + i, count - i, v + from * count + i, count, column + from, n - from);
    }
    // A = R'R, and A^-1 = S'S with S = R'^-1.
    factor_in_place(a, count, count, column, 1e-12);
    invert_factor(a, count, inverse, count, column);
    gp_solve_forward(mean, a, count, count);
    solve_backward(mean, a, count, count);
    for (size_t i = 0; i < count; i++) {
        variance[i] = 0;
        for (size_t k = i; k < count; k++) variance[i] += inverse[k * count + i] * inverse[k * count + i];
        variance[i] = fmax(variance[i] - g->noise - least_noise, 1e-9);
    }
    free(y);
}
