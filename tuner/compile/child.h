// A program run to its end, with a deadline.
#ifndef SWEETSPOT_CHILD_H
#define SWEETSPOT_CHILD_H

#include <stdbool.h>

#include "tuner/base/error.h"

struct child_end {
    bool late;      // it was killed at the deadline
    int status;     // of waitpid
    char *output;   // what it and its children wrote, CHILD_OUTPUT_MOST bytes at most; caller frees
    double seconds; // that it took
};

enum { CHILD_OUTPUT_MOST = 1 << 22 };

// Runs argv[0] (a path; NULL-terminated) with `folder` for its temporary files, nothing on its standard input, and
// without NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS. At `deadline` seconds from now it is killed with all its
// children; 0: no deadline. -1 with a message when it cannot be started.
int child_run(char *const argv[], const char *folder, double deadline, struct child_end *, struct error *);

#endif
