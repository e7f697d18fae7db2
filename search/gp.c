// See gp.h.
#include "search/gp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16 };

struct gp {
    size_t dimensions, room, count;
    float *points;
    double *targets;
    double *theta;         // log length scales, then log signal variance, log noise variance
    double *step, *slope, *last_slope;
    double *factor;        // lower triangle of the Cholesky factor, row-major, `room` columns
    double *weights;       // K^-1 y
    double *work;          // room x room
    double *gradient;
    double *row;           // BATCH x room
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) abort();
    return memory;
}

struct gp *gp_new(size_t dimensions, size_t max_points)
{
    struct gp *g = allocate(1, sizeof *g);
    g->dimensions = dimensions;
    g->room = max_points;
    g->points = allocate(max_points * dimensions, sizeof *g->points);
    g->targets = allocate(max_points, sizeof *g->targets);
    g->theta = allocate(dimensions + 2, sizeof *g->theta);
    g->step = allocate(dimensions + 2, sizeof *g->step);
    g->slope = allocate(dimensions + 2, sizeof *g->slope);
    g->last_slope = allocate(dimensions + 2, sizeof *g->last_slope);
    g->gradient = allocate(dimensions + 2, sizeof *g->gradient);
    g->factor = allocate(max_points * max_points, sizeof *g->factor);
    g->work = allocate(max_points * max_points, sizeof *g->work);
    g->weights = allocate(max_points, sizeof *g->weights);
    g->row = allocate(max_points * BATCH, sizeof *g->row);
    for (size_t i = 0; i < dimensions; i++) g->theta[i] = log(0.5 * sqrt((double)dimensions));
    g->theta[dimensions] = 0;
    g->theta[dimensions + 1] = log(1e-3);
    for (size_t i = 0; i < dimensions + 2; i++) g->step[i] = 0.2;
    return g;
}

void gp_free(struct gp *g)
{
    if (!g) return;
    free(g->points);
    free(g->targets);
    free(g->theta);
    free(g->step);
    free(g->slope);
    free(g->last_slope);
    free(g->gradient);
    free(g->factor);
    free(g->work);
    free(g->weights);
    free(g->row);
    free(g);
}

void gp_set_points(struct gp *g, const float *points, const double *targets, size_t count)
{
    g->count = count < g->room ? count : g->room;
    memcpy(g->points, points, g->count * g->dimensions * sizeof *points);
    memcpy(g->targets, targets, g->count * sizeof *targets);
}

static double matern(double r2)
{
    double r = sqrt(5 * r2);
    return (1 + r + r * r / 3) * exp(-r);
}

static void inverse_scales(const struct gp *g, double *inverse)
{
    for (size_t i = 0; i < g->dimensions; i++) inverse[i] = exp(-2 * g->theta[i]);
}

static double distance2(const struct gp *g, const float *a, const float *b, const double *inverse)
{
    double sum = 0;
    for (size_t i = 0; i < g->dimensions; i++) {
        double d = (double)a[i] - (double)b[i];
        sum += d * d * inverse[i];
    }
    return sum;
}

// Cholesky factor of the kernel matrix of the first n points, then the weights. False when it is not positive definite.
static bool factorise(struct gp *g, size_t n)
{
    double inverse[256];
    size_t stride = g->room;
    double signal = exp(g->theta[g->dimensions]), noise = exp(g->theta[g->dimensions + 1]) + 1e-6;
    inverse_scales(g, inverse);
    for (size_t i = 0; i < n; i++) {
        const float *a = g->points + i * g->dimensions;
        double *row = g->factor + i * stride;
        for (size_t j = 0; j < i; j++) row[j] = signal * matern(distance2(g, a, g->points + j * g->dimensions, inverse));
        row[i] = signal + noise;
    }
    for (size_t i = 0; i < n; i++) {
        double *li = g->factor + i * stride;
        for (size_t j = 0; j <= i; j++) {
            const double *lj = g->factor + j * stride;
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            size_t k = 0;
            for (; k + 4 <= j; k += 4) {
                s0 += li[k] * lj[k];
                s1 += li[k + 1] * lj[k + 1];
                s2 += li[k + 2] * lj[k + 2];
                s3 += li[k + 3] * lj[k + 3];
            }
            for (; k < j; k++) s0 += li[k] * lj[k];
            double v = li[j] - (s0 + s1 + s2 + s3);
            if (i == j) {
                if (!(v > 1e-12)) return false;
                li[i] = sqrt(v);
            } else {
                li[j] = v / lj[j];
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        double v = g->targets[i];
        for (size_t j = 0; j < i; j++) v -= g->factor[i * stride + j] * g->weights[j];
        g->weights[i] = v / g->factor[i * stride + i];
    }
    for (size_t i = n; i-- > 0;) {
        double v = g->weights[i];
        for (size_t j = i + 1; j < n; j++) v -= g->factor[j * stride + i] * g->weights[j];
        g->weights[i] = v / g->factor[i * stride + i];
    }
    return true;
}

// Gradient of the log posterior over theta, with the first n points.
static void find_gradient(struct gp *g, size_t n)
{
    size_t d = g->dimensions, stride = g->room;
    double inverse[256], signal = exp(g->theta[d]), noise = exp(g->theta[d + 1]);
    inverse_scales(g, inverse);
    memset(g->gradient, 0, (d + 2) * sizeof *g->gradient);
    // work = K^-1, from the inverse of the factor
    double *linv = g->work;
    for (size_t i = 0; i < n; i++) {
        linv[i * stride + i] = 1 / g->factor[i * stride + i];
        for (size_t j = 0; j < i; j++) linv[i * stride + j] = 0;
        for (size_t k = 0; k < i; k++) {
            double f = g->factor[i * stride + k] * linv[i * stride + i];
            for (size_t j = 0; j <= k; j++) linv[i * stride + j] -= f * linv[k * stride + j];
        }
    }
    // For every pair: (weights weights' - K^-1) times dK/dtheta, half of it.
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double kinv = 0;
            for (size_t k = i; k < n; k++) kinv += linv[k * stride + i] * linv[k * stride + j];
            double w = g->weights[i] * g->weights[j] - kinv;
            if (i == j) {
                g->gradient[d] += 0.5 * w * signal;
                g->gradient[d + 1] += 0.5 * w * noise;
                continue;
            }
            const float *a = g->points + i * d, *b = g->points + j * d;
            double r2 = distance2(g, a, b, inverse), r = sqrt(5 * r2), e = exp(-r);
            g->gradient[d] += w * signal * (1 + r + r * r / 3) * e;
            // dk/dlog l_m = signal * 5/3 (1 + r) e^-r * (delta_m / l_m)^2
            double common = w * signal * 5.0 / 3.0 * (1 + r) * e;
            for (size_t m = 0; m < d; m++) {
                double delta = (double)a[m] - (double)b[m];
                g->gradient[m] += common * delta * delta * inverse[m];
            }
        }
    }
    // Priors: length scales log-normal around what keeps neighbours related, the signal near the targets' variance, little noise.
    double centre = log(0.5 * sqrt((double)d));
    for (size_t m = 0; m < d; m++) g->gradient[m] -= (g->theta[m] - centre) / (1.0 * 1.0);
    g->gradient[d] -= g->theta[d] / (1.0 * 1.0);
    g->gradient[d + 1] -= (g->theta[d + 1] - log(1e-3)) / (1.5 * 1.5);
}

void gp_update(struct gp *g)
{
    while (!factorise(g, g->count)) g->theta[g->dimensions + 1] += 1;
}

void gp_fit(struct gp *g, int steps, size_t most)
{
    size_t d = g->dimensions, n = g->count < most ? g->count : most;
    memset(g->last_slope, 0, (d + 2) * sizeof *g->last_slope);
    for (size_t i = 0; i < d + 2; i++) g->step[i] = 0.15;
    for (int s = 0; s < steps; s++) {
        if (!factorise(g, n)) {
            g->theta[d + 1] += 1;
            continue;
        }
        find_gradient(g, n);
        for (size_t i = 0; i < d + 2; i++) {
            double slope = g->gradient[i];
            if (slope * g->last_slope[i] > 0) g->step[i] = fmin(g->step[i] * 1.3, 0.7);
            else if (slope * g->last_slope[i] < 0) g->step[i] = fmax(g->step[i] * 0.5, 0.005);
            g->theta[i] += slope > 0 ? g->step[i] : -g->step[i];
            g->last_slope[i] = slope;
            double low = i < d ? log(0.03) : i == d ? log(0.05) : log(1e-6), high = i < d ? log(50) : i == d ? log(20) : log(0.5);
            g->theta[i] = fmin(fmax(g->theta[i], low), high);
        }
    }
    gp_update(g);
}

void gp_predict(struct gp *g, const float *points, size_t count, double *mean, double *variance)
{
    double inverse[256], signal = exp(g->theta[g->dimensions]);
    size_t n = g->count, stride = g->room;
    inverse_scales(g, inverse);
    for (size_t first = 0; first < count; first += BATCH) {
        size_t batch = count - first < BATCH ? count - first : BATCH;
        double sums[BATCH] = { 0 }, means[BATCH] = { 0 };
        for (size_t j = 0; j < n; j++) {
            double *v = g->row + j * BATCH;
            for (size_t c = 0; c < BATCH; c++) {
                const float *point = points + (first + (c < batch ? c : 0)) * g->dimensions;
                v[c] = signal * matern(distance2(g, point, g->points + j * g->dimensions, inverse));
                means[c] += v[c] * g->weights[j];
            }
        }
        for (size_t j = 0; j < n && variance; j++) {
            double *v = g->row + j * BATCH;
            const double *l = g->factor + j * stride;
            for (size_t k = 0; k < j; k++) {
                const double *u = g->row + k * BATCH;
                double f = l[k];
                for (size_t c = 0; c < BATCH; c++) v[c] -= f * u[c];
            }
            double f = 1 / l[j];
            for (size_t c = 0; c < BATCH; c++) {
                v[c] *= f;
                sums[c] += v[c] * v[c];
            }
        }
        for (size_t c = 0; c < batch; c++) {
            mean[first + c] = means[c];
            if (variance) variance[first + c] = fmax(signal - sums[c], 1e-9);
        }
    }
}

double gp_length_scale(const struct gp *g, size_t dimension)
{
    return exp(g->theta[dimension]);
}

double gp_noise(const struct gp *g)
{
    return exp(g->theta[g->dimensions + 1]);
}
