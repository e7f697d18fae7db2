// A shipped winner (tuner/job/shipped.h), compiled on this machine without a GPU. The struct has the data that the
// header needs in addition to the winner's file, and hashes that show whether the kernel is still the one that was
// measured.
#pragma once

#include "tuner/job/shipped.h"
#include "tuner/setup/job_setup.h"

struct shipped_build {
    char source[HASH_TEXT_SIZE]; // hash of the template
    char job[HASH_TEXT_SIZE];    // hash of everything else its results depend on: the environment without the source
    char code[HASH_TEXT_SIZE];   // hash of the kernels' code, without the lines and paths of the sources
    const char *compiler;        // the compiler that built it
    char *config;                // canonical text
    struct compiled compiled;
    struct trial_stage *stages;
    size_t stage_count;
};

// Builds the job's space for an H200 and compiles the winner. Returns 0, or an exit status with a message: EXIT_NOTHING
// if the job has changed so much that the winner is not one of its configurations. The caller releases in either case.
int shipped_build(struct shipped_build *, struct job *, const struct shipped_winner *, const char *arch,
                  const char *cache, struct error *);
void shipped_build_release(struct shipped_build *);
