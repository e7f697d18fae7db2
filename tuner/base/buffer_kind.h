// What a buffer is for and what it is filled with: the words of the job file, which are also the protocol's.
#ifndef SWEETSPOT_BUFFER_KIND_H
#define SWEETSPOT_BUFFER_KIND_H

enum direction { DIRECTION_IN, DIRECTION_OUT, DIRECTION_INOUT, DIRECTION_SCRATCH };

// kernels/support.cu has the same numbers of those before the file.
enum fill_kind {
    FILL_UNIFORM, // low <= x < high
    FILL_NORMAL,  // mean 0, deviation 1
    FILL_INTEGER, // low <= x <= high
    FILL_ZERO,
    FILL_CONSTANT,
    FILL_INDEX,     // the element's number
    FILL_NONFINITE, // as uniform, some of them infinite or NaN
    FILL_ZEROS,     // as uniform, half of them 0 or -0
    FILL_NPY,       // a file
    // kernels/host_fill.h:
    FILL_SORTED, // low <= x <= high, ascending
    FILL_PERMUTATION,
    FILL_OFFSETS // 0, ascending to a total: where the rows of a sparse matrix begin
};

// The words by number, ended by NULL.
extern const char *const direction_text[];
extern const char *const fill_text[];

// Index of a word in a table that NULL ends, or -1. `word` may be NULL.
int word_find(const char *const *words, const char *word);

#endif
