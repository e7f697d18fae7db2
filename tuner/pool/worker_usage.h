// How a worker of a run spends its time: for `status`, a run's summary and its report. Pure: the time is passed in.
#ifndef SWEETSPOT_WORKER_USAGE_H
#define SWEETSPOT_WORKER_USAGE_H

#include "tuner/base/base.h"

enum usage_state {
    USAGE_STARTING,
    USAGE_SETTING_UP,
    USAGE_IDLE,
    USAGE_MEASURING, // from here to COMPILING: busy
    USAGE_COUNTING,
    USAGE_FINAL,
    USAGE_COMPILING,
    USAGE_ASIDE, // it is not used any more
    USAGE_LOST,  // with its node
    USAGE_STATES
};
const char *usage_state_text(enum usage_state); // "setting up"

struct worker_usage {
    enum usage_state state;
    double born, since, seen; // s: first seen; in this state; accounted for until then
    double seconds[USAGE_STATES];
    int64_t done, failed; // requests that were answered, or that ended the worker; those of them without a result
    int64_t restarts;     // the worker died or was killed
    double clock_mhz, temperature, power; // of a GPU, last known; NaN
};

void usage_init(struct worker_usage *, double now); // starting
// Accounts for the time until now; from then on it is in this state. Time does not run backwards: an earlier `now`
// counts as the last one.
void usage_enter(struct worker_usage *, enum usage_state, double now);
// Of what it was just busy with, so many seconds were idle: its answer waited to be read.
void usage_pending_answers(struct worker_usage *, double seconds);
bool usage_is_busy(enum usage_state);
double usage_busy_seconds(const struct worker_usage *);
// Its share of the time since it was first seen, until the last usage_enter. NaN: no time has passed.
double usage_share(const struct worker_usage *);

#endif
