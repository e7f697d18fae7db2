// A judgement (tuner/explain/judge.h) as a document and as a table. docs/judge.md describes the document, which has a
// version: members are added without a new one, but none changes its meaning.
#ifndef SWEETSPOT_JUDGEMENT_H
#define SWEETSPOT_JUDGEMENT_H

#include <stdio.h>

#include "tuner/base/json.h"
#include "tuner/explain/judge.h"
#include "tuner/final/finals.h"
#include "tuner/job/job.h"

enum { JUDGEMENT_VERSION = 1 };

// The context of a judgement.
struct judged_job {
    const struct job *job;
    const char *template_hash, *compiler;
    const json_t *device; // from the worker's hello
    const struct device_limits *limits;
    size_t problem; // whose counters were taken
};

// New reference.
json_t *judgement_json(const struct judged_job *, const struct judgement *);
// Prints the same document for people.
void judgement_print(FILE *, const json_t *document);

#endif
