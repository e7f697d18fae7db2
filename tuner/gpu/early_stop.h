// What a candidate's first launch says about its time. The first launch after loading is longer than the later ones, by
// a share that depends on the device, the problem and how long a launch takes; it is learned from the candidates that
// were measured in full. If the first launch is too long even after that, the candidate ends there.
#ifndef SWEETSPOT_EARLY_STOP_H
#define SWEETSPOT_EARLY_STOP_H

#include <stddef.h>

enum { EARLY_STOP_KEPT = 32, EARLY_STOP_LEAST = 8 };

// s. A launch of this length warms the device up by itself, and a disturbance is a small part of it.
extern const double early_stop_long_launch;

// Of one problem. Zeroed: nothing is known.
struct early_stop {
    double share[EARLY_STOP_KEPT]; // first launch over median, of the candidates last measured
    size_t count;                  // of all that were ever learned
};

// A candidate's first launch and the median of its samples (s).
void early_stop_learn(struct early_stop *, double first, double median);
// What the median of a candidate with this first launch will hardly be below: the largest share of the last
// EARLY_STOP_KEPT candidates is taken off. A new share is beyond all of n others with a probability of 1/(n+1). 0 while
// fewer than EARLY_STOP_LEAST candidates are known.
double early_stop_bound(const struct early_stop *, double first);

#endif
