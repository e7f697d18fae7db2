// A job's base version, for comparison with a new version: a revision of its repository, another folder, or a header.
#pragma once

#include <limits.h>

#include "tuner/job/job.h"

struct base_version {
    char *job_path;        // of the base's job file; NULL: the base is a header, built from the job's own source
    char *config;          // the configuration in the header; NULL: the base is not a header
    char folder[PATH_MAX]; // holds a revision's files, removed at the end; "": none
};

// Finds the base version that the user named. In a revision, the job file must have the same path; in a folder, it may
// also be at the top. Prints its own messages and returns 0 or the command's exit status. Release the base even after a
// failure.
int base_version_find(struct base_version *, const struct job *, const char *text);
void base_version_release(struct base_version *);
