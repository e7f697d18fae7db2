// See final_clock.h.
#include "tuner/final/final_clock.h"

#include "tuner/base/limits.h"

// s, for one candidate in one process; more than three candidates share the time of three (tuner/gpu/gpu_final.c)
static const double first_soak = 0.4, later_soak = 0.1, soaks = 3;
static const double unknown_trial = 0.3; // s, before the first trial
// A timed launch is preceded by a preparation and followed by a verification. Each of these takes about as long as the
// launch, plus a constant.
static const double launch_factor = 3, launch_extra = 1e-3; // s
static const double search_share = 0.5;                     // share of the time
static const double final_share = 0.75;                     // share of the time, even for the smallest final
static const double drift = 0.05;                           // minimum weight of a new trial in the mean

double final_clock_left(const struct final_clock *c, double now)
{
    return c->deadline - now;
}

void final_clock_trial(struct final_clock *c, double seconds)
{
    double weight = fmax(1 / (double)++c->trials, drift);
    c->trial += weight * (seconds - c->trial);
}

double final_clock_energy(const struct final_clock *c, const struct final_size *size)
{
    return c->energy_decides ? c->energy * (double)(size->candidates + size->baselines) : 0;
}

static double cost(const struct final_clock *c, const struct final_size *size)
{
    double entries = (double)(size->candidates + size->baselines), candidates = (double)size->candidates,
           trial = c->trials ? c->trial : unknown_trial, later = (double)(size->processes - 1),
           proof = (double)size->processes * (c->worker + entries * trial),
           soak = c->verifies ? fmin(candidates, soaks) * (first_soak + later * later_soak) : 0;
    return proof + soak + (double)size->rounds * entries * (launch_factor * c->kernel + launch_extra) +
           final_clock_energy(c, size);
}

double final_clock_planned(const struct final_clock *c, const struct final_size *size)
{
    return cost(c, size);
}

double final_clock_least(const struct final_clock *c, const struct final_size *size)
{
    struct final_size least = *size;
    least.processes = 1;
    least.rounds = FINAL_LEAST;
    if (least.candidates > 2) least.candidates = 2;
    return cost(c, &least);
}

double final_clock_reserve(const struct final_clock *c, const struct final_size *size, double left)
{
    double room = search_share * left, reserve = cost(c, size);
    if (reserve > room) return fmax(room, fmin(final_clock_least(c, size), final_share * left));
    if (reserve + c->sanitizer <= room) reserve += c->sanitizer;
    if (reserve + c->nvcc <= room) reserve += c->nvcc;
    double last = c->energy_decides ? 0 : c->energy * (double)(1 + size->baselines);
    if (reserve + last <= room) reserve += last;
    return reserve;
}

double final_clock_for_rounds(const struct final_clock *c, const struct final_size *size, double now)
{
    double left = final_clock_left(c, now);
    if (left - c->sanitizer >= final_clock_least(c, size)) left -= c->sanitizer;
    if (left - c->nvcc >= cost(c, size)) left -= c->nvcc;
    return left;
}

double final_clock_for_energy(const struct final_clock *c, double now)
{
    double left = final_clock_left(c, now);
    return c->energy_decides ? left : left - c->sanitizer - c->nvcc;
}

struct final_size final_clock_fit(const struct final_clock *c, const struct final_size *size, double left)
{
    struct final_size fit = *size;
    fit.rounds = FINAL_LEAST * fit.processes;
    while (fit.processes > 1 && cost(c, &fit) > left) fit.rounds = FINAL_LEAST * --fit.processes;
    while (fit.candidates > 2 && cost(c, &fit) > left) fit.candidates--;
    fit.rounds = size->rounds;
    return fit;
}
