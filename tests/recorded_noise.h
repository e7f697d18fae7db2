// Noise for simulated finals and gates: noise recorded in finals on an H200, and random numbers.
#pragma once

#include <math.h>

#include "tests/testing.h"
#include "tuner/base/gzip.h"
#include "tuner/base/json.h"
#include "tuner/base/stats.h"

// splitmix64 (Steele, Lea, Flood 2014), in [0, 1).
static inline double uniform(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

static inline double gaussian(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(2 * 3.14159265358979323846 * uniform(state));
}

// The times of the entries of a recorded final, divided by their medians, round by round.
enum { SERIES_LEAST = 5, SERIES_MOST = 8, RECORDED_ROUNDS = 40, RECORDINGS = 8, BLOCK = 8 };
struct recorded_noise {
    const char *path;
    size_t series;
    double relative[SERIES_MOST][RECORDED_ROUNDS];
};
static struct recorded_noise recorded[RECORDINGS] = {
    {.path = "tests/spaces/branch_h200.json.gz"},     {.path = "tests/spaces/coarsening_h200.json.gz"},
    {.path = "tests/spaces/copy_order_h200.json.gz"}, {.path = "tests/spaces/example_h200.json.gz"},
    {.path = "tests/spaces/sgemm_2048_h200.json.gz"}, {.path = "tests/spaces/smith_waterman_unroll_h200.json.gz"},
    {.path = "tests/spaces/softmax_h200.json.gz"},    {.path = "tests/spaces/windowed_sum_h200.json.gz"},
};

static inline void read_noise(struct recorded_noise *n)
{
    struct error err;
    char *text = test_owned(gzip_read_file(n->path, NULL, &err));
    json_t *space = test_json(json_parse(text ? text : "", &err));
    const json_t *entries = json_object_get(json_array_get(json_object_get(space, "finals"), 0), "entries");
    json_array_each(entries, i, entry) {
        const json_t *times = json_object_get(json_array_get(json_object_get(entry, "problems"), 0), "times");
        if (json_array_size(times) != RECORDED_ROUNDS || n->series == SERIES_MOST) continue;
        double *to = n->relative[n->series++];
        for (size_t k = 0; k < RECORDED_ROUNDS; k++) to[k] = json_number_value(json_array_get(times, k));
        double median = stats_median(to, RECORDED_ROUNDS);
        for (size_t k = 0; k < RECORDED_ROUNDS; k++) to[k] /= median;
    }
    if (n->series < SERIES_LEAST) fail_msg("%s has a final of %zu entries", n->path, n->series);
}
