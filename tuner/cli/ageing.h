// Whether stored results are out of date: the GPU, the driver, the compiler or the source has changed since they were
// measured.
#pragma once

#include "tuner/cli/session.h"

struct change {
    const char *what, *then, *now; // "driver", "580.159.04", "590.44.01"
};

struct ageing {
    struct change changes[4]; // source, GPU, driver, compiler
    size_t count;
    char source[HASH_TEXT_SIZE];
};

// The parts of this machine's current environment that matter for the session's results: the GPU that the last run
// named, its driver, and the job's compiler. All facts are unknown without a GPU, or if the results come from a
// recording or from other machines.
struct environment ageing_now(const struct session *);

// Finds the differences between the session's environment and `now`, and whether the source has changed. Facts that are
// unknown in `now` do not count. A different GPU does not count if the store contains results for this GPU. The strings
// belong to the session and `now`.
void ageing_find(struct ageing *, const struct session *, const struct environment *now);

// Returns a line with the command that measures the best results again, malloc'ed; NULL if nothing has changed.
char *ageing_text(struct session *, const struct ageing *);
