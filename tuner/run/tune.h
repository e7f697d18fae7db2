// Running a tuning job: the loop that keeps compilers and GPUs busy and commits every finished trial.
#pragma once

#include "search/model/stop.h"
#include "tuner/job/job.h"

enum { TUNE_STARTS = 20 }; // winners of earlier jobs that a search begins with, at most

struct event_stream;

struct tune_options {
    const struct pool_request *pool; // the nodes whose workers are used; NULL: those of `device`, here
    const char *device;              // "0", "0,1", or "replay:FILE"
    const char *again;               // the command line that resumes, for advice
    struct {
        const char *store_path; // SQLite file
        const char *log_path;   // the history of all runs, appended to
        const char *cache;      // folder of the compile cache
        bool cache_given;       // on the command line
    } files;
    double time;         // s until the whole run has ended; 0: no limit
    double search_time;  // s that the search may take, whatever time is left; 0: no limit
    int64_t evaluations; // in all, earlier runs included; 0: no limit
    struct stop_rules stop;
    int64_t workers; // compilers; 0: one a core

    struct { // earlier results; borrowed
        // Recorded spaces and stores that the strategy's model learns from, at most PRIOR_MOST.
        size_t prior_count;
        const char *const *priors;
        bool alone; // it learns only from these, not from stores
        // Configurations to measure first, winners of related jobs ("A=1,B=x"), the most promising first: those that
        // are not in the space are left out, and those beyond TUNE_STARTS.
        size_t start_count;
        const char *const *starts;
    } earlier;
    const char *strategy; // NULL: the job's
    int64_t seed;         // -1: the job's
    bool counters, final; // count, decide a final
    bool finish;          // no search: the final of what the store has
    bool refresh;         // no search: only what a search would begin with is measured
    bool checks;          // the winner under compute-sanitizer, and nvcc's build of it
    bool quiet;           // no progress
    // The events of the run go here, in place of the summary on stdout; NULL: no events. Borrowed.
    struct event_stream *events;
};

// The outcome of a run, for callers that run several.
struct tune_outcome {
    double best, baseline; // objectives: s; best INFINITY and baseline NAN where there is none
    char *best_config;     // NULL where there is none
    char *baseline_name;   // of the baseline
    int64_t evaluations;   // in all
    double seconds;        // of this run's search
    double gain;           // per second, relative: what the second half of this run's evaluations gained
    bool exhausted;        // the space, or what the job allows, is used up: more time is useless
    double finish;         // s that a final of the job and its checks are expected to take
    bool unchecked;        // there was no time for compute-sanitizer, nvcc's build or energy
};

void tune_outcome_init(struct tune_outcome *); // as for a job that was not run
void tune_outcome_release(struct tune_outcome *);

// Tunes. Progress and messages on stderr, the summary on stdout. Returns an exit status (protocol.h); the message, if
// any, is printed. `outcome` may be NULL; otherwise it is filled in any case, and the caller releases it.
int tune(struct job *, const struct tune_options *, struct tune_outcome *outcome);
