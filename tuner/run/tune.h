// Runs a tuning job: the loop that keeps compilers and GPUs busy and commits every finished trial.
#pragma once

#include "search/model/stop.h"
#include "tuner/job/job.h"

enum { TUNE_STARTS = 20 }; // the most winners of earlier jobs that a search begins with

struct event_stream;

struct tune_options {
    const struct pool_request *pool; // the nodes whose workers are used; NULL: workers on this machine, for `device`
    const char *device;              // "0", "0,1", or "replay:FILE"
    const char *again;               // the command line that resumes the run, for advice
    struct {
        const char *store_path; // SQLite file
        const char *log_path;   // the log of all runs; each run appends to it
        const char *cache;      // folder of the compile cache
        bool cache_given;       // on the command line
    } files;
    double time;         // s for the whole run; 0: no limit
    double search_time;  // s for the search, even if more time is left; 0: no limit
    int64_t evaluations; // limit on the total, earlier runs included; 0: no limit
    struct stop_rules stop;
    int64_t workers; // number of compilers; 0: one per core

    struct { // earlier results; borrowed
        // Recorded spaces and stores that the strategy's model learns from, at most PRIOR_MOST.
        size_t prior_count;
        const char *const *priors;
        bool alone; // the model learns only from these, not from stores
        // Winners of related jobs ("A=1,B=x"), the most promising first. They are measured before the strategy proposes
        // anything. Winners that are not in the space, or beyond TUNE_STARTS, are left out.
        size_t start_count;
        const char *const *starts;
    } earlier;
    const char *strategy; // NULL: the job's
    int64_t seed;         // -1: the job's
    bool counters, final; // count, decide a final
    bool finish;          // no search: a final of the store's results
    bool refresh;         // no search: measure only the configurations that a search would begin with
    bool checks;          // run compute-sanitizer and nvcc's build of the winner
    bool quiet;           // no progress
    // The run's events go here, instead of the summary on stdout; NULL: no events. Borrowed.
    struct event_stream *events;
};

// The outcome of a run, for callers that run several jobs.
struct tune_outcome {
    double best, baseline; // objectives, s; if there is none, best is INFINITY and baseline NAN
    char *best_config;     // NULL where there is none
    char *baseline_name;   // name of that baseline
    int64_t evaluations;   // total number
    double seconds;        // of this run's search
    double gain;           // relative gain per second in the second half of this run's evaluations
    bool exhausted;        // the space, or the job's limit, is used up; more time is useless
    double finish;         // expected time of the job's final and its checks, s
    bool unchecked;        // there was no time for compute-sanitizer, nvcc's build or energy
};

void tune_outcome_init(struct tune_outcome *); // the outcome of a job that was not run
void tune_outcome_release(struct tune_outcome *);

// Tunes. Writes progress and messages to stderr, and the summary to stdout. Returns an exit status (protocol.h) and
// prints the message, if there is one. `outcome` may be NULL; otherwise it is always filled in. The caller releases it.
int tune(struct job *, const struct tune_options *, struct tune_outcome *outcome);
