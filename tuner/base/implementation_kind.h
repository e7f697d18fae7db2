// The kinds of implementations (tuner/job/implementation.h), for requests as well.
#ifndef SWEETSPOT_IMPLEMENTATION_KIND_H
#define SWEETSPOT_IMPLEMENTATION_KIND_H

enum implementation_kind {
    IMPLEMENTATION_NONE,
    IMPLEMENTATION_CONFIGURATION, // of the job's space
    IMPLEMENTATION_KERNEL,        // in a source
    IMPLEMENTATION_BINARY,        // a kernel in a cubin or in PTX
    IMPLEMENTATION_OPERATION,     // that a library, or the program itself, computes
    IMPLEMENTATION_LIBRARY,       // a function of a shared library
    IMPLEMENTATION_COMMAND,       // of the shell
    IMPLEMENTATION_FILES,         // .npy files with the results
};

extern const char *const implementation_words[]; // by kind, NULL-terminated

#endif
