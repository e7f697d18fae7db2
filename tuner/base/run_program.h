// Finds external programs, runs them to completion or a deadline, and makes folders for their files.
#pragma once

#include <limits.h>

#include "tuner/base/base.h"

struct program_run {
    char *const *argv;     // argv[0] is a path; ends with NULL
    const char *temporary; // folder for its temporary files; NULL: that of this process
    const char *folder;    // its current folder; NULL: that of this process
    int file;              // descriptor that it inherits as PROGRAM_FILE; 0: none
    double deadline;       // in seconds from now; 0: none
    // Called about every PROGRAM_QUIET seconds while it runs; may be NULL.
    void (*watch)(void *user);
    void *user;
};

struct program_end {
    bool late;      // it was killed at the deadline
    int status;     // from waitpid
    char *output;   // of it and its children, at most PROGRAM_OUTPUT_MOST bytes; the caller frees it
    double seconds; // how long it ran
};

enum { PROGRAM_OUTPUT_MOST = 1 << 22, PROGRAM_FILE = 3, PROGRAM_QUIET = 3 };

// Runs a program with an empty standard input, and without NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS. The program is
// killed at the deadline. When it has ended, its children are killed, including those that left its group (setsid). -1
// with a message when the program cannot be started.
int run_program(const struct program_run *, struct program_end *, struct error *);

// The path of an executable file, malloc'ed; NULL if there is none. `length` is the length of the folder's name.
char *program_in_folder(const char *folder, size_t length, const char *name);
char *program_on_path(const char *name);
// The path of a program in a toolkit's "bin" folder, malloc'ed; NULL if there is none.
char *program_of_toolkit(const char *home, const char *name);

// Creates a folder for the files of one piece of work: <$TMPDIR or /tmp>/sweetspot-<what>-XXXXXX. -1 with a message.
int work_folder_make(const char *what, char path[PATH_MAX], struct error *);
// Removes the folder with everything in it. Links are removed, not followed.
void work_folder_remove(const char *path);
