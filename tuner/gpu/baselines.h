// The baselines that candidates are compared with in the final and in the progress display. Library calls for the
// operation are prepared for each tuned problem. The job's current kernel and the user's programs go through all the
// checks of a trial.
#pragma once

#include "tuner/gpu/library_race.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/protocol/job_message.h"

struct baseline {
    struct implementation_request request;
    const char *name;                       // from the request
    const struct operation_baseline *about; // NULL: unknown, or a kernel
    const struct candidate *kernel;         // from the request: the current kernel or a program, otherwise NULL
    bool program;                           // a user function
    bool deterministic;                     // the job's setting, kept while baseline_allow_differences() overrides it
    struct pipeline pipeline;
    char reason[ERROR_MESSAGE_MAX]; // why it is not available; "" if it is
    const char *detail;             // for display: the library's way, or the program
    const char **ways;              // the chosen ways, by tuned problem; NULL: no ways were chosen
};

// A library's fastest ways to compute one problem.
struct library_places {
    bool raced;
    struct operation_way best[LIBRARY_PLACES];
    size_t count;
};

struct baselines {
    struct workload *workload;
    size_t count;
    struct baseline *list;
    struct library_places places[WORKLOAD_PROBLEMS_MAX]; // for the operation's library that has several ways
    struct arena memory;                                 // for answers
    const char *culprit; // the program that destroyed the context; NULL: something else did, or it is intact
};

// Prepares the baselines of a "job" request. A baseline that does not work is kept, with the reason. Fails only if the
// context is lost. The caller releases.
int baselines_open(struct baselines *, struct workload *, const struct job_request *, struct error *err);
void baselines_release(struct baselines *);
struct baseline *baselines_find(struct baselines *, const char *name);
// Whether the baseline computes the same as a candidate, so that its results can be verified.
bool baseline_same_result(const struct baseline *);
// Lets a program's results differ from run to run, as a library's results may. Call this function with `begin` before
// the program's runs, and without `begin` after them.
void baseline_allow_differences(struct baseline *, struct workload *, bool begin);
// Measures every baseline on the tuned problems. Returns an array with one answer for each baseline, which lives as
// long as the baselines; NULL after a failure.
struct baseline_answer *baselines_measure(struct baselines *, struct error *err);
