// The candidate that a command is about: a trial's number, "best", "runner-up", a baseline's name, or NAME=value,...,
// which takes all other parameters from the best configuration.
//
// Functions print their own messages and return 0 or the command's exit status, unless they take a struct error.
#pragma once

#include <stdint.h>

#include "tuner/cli/session.h"
#include "tuner/setup/single_run.h"

struct candidate_source {
    const char *job_path, *store_path;
    struct session session; // .store: NULL if there is none; a missing store is an error only if the user named it
    char *best;             // configuration of the newest final's winner, otherwise of the search's best trial, or NULL
    int64_t best_trial;
    bool reported; // a message said that the store cannot be written
};

// A baseline's name, or the values of some parameters; the other parameters take their values from the best
// configuration.
struct candidate_spec {
    char name[96];
    const char *baseline; // or NULL
    char *config;         // "": the best configuration itself; the caller frees it
};

// Opens the job and its store, if there is one. candidate_spec_close releases everything, even after a failure.
int candidate_spec_open(struct candidate_source *, const char *job, const char *store);
void candidate_spec_close(struct candidate_source *);

// Reads the candidate that the user named. Unknown parameters and values are errors; unknown baselines are found later.
int candidate_spec_read(struct candidate_source *, const char *text, struct candidate_spec *);

// The candidate's configuration. Parameters that the user does not name take their values from the best configuration
// or, without one, from the first valid one. The job's space must have been built. -1 with a message if the constraints
// exclude it.
int candidate_spec_config(const struct candidate_source *, const struct candidate_spec *, uint16_t *config,
                          struct error *);

// The device's ceilings. If the store contains them for this device, they are read from it. Otherwise they are
// measured, and written to the store if there is one. NULL if the worker failed. New reference.
json_t *candidate_spec_ceilings(struct candidate_source *, struct single_run *);

// For single_run_options.say: prints a line on stderr.
void candidate_spec_say(const char *text);
