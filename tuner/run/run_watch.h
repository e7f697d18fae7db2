// What the workers of a run do, for those who watch it: the live file beside the store (live_status.h), the summary's
// three shares, and the document of kind "workers" in the store.
//
// States are derived from the pool and the policy where one of them has changed; a look at all workers follows once a
// second, for what happens without a decision (a worker starts, a node joins).
#ifndef SWEETSPOT_RUN_WATCH_H
#define SWEETSPOT_RUN_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/base/json.h"
#include "tuner/pool/worker_usage.h"
#include "tuner/protocol/trial_message.h"

enum watch_phase { WATCH_SETTING_UP, WATCH_SEARCH, WATCH_FINAL, WATCH_PHASES };

struct watched_workers {
    size_t count;
    struct worker_usage *list;
    size_t in[USAGE_STATES]; // how many are in each state
};

// How busy a search keeps GPUs, compilers and the driver.
struct busy_shares {
    double at, seconds;          // accounted for until then; s of search
    double gpus, measuring;      // GPU seconds: all, and with a candidate
    double pending_answers;      // of the latter, while the answer waited for the driver; less than 0 counts as 0
    double compilers, compiling; // seconds of compilers: all, and busy
    double driver;               // s in which the driver did not wait
};

struct run_watch {
    struct watched_workers gpus, compilers;
    struct busy_shares shares;
    bool waits; // the driver, for its workers
    enum watch_phase phase;
    double phase_began, seconds[WATCH_PHASES]; // those of phases that are over
    double next_look, next_write, every;       // s between two versions of the live file, at least
    double next_event;                         // when progress is an event again
    char *path;                                // of the live file; NULL: there is none
    bool failed;                               // it cannot be written, which was said
};

struct run;

void run_watch_init(struct run *);
void run_watch_release(struct run *); // removes the live file
void run_watch_publish(struct run *); // from now on there is a live file: the store is ours
void run_watch_phase(struct run *, enum watch_phase);
void run_watch_waits(struct run *, bool);     // whether the driver waits from now on
void run_watch_gpu(struct run *, size_t gpu); // its state may have changed
void run_watch_compiler(struct run *, size_t compiler);
void run_watch_poll(struct run *);                              // at all, and writes the live file where that is due
void run_watch_answered(struct run *, size_t gpu, double took); // before the policy knows of it
// A GPU is done with a candidate; `answer` may be NULL.
void run_watch_measured(struct run *, size_t gpu, bool failed, const struct trial_answer *answer);
void run_watch_compiled(struct run *, size_t compiler, bool failed);
void run_watch_report(struct run *);      // after the search: the shares
json_t *run_watch_document(struct run *); // new reference

#endif
