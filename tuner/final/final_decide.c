// See final_decide.h.
#include "tuner/final/final_decide.h"

static const double uncertainty = 0.05; // that some interval of the decision misses
static const double least_width = 0.01; // how far an interval may always go beyond 1 in a tie
static const double apart = 1.02;       // medians of processes that are different times
static const double disturbed = 1.2;    // times an entry's tenth percentile: such a launch was held up
static const double held_up_most = 0.2; // of the rounds

// The finite times of one process, or of all of them; returns how many there are. `of`, unless NULL, gets the process
// of each.
enum { ALL_PROCESSES = -1 };

static size_t times_of(const struct contender *e, int process, double *to, unsigned char *of)
{
    size_t n = 0;
    for (size_t i = 0; i < e->rounds; i++) {
        unsigned char mine = e->process ? e->process[i] : 0;
        if (!isfinite(e->objectives[i]) || (process != ALL_PROCESSES && mine != process)) continue;
        if (of) of[n] = mine;
        to[n++] = e->objectives[i];
    }
    return n;
}

static void find_medians(struct contender *e)
{
    double *times = memory_new(e->rounds, sizeof *times), medians[FINAL_PROCESSES_MAX];
    size_t n = 0;
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++) {
        e->process_medians[p] = stats_median(times, times_of(e, p, times, NULL));
        if (isfinite(e->process_medians[p])) medians[n++] = e->process_medians[p];
    }
    e->median = stats_median(medians, n);
    free(times);
}

// How much slower a process was for all entries alike: the median of their process medians over their medians.
static double common_factor(const struct contender *entries, size_t count, int process)
{
    double *factors = memory_new(count, sizeof *factors);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double factor = entries[i].process_medians[process] / entries[i].median;
        if (isfinite(factor)) factors[n++] = factor;
    }
    double factor = n > 2 ? stats_median(factors, n) : 1; // with two, which one has changed is unknown
    free(factors);
    return factor;
}

static bool differ(const struct interval *slower, const struct interval *faster, double factor)
{
    return slower->value > apart * factor * faster->value && slower->low > factor * faster->high;
}

// Both as measured and without what processes have in common: if most entries change, the steady ones must not be
// blamed.
static void find_differences(struct contender *e, const double *factors)
{
    double *times = memory_new(e->rounds, sizeof *times);
    struct interval of[FINAL_PROCESSES_MAX];
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++) {
        size_t n = times_of(e, p, times, NULL);
        stats_median_interval(times, n, &of[p].low, &of[p].high);
        of[p].value = e->process_medians[p];
    }
    e->by_process = false;
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++)
        for (int q = 0; q < FINAL_PROCESSES_MAX; q++)
            e->by_process |= differ(&of[p], &of[q], 1) && differ(&of[p], &of[q], factors[p] / factors[q]);
    free(times);
}

static void find_hold_ups(struct contender *e)
{
    double *times = memory_new(e->rounds, sizeof *times);
    size_t n = times_of(e, ALL_PROCESSES, times, NULL), slow = 0;
    stats_sort(times, n);
    e->undisturbed = n ? times[n / 10] : NAN;
    for (size_t i = 0; i < n; i++) slow += times[i] > disturbed * e->undisturbed;
    e->held_up = n ? (double)slow / (double)n : NAN;
    free(times);
}

static int explain_load(double share, struct error *why)
{
    return error_set(
        why,
        "in %.0f%% of the rounds launches took over %.0f%% longer than in the others: something else seems "
        "to use the device; stop it and run the same command again",
        100 * share, 100 * (disturbed - 1));
}

int final_examine(struct contender *entries, size_t count, struct error *why)
{
    double factors[FINAL_PROCESSES_MAX], *shares = memory_new(count, sizeof *shares);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) find_medians(&entries[i]);
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++) factors[p] = common_factor(entries, count, p);
    for (size_t i = 0; i < count; i++) {
        find_differences(&entries[i], factors);
        find_hold_ups(&entries[i]);
        if (isfinite(entries[i].held_up)) shares[n++] = entries[i].held_up;
    }
    double share = stats_median(shares, n);
    free(shares);
    return share > held_up_most ? explain_load(share, why) : 0;
}

static size_t ratio_with(const struct contender *e, const struct contender *to, double confidence,
                         struct interval *ratio)
{
    size_t rounds = e->rounds < to->rounds ? e->rounds : to->rounds;
    return stats_paired_ratio(e->objectives, to->objectives, e->process, rounds, confidence, 1, ratio);
}

size_t final_ratio(const struct contender *e, const struct contender *to, struct interval *ratio)
{
    return ratio_with(e, to, 0.95, ratio);
}

// 1: a is lighter, 0: neither, -1: b is.
static int lighter(const struct contender *a, const struct contender *b)
{
    if (fabs(a->share - b->share) > 1e-9) return a->share < b->share ? 1 : -1;
    if (fabs(a->code - b->code) > 0.5) return a->code < b->code ? 1 : -1;
    return 0;
}

// Of the tied: the lightest, and of several such the first that the fastest of them does not beat.
static struct contender *choose(struct contender *entries, size_t count, double confidence)
{
    struct contender *light = NULL;
    struct interval ratio;
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        int order = e->tied && light ? lighter(e, light) : 0;
        if (e->tied && (!light || order > 0 || (!order && e->median < light->median))) light = e;
    }
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        if (!e->tied || lighter(e, light)) continue;
        if (e == light || (ratio_with(e, light, confidence, &ratio) && ratio.low <= 1)) return e;
    }
    return light;
}

static double tie_limit(double tie)
{
    return 1 + fmax(2 * tie, least_width);
}

enum final_standing final_stand(const struct interval *ratio, double tie)
{
    double limit = tie_limit(tie);
    if (ratio->value > 1 + tie && ratio->low > 1) return FINAL_SLOWER;
    return ratio->low >= 1 / limit && ratio->high <= limit ? FINAL_TIED : FINAL_DOUBTFUL;
}

// What the rounds say about a candidate against the fastest one.
static enum final_standing stand(const struct contender *e, const struct contender *fastest, double tie,
                                 double confidence, struct interval *ratio)
{
    if (e == fastest) return FINAL_TIED;
    return ratio_with(e, fastest, confidence, ratio) ? final_stand(ratio, tie) : FINAL_SLOWER;
}

int64_t final_decide(struct contender *entries, size_t count, double tie, bool last, struct error *why)
{
    const struct contender *fastest = NULL;
    struct interval ratio;
    *why = (struct error){""};
    int troubled = final_examine(entries, count, why);
    size_t racing = 0;
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        e->tied = false;
        if (!e->candidate || !isfinite(e->median)) continue;
        racing++;
        if (!fastest || e->median < fastest->median) fastest = e;
    }
    if (!fastest) return FINAL_NOBODY;
    if (troubled) return FINAL_UNDECIDED;
    for (size_t i = 0; i < count; i++) {
        const struct contender *e = &entries[i];
        if (!e->candidate || !(e->held_up > held_up_most) || e->undisturbed > (1 + tie) * fastest->median) continue;
        explain_load(e->held_up, why);
        return FINAL_UNDECIDED;
    }
    double pairs = racing > 1 ? (double)(racing * (racing - 1)) / 2 : 1, confidence = 1 - uncertainty / pairs;
    for (size_t i = 0; i < count; i++)
        entries[i].tied = entries[i].candidate && stand(&entries[i], fastest, tie, confidence, &ratio) == FINAL_TIED;
    struct contender *winner = choose(entries, count, confidence);
    double least = 1 / tie_limit(tie); // no tie would let a slower one win
    for (size_t i = 0; i < count; i++) {
        const struct contender *e = &entries[i];
        if (!e->candidate || e->tied || stand(e, fastest, tie, confidence, &ratio) != FINAL_DOUBTFUL) continue;
        if (ratio.low > 1 && lighter(e, winner) <= 0) continue; // it loses in any case
        error_set(why,
                  "two of the fastest are neither different nor equal within the tie: their ratio is %.3f to %.3f%s",
                  ratio.low, ratio.high,
                  e->by_process || fastest->by_process ? ", since it depends on the process that runs them" : "");
        if (last && ratio.low >= least && !e->by_process && !fastest->by_process) continue;
        for (size_t k = 0; k < count; k++) entries[k].tied = false;
        return FINAL_UNDECIDED;
    }
    winner->tied = false;
    return winner - entries;
}

double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm)
{
    return fmax((double)registers * (double)threads / (double)registers_per_sm, (double)shared / (double)shared_per_sm);
}
