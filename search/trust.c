// See trust.h.
#include "search/trust.h"

#include <math.h>
#include <string.h>

enum { EVIDENCE_MOST = 40 }; // results are not independent: more than so many count as so many

// Before anything is measured.
static const double none_before = 0.5;
static const double usual_error = 0.3; // of an excess, worth one result

void trust_init(struct trust *t, const struct prior *const *priors, size_t count)
{
    *t = (struct trust){.count = count, .priors = priors, .none = none_before};
    for (size_t k = 0; k < count; k++) t->weights[k] = (1 - none_before) / (double)count;
}

void trust_features(const struct trust *t, const uint16_t *config, float *features)
{
    for (size_t k = 0; k < t->count; k++) features[k] = (float)prior_excess(t->priors[k], config);
}

double trust_expected(const struct trust *t, const float *features)
{
    double sum = 0;
    for (size_t k = 0; k < t->count; k++) sum += t->weights[k] * (double)features[k];
    return sum;
}

// The logarithm of how likely the results are if these are the weights.
static double evidence(const struct trust *t, const float *features, const double *excesses, size_t count)
{
    double sum = 0, squares = 0;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(excesses[i])) continue;
        double error = excesses[i] - trust_expected(t, features + i * t->count);
        sum += error;
        squares += error * error;
        n++;
    }
    if (n < 2) return 0;
    double variance = (squares - sum * sum / (double)n + usual_error * usual_error) / (double)n;
    return -0.5 * (double)(n < EVIDENCE_MOST ? n : EVIDENCE_MOST) * log(variance);
}

void trust_learn(struct trust *t, const float *features, const double *excesses, size_t count)
{
    // None; each alone, or the mean of all, by half and wholly.
    struct {
        double weights[PRIOR_MOST], log;
    } hypotheses[1 + 2 * (PRIOR_MOST + 1)] = {{{0}, log(none_before)}};
    size_t n = 1, sets = t->count > 1 ? t->count + 1 : t->count;
    for (size_t k = 0; k < sets; k++) {
        for (int half = 0; half < 2; half++, n++) {
            memset(hypotheses[n].weights, 0, sizeof hypotheses[n].weights);
            for (size_t j = 0; j < t->count; j++)
                if (k == j || k == t->count)
                    hypotheses[n].weights[j] = (half ? 0.5 : 1) / (k == t->count ? (double)t->count : 1);
            hypotheses[n].log = log((1 - none_before) / (2 * (double)sets));
        }
    }
    double most = -INFINITY, sum = 0, weights[PRIOR_MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        memcpy(t->weights, hypotheses[i].weights, sizeof t->weights);
        hypotheses[i].log += evidence(t, features, excesses, count);
        most = fmax(most, hypotheses[i].log);
    }
    for (size_t i = 0; i < n; i++) {
        double likely = exp(hypotheses[i].log - most);
        for (size_t k = 0; k < t->count; k++) weights[k] += likely * hypotheses[i].weights[k];
        if (i == 0) t->none = likely;
        sum += likely;
    }
    t->none /= sum;
    for (size_t k = 0; k < t->count; k++) t->weights[k] = weights[k] / sum;
}
