// See objective.h.
#include "tuner/trial/objective.h"

#include "tuner/base/base.h"

const char *const objective_text[] = {"geomean", "mean", "worst", "each", NULL};
const char *const minimize_text[] = {"time", "energy", "energy*time", NULL};

double objective_value(enum objective objective, const double *weights, const double *times, size_t n)
{
    double sum = 0, total = 0, worst = 0;
    bool logarithmic = objective == OBJECTIVE_GEOMEAN || objective == OBJECTIVE_EACH;
    for (size_t p = 0; p < n; p++) {
        double w = weights[p];
        if (objective == OBJECTIVE_EACH && isnan(times[p])) continue;
        if (!(times[p] > 0)) return NAN;
        sum += w * (logarithmic ? log(times[p]) : times[p]);
        total += w;
        if (w * times[p] > worst) worst = w * times[p];
    }
    if (!(total > 0)) return NAN;
    if (objective == OBJECTIVE_WORST) return worst;
    return logarithmic ? exp(sum / total) : sum / total;
}

double objective_ratio(enum objective objective, const double *weights, const double *times, const double *best,
                       size_t n)
{
    double least = INFINITY;
    for (size_t p = 0; p < n; p++) {
        if (!(times[p] > 0) || !(best[p] > 0)) return 0;
        least = fmin(least, times[p] / best[p]);
    }
    if (n == 0) return 0;
    if (objective == OBJECTIVE_EACH) return least;
    return objective_value(objective, weights, times, n) / objective_value(objective, weights, best, n);
}
