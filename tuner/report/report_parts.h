// Shared by the parts of a RESULT (docs/json.md describes its shape). Functions that make JSON return a new reference.
#pragma once

#include "tuner/base/hash_index.h"
#include "tuner/final/finals.h"
#include "tuner/report/report.h"

enum { NO_TRIAL = 0 };

enum { REPORT_GROUPS = 60 };

struct tried_parameter {
    char *name;
    size_t count;   // number of values, or of groups of values
    char **values;  // "128", or "1 to 17" for a group
    size_t grouped; // number of values in the groups; 0: no groups
};

struct tried {
    int64_t id;
    double time;     // objective, s; NaN if missing, not positive or not finite
    double finished; // Unix time
    enum trial_status status;
    uint32_t reason; // if neither ok nor slow: index into `words`
};

struct trial_table {
    size_t count, room, value_room, parameter_count;
    struct tried *rows;       // by id, ascending
    uint16_t *values;         // parameter_count per trial
    struct string_pool words; // reasons, with every number replaced by #
    struct tried_parameter *parameters;
    size_t timed;  // number of trials with a time
    size_t *order; // indices of these trials, fastest first
};

// Reads the current environment of the store. Returns -1 with a message on failure.
int trial_table_read(struct trial_table *, struct store *, struct error *);
void trial_table_release(struct trial_table *);

static inline uint16_t trial_value(const struct trial_table *t, size_t trial, size_t parameter)
{
    return t->values[trial * t->parameter_count + parameter];
}

// Whether this status means that a candidate cannot be used.
static inline bool trial_failed(enum trial_status status)
{
    return status != STATUS_OK && status != STATUS_SLOW;
}

struct search_run {
    double from;           // Unix time from which trials belong to this run
    double started, ended; // Unix time
    double began, seconds; // when its search began, and how long it took
    double at;             // seconds of search before this run
    size_t evaluations_before, evaluations;
    json_t *document; // NULL: none
};

struct run_times {
    size_t count;
    struct search_run *runs; // oldest first
    double seconds;          // of all runs
};

int run_times_read(struct run_times *, struct store *, const struct trial_table *, struct error *);
void run_times_release(struct run_times *);

json_t *run_times_json(const struct run_times *);

struct report_problem {
    char *name;
    bool tuned;
};

struct result {
    const struct report_source *source; // source->job may be NULL, or have changed since
    struct store *store;                // its environment is current
    struct environment environment;
    struct trial_table table;
    struct run_times runs;
    size_t problem_count, tuned_count; // the tuned ones come first
    struct report_problem *problems;
    bool job_fits;  // the job has the same tuned problems, so its objective applies
    size_t best;    // index of the best trial in the table; SIZE_MAX: none
    json_t *device; // document; NULL: none
};

// The newest document of a kind in the environment, or NULL.
json_t *result_document(const struct result *, const char *kind, double *when);
// Combines the problems' times (s) by the job's objective if the job fits, otherwise by the geometric mean.
double result_objective(const struct result *, const double *times);

// Takes the problems' names from the fastest trial, or from the job if none was measured (result_problems.c).
int result_read_problems(struct result *, struct error *);
json_t *result_problems(const struct result *);

// How the best time improved over time and evaluations (run_times.c).
json_t *report_progress(const struct result *);

// Importance and times by value (report_effects.c).
extern const char report_importance_method[];
json_t *report_parameters(const struct result *);

json_t *report_failures(const struct result *); // report_failures.c

// Every figure of the trials that are shown as points (report_points.c).
int report_points(const struct result *, json_t **points, struct error *);
// All trials in columns, or an evenly spread selection if there are over fifty times as many trials as points.
json_t *report_trials(const struct result *);

// The newest final (report_final.c).
struct report_final {
    json_t *json, *ratio, *winner; // null if missing
    const char *verdict;
    int64_t trial; // the winner, NO_TRIAL
};
int report_final(const struct result *, struct report_final *, struct error *);
json_t *report_baselines(const struct result *);
