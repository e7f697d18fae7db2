// A program run to its end, with a deadline.
#ifndef SWEETSPOT_CHILD_H
#define SWEETSPOT_CHILD_H

#include <stdbool.h>

#include "tuner/base/error.h"

struct child {
    char *const *argv;     // argv[0] is a path; ends with NULL
    const char *temporary; // folder for its temporary files; NULL: this process's
    const char *folder;    // that it runs in; NULL: this process's
    int file;              // that it has as CHILD_FILE; 0: none
    double deadline;       // in seconds from now; 0: none
    // Called every CHILD_QUIET seconds or so while it runs; NULL: not.
    void (*watch)(void *user);
    void *user;
};

struct child_end {
    bool late;      // it was killed at the deadline
    int status;     // of waitpid
    char *output;   // what it and its children wrote, CHILD_OUTPUT_MOST bytes at most; caller frees
    double seconds; // that it took
};

enum { CHILD_OUTPUT_MOST = 1 << 22, CHILD_FILE = 3, CHILD_QUIET = 3 };

// Runs it with nothing on its standard input, and without NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS. At the deadline it
// is killed with all its children. -1 with a message when it cannot be started.
int child_run(const struct child *, struct child_end *, struct error *);

#endif
