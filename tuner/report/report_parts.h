// Shared by the parts of a RESULT (docs/report.md describes its shape). Functions that make JSON
// give a new reference.
#pragma once

#include "tuner/final/finals.h"
#include "tuner/report/report.h"
#include "tuner/report/run_times.h"
#include "tuner/report/trial_table.h"

enum { NO_TRIAL = 0 };

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
    size_t best;    // in the table; SIZE_MAX: none
    json_t *device; // document; NULL: none
};

// The newest document of a kind in the environment, or NULL.
json_t *result_document(const struct result *, const char *kind, double *when);
// The objective of the problems' times (s): the job's where it fits, else the geometric mean.
double result_objective(const struct result *, const double *times);

// Names the problems by the fastest trial, or by the job if none was measured (result_problems.c).
int result_read_problems(struct result *, struct error *);
json_t *result_problems(const struct result *);

// How the best improved over time and evaluations (run_times.c).
json_t *report_progress(const struct result *);

// Importance and times by value (report_effects.c).
extern const char report_importance_method[];
json_t *report_parameters(const struct result *);

json_t *report_failures(const struct result *); // report_failures.c

// Every figure of the trials that are shown as points (report_points.c).
int report_points(const struct result *, json_t **points, struct error *);
// All trials in columns; evenly spread ones where there are more than fifty times the points.
json_t *report_trials(const struct result *);

// The newest final (report_final.c).
struct report_final {
    json_t *json, *ratio, *winner; // null where missing
    const char *verdict;
    int64_t trial; // the winner, NO_TRIAL
};
int report_final(const struct result *, struct report_final *, struct error *);
json_t *report_baselines(const struct result *);
