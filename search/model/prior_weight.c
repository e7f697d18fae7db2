// See prior_weight.h.
#include "search/model/prior_weight.h"

#include <math.h>
#include <string.h>

enum {
    EVIDENCE_MOST = 40, // results are not independent: more than this many count as this many
    FADING_FROM = 15,   // results from which on the weights fall, by their square: the model knows by itself
};

static const double least_fading = 0.02; // below this, priors are not worth their time

// Before anything is measured.
static const double useful_before = 0.5; // that a prior of full merit is informative
static const double usual_error = 0.3;   // of an excess, worth one result

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

// The logarithm of how likely the results are if these are the weights.
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
    double log; // of its probability, but for a factor that is common to all
};

// The hypotheses: none; each prior, or the mean of all, wholly and by half. Returns their number.
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
