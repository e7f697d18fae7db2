// What candidates are compared with: entries of the final, and the figures that progress is shown against. The
// libraries' own versions of an operation, made ready for each tuned problem; and the job's current kernel and programs
// of the user's, which go through all the checks of a trial.
#pragma once

#include "tuner/gpu/library_race.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/protocol/job_message.h"

struct baseline {
    struct implementation_request request;
    const char *name;                       // of the request
    const struct operation_baseline *about; // NULL: unknown, or a kernel
    const struct candidate *kernel;         // of the request: the current kernel, or a program; or NULL
    bool program;                           // a function of the user's
    bool deterministic;                     // of the job, while baseline_allow_differences() holds
    struct pipeline pipeline;
    char reason[ERROR_MESSAGE_MAX]; // why it is not available; "" if it is
    const char *detail;             // which one it is
    const char **ways;              // that were chosen, by tuned problem; NULL: none were
};

// A library's ways on one problem.
struct library_places {
    bool raced;
    struct operation_way best[LIBRARY_PLACES];
    size_t count;
};

struct baselines {
    struct workload *workload;
    size_t count;
    struct baseline *list;
    struct library_places places[WORKLOAD_PROBLEMS_MAX]; // of the operation's library that has several ways
    struct arena memory;                                 // of answers
    const char *culprit; // the program that has destroyed the context; NULL: another has, or none
};

// Prepares the baselines of a "job" request. One that does not work is kept with its reason; this fails only if the
// context is lost. The caller releases.
int baselines_open(struct baselines *, struct workload *, const struct job_request *, struct error *err);
void baselines_release(struct baselines *);
struct baseline *baselines_find(struct baselines *, const char *name);
// Whether it does the same as a candidate, and so can be right or wrong.
bool baseline_same_result(const struct baseline *);
// Programs may differ from run to run, as libraries may: calls with `begin` and without it enclose their runs.
void baseline_allow_differences(struct baseline *, struct workload *, bool begin);
// Measures every baseline on the tuned problems: as many answers as there are baselines, which live as long as these.
// NULL after a failure.
struct baseline_answer *baselines_measure(struct baselines *, struct error *err);
