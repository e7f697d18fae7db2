// See gp.h.
//
// The factor is kept as the upper triangle U with U'U = K, row-major, so that every inner loop below runs along a row
// and adds a multiple of it: loops that the compiler turns into vector code (hence O3, and hence no sums in inner
// loops).
#include "search/gp.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

// The kernel as a table over the squared distance: sqrt and exp for every pair would be most of the cost of a
// prediction.
enum { TABLE_SIZE = 4096, CHUNK = 256 };
static const double table_range = 64; // from here on the kernel (below 1.4e-5) counts as 0

struct gp {
    size_t dimensions, ordinal, room, count; // the first `ordinal` dimensions are ordinal
    float *points;                           // room x dimensions
    double *theta;                           // log length scales, log signal variance, log noise variance
    double *factor;                          // U, room x room
    double *weights;                         // K^-1 y
    double *column;                          // room
    double *inverse;                         // 1 / length scale^2
    double signal, noise;
    float table[TABLE_SIZE + 2];
    double *solved; // U'^-1 y
    // The pool: its points, and V = U'^-1 k(points, pool), a row a point that is known, of which `pool_rows` are up to
    // date.
    float *pool, *pool_kernel; // each chunk of the pool lies dimension by dimension
    size_t pool_count, pool_rows;
    // for fitting
    double *work, *kernel, *gradient, *slope, *step;
};

static const double least_noise = 1e-6;

// The additive part's share of the signal.
static const double additive = 0.5;

static double matern(double squared)
{
    double r = sqrt(3 * squared);
    return (1 + r) * exp(-r);
}

static void use_theta(struct gp *g)
{
    size_t d = g->dimensions;
    for (size_t i = 0; i < d; i++) g->inverse[i] = exp(-2 * g->theta[i]);
    g->signal = exp(g->theta[d]);
    g->noise = exp(g->theta[d + 1]);
}

// The prior's centre of a log length scale: a change across one whole range, or to another value, keeps configurations
// well related.
static double prior_scale(const struct gp *g, size_t dimension)
{
    return 0.5 * log((double)(g->ordinal ? g->ordinal : 1)) + (dimension >= g->ordinal ? 0.5 : 0);
}

struct gp *gp_new(size_t ordinal, size_t nominal, size_t max_points)
{
    struct gp *g = memory_new(1, sizeof *g);
    size_t dimensions = ordinal + nominal;
    size_t matrix = max_points * max_points;
    g->dimensions = dimensions;
    g->ordinal = ordinal;
    g->room = max_points;
    g->points = memory_new(max_points * dimensions, sizeof *g->points);
    g->theta = memory_new(dimensions + 2, sizeof *g->theta);
    g->inverse = memory_new(dimensions, sizeof *g->inverse);
    g->gradient = memory_new(dimensions + 2, sizeof *g->gradient);
    g->slope = memory_new(dimensions + 2, sizeof *g->slope);
    g->step = memory_new(dimensions + 2, sizeof *g->step);
    g->factor = memory_new(matrix, sizeof *g->factor);
    g->work = memory_new(matrix, sizeof *g->work);
    g->kernel = memory_new(matrix, sizeof *g->kernel);
    g->weights = memory_new(max_points, sizeof *g->weights);
    g->column = memory_new(max_points, sizeof *g->column);
    g->solved = memory_new(max_points, sizeof *g->solved);
    for (size_t i = 0; i < dimensions; i++) g->theta[i] = prior_scale(g, i);
    g->theta[dimensions + 1] = log(1e-3);
    for (int i = 0; i < TABLE_SIZE + 2; i++)
        g->table[i] = (float)matern(table_range * i * i / ((double)TABLE_SIZE * TABLE_SIZE));
    use_theta(g);
    return g;
}

void gp_free(struct gp *g)
{
    if (!g) return;
    free(g->points);
    free(g->theta);
    free(g->inverse);
    free(g->gradient);
    free(g->slope);
    free(g->step);
    free(g->factor);
    free(g->work);
    free(g->kernel);
    free(g->weights);
    free(g->column);
    free(g->solved);
    free(g->pool);
    free(g->pool_kernel);
    free(g);
}

size_t gp_count(const struct gp *g)
{
    return g->count;
}

void gp_clear(struct gp *g)
{
    g->count = 0;
    g->pool_rows = 0;
}

// Squared difference of one dimension.
static double difference(const struct gp *g, const float *a, const float *b, size_t dimension)
{
    double d = (double)a[dimension] - (double)b[dimension];
    return dimension < g->ordinal ? d * d : d != 0;
}

// The kernel at unit signal.
static double related(const struct gp *g, const float *a, const float *b)
{
    double sum = 0, alone = 0;
    for (size_t i = 0; i < g->dimensions; i++) {
        double q = difference(g, a, b, i) * g->inverse[i];
        sum += q;
        alone += 1 / (1 + q);
    }
    return (1 - additive) * matern(sum) + additive * alone / (double)g->dimensions;
}

// x = U'^-1 x for the first n rows.
static void solve_forward(const struct gp *g, const double *factor, double *x, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const double *row = factor + k * g->room;
        double f = x[k] /= row[k];
        for (size_t j = k + 1; j < n; j++) x[j] -= f * row[j];
    }
}

void gp_add(struct gp *g, const float *point)
{
    assert(g->count < g->room);
    size_t n = g->count;
    for (size_t j = 0; j < n; j++) g->column[j] = g->signal * related(g, point, g->points + j * g->dimensions);
    solve_forward(g, g->factor, g->column, n);
    double rest = g->signal + g->noise + least_noise;
    for (size_t j = 0; j < n; j++) {
        g->factor[j * g->room + n] = g->column[j];
        rest -= g->column[j] * g->column[j];
    }
    g->factor[n * g->room + n] = sqrt(fmax(rest, least_noise));
    memcpy(g->points + n * g->dimensions, point, g->dimensions * sizeof *point);
    g->count++;
}

// Factorises the kernel matrix of the first n points; fills g->kernel with it too.
static void factorise(struct gp *g, size_t n)
{
    size_t stride = g->room;
    for (size_t i = 0; i < n; i++) {
        double *row = g->factor + i * stride, *kept = g->kernel + i * stride;
        const float *a = g->points + i * g->dimensions;
        row[i] = kept[i] = g->signal + g->noise + least_noise;
        for (size_t j = i + 1; j < n; j++) row[j] = kept[j] = g->signal * related(g, a, g->points + j * g->dimensions);
    }
    for (size_t k = 0; k < n; k++) {
        double *row = g->factor + k * stride;
        double pivot = sqrt(fmax(row[k], least_noise));
        row[k] = pivot;
        for (size_t j = k + 1; j < n; j++) row[j] /= pivot;
        for (size_t i = k + 1; i < n; i++) {
            double f = row[i], *other = g->factor + i * stride;
            for (size_t j = i; j < n; j++) other[j] -= f * row[j];
        }
    }
}

// x = U^-1 x for the first n rows.
static void solve_backward(const struct gp *g, double *x, size_t n)
{
    for (size_t i = n; i-- > 0;) {
        const double *row = g->factor + i * g->room;
        double v = x[i];
        for (size_t j = i + 1; j < n; j++) v -= row[j] * x[j];
        x[i] = v / row[i];
    }
}

static void find_weights(struct gp *g, const double *targets, size_t n)
{
    memcpy(g->weights, targets, n * sizeof *targets);
    solve_forward(g, g->factor, g->weights, n);
    memcpy(g->solved, g->weights, n * sizeof *g->solved);
    solve_backward(g, g->weights, n);
}

// The upper triangle of K^-1 into `out`, from the inverse of U' (whose row i goes into `inverse`, then is used up).
static void invert(const struct gp *g, double *out, double *inverse, size_t n)
{
    size_t stride = g->room;
    // Row i of L^-1, L = U': L^-1[i][.] = (e_i - sum over k < i of U[k][i] L^-1[k][.]) / U[i][i].
    for (size_t i = 0; i < n; i++) memset(out + i * stride + i, 0, (n - i) * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        double *row = inverse + i * stride, f = 1 / g->factor[i * stride + i];
        memset(row, 0, (i + 1) * sizeof *row);
        for (size_t k = 0; k < i; k++) {
            double u = g->factor[k * stride + i];
            const double *other = inverse + k * stride;
            for (size_t j = 0; j <= k; j++) row[j] -= u * other[j];
        }
        row[i] = 1;
        for (size_t j = 0; j <= i; j++) row[j] *= f;
        // K^-1 is the sum over i of the products of that row with itself.
        for (size_t a = 0; a <= i; a++) {
            double v = row[a], *target = out + a * stride;
            for (size_t b = a; b <= i; b++) target[b] += v * row[b];
        }
    }
}

// Gradient of the log posterior of theta: half the trace of (w w' - K^-1) dK/dtheta, and the priors.
static void find_gradient(struct gp *g, const double *targets, size_t n)
{
    size_t d = g->dimensions, stride = g->room;
    double *gradient = g->gradient;
    factorise(g, n);
    find_weights(g, targets, n);
    double *inverse = memory_new(n * stride, sizeof *inverse);
    invert(g, g->work, inverse, n);
    free(inverse);
    memset(gradient, 0, (d + 2) * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        const float *a = g->points + i * d;
        double own = g->weights[i] * g->weights[i] - g->work[i * stride + i];
        gradient[d] += 0.5 * own * g->signal;
        gradient[d + 1] += 0.5 * own * g->noise;
        for (size_t j = i + 1; j < n; j++) {
            const float *b = g->points + j * d;
            double w = g->weights[i] * g->weights[j] - g->work[i * stride + j], sum = 0;
            gradient[d] += w * g->kernel[i * stride + j];
            for (size_t m = 0; m < d; m++) sum += difference(g, a, b, m) * g->inverse[m];
            // With q = (difference / l)^2: dk / dlog l is 3 e^-r q of Matérn's part, 2 q / (1 + q)^2 of the additive
            // one.
            double common = (1 - additive) * 3 * exp(-sqrt(3 * sum)), share = additive * 2 / (double)d;
            for (size_t m = 0; m < d; m++) {
                double q = difference(g, a, b, m) * g->inverse[m];
                gradient[m] += w * g->signal * q * (common + share / ((1 + q) * (1 + q)));
            }
        }
    }
    // Priors, normal in the logarithms: scales that keep neighbours related, a signal near the targets' variance,
    // little noise.
    for (size_t m = 0; m < d; m++) gradient[m] -= g->theta[m] - prior_scale(g, m);
    gradient[d] -= g->theta[d];
    gradient[d + 1] -= (g->theta[d + 1] - log(1e-3)) / 2.25;
}

void gp_theta(const struct gp *g, double *theta)
{
    memcpy(theta, g->theta, (g->dimensions + 2) * sizeof *theta);
}

void gp_set_theta(struct gp *g, const double *theta)
{
    memcpy(g->theta, theta, (g->dimensions + 2) * sizeof *theta);
    use_theta(g);
    factorise(g, g->count);
    g->pool_rows = 0;
}

void gp_gradient(struct gp *g, const double *targets, double *gradient)
{
    find_gradient(g, targets, g->count);
    memcpy(gradient, g->gradient, (g->dimensions + 2) * sizeof *gradient);
}

void gp_fit(struct gp *g, const double *targets, int steps, size_t most)
{
    size_t d = g->dimensions, n = g->count < most ? g->count : most;
    memset(g->slope, 0, (d + 2) * sizeof *g->slope);
    for (size_t i = 0; i < d + 2; i++) g->step[i] = 0.15;
    for (int s = 0; s < steps; s++) {
        find_gradient(g, targets, n);
        for (size_t i = 0; i < d + 2; i++) {
            double slope = g->gradient[i];
            if (slope * g->slope[i] > 0)
                g->step[i] = fmin(g->step[i] * 1.3, 0.7);
            else if (slope * g->slope[i] < 0)
                g->step[i] = fmax(g->step[i] * 0.5, 0.005);
            g->slope[i] = slope;
            double low = i < d ? log(0.03) : i == d ? log(0.05) : log(1e-6);
            double high = i < d ? log(50) : i == d ? log(20) : log(0.5);
            g->theta[i] = fmin(fmax(g->theta[i] + (slope > 0 ? g->step[i] : -g->step[i]), low), high);
        }
        use_theta(g);
    }
    factorise(g, g->count);
    g->pool_rows = 0;
}

void gp_condition(struct gp *g, const double *targets)
{
    find_weights(g, targets, g->count);
}

// The kernel at unit signal between one known point and `count` (at most CHUNK) others, which lie dimension by
// dimension.
static void kernel_row(const struct gp *g, const float *scaled, const float *b, const float *points, size_t count,
                       float *out)
{
    size_t d = g->dimensions;
    float step = (float)(TABLE_SIZE / sqrt(table_range)), share = (float)(additive / (double)d),
          rest = (float)(1 - additive);
    float sum[CHUNK] = {0}, alone[CHUNK] = {0};
    for (size_t m = 0; m < d; m++) {
        const float *a = points + m * count;
        float weight = scaled[m], own = b[m];
        bool ordinal = m < g->ordinal;
        for (size_t i = 0; i < count; i++) {
            float apart = a[i] - own, q = (ordinal ? apart * apart : apart != 0) * weight;
            sum[i] += q;
            alone[i] += 1 / (1 + q);
        }
    }
    for (size_t i = 0; i < count; i++) {
        // The table is over the distance, so that its steps are fine where the kernel falls.
        float at = sqrtf(sum[i]) * step;
        int cell = at < TABLE_SIZE ? (int)at : TABLE_SIZE;
        float product =
            at < TABLE_SIZE ? g->table[cell] + (at - (float)cell) * (g->table[cell + 1] - g->table[cell]) : 0;
        out[i] = rest * product + share * alone[i];
    }
}

// Lays `count` points out dimension by dimension.
static void turn(const struct gp *g, const float *points, size_t count, float *out)
{
    for (size_t i = 0; i < count; i++)
        for (size_t m = 0; m < g->dimensions; m++) out[m * count + i] = points[i * g->dimensions + m];
}

void gp_pool(struct gp *g, const float *points, size_t count)
{
    if (count > g->pool_count || !g->pool) {
        free(g->pool);
        free(g->pool_kernel);
        g->pool = memory_new(count * g->dimensions, sizeof *g->pool);
        g->pool_kernel = memory_new(count * g->room, sizeof *g->pool_kernel);
    }
    for (size_t first = 0; first < count; first += CHUNK)
        turn(g, points + first * g->dimensions, count - first < CHUNK ? count - first : CHUNK,
             g->pool + first * g->dimensions);
    g->pool_count = count;
    g->pool_rows = 0;
}

// Brings the rows of V up to date, a chunk of the pool at a time so that its rows stay in the cache.
static void extend_pool(struct gp *g)
{
    size_t d = g->dimensions, n = g->count;
    float *scaled = memory_new(d, sizeof *scaled);
    for (size_t m = 0; m < d; m++) scaled[m] = (float)g->inverse[m];
    for (size_t first = 0; first < g->pool_count && g->pool_rows < n; first += CHUNK) {
        size_t width = g->pool_count - first < CHUNK ? g->pool_count - first : CHUNK;
        float *chunk = g->pool_kernel + first * g->room; // room rows of `width`
        for (size_t k = g->pool_rows; k < n; k++) {
            float *row = chunk + k * width, signal = (float)g->signal, f = (float)(1 / g->factor[k * g->room + k]);
            kernel_row(g, scaled, g->points + k * d, g->pool + first * d, width, row);
            for (size_t i = 0; i < width; i++) row[i] *= signal;
            for (size_t j = 0; j < k; j++) {
                const float *other = chunk + j * width;
                float u = (float)g->factor[j * g->room + k];
                for (size_t i = 0; i < width; i++) row[i] -= u * other[i];
            }
            for (size_t i = 0; i < width; i++) row[i] *= f;
        }
    }
    g->pool_rows = n;
    free(scaled);
}

void gp_pool_moments(struct gp *g, double *mean, double *variance)
{
    extend_pool(g);
    for (size_t first = 0; first < g->pool_count; first += CHUNK) {
        size_t width = g->pool_count - first < CHUNK ? g->pool_count - first : CHUNK;
        const float *chunk = g->pool_kernel + first * g->room;
        float sum[CHUNK] = {0}, squares[CHUNK] = {0};
        for (size_t k = 0; k < g->count; k++) {
            const float *row = chunk + k * width;
            float y = (float)g->solved[k];
            for (size_t i = 0; i < width; i++) {
                sum[i] += y * row[i];
                squares[i] += row[i] * row[i];
            }
        }
        for (size_t i = 0; i < width; i++) {
            mean[first + i] = (double)sum[i];
            variance[first + i] = fmax(g->signal - (double)squares[i], 1e-6 * g->signal);
        }
    }
}

void gp_means(const struct gp *g, const float *points, size_t count, double *mean, double *bound)
{
    size_t d = g->dimensions;
    float *scaled = memory_new(d + d * CHUNK, sizeof *scaled), *turned = scaled + d, row[CHUNK];
    for (size_t m = 0; m < d; m++) scaled[m] = (float)g->inverse[m];
    for (size_t first = 0; first < count; first += CHUNK) {
        size_t width = count - first < CHUNK ? count - first : CHUNK;
        double *means = mean + first, *bounds = bound + first;
        turn(g, points + first * d, width, turned);
        for (size_t i = 0; i < width; i++) means[i] = bounds[i] = 0;
        for (size_t j = 0; j < g->count; j++) {
            kernel_row(g, scaled, g->points + j * d, turned, width, row);
            for (size_t i = 0; i < width; i++) {
                double k = (double)row[i];
                means[i] += k * g->weights[j];
                bounds[i] = k > bounds[i] ? k : bounds[i];
            }
        }
        for (size_t i = 0; i < width; i++) {
            double k = g->signal * bounds[i];
            means[i] *= g->signal;
            bounds[i] = g->signal - k * k / (g->signal + g->noise + least_noise);
        }
    }
    free(scaled);
}

double gp_variance(struct gp *g, const float *point)
{
    size_t n = g->count;
    double rest = g->signal;
    for (size_t j = 0; j < n; j++) g->column[j] = g->signal * related(g, point, g->points + j * g->dimensions);
    solve_forward(g, g->factor, g->column, n);
    for (size_t j = 0; j < n; j++) rest -= g->column[j] * g->column[j];
    return fmax(rest, 1e-9);
}

// With A the rows and columns of K^-1 that belong to the points in question, the covariance given the others is A^-1,
// and the mean -A^-1 (K^-1 y)_P where y is 0 at these points (the inverse of a block matrix).
void gp_without(const struct gp *g, const size_t *numbers, size_t count, const double *targets, double *mean,
                double *variance)
{
    size_t n = g->count;
    double *y = memory_new(2 * n + 2 * count * count, sizeof *y), *column = y + n, *a = column + n,
           *inverse = a + count * count;
    memcpy(y, targets, n * sizeof *y);
    for (size_t i = 0; i < count; i++) y[numbers[i]] = 0;
    for (size_t i = 0; i < count; i++) {
        memset(column, 0, n * sizeof *column);
        column[numbers[i]] = 1;
        solve_forward(g, g->factor, column, n);
        solve_backward(g, column, n);
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += column[j] * y[j];
        mean[i] = -sum;
        for (size_t j = 0; j < count; j++) a[i * count + j] = column[numbers[j]];
    }
    // A = LL', then L^-1 row by row, and A^-1 = L^-T L^-1.
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double v = a[i * count + j];
            for (size_t k = 0; k < j; k++) v -= a[i * count + k] * a[j * count + k];
            a[i * count + j] = i == j ? sqrt(fmax(v, 1e-12)) : v / a[j * count + j];
        }
        for (size_t j = 0; j <= i; j++) {
            double v = i == j;
            for (size_t k = j; k < i; k++) v -= a[i * count + k] * inverse[k * count + j];
            inverse[i * count + j] = v / a[i * count + i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        column[i] = variance[i] = 0;
        for (size_t k = 0; k <= i; k++) column[i] += inverse[i * count + k] * mean[k];
        for (size_t k = i; k < count; k++) variance[i] += inverse[k * count + i] * inverse[k * count + i];
    }
    for (size_t i = 0; i < count; i++) {
        mean[i] = 0;
        for (size_t k = i; k < count; k++) mean[i] += inverse[k * count + i] * column[k];
        variance[i] = fmax(variance[i] - g->noise - least_noise, 1e-9);
    }
    free(y);
}
