// See guide.h.
#include "tuner/run/guide.h"

#include <math.h>
#include <stdlib.h>

#include "search/space/random.h"

// How many times the best a candidate must take at least to be screened out.
static const double margin = 1.25;
// Share of the pairs whose ratio may be below the one that a candidate is judged by.
static const double low_share = 0.05;
// Ranks agree once tau's lower limit is above the first figure, cease to agree when tau is below the second, and are
// found not to agree when tau's upper limit is below it.
static const double agreement = 0.4;
// Normal quantile of a one-sided 95% limit.
static const double one_sided = 1.645;
// A guide whose launches take a larger share of the objective than this saves too little.
static const double cheap = 0.25;

void guide_init(struct guide *g, double worth)
{
    *g = (struct guide){.state = GUIDE_LEARNING,
                        .why = "",
                        .worth = worth,
                        .tau = (double)NAN,
                        .tau_low = (double)NAN,
                        .low = (double)NAN,
                        .typical = (double)NAN};
}

void guide_set_off(struct guide *g, const char *why)
{
    g->state = GUIDE_OFF;
    g->why = why;
}

static size_t kept(const struct guide *g)
{
    return g->count < GUIDE_PAIRS ? g->count : GUIDE_PAIRS;
}

// 1 where two pairs are in the same order on both, -1 where not, 0 where they are equal on one.
static int concordance(const struct guide_pair *a, const struct guide_pair *b)
{
    int guide = (a->guide > b->guide) - (a->guide < b->guide),
        objective = (a->objective > b->objective) - (a->objective < b->objective);
    return guide * objective;
}

// Kendall's tau with a weight for each two pairs, and its lower limit: the jackknife leaves out one pair after the
// other. Two audited ones count as often as one of them: by the product of their weights the first two would outweigh
// all others.
static void find_tau(struct guide *g)
{
    size_t n = kept(g);
    double agree[GUIDE_PAIRS], all[GUIDE_PAIRS], agrees = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        agree[i] = all[i] = 0;
        for (size_t k = 0; k < n; k++) {
            if (k == i) continue;
            double weight = fmax(g->pairs[i].weight, g->pairs[k].weight);
            agree[i] += weight * concordance(&g->pairs[i], &g->pairs[k]);
            all[i] += weight;
        }
        agrees += agree[i] / 2;
        sum += all[i] / 2;
    }
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double without = (agrees - agree[i]) / (sum - all[i]);
        mean += without / (double)n;
        square += without * without / (double)n;
    }
    g->tau = agrees / sum;
    g->tau_low = g->tau - one_sided * sqrt(fmax(0, square - mean * mean) * (double)(n - 1));
}

struct ratio {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ratio *)a)->value, y = ((const struct ratio *)b)->value;
    return (x > y) - (x < y);
}

// The ratio below which this share of the weight lies.
static double quantile(const struct ratio *sorted, size_t n, double weight, double share)
{
    double below = 0;
    size_t i = 0;
    while (i + 1 < n && below + sorted[i].weight <= share * weight) below += sorted[i++].weight;
    return sorted[i].value;
}

static void find_ratios(struct guide *g)
{
    struct ratio ratios[GUIDE_PAIRS];
    size_t n = kept(g);
    double weight = 0;
    for (size_t i = 0; i < n; i++) {
        ratios[i] = (struct ratio){g->pairs[i].objective - g->pairs[i].guide, g->pairs[i].weight};
        weight += ratios[i].weight;
    }
    qsort(ratios, n, sizeof *ratios, by_value);
    g->low = quantile(ratios, n, weight, low_share);
    g->typical = quantile(ratios, n, weight, 0.5);
}

static void decide(struct guide *g)
{
    bool agrees = (g->state == GUIDE_SCREENING ? g->tau : g->tau_low) >= agreement;
    bool disagrees = 2 * g->tau - g->tau_low < agreement;
    size_t learnt = g->count - g->since;
    if (agrees) g->since = g->count;
    if (g->typical < -log(cheap))
        guide_set_off(g, "it takes more than a quarter of the time that it is to save");
    else if (agrees)
        g->state = GUIDE_SCREENING;
    else if ((disagrees && learnt >= GUIDE_PATIENCE) || learnt >= 2 * GUIDE_PATIENCE)
        guide_set_off(g, "it does not rank candidates as the job's problems do");
    else
        g->state = GUIDE_LEARNING;
}

void guide_learn(struct guide *g, double seconds, double objective, double best)
{
    if (g->state == GUIDE_OFF || !(seconds > 0) || !(objective > 0) || !isfinite(seconds) || !isfinite(objective))
        return;
    bool audited = guide_screens_out(g, seconds, best);
    g->audited += audited;
    g->pairs[g->count++ % GUIDE_PAIRS] = (struct guide_pair){log(seconds), log(objective), audited ? GUIDE_AUDIT : 1};
    if (!(g->least > 0 && g->least < seconds)) g->least = seconds;
    if (fmin(objective, best) < g->worth) {
        guide_set_off(g, "a launch of the job takes too little time for a guide to be worth it");
    } else if (g->count >= GUIDE_LEAST) {
        find_tau(g);
        find_ratios(g);
        decide(g);
    }
}

void guide_failed(struct guide *g)
{
    g->failures++;
    if (g->state != GUIDE_OFF && g->failures >= GUIDE_FAILURES && g->failures > g->count + g->screened)
        guide_set_off(g, "most candidates do not run on it");
}

bool guide_screens_out(const struct guide *g, double seconds, double best)
{
    return g->state == GUIDE_SCREENING && isfinite(best) && seconds * exp(g->low) > margin * best;
}

bool guide_audits(uint64_t seed, uint64_t configuration)
{
    struct random random;
    random_seed(&random, seed ^ (configuration + 1) * 0x9e3779b97f4a7c15u);
    return random_below(&random, GUIDE_AUDIT) == 0;
}

double guide_expected(const struct guide *g, double seconds)
{
    return seconds * exp(g->typical);
}
