// The version of a job that a new one is held against: a revision of its repository, another folder, or a header.
#pragma once

#include <limits.h>

#include "tuner/job/job.h"

struct base_version {
    char *job_path;        // of the base's job file; NULL: the base is a header, which has the job's own source
    char *config;          // that a header names; NULL: the base is not a header
    char folder[PATH_MAX]; // with the files of a revision, removed at the end; "": there is none
};

// Finds it by what the user wrote. The job file has the same place in a revision, and in a folder also its top. Prints
// its own messages and returns 0 or the exit status that the command ends with. Release it in any case.
int base_version_find(struct base_version *, const struct job *, const char *text);
void base_version_release(struct base_version *);
