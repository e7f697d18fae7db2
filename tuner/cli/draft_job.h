// Drafts a job file for a kernel from its source, the compiler and the command line (tuner/init). `init` leaves blanks;
// `tune` with a source asks the user or fails.
#pragma once

#include "tuner/cli/options.h"

struct draft_request {
    const char *path, *kernel;            // path: of the source; kernel NULL: the source's only kernel
    bool assumes;                         // nothing is left blank
    struct option_list sizes, parameters; // "n=4096"
    const char *reference, *launch;       // NULL: not given
};

// Writes the job file to *output. If *output is NULL, the file is written next to the source and *output is set to its
// path (malloc'ed). Returns an exit status, after a message if it is not 0.
int draft_job(const struct draft_request *, char **output);
