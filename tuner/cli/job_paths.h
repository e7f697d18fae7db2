// The job files that a command line names: files as given; of a folder every *.cfg, sorted by name.
#ifndef SWEETSPOT_JOB_PATHS_H
#define SWEETSPOT_JOB_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/cli/options.h"

struct job_paths {
    size_t count;
    char **items;
    bool job_set; // a folder or more than one path was named: the output is a list, even of one job
};

// EXIT_USAGE with a message where a folder has no job files, else 0. A file that does not exist stays in the list, so
// that reading it says what is wrong. Release with job_paths_release, also after a failure.
int job_paths_find(struct job_paths *, const struct option_list *named);
void job_paths_release(struct job_paths *);

#endif
