// The result of a compiler, NVRTC or nvcc, for a source, with ptxas's messages about it.
#pragma once

#include "tuner/protocol/compile_message.h"

struct compilation {
    enum { COMPILED, COMPILE_FAILED, COMPILE_TIMED_OUT, COMPILE_NO_MEMORY } result;
    char *log;      // output of compiler and ptxas
    char *warnings; // C75xx lines of the log; "": none
    void *cubin;
    size_t cubin_size;
    size_t entry_count;
    struct entry_answer *entries;
    struct arena memory; // memory of the entries' strings
    double seconds;
};

// Adds an entry, for which there must be room, with its figures from `log` and `cubin`; code_bytes is -1 if the cubin
// has no such kernel.
void compilation_add(struct compilation *, const char *entry, const char *symbol);
// The lines in a log that are ptxas advisories. malloc'ed.
char *compilation_warnings(const char *log);
// The answers for two failures: errors in the source, with the log from the first error on, and a missed deadline.
json_t *compilation_refuse(const char *log);
json_t *compilation_refuse_late(void);
void compilation_release(struct compilation *);
