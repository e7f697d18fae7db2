// See library_race.h.
#include "tuner/gpu/library_race.h"

#include "tuner/base/clock.h"
#include "tuner/base/entropy.h"
#include "tuner/base/stats.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/verify.h"

enum { ROUNDS = 10, LEAST_ROUNDS = 3, SAMPLES = 2 };
static const double steady_after = 0.2, longest = 5; // s
// Ways that are slower than the third fastest by this factor drop out: after the samples, and from LEAST_ROUNDS on.
static const double hopeless = 1.5, hopeless_in_race = 1.05;

struct racer {
    const struct operation_way *way;
    struct pipeline pipeline;
    struct measure_plan plan;
    double time; // s; from the samples, later the median of the rounds
    double times[ROUNDS];
};

struct library_racers {
    struct workload *w;
    const struct operation_baseline *library;
    size_t problem;
    struct operation_way ways[OPERATION_WAYS_MAX];
    struct racer list[OPERATION_WAYS_MAX];
    struct racer *order[OPERATION_WAYS_MAX]; // the ways that run
    size_t way_count, count;
    size_t entered; // how many of `order` have taken part
    int clock_mhz;
};

// Prepares a way and times it for the first time. A way that does not run is left out.
static int try_way(struct library_racers *r, size_t number, struct error *err)
{
    const char *ways[WORKLOAD_PROBLEMS_MAX] = {NULL};
    struct racer *e = &r->list[number];
    struct measure_plan *plans[SAMPLES] = {&e->plan, &e->plan};
    struct error why;
    double times[SAMPLES];
    e->way = &r->ways[number];
    ways[r->problem] = e->way->text;
    int failed = pipeline_open_operation(&e->pipeline, r->w, r->library, ways, &why);
    if (!failed) {
        struct work work = pipeline_work(&e->pipeline, r->problem);
        e->plan = (struct measure_plan){.subject = verify_subject(r->w, r->problem, &work, false), .repeats = 1};
        failed = measure_samples(r->w->measure, plans, SAMPLES, 0, times, &why);
    }
    if (failed == CUDA_CRASHED) *err = why;
    if (failed) return failed == CUDA_CRASHED ? failed : 0;
    e->time = fmin(times[0], times[1]);
    r->order[r->count++] = e;
    return 0;
}

static int compare_times(const void *a, const void *b)
{
    double x = (*(struct racer *const *)a)->time, y = (*(struct racer *const *)b)->time;
    return (x > y) - (x < y);
}

// Sorts the ways by time, and drops those that take more than `factor` times as long as number LIBRARY_PLACES.
static void drop_slower(struct library_racers *r, double factor)
{
    qsort(r->order, r->count, sizeof(struct racer *), compare_times);
    size_t kept = r->count < LIBRARY_PLACES ? r->count : LIBRARY_PLACES;
    while (kept < r->count && r->order[kept]->time <= factor * r->order[LIBRARY_PLACES - 1]->time) kept++;
    r->count = kept;
}

// A round in random order.
static int take_round(struct library_racers *r, double times[OPERATION_WAYS_MAX], bool *hot, struct error *err)
{
    struct measure_plan *plans[OPERATION_WAYS_MAX];
    for (size_t i = r->count - 1; i > 0; i--) {
        size_t other = entropy_below(i + 1);
        memory_swap(r->order[i], r->order[other]);
    }
    for (size_t i = 0; i < r->count; i++) plans[i] = &r->order[i]->plan;
    return measure_plans(r->w->measure, plans, r->count, times, hot, err);
}

// Runs the rounds, then sorts `order` by medians. *rounds is the number of rounds.
static int take_rounds(struct library_racers *r, int *rounds, struct error *err)
{
    double times[OPERATION_WAYS_MAX], begun = clock_now(), steady = begun + steady_after;
    int failed = 0, retakes = 0;
    bool hot;
    *rounds = 0;
    while (!failed && clock_now() < steady) failed = take_round(r, times, &hot, err);
    while (!failed && *rounds < ROUNDS && (*rounds < LEAST_ROUNDS || clock_now() < begun + longest)) {
        failed = take_round(r, times, &hot, err);
        if (failed || (hot && retakes++ < ROUNDS)) continue;
        r->clock_mhz = measure_reading(r->w->measure).clock_mhz;
        for (size_t i = 0; i < r->count; i++) r->order[i]->times[*rounds] = times[i];
        ++*rounds;
        for (size_t i = 0; i < r->count; i++) r->order[i]->time = stats_median(r->order[i]->times, (size_t)*rounds);
        if (*rounds >= LEAST_ROUNDS) drop_slower(r, hopeless_in_race);
    }
    return failed;
}

static int race(struct library_racers *r, int *rounds, struct error *err)
{
    double until = clock_now() + longest;
    int failed =
        r->library->list(&r->w->device.operations, &r->w->problems[r->problem].operation, r->ways, &r->way_count, err);
    for (size_t i = 0; i < r->way_count && !failed && (r->count < LIBRARY_PLACES || clock_now() < until); i++)
        failed = try_way(r, i, err);
    if (failed) return failed;
    if (!r->count) return error_set(err, "none of the library's %zu algorithms runs", r->way_count);
    drop_slower(r, hopeless);
    r->entered = r->count;
    for (size_t i = 0; i < r->count && !failed; i++) {
        struct measure_plan *plan = &r->order[i]->plan;
        struct measure_subject subject = plan->subject;
        failed = measure_plan(r->w->measure, &subject, r->order[i]->time, plan, err);
    }
    return failed ? failed : take_rounds(r, rounds, err);
}

int library_race(struct workload *w, const struct operation_baseline *library, size_t problem,
                 struct operation_way best[LIBRARY_PLACES], size_t *count, struct error *err)
{
    struct library_racers *r = memory_try(1, sizeof *r, err);
    int rounds = 0;
    *count = 0;
    if (!r) return -1;
    r->w = w;
    r->library = library;
    r->problem = problem;
    int failed = race(r, &rounds, err);
    for (size_t i = 0; i < r->count && i < LIBRARY_PLACES && !failed; i++) {
        char clock[32] = "";
        best[i] = *r->order[i]->way;
        size_t length = strlen(best[i].detail);
        if (r->clock_mhz) snprintf(clock, sizeof clock, " at %d MHz", r->clock_mhz);
        snprintf(best[i].detail + length, sizeof best[i].detail - length, "; place %zu of %zu in %d rounds%s", i + 1,
                 r->entered, rounds, clock);
        *count = i + 1;
    }
    for (size_t i = 0; i < r->way_count && failed != CUDA_CRASHED; i++) {
        measure_plan_free(&r->list[i].plan);
        pipeline_release(&r->list[i].pipeline);
    }
    free(r);
    return failed;
}
