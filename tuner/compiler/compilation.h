// What a compiler, NVRTC or nvcc, made of a source, and what ptxas said about it.
#pragma once

#include "tuner/protocol/compile_message.h"

struct compilation {
    enum { COMPILED, COMPILE_FAILED, COMPILE_TIMED_OUT, COMPILE_NO_MEMORY } result;
    char *log;      // compiler and ptxas
    char *warnings; // C75xx lines of the log; ""
    void *cubin;
    size_t cubin_size;
    size_t entry_count;
    struct entry_answer *entries;
    struct arena memory; // of their texts
    double seconds;
};

// Adds an entry, for which there is room, with its figures from `log` and `cubin`: code_bytes is -1 where the cubin has
// no such kernel.
void compilation_add(struct compilation *, const char *entry, const char *symbol);
// The lines of ptxas's advisories in a log. malloc'ed.
char *compilation_warnings(const char *log);
// The answers to a compilation that failed, with its log (from its first error on), and to one that was late.
json_t *compilation_refuse(const char *log);
json_t *compilation_refuse_late(void);
void compilation_release(struct compilation *);
