// Which configurations `check --compile` compiles, and what their code says of the parameters.
#ifndef SWEETSPOT_CHECK_SAMPLES_H
#define SWEETSPOT_CHECK_SAMPLES_H

#include "tuner/base/hash.h"
#include "tuner/check/check.h"

struct check_samples {
    size_t count;
    uint64_t *index;              // into the space, each once
    char (*code)[HASH_TEXT_SIZE]; // hash of its cubin; "": not compiled
};

// All of a space of at most `count`, else `count` different ones: every other one is a neighbour of an earlier one
// in a parameter that no launch reads, so that their code can be compared. One: the first.
void check_samples_choose(struct check_samples *, const struct job *, uint64_t count);
void check_samples_release(struct check_samples *);

// Notes the cubin of a sample.
void check_samples_compiled(struct check_samples *, size_t sample, const char *cubin);
// Doubts about parameters that no launch reads and with whose values the code never differed, in at least two pairs of
// samples.
void check_samples_compare(const struct check_samples *, struct check *);

#endif
