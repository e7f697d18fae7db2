// See improvement.h.
#include "search/model/improvement.h"

#include <math.h>

// The factor by which the model's standard deviations are widened: the hyperparameters are the likeliest ones, not all
// likely ones, and an overconfident model explores too little.
static const double caution = 1.5;

double improvement_expected(double best, double mean, double variance)
{
    double deviation = caution * sqrt(fmax(variance, 1e-12)), z = (best - mean) / deviation;
    if (z < -12) return 0;
    return deviation * (z * 0.5 * erfc(-z * 0.7071067811865476) + 0.3989422804014327 * exp(-0.5 * z * z));
}

// With t = -z > 0 it is at most deviation phi(t) / (1 + t^2) (Mills's ratio: Gordon 1941), and e^x is at least its
// series' beginning.
double improvement_most(double best, double mean, double variance)
{
    double deviation = caution * sqrt(fmax(variance, 1e-12)), t = (mean - best) / deviation, x = 0.5 * t * t;
    if (t <= 0) return INFINITY;
    return deviation * 0.3989422804014328 / ((1 + t * t) * (1 + x * (1 + x * (0.5 + x / 6))));
}
