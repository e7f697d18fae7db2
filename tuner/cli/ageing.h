// Whether stored results are out of date: the GPU, the driver, the compiler or the source has changed since.
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

// What this machine measures with now, as far as it matters for the session's results: the GPU that the last run named,
// its driver, and the job's compiler. Nothing is known without a GPU, or if the results come from a recording or from
// other machines.
struct environment ageing_now(const struct session *);

// Finds what differs between the session's environment and `now`, of which unknown facts do not count, and whether the
// source has changed. Another GPU does not count if the store has results of that one too. The texts belong to both.
void ageing_find(struct ageing *, const struct session *, const struct environment *now);

// One line with the command that measures the best results again; malloc'ed. NULL: nothing has changed.
char *ageing_text(struct session *, const struct ageing *);
