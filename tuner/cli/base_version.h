// The base version of a job, which a new version is compared with: a revision of its repository, another folder, or a
// header.
#pragma once

#include <limits.h>

#include "tuner/job/job.h"

struct base_version {
    char *job_path;        // of the base's job file; NULL: the base is a header, built from the job's own source
    char *config;          // the one that a header names; NULL: the base is not a header
    char folder[PATH_MAX]; // has the files of a revision, removed at the end; "": there is none
};

// Finds the base version from the user's text. The job file must have the same path in a revision; in a folder it may
// also be at the top. Prints its own messages and returns 0 or the exit status that the command ends with. Release it
// in any case.
int base_version_find(struct base_version *, const struct job *, const char *text);
void base_version_release(struct base_version *);
