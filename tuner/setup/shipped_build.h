// A shipped winner (tuner/job/shipped.h) compiled here, without a GPU: what its header needs beyond the file, and what
// shows whether it is still the kernel that was measured.
#pragma once

#include "tuner/job/shipped.h"
#include "tuner/setup/job_setup.h"

struct shipped_build {
    char source[HASH_TEXT_SIZE]; // hash of the template
    char job[HASH_TEXT_SIZE];    // hash of all else that its results depend on: the environment without the source
    char code[HASH_TEXT_SIZE];   // hash of the kernels' code, without the lines and paths of the sources
    const char *compiler;        // that made it
    char *config;                // canonical text
    struct compiled compiled;
    struct trial_stage *stages;
    size_t stage_count;
};

// Builds the job's space for an H200 and compiles. 0 or an exit status with a message: EXIT_NOTHING if the job has
// changed so much that the winner is not a configuration of it. The caller releases in either case.
int shipped_build(struct shipped_build *, struct job *, const struct shipped_winner *, const char *arch,
                  const char *cache, struct error *);
void shipped_build_release(struct shipped_build *);
