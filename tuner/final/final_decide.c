// See final_decide.h.
#include "tuner/final/final_decide.h"

static const double uncertainty = 0.02;   // probability that any interval of the decision is wrong
static const double equal_width = 0.002;  // two candidates are equal if the interval is narrower and includes 1
static const double tie_limit = 1.01;     // a tied candidate is at most this many times as fast as the winner
static const double resolution = 1.0005;  // for a ratio; smaller differences vary over minutes and between processes
static const double apart = 1.02;         // processes with medians this far apart have different times
static const double ratios_apart = 1.005; // processes with medians this far apart have different ratios
static const double by_chance = 0.005;    // tail of the medians' bounds; small, since many pairs are compared
static const double no_process = 1.2;     // slower by this factor: processes are known to differ by up to 10%
static const double disturbed = 1.2;      // times an entry's tenth percentile: a launch that took longer was delayed
static const double held_up_most = 0.2;   // share of delayed rounds above which there is a warning, for most entries
static const double held_up_alone = 0.4;  // the same share for a single entry

// The finite times of one process, or of all of them; returns how many there are. `of`, unless NULL, gets the process
// of each time.
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
    autofree double *times = memory_new(e->rounds, sizeof *times);
    double medians[FINAL_PROCESSES_MAX];
    size_t n = 0;
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++) {
        e->process_medians[p] = stats_median(times, times_of(e, p, times, NULL));
        if (isfinite(e->process_medians[p])) medians[n++] = e->process_medians[p];
    }
    e->median = stats_median(medians, n);
}

// How much slower a process was in general: the median, over the entries, of the entry's median in this process divided
// by its overall median.
static double common_factor(const struct contender *entries, size_t count, int process)
{
    autofree double *factors = memory_new(count, sizeof *factors);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double factor = entries[i].process_medians[process] / entries[i].median;
        if (isfinite(factor)) factors[n++] = factor;
    }
    return n > 2 ? stats_median(factors, n) : 1; // with only two entries, it is unknown which one has changed
}

static bool differ(const struct interval *slower, const struct interval *faster, double factor)
{
    return slower->value > apart * factor * faster->value && slower->low > factor * faster->high;
}

// Sets by_process. A difference counts only if it exists in the measured times and also after the processes' common
// factors are removed. Otherwise, if most entries changed, the ones that stayed the same would be reported.
static void find_differences(struct contender *e, const double *factors)
{
    autofree double *times = memory_new(e->rounds, sizeof *times);
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
}

// The share of an entry's rounds in which its launches were delayed; NaN without rounds.
static double held_up(const struct contender *e)
{
    autofree double *times = memory_new(e->rounds, sizeof *times);
    size_t n = times_of(e, ALL_PROCESSES, times, NULL), slow = 0;
    stats_sort(times, n);
    for (size_t i = 0; i < n; i++) slow += times[i] > disturbed * times[n / 10];
    return n ? (double)slow / (double)n : NAN;
}

void final_examine(struct contender *entries, size_t count, struct error *warning)
{
    autofree double *shares = memory_new(count, sizeof *shares);
    double factors[FINAL_PROCESSES_MAX], most = 0;
    size_t n = 0;
    *warning = (struct error){""};
    for (size_t i = 0; i < count; i++) find_medians(&entries[i]);
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++) factors[p] = common_factor(entries, count, p);
    for (size_t i = 0; i < count; i++) {
        find_differences(&entries[i], factors);
        shares[n] = held_up(&entries[i]);
        most = fmax(most, shares[n]);
        n += isfinite(shares[n]);
    }
    double share = stats_median(shares, n);
    if (most > held_up_alone) share = most; // this entry may be the only one that another program disturbs
    if (share > held_up_most)
        error_set(warning,
                  "something else seems to use the device: in %.0f%% of the rounds launches took over %.0f%% longer "
                  "than in the others",
                  100 * share, 100 * (disturbed - 1));
}

// The ratios of two entries in the rounds that both have. `of` gets the processes of these rounds. Returns the number
// of ratios.
static size_t ratios_of(const struct contender *e, const struct contender *to, double *ratios, unsigned char *of)
{
    size_t n = 0, rounds = e->rounds < to->rounds ? e->rounds : to->rounds;
    for (size_t i = 0; i < rounds; i++) {
        double ratio = e->objectives[i] / to->objectives[i];
        if (!isfinite(ratio)) continue;
        of[n] = e->process ? e->process[i] : 0;
        ratios[n++] = ratio;
    }
    return n;
}

static bool are_apart(const struct interval *slower, const struct interval *faster, double least)
{
    return slower->value > least * faster->value && slower->low > faster->high;
}

// Whether two processes give different ratios: either clearly different ratios, or slightly different ratios at a
// higher confidence, since many pairs are compared.
static bool processes_disagree(const double *ratios, const unsigned char *of, size_t n)
{
    struct interval usual[FINAL_PROCESSES_MAX], wide[FINAL_PROCESSES_MAX];
    autofree double *mine = memory_new(n, sizeof *mine);
    bool disagree = false;
    for (int p = 0; p < FINAL_PROCESSES_MAX; p++) {
        size_t count = 0;
        for (size_t i = 0; i < n; i++)
            if (of[i] == p) mine[count++] = ratios[i];
        usual[p].value = wide[p].value = stats_median(mine, count);
        stats_median_interval(mine, count, &usual[p].low, &usual[p].high);
        stats_median_bounds(mine, count, by_chance, &wide[p].low, &wide[p].high);
        for (int q = 0; q < p && count; q++)
            disagree |= are_apart(&usual[p], &usual[q], ratios_apart) ||
                        are_apart(&usual[q], &usual[p], ratios_apart) || are_apart(&wide[p], &wide[q], resolution) ||
                        are_apart(&wide[q], &wide[p], resolution);
    }
    return disagree;
}

struct comparison_of_two {
    struct interval ratio;
    size_t rounds; // rounds that both have; 0: there is no ratio
    bool holds;    // the bounds hold; false: there are too few rounds
    bool disagree; // processes disagree on the ratio
};

static struct comparison_of_two compare_two(const struct contender *e, const struct contender *to, double tail,
                                            bool agree)
{
    struct comparison_of_two c = {.holds = true};
    size_t room = e->rounds < to->rounds ? e->rounds : to->rounds;
    autofree double *ratios = memory_new(room, sizeof *ratios);
    autofree unsigned char *of = memory_new(room, 1);
    c.rounds = ratios_of(e, to, ratios, of);
    c.disagree = !agree && processes_disagree(ratios, of, c.rounds);
    if (c.disagree) {
        c.ratio = stats_clustered_median(ratios, of, c.rounds, 1 - 2 * tail, 1);
    } else {
        c.ratio.value = stats_median(ratios, c.rounds);
        c.holds = stats_median_bounds(ratios, c.rounds, tail, &c.ratio.low, &c.ratio.high);
    }
    return c;
}

size_t final_ratio(const struct contender *e, const struct contender *to, struct interval *ratio)
{
    size_t rounds = e->rounds < to->rounds ? e->rounds : to->rounds;
    return stats_paired_ratio(e->objectives, to->objectives, e->process, rounds, 0.95, 1, ratio);
}

// Returns 1 if a is lighter, -1 if b is, and 0 if neither is.
static int lighter(const struct contender *a, const struct contender *b)
{
    if (fabs(a->share - b->share) > 1e-9) return a->share < b->share ? 1 : -1;
    if (fabs(a->code - b->code) > 0.5) return a->code < b->code ? 1 : -1;
    return 0;
}

static bool races(const struct contender *e)
{
    return e->candidate && !e->slower && isfinite(e->median);
}

// The probability of error that one bound is allowed at this look.
static double tail_of(const struct contender *entries, size_t count, int look)
{
    double n = 0;
    for (size_t i = 0; i < count; i++) n += entries[i].candidate && isfinite(entries[i].median);
    double pairs = n > 1 ? n * (n - 1) / 2 : 1;
    return uncertainty / pairs / ((double)look * (look + 1));
}

static struct contender *find_fastest(struct contender *entries, size_t count)
{
    struct contender *fastest = NULL;
    for (size_t i = 0; i < count; i++)
        if (races(&entries[i]) && (!fastest || entries[i].median < fastest->median)) fastest = &entries[i];
    return fastest;
}

static bool is_decided(const struct comparison_of_two *c)
{
    bool tie = c->ratio.low >= 1 / tie_limit && c->ratio.high <= tie_limit;
    return c->holds && (c->ratio.low > resolution || c->ratio.high < 1 / resolution || tie);
}

void final_look(struct contender *entries, size_t count, int look, bool first_process, bool agree,
                struct final_look *found)
{
    *found = (struct final_look){.decided = true, .libraries = true};
    for (size_t i = 0; i < count; i++) find_medians(&entries[i]);
    double tail = tail_of(entries, count, look), least = first_process ? no_process : 1;
    struct contender *fastest = find_fastest(entries, count);
    for (size_t i = 0; i < count && fastest; i++) {
        struct contender *e = &entries[i];
        if (e == fastest || (e->candidate && !races(e)) || !isfinite(e->median)) continue;
        struct comparison_of_two c = compare_two(e, fastest, tail, agree);
        if (!c.rounds) continue;
        found->differ |= c.disagree;
        bool *decided = e->candidate ? &found->decided : &found->libraries;
        *decided &= is_decided(&c);
        e->slower = e->candidate && c.holds && !c.disagree && c.ratio.low > least * resolution;
    }
}

// The lightest of the candidates that equal the fastest one; if there are several, the one with the lowest time.
static struct contender *choose(struct contender *entries, size_t count, struct contender *fastest, double tail)
{
    struct contender *chosen = fastest;
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        if (!races(e) || e == fastest) continue;
        struct comparison_of_two c = compare_two(e, fastest, tail, false);
        if (!c.rounds || c.ratio.low > 1 || c.ratio.high < 1 || c.ratio.high - c.ratio.low >= equal_width) continue;
        int order = lighter(e, chosen);
        if (order > 0 || (!order && e->median < chosen->median)) chosen = e;
    }
    return chosen;
}

// Compares a candidate with the winner, based on their rounds. The winner has the lowest time, or equals the candidate
// with the lowest time.
static void compare(struct contender *e, size_t index, const struct contender *fastest, const struct contender *winner,
                    double tail, struct final_verdict *v)
{
    if (e != fastest) {
        struct comparison_of_two c = compare_two(e, fastest, tail, false);
        if (!c.rounds || c.ratio.low > resolution) return; // e is slower
    }
    struct comparison_of_two c = compare_two(e, winner, tail, false);
    if (!c.rounds) return;
    e->tied = c.ratio.low >= 1 / tie_limit;
    enum final_certainty certainty = e->tied ? FINAL_TIED : FINAL_UNDECIDED;
    double within = fmax(1 / c.ratio.low - 1, 0);
    if (certainty > v->certainty) v->certainty = certainty;
    if (within < v->within) return;
    v->within = within;
    v->rival = index;
}

void final_decide(struct contender *entries, size_t count, int look, struct final_verdict *v)
{
    *v = (struct final_verdict){.winner = -1};
    final_examine(entries, count, &v->warning);
    for (size_t i = 0; i < count; i++) entries[i].tied = false;
    struct contender *fastest = find_fastest(entries, count);
    if (!fastest) return;
    double tail = tail_of(entries, count, look);
    const struct contender *winner = choose(entries, count, fastest, tail);
    v->winner = winner - entries;
    for (size_t i = 0; i < count; i++)
        if (races(&entries[i]) && &entries[i] != winner) compare(&entries[i], i, fastest, winner, tail, v);
}

static double by_energy(const struct contender *e, double joules, bool product)
{
    return races(e) && joules > 0 ? joules * (product ? e->median : 1) : (double)NAN;
}

bool final_decide_energy(struct contender *entries, size_t count, bool product, struct final_verdict *v)
{
    const struct contender *least = NULL;
    for (size_t i = 0; i < count; i++) {
        double value = by_energy(&entries[i], entries[i].energy.value, product);
        if (value > 0 && (!least || value < by_energy(least, least->energy.value, product))) least = &entries[i];
    }
    if (!least) return false;
    *v = (struct final_verdict){.winner = least - entries, .warning = v->warning};
    for (size_t i = 0; i < count; i++) {
        struct contender *e = &entries[i];
        double low = by_energy(e, e->energy.low, product), high = by_energy(least, least->energy.high, product),
               within = high / low - 1;
        e->tied = false;
        if (e == least || !(by_energy(e, e->energy.value, product) > 0) || within <= 0) continue;
        e->tied = within <= tie_limit - 1;
        enum final_certainty certainty = e->tied ? FINAL_TIED : FINAL_UNDECIDED;
        if (certainty > v->certainty) v->certainty = certainty;
        if (within < v->within) continue;
        v->within = within;
        v->rival = i;
    }
    return true;
}

const char *final_certainty_name(enum final_certainty certainty)
{
    static const char *const names[] = {"fastest", "tied", "undecided"};
    return names[certainty];
}

double final_share(int64_t registers, int64_t threads, int64_t shared, int64_t registers_per_sm, int64_t shared_per_sm)
{
    return fmax((double)registers * (double)threads / (double)registers_per_sm, (double)shared / (double)shared_per_sm);
}
