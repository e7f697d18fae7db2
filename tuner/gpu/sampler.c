// See sampler.h.
#include "tuner/gpu/sampler.h"

#include "tuner/base/stats.h"

enum { SMALLEST_BATCH = 4, FIRST_BATCH = 3 };
// A candidate slower than the best by this factor is not among the best ones.
static const double clearly_slower = 1.02;

void sampler_begin(struct sampler *s, const struct measure_settings *settings, double best, double *times)
{
    memset(s, 0, sizeof *s);
    s->settings = *settings;
    s->best = best;
    s->times = times;
    if (s->settings.max_samples < 1) s->settings.max_samples = 1;
    if (s->settings.min_samples < 1) s->settings.min_samples = 1;
    if (s->settings.min_samples > s->settings.max_samples) s->settings.min_samples = s->settings.max_samples;
}

// A candidate whose time exceeds this is slow.
static double cutoff(const struct sampler *s)
{
    return s->best > 0 && s->settings.slow_factor > 0 ? s->best * s->settings.slow_factor : (double)INFINITY;
}

// Whether the median is certainly above clearly_slower times the best. With fewer than six samples, no interval of
// ranks covers the median with 95% probability. The lower bound is then median - 1.5 * range, about Student's t for
// three samples. For four or five samples, Student's t would allow a smaller margin.
static bool is_behind(const struct sampler *s, double median, double low, double high)
{
    if (!(s->best > 0) || s->count < FIRST_BATCH) return false;
    return (s->count < 6 ? median - 1.5 * (high - low) : low) > clearly_slower * s->best;
}

void sampler_screen(struct sampler *s, double time)
{
    if (time <= cutoff(s)) return;
    s->slow = true;
    if (s->count == 0) s->times[s->count++] = time;
}

size_t sampler_wanted(const struct sampler *s)
{
    const struct measure_settings *set = &s->settings;
    size_t most = (size_t)set->max_samples, least = (size_t)set->min_samples;
    if (s->slow || s->count >= most) return 0;
    if (s->count == 0) return s->best > 0 && least > FIRST_BATCH ? FIRST_BATCH : least;
    double low, high, median = stats_median(s->times, s->count);
    stats_median_interval(s->times, s->count, &low, &high);
    if (is_behind(s, median, low, high)) return 0;
    if (s->count < least) return least - s->count;
    if (s->spent >= set->max_time) return 0;
    double width = (high - low) / 2 / median;
    if (width <= set->precision) return 0;
    // The width shrinks with the square root of the count. The count is at most doubled, because widths from few
    // samples are themselves uncertain.
    double wish = (double)s->count * (pow(width / set->precision, 2) - 1);
    size_t n = wish < SMALLEST_BATCH ? SMALLEST_BATCH : wish > (double)s->count ? s->count : (size_t)wish;
    double left = (set->max_time - s->spent) / (s->spent / (double)s->count + 1e-9);
    if ((double)n > left) n = left < 1 ? 1 : (size_t)left;
    return n < most - s->count ? n : most - s->count;
}

void sampler_add(struct sampler *s, const double *times, size_t n, double spent, bool throttled)
{
    s->spent += spent;
    if (throttled && s->dropped < SAMPLER_RETAKES && s->spent < 2 * s->settings.max_time) {
        s->dropped++;
        return;
    }
    if (throttled) s->throttled = true;
    for (size_t i = 0; i < n && s->count < (size_t)s->settings.max_samples; i++) s->times[s->count++] = times[i];
    if (s->count && stats_median(s->times, s->count) > cutoff(s)) s->slow = true;
}

void sampler_result(const struct sampler *s, struct measurement *m)
{
    memset(m, 0, sizeof *m);
    m->time = stats_median(s->times, s->count);
    stats_median_interval(s->times, s->count, &m->low, &m->high);
    m->count = s->count;
    m->slow = s->slow;
    m->throttled = s->throttled;
    m->shown_count = s->count < SAMPLER_SHOWN ? s->count : SAMPLER_SHOWN;
    for (size_t i = 0; i < m->shown_count; i++) m->shown[i] = s->times[i * s->count / m->shown_count];
}

const double early_stop_long_launch = 5e-3;

void early_stop_learn(struct early_stop *r, double first, double median)
{
    if (!(first > 0) || !(median > 0)) return;
    r->share[r->count++ % EARLY_STOP_KEPT] = first / median;
}

double early_stop_bound(const struct early_stop *r, double first)
{
    double largest = 1;
    if (r->count < EARLY_STOP_LEAST) return 0;
    for (size_t i = 0; i < r->count && i < EARLY_STOP_KEPT; i++)
        if (r->share[i] > largest) largest = r->share[i];
    return first / largest;
}
