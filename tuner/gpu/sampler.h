// Decides when to stop sampling. The decisions are separate from the measuring, so that they can be tested with made-up
// times. Samples arrive in batches. After each batch, the sampler says how many more it wants.
//
// The sampler wants min_samples, and then more until the 95% interval of the median is narrower than the requested
// precision, or max_samples or max_time is reached. If a best time is known, it begins with three samples and stops as
// soon as the candidate is certainly more than 2% slower. Such a candidate has no chance in the final, and its time is
// known well enough to learn from.
#pragma once

#include "tuner/base/settings.h"

enum { SAMPLER_SHOWN = 10, SAMPLER_RETAKES = 3 };

struct measurement {
    double time, low, high; // s; median and its 95% interval
    size_t count;
    double shown[SAMPLER_SHOWN]; // some of the samples, in the order taken
    size_t shown_count;
    bool slow;      // ended early: slower than slow_factor times the best
    bool throttled; // some samples were taken while the device was slowed down, even after retaking
    double power;   // W, mean of the readings during the measurement; 0: there is none
    double energy;  // J for one execution at that power; 0: the measurement was too short
};

struct sampler {
    struct measure_settings settings;
    double best;   // the best candidate's time (s); 0: unknown
    double *times; // the caller's array, with room for max_samples (at least 1)
    size_t count;
    double spent; // s of GPU time
    int dropped;  // batches
    bool slow, throttled;
};

void sampler_begin(struct sampler *, const struct measure_settings *, double best, double *times);
// Marks the candidate slow if its first single time exceeds slow_factor times the best candidate's.
void sampler_screen(struct sampler *, double time);
// How many samples to take next; 0: done.
size_t sampler_wanted(const struct sampler *);
// Adds a batch that took `spent` seconds. A batch taken while the device was throttled is dropped, since a hot device
// takes a while to cool. But a measurement must end, so the batch is kept if too many were dropped or twice the allowed
// time has passed.
void sampler_add(struct sampler *, const double *times, size_t n, double spent, bool throttled);
void sampler_result(const struct sampler *, struct measurement *);

// ---- early stop ---------------------------------------------------------------------------------------------------
//
// Estimates a candidate's time from its first launch. The first launch after loading takes longer than later ones. The
// ratio of their times depends on the device, the problem and the length of a launch, and is learned from the
// candidates that were measured in full. If the first launch is too long even when divided by this ratio, the
// candidate's trial ends early.

enum { EARLY_STOP_KEPT = 32, EARLY_STOP_LEAST = 8 };

// s. A launch this long warms up the device by itself, and disturbances hardly change its time.
extern const double early_stop_long_launch;

// For one problem. Zeroed: nothing is known.
struct early_stop {
    double share[EARLY_STOP_KEPT]; // first launch over median, of the candidates last measured
    size_t count;                  // of all candidates learned from so far
};

// Learns from a candidate's first launch and the median of its samples (s).
void early_stop_learn(struct early_stop *, double first, double median);
// A likely lower bound on the median of a candidate with this first launch: the first launch divided by the largest
// ratio among the last EARLY_STOP_KEPT candidates. A new ratio exceeds n earlier ones with probability 1/(n+1). Returns
// 0 while fewer than EARLY_STOP_LEAST candidates are known.
double early_stop_bound(const struct early_stop *, double first);
