// Words that job files and the protocol share: directions and contents of buffers, and kinds of implementations.
#pragma once

#include <stdbool.h>

enum direction { DIRECTION_IN, DIRECTION_OUT, DIRECTION_INOUT, DIRECTION_SCRATCH };

// Whether a buffer is an output.
static inline bool direction_writes(enum direction d)
{
    return d == DIRECTION_OUT || d == DIRECTION_INOUT;
}

// kernels/support.cu uses the same numbers for the kinds before FILL_NPY.
enum fill_kind {
    FILL_UNIFORM, // low <= x < high
    FILL_NORMAL,  // mean 0, deviation 1
    FILL_INTEGER, // low <= x <= high
    FILL_ZERO,
    FILL_CONSTANT,
    FILL_INDEX,     // the element's index
    FILL_NONFINITE, // as uniform, but some are infinite or NaN
    FILL_ZEROS,     // as uniform, but half are 0 or -0
    FILL_NPY,       // from a file
    // kernels/host_fill.h:
    FILL_SORTED, // low <= x <= high, ascending
    FILL_PERMUTATION,
    FILL_OFFSETS,  // ascending from 0 to a total, like the row offsets of a sparse matrix
    FILL_ADDRESSES // addresses in other buffers (tuner/gpu/addresses.h)
};

// The words, indexed by number and NULL-terminated.
extern const char *const direction_text[];
extern const char *const fill_text[];

// Index of a word in a NULL-terminated table, or -1. `word` may be NULL.
int word_find(const char *const *words, const char *word);

// The kinds of implementations (tuner/job/implementation.h), which requests use too.
enum implementation_kind {
    IMPLEMENTATION_NONE,
    IMPLEMENTATION_CONFIGURATION, // a configuration of the job's space
    IMPLEMENTATION_KERNEL,        // a kernel in a source
    IMPLEMENTATION_BINARY,        // a kernel in a cubin or in PTX
    IMPLEMENTATION_OPERATION,     // computed by a library, or by the program itself
    IMPLEMENTATION_LIBRARY,       // a function of a shared library
    IMPLEMENTATION_COMMAND,       // a shell command
    IMPLEMENTATION_FILES,         // .npy files with the results
};

extern const char *const implementation_words[]; // indexed by kind, NULL-terminated

// The alignment of buffers, in bytes, that a header promises to kernels. Verification uses no larger alignment. It is
// the size of the widest access by one thread: 32 from sm_100 on, 16 before (PTX ISA, `ld`).
int promised_alignment(const char *arch);
