// Which candidate a command is about: a trial's number, "best", "runner-up", a baseline's name, or NAME=value,... where
// all other parameters are those of the best.
//
// Functions print their own messages and return 0 or the exit status that the command ends with, unless they take a
// struct error.
#pragma once

#include <stdint.h>

#include "tuner/cli/session.h"
#include "tuner/setup/single_run.h"

struct candidate_source {
    const char *job_path, *store_path;
    struct session session; // .store is NULL if there is none, which is an error only if the user named it
    char *best;             // configuration of the newest final's winner, otherwise of the search's best trial, or NULL
    int64_t best_trial;
    bool reported; // the user was told that the store cannot be written
};

// A baseline's name, or a configuration as the text of some parameters; the others are those of the best.
struct candidate_spec {
    char name[96];
    const char *baseline; // or NULL
    char *config;         // "" for the best itself; the caller frees it
};

// Opens the job and its store, if there is one. candidate_spec_close releases everything, also after a failure.
int candidate_spec_open(struct candidate_source *, const char *job, const char *store);
void candidate_spec_close(struct candidate_source *);

// Reads the candidate that the user named. Unknown parameters and values are errors; an unknown baseline is noticed
// later.
int candidate_spec_read(struct candidate_source *, const char *text, struct candidate_spec *);

// The candidate's configuration. Parameters that it does not name are those of the best, or of the first valid
// configuration. The job's space must have been built. -1 with a message if the constraints exclude it.
int candidate_spec_config(const struct candidate_source *, const struct candidate_spec *, uint16_t *config,
                          struct error *);

// The device's ceilings: from the store, if it has them for this device; otherwise measured, and written to the store
// if there is one. NULL if the worker failed. New reference.
json_t *candidate_spec_ceilings(struct candidate_source *, struct single_run *);

// For single_run_options.say: a line on stderr.
void candidate_spec_say(const char *text);
