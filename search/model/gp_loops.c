// See gp_loops.h. Inner loops contain no sums, because the compiler may not reorder sums and so could not vectorise the
// loops.
#include "search/model/gp_loops.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// The sanitizers are not initialised yet when the best version for the processor is chosen.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

enum { BLOCK = 64 }; // points whose sums stay in the cache

// Squared distances are limited to this value, where the product part is 1e-22.
static const float farthest = 1000;

// The additive part's share of the signal.
static const double additive = 0.5;

// For at most BLOCK points: sum[i] is the squared distance to `point`, and alone[i] is the sum of the kernels of single
// dimensions.
FOR_EACH_PROCESSOR
static void measure(const struct gp_metric *g, const float *point, const float *points, size_t stride, size_t count,
                    double *restrict sum, double *restrict alone)
{
    for (size_t i = 0; i < count; i++) sum[i] = alone[i] = 0;
    for (size_t m = 0; m < g->ordinal; m++) {
        const float *a = points + m * stride;
        double own = (double)point[m], weight = g->inverse[m];
        for (size_t i = 0; i < count; i++) {
            double apart = (double)a[i] - own, q = apart * apart * weight;
            sum[i] += q;
            alone[i] += 1 / (1 + q);
        }
    }
    for (size_t m = g->ordinal; m < g->dimensions; m++) {
        const float *a = points + m * stride;
        float own = point[m];
        double weight = g->inverse[m], other = 1 / (1 + weight);
        for (size_t i = 0; i < count; i++) sum[i] += a[i] != own ? weight : 0;
        for (size_t i = 0; i < count; i++) alone[i] += a[i] != own ? other : 1;
    }
}

void gp_relate(const struct gp_metric *g, const float *point, const float *points, size_t stride, size_t count,
               double *kernel, double *fall)
{
    double sum[BLOCK], alone[BLOCK];
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t width = count - first < BLOCK ? count - first : BLOCK;
        measure(g, point, points + first, stride, width, sum, alone);
        for (size_t i = 0; i < width; i++) {
            double r = sqrt(3 * sum[i]), falling = exp(-r);
            kernel[first + i] = (1 - additive) * ((1 + r) * falling) + additive * alone[i] / (double)g->dimensions;
            if (fall) fall[first + i] = falling;
        }
    }
}

FOR_EACH_PROCESSOR
void gp_relate_chunk(const struct gp_metric *g, const float *point, const float *points, float *restrict kernel)
{
    size_t d = g->dimensions;
    float share = (float)(additive / (double)d), rest = (float)(1 - additive);
    float sum[GP_CHUNK] = {0}, alone[GP_CHUNK] = {0}, power[GP_CHUNK];
    int32_t bits[GP_CHUNK];
    size_t m = 0;
    // Computes four quotients with one division.
    for (; m + 4 <= g->ordinal; m += 4) {
        const float *a = points + m * GP_CHUNK, *b = a + GP_CHUNK, *c = b + GP_CHUNK, *e = c + GP_CHUNK;
        float p0 = point[m], p1 = point[m + 1], p2 = point[m + 2], p3 = point[m + 3];
        float w0 = (float)g->inverse[m], w1 = (float)g->inverse[m + 1], w2 = (float)g->inverse[m + 2],
              w3 = (float)g->inverse[m + 3];
        for (size_t i = 0; i < GP_CHUNK; i++) {
            float q0 = (a[i] - p0) * (a[i] - p0) * w0, q1 = (b[i] - p1) * (b[i] - p1) * w1;
            float q2 = (c[i] - p2) * (c[i] - p2) * w2, q3 = (e[i] - p3) * (e[i] - p3) * w3;
            sum[i] = sum[i] + q0 + q1 + q2 + q3;
            float left = (1 + q0) * (1 + q1), right = (1 + q2) * (1 + q3);
            alone[i] += ((2 + q0 + q1) * right + (2 + q2 + q3) * left) / (left * right);
        }
    }
    for (; m < g->ordinal; m++) {
        const float *a = points + m * GP_CHUNK;
        float own = point[m], weight = (float)g->inverse[m];
        for (size_t i = 0; i < GP_CHUNK; i++) {
            float apart = a[i] - own, q = apart * apart * weight;
            sum[i] += q;
            alone[i] += 1 / (1 + q);
        }
    }
    // `sum` and `alone` have separate loops, because the compiler would put branches into a combined loop.
    for (; m + 4 <= d; m += 4) {
        const float *a = points + m * GP_CHUNK, *b = a + GP_CHUNK, *c = b + GP_CHUNK, *e = c + GP_CHUNK;
        float p0 = point[m], p1 = point[m + 1], p2 = point[m + 2], p3 = point[m + 3];
        float w0 = (float)g->inverse[m], w1 = (float)g->inverse[m + 1], w2 = (float)g->inverse[m + 2],
              w3 = (float)g->inverse[m + 3];
        float o0 = 1 / (1 + w0), o1 = 1 / (1 + w1), o2 = 1 / (1 + w2), o3 = 1 / (1 + w3);
        for (size_t i = 0; i < GP_CHUNK; i++)
            sum[i] =
                sum[i] + (a[i] != p0 ? w0 : 0) + (b[i] != p1 ? w1 : 0) + (c[i] != p2 ? w2 : 0) + (e[i] != p3 ? w3 : 0);
        for (size_t i = 0; i < GP_CHUNK; i++)
            alone[i] = alone[i] + (a[i] != p0 ? o0 : 1) + (b[i] != p1 ? o1 : 1) + (c[i] != p2 ? o2 : 1) +
                       (e[i] != p3 ? o3 : 1);
    }
    for (; m < d; m++) {
        const float *a = points + m * GP_CHUNK;
        float own = point[m], weight = (float)g->inverse[m], other = 1 / (1 + weight);
        for (size_t i = 0; i < GP_CHUNK; i++) sum[i] += a[i] != own ? weight : 0;
        for (size_t i = 0; i < GP_CHUNK; i++) alone[i] += a[i] != own ? other : 1;
    }
    for (size_t i = 0; i < GP_CHUNK; i++) sum[i] = sum[i] < farthest ? sum[i] : farthest;
    // e^-r = 2^-k 2^f with f from -1/2 to 1/2, where 2^f is a Taylor series (accurate to 1.2e-7).
    for (size_t i = 0; i < GP_CHUNK; i++) {
        float r = sqrtf(3 * sum[i]), t = r * 1.44269504f;
        int k = (int)(t + 0.5f);
        float f = (float)k - t;
        bits[i] = (127 - k) << 23;
        sum[i] =
            (1 + r) *
            (1 + f * (0.693147181f +
                      f * (0.240226507f +
                           f * (0.0555041087f + f * (0.00961812911f + f * (0.00133335581f + f * 0.000154035304f))))));
    }
    memcpy(power, bits, sizeof power);
    for (size_t i = 0; i < GP_CHUNK; i++) kernel[i] = rest * (sum[i] * power[i]) + share * alone[i];
}

FOR_EACH_PROCESSOR
void gp_gather_chunk(const float *restrict kernel, double weight, double *restrict mean, double *restrict most)
{
    for (size_t i = 0; i < GP_CHUNK; i++) mean[i] += (double)kernel[i] * weight;
    for (size_t i = 0; i < GP_CHUNK; i++) most[i] = (double)kernel[i] > most[i] ? (double)kernel[i] : most[i];
}

// With q = (difference / l)^2: dk / dlog l is 3 e^-r q for the Matérn part and 2 q / (1 + q)^2 for the additive part.
FOR_EACH_PROCESSOR
void gp_add_slopes(const struct gp_metric *g, const float *point, const float *points, size_t stride, size_t count,
                   const double *weights, const double *fall, double *restrict slopes)
{
    double product = (1 - additive) * 3, share = additive * 2 / (double)g->dimensions;
    for (size_t m = 0; m < g->ordinal; m++) {
        const float *a = points + m * stride;
        double own = (double)point[m], weight = g->inverse[m], *restrict slope = slopes + m * stride;
        for (size_t i = 0; i < count; i++) {
            double apart = (double)a[i] - own, q = apart * apart * weight;
            slope[i] += weights[i] * q * (product * fall[i] + share / ((1 + q) * (1 + q)));
        }
    }
    for (size_t m = g->ordinal; m < g->dimensions; m++) {
        const float *a = points + m * stride;
        float own = point[m];
        double q = g->inverse[m], other = share / ((1 + q) * (1 + q)), *restrict slope = slopes + m * stride;
        for (size_t i = 0; i < count; i++) slope[i] += a[i] != own ? weights[i] * q * (product * fall[i] + other) : 0;
    }
}

FOR_EACH_PROCESSOR
void gp_eliminate(double *restrict row, size_t width, const double *restrict others, size_t stride,
                  const double *restrict factors, size_t count)
{
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const double *a = others + k * stride, *b = a + stride, *c = b + stride, *e = c + stride;
        double p = factors[k], q = factors[k + 1], r = factors[k + 2], s = factors[k + 3];
        for (size_t i = 0; i < width; i++) row[i] = row[i] - p * a[i] - q * b[i] - r * c[i] - s * e[i];
    }
    for (; k < count; k++)
        for (size_t i = 0; i < width; i++) row[i] -= factors[k] * others[k * stride + i];
}

FOR_EACH_PROCESSOR
void gp_eliminate_chunk(float *restrict rows, size_t row_count, const float *restrict others,
                        const float *restrict factors, size_t stride, size_t count)
{
    size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        const float *a = others + k * GP_CHUNK, *b = a + GP_CHUNK, *c = b + GP_CHUNK, *e = c + GP_CHUNK;
        for (size_t j = 0; j < row_count; j++) {
            const float *f = factors + j * stride + k;
            float p = f[0], q = f[1], r = f[2], s = f[3], *restrict row = rows + j * GP_CHUNK;
            for (size_t i = 0; i < GP_CHUNK; i++) row[i] = row[i] - p * a[i] - q * b[i] - r * c[i] - s * e[i];
        }
    }
    for (; k < count; k++) {
        for (size_t j = 0; j < row_count; j++) {
            float f = factors[j * stride + k], *restrict row = rows + j * GP_CHUNK;
            for (size_t i = 0; i < GP_CHUNK; i++) row[i] -= f * others[k * GP_CHUNK + i];
        }
    }
}

FOR_EACH_PROCESSOR
void gp_solve_forward(double *restrict x, const double *restrict factor, size_t stride, size_t n)
{
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        const double *a = factor + k * stride, *b = a + stride, *c = b + stride, *e = c + stride;
        double p = x[k] /= a[k];
        double q = x[k + 1] = (x[k + 1] - p * a[k + 1]) / b[k + 1];
        double r = x[k + 2] = (x[k + 2] - p * a[k + 2] - q * b[k + 2]) / c[k + 2];
        double s = x[k + 3] = (x[k + 3] - p * a[k + 3] - q * b[k + 3] - r * c[k + 3]) / e[k + 3];
        for (size_t j = k + 4; j < n; j++) x[j] = x[j] - p * a[j] - q * b[j] - r * c[j] - s * e[j];
    }
    for (; k < n; k++) {
        double f = x[k] /= factor[k * stride + k];
        for (size_t j = k + 1; j < n; j++) x[j] -= f * factor[k * stride + j];
    }
}
