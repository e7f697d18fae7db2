// Which candidate a command is about: a trial's number, "best", "runner-up", a baseline's name, or NAME=value,... with the rest as in the best.
//
// Functions print their own messages and return 0 or the exit status that the command ends with, unless they take a struct error.
#ifndef SWEETSPOT_CHOOSER_H
#define SWEETSPOT_CHOOSER_H

#include <stdint.h>

#include "tuner/cli/session.h"
#include "tuner/run/lab.h"

struct chooser {
    const char *job_path, *store_path;
    struct session session; // .store NULL where there is none, which is no failure unless it was named
    char *best;             // configuration of the newest final's winner, else of the best of the search, or NULL
    int64_t best_trial;
};

// A baseline's name, or a configuration as the text of some parameters; the rest is the best's.
struct subject {
    char name[96];
    const char *baseline; // or NULL
    char *config;         // "" for the best as it is; the caller frees it
};

// Opens the job and, where there is one, its store. chooser_close releases all, also after a failure.
int chooser_open(struct chooser *, const char *job, const char *store);
void chooser_close(struct chooser *);

// Reads what the user named. Unknown parameters and values are mistakes; an unknown baseline is found out later.
int chooser_read(struct chooser *, const char *text, struct subject *);

// The subject's configuration: its parameters, and the best's (or the first valid one's) for those that it does not name. The job's space must have been
// built. -1 with a message when the constraints exclude it.
int chooser_config(const struct chooser *, const struct subject *, uint16_t *config, struct error *);

// The device's ceilings: the store's, where it has them of this device; else measured, and put into the store where there is one. NULL when the worker
// failed. New reference.
json_t *chooser_ceilings(struct chooser *, struct lab *);

// For lab_options.say: a line on stderr.
void chooser_say(const char *text);

#endif
