// The search of a run: the strategy, the configurations it begins with, the results reported to it, and the best so
// far. It does not deal with workers.
#pragma once

#include "search/strategies/strategy.h"
#include "tuner/base/hash_index.h"
#include "tuner/policy/policy.h"
#include "tuner/run/tune.h"
#include "tuner/store/store.h"
#include "tuner/watch/display.h"

// The best result of a search so far, and the baseline that it is compared with.
struct incumbent {
    double objective;               // s; INFINITY before the first valid result
    double times[JOB_MAX_PROBLEMS]; // by tuned problem; with objective "each", the best of each problem
    char *config;                   // with objective "each", the one with the latest improvement; NULL: none yet
    int64_t trial;
    double baseline; // objective of the first available baseline; NAN: none
    char *baseline_name;
};

void incumbent_init(struct incumbent *);
void incumbent_release(struct incumbent *);
// Takes a valid result. Returns true if it is better than the best so far; with objective "each", *problem is then the
// first problem on which it is better.
bool incumbent_take(struct incumbent *, const struct job *, double objective, const double *times, const char *config,
                    int64_t trial, size_t *problem);
// The value for the stop rules: the result's objective or, with objective "each", the objective of the best times from
// this result and all earlier ones.
double incumbent_together(const struct incumbent *, const struct job *, double objective, const double *times);
void incumbent_set_baseline(struct incumbent *, const char *name, double objective);

// Configurations to measure before the strategy is asked: the job's own, and winners of earlier jobs.
struct start_list {
    size_t count, next;
    uint16_t configs[TUNE_STARTS][SPACE_MAX_PARAMETERS];
    size_t named;    // count of those that the job names; these come first
    size_t left_out; // count of those beyond TUNE_STARTS
};

// Results of other searches from which the strategy's model learns.
struct prior_list {
    size_t count;
    struct prior *list[PRIOR_MOST];
};

// The ids of the store's trials that were reported to the strategy.
struct reported_trials {
    int64_t *list;
    size_t count, room;
    struct hash_index index; // by id
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
    int64_t counts[STATUS_COUNT]; // numbers of reported trials, by status
};

// A trial's result. Borrowed.
struct search_result {
    const uint16_t *config;
    const char *text; // the configuration's
    int64_t trial;
    enum trial_status status;
    double objective;
    const double *times; // by tuned problem
    bool retry;          // a second try, after the search, of a trial that crashed
};

void search_init(struct search *, const struct job *, struct policy *);
void search_release(struct search *);
// Creates a strategy of the chosen class.
void search_begin(struct search *, uint64_t seed);

// Gets the next configuration to try. Returns false if there is none now (the policy has been informed), or if the
// configuration already has a result.
bool search_propose(struct search *, uint16_t *config);
void search_rank(struct search *); // ranks the trials that wait for a GPU
// Reports a result to strategy and policy. Returns true if it is the best so far; *problem is then the first problem on
// which it is the best.
bool search_take(struct search *, const struct search_result *, size_t *problem);
bool search_has_reported(const struct search *, int64_t trial);
// Reads a trial of the store. Returns false if the job file lacks the trial's values, or if the configuration is not
// valid. `config` and `times` have room for SPACE_MAX_PARAMETERS and JOB_MAX_PROBLEMS.
bool search_read(const struct search *, const struct trial *, struct search_result *, uint16_t *config, double *times);
// Finds the best result in the store again after new verdicts.
int search_find_best(struct search *, struct error *);
// Returns 1 if the store has a result for every configuration of the space, 0 if not, or -1 with a message.
int search_knows_all(struct search *, struct error *);

// starts.c.
int search_collect_starts(struct search *, const struct tune_options *, bool shipped, struct error *);
// priors.c.
// Makes the prior for this space from the results in a file. If the file is a store, only one environment's results are
// used: the environment with this key or, if the key is NULL, the environment that was used last. Returns NULL with a
// message that begins with the path if the file is damaged, its format is unknown, or nothing can be learnt from it.
struct prior *prior_file_read(const char *path, const char *environment, const struct space *, struct error *);
// Collects the priors of a search: from --prior and, unless `replay`, from the store's other environments and the
// stores next to it. Call before search_begin.
void search_collect_priors(struct search *, const struct tune_options *, const struct environment *own, bool replay,
                           struct display *);
// retry.c: after the search, adds tasks for at most SEARCH_RETRIES candidates that crashed once and may be among the
// `places` finalists. Returns their number, or -1 with a message.
enum { SEARCH_RETRIES = 3 };
int search_retry(struct search *, size_t places, struct display *, struct error *);
