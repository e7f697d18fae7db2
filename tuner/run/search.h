// The search of a run: the strategy, what it begins with, the results reported to it, and the best so far. It
// knows no workers.
#pragma once

#include "search/strategies/strategy.h"
#include "tuner/base/hash_index.h"
#include "tuner/policy/policy.h"
#include "tuner/run/tune.h"
#include "tuner/store/store.h"
#include "tuner/watch/display.h"

// The best that a search has found so far, and what it is compared with.
struct incumbent {
    double objective;               // s; INFINITY before the first valid result
    double times[JOB_MAX_PROBLEMS]; // by tuned problem; with a kernel for each problem the best of each
    char *config;                   // NULL before the first; with a kernel for each problem the latest of them
    int64_t trial;
    double baseline; // objective of the first baseline that is available; NAN
    char *baseline_name;
};

void incumbent_init(struct incumbent *);
void incumbent_release(struct incumbent *);
// A valid result. True where it is better; *problem (objective "each") is then the first one on which it is.
bool incumbent_take(struct incumbent *, const struct job *, double objective, const double *times, const char *config,
                    int64_t trial, size_t *problem);
// What the stop rules look at: the result's objective, or with a kernel for each problem what it and all before it come
// to together.
double incumbent_together(const struct incumbent *, const struct job *, double objective, const double *times);
void incumbent_set_baseline(struct incumbent *, const char *name, double objective);

// Configurations to measure before the strategy is asked: the job's own, and winners of earlier jobs.
struct start_list {
    size_t count, next;
    uint16_t configs[TUNE_STARTS][SPACE_MAX_PARAMETERS];
    size_t named;    // of them, those that the job names, which come first
    size_t left_out; // beyond TUNE_STARTS
};

// Results from elsewhere from which the strategy's model learns.
struct prior_list {
    size_t count;
    struct prior *list[PRIOR_MOST];
};

// The numbers of the store's trials that were reported to the strategy.
struct reported_trials {
    int64_t *list;
    size_t count, room;
    struct hash_index index; // by number
};

struct search {
    const struct job *job; // borrowed, as are store and policy
    struct store *store;
    struct policy *policy;
    const struct strategy_class *strategy_class;
    struct strategy *strategy;
    struct start_list starts;
    struct prior_list priors;
    struct reported_trials reported;
    struct incumbent incumbent;
    int64_t counts[STATUS_COUNT]; // of the trials that were reported, by status
};

// A trial's result. Borrowed.
struct search_result {
    const uint16_t *config;
    const char *text; // the configuration's
    int64_t trial;
    enum trial_status status;
    double objective;
    const double *times; // by tuned problem
    bool retry;          // the second try of one that crashed; the search is over
};

void search_init(struct search *, const struct job *, struct policy *);
void search_release(struct search *);
// Makes the strategy, of the class that was chosen.
void search_begin(struct search *, uint64_t seed);

// The next configuration to try. False: there is none now, and the policy knows it, or it has a result already.
bool search_propose(struct search *, uint16_t *config);
void search_rank(struct search *); // the trials that wait for a GPU
// Tells strategy and policy. True where it is the best so far; *problem is then the first on which it is.
bool search_take(struct search *, const struct search_result *, size_t *problem);
bool search_has_reported(const struct search *, int64_t trial);
// Reads a trial of the store. False where the job file lacks its values, or its configuration is not valid. *config and
// *times have room for SPACE_MAX_PARAMETERS and JOB_MAX_PROBLEMS.
bool search_read(const struct search *, const struct trial *, struct search_result *, uint16_t *config, double *times);
// Finds the best in the store, after verdicts.
int search_find_best(struct search *, struct error *);
// 1: the store has a result for every configuration of the space; 0: not; -1 with a message.
int search_knows_all(struct search *, struct error *);

// starts.c.
int search_collect_starts(struct search *, const struct tune_options *, bool shipped, struct error *);
// priors.c.
// What a file's results say about this space. From a store, those of the environment with this key, or with NULL of the
// one that was used last. NULL with a message that begins with the path: the file is damaged, its format is unknown, or
// nothing can be learnt from it.
struct prior *prior_file_read(const char *path, const char *environment, const struct space *, struct error *);
// The priors of a search: from --prior, and unless `replay` from the store's other environments and the stores next to
// it. Before search_begin.
void search_collect_priors(struct search *, const struct tune_options *, const struct environment *own, bool replay,
                           struct display *);
// retry.c: after the search, candidates that crashed once and may be among so many finalists. Adds their tasks, at most
// SEARCH_RETRIES. Returns how many, or -1 with a message.
enum { SEARCH_RETRIES = 3 };
int search_retry(struct search *, size_t places, struct display *, struct error *);
