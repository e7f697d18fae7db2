// The workers of a run: their states, how long each state lasted, and how busy a search keeps GPUs, compilers and the
// driver. These figures are used by the live file and the document of kind "workers" in the store (run_documents.c),
// and by the summary (run_report.c).
//
// States are derived from the pool and the policy when one of them changes. In addition, all workers are polled once a
// second, for events that need no decision (a worker starts, a node joins).
#pragma once

#include "tuner/policy/policy.h"
#include "tuner/pool/worker_pool.h"
#include "tuner/protocol/trial_message.h"

// How a worker spends its time. Pure: the time is passed in.
enum usage_state {
    USAGE_STARTING,
    USAGE_SETTING_UP,
    USAGE_IDLE,
    USAGE_MEASURING, // from here to USAGE_COMPILING: busy
    USAGE_COUNTING,
    USAGE_FINAL,
    USAGE_COMPILING,
    USAGE_DISABLED, // it is no longer used
    USAGE_LOST,     // with its node
    USAGE_STATES
};
const char *usage_state_text(enum usage_state); // "setting up"

struct worker_usage {
    enum usage_state state;
    double born, since, seen; // s: when first seen; when this state began; time up to which all is accounted for
    double seconds[USAGE_STATES];
    int64_t done, failed;                 // requests that were answered or ended the worker; of these, without a result
    int64_t restarts;                     // the worker died or was killed
    double clock_mhz, temperature, power; // a GPU's last known values; NaN: none
};

void usage_init(struct worker_usage *, double now); // in state USAGE_STARTING
// Accounts for the time until now, and sets the state from then on. If `now` is earlier than in the previous call, the
// previous value is used.
void usage_enter(struct worker_usage *, enum usage_state, double now);
// Moves this many seconds of the worker's last busy time to idle, because its answer waited to be read.
void usage_pending_answers(struct worker_usage *, double seconds);
bool usage_is_busy(enum usage_state);
double usage_busy_seconds(const struct worker_usage *);
// The share of time in which the worker was busy, from when it was first seen to the last usage_enter. NaN: no time has
// passed.
double usage_share(const struct worker_usage *);

enum watch_phase { WATCH_SETTING_UP, WATCH_SEARCH, WATCH_FINAL, WATCH_PHASES };

struct watched_workers {
    size_t count;
    struct worker_usage *list;
};

// Seconds since the run began.
struct busy_sums {
    double all, driver;          // total time; time in which the driver did not wait
    double gpus, measuring;      // of all GPUs: total time; time with a candidate, except while its answer waited
    double compilers, compiling; // of available compilers: total time; busy time
};

// The shares of the search's time in which GPUs, compilers and the driver were busy; NaN if unknown.
struct busy_figures {
    double seconds; // of the search
    double gpus, compilers, driver;
};

struct run_watch {
    const struct worker_pool *pool; // borrowed, as is the policy
    const struct policy *policy;
    struct watched_workers gpus, compilers;
    struct busy_sums before, after; // at the beginning and the end of the search
    bool waits;                     // the driver waits for its workers
    double at, driver;              // time up to which the driver is accounted for; s during which it did not wait
    enum watch_phase phase;
    double phase_began, seconds[WATCH_PHASES]; // s of phases that are over
    double next_look;
};

void run_watch_init(struct run_watch *, const struct worker_pool *, const struct policy *);
void run_watch_release(struct run_watch *);
void run_watch_phase(struct run_watch *, enum watch_phase);
void run_watch_waits(struct run_watch *, bool);     // whether the driver waits from now on
void run_watch_gpu(struct run_watch *, size_t gpu); // its state may have changed
void run_watch_compiler(struct run_watch *, size_t compiler);
void run_watch_poll(struct run_watch *, double now);                  // polls all workers, when due
void run_watch_answered(struct run_watch *, size_t gpu, double took); // call before the policy is told
// Records that a GPU is done with a candidate; `answer` may be NULL.
void run_watch_measured(struct run_watch *, size_t gpu, bool failed, const struct trial_answer *answer);
void run_watch_compiled(struct run_watch *, size_t compiler, bool failed);
struct busy_figures run_watch_figures(const struct run_watch *);
