// Decides whether the GPUs of a run take the same time for the same candidate, the reference. Pure: times are passed
// in.
//
// A GPU's time is compared with the *standard*, the median over the GPUs that are compared. If there are only two, the
// standard is the first GPU's time, because it is unknown which of the two is unusual. A GPU differs if all of these
// conditions hold GPU_TIMES_KEPT times in a row:
//
//     - The intervals of its newest time and of the standard do not overlap.
//     - The two times differ by more than 1%, because smaller differences do not matter.
//     - The logarithm of their ratio is larger in magnitude than GPU_TIMES_LIMIT deviations (below) of the change from
//       one time of a GPU to its next.
//
// The deviation is robust: it is 1.4826 times the median of the absolute changes between successive logarithms, over
// all GPUs. The change after which the judged GPU differed is excluded. (Median absolute deviation: Rousseeuw and
// Croux, Alternatives to the Median Absolute Deviation, 1993.) A value beyond three such deviations is an outlier by
// Hampel's identifier (Davies and Gather, The Identification of Multiple Outliers, 1993).
#pragma once

#include "tuner/base/stats.h"

enum { GPU_TIMES_KEPT = 3, GPU_TIMES_LIMIT = 3 };

struct gpu_times_of {
    size_t count; // number of times in `kept`, the newest first
    struct interval kept[GPU_TIMES_KEPT];
    size_t suspicious; // number of differing times in a row
    bool fresh;        // the newest time has not been judged yet
    bool out;          // disabled; no longer compared
};

struct gpu_times {
    size_t count;
    struct gpu_times_of *gpus;
};

enum gpu_verdict {
    GPU_OPEN,    // there is nothing to compare it with yet
    GPU_ALIKE,   // like the others
    GPU_AGAIN,   // it may differ; measure it again
    GPU_DIFFERS, // it differs
};

void gpu_times_release(struct gpu_times *);
void gpu_times_grow(struct gpu_times *, size_t count);
// Adds a GPU's time for the reference, in seconds, with its interval.
void gpu_times_add(struct gpu_times *, size_t gpu, struct interval time);
// Judges a GPU's newest time, once. *ratio: its newest time divided by the standard; *limit: the largest value that the
// ratio or its inverse may have.
enum gpu_verdict gpu_times_decide(struct gpu_times *, size_t gpu, double tie, double *ratio, double *limit);
