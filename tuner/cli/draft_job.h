// Drafts a job file for a kernel from its source, the compiler and the command line (tuner/init). `init` leaves blanks;
// `tune` of a source asks or fails.
#pragma once

#include "tuner/cli/options.h"

struct draft_request {
    const char *path, *kernel;            // the source; NULL: its only kernel
    bool force;                           // replaces an existing job file
    bool assumes;                         // nothing is left blank
    struct option_list sizes, parameters; // "n=4096"
    const char *reference, *launch;       // NULL: not given
};

// Writes the job file. *output: its path, or NULL for one beside the source, which is set (malloc'ed). An exit status,
// after a message.
int draft_job(const struct draft_request *, char **output);
