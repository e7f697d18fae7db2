// A job and its configurations as the workers' requests (protocol.h): expressions evaluated, names resolved, all
// numbers concrete.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/protocol/compile_message.h"
#include "tuner/setup/launch_check.h"
#include "tuner/source/source.h"
#include "tuner/trial/trial.h"

// What a compiler made, by its answer.
struct compiled {
    const char *cubin; // path
    bool cached;
    double seconds;
    const char *warnings; // lines; ""
    const struct entry_answer *entries;
    size_t entry_count;
    struct arena memory; // of all of these
};

// Reads a compile answer with status "ok". -1 when it is not of the protocol's form.
int compiled_read(const json_t *answer, struct compiled *, struct error *);
void compiled_release(struct compiled *);
// That of a stage's kernel, or NULL.
const struct entry_answer *compiled_find(const struct compiled *, const struct stage *);

// A source of the job with every header that one of its configurations may include (tuner/source/source.h). Release it
// in any case. The hash: that of the job's template.
int request_source_open(const struct job *, const char *path, struct source *, struct error *);
// Refuses a source of the job that is not trusted and leads out of an absolute folder: neither it nor a file in the
// folder may include a file elsewhere by a path. Names that are found in the job's include folders are fine.
int request_source_confine(const struct job *, const char *folder, struct error *);
int request_source_hash(const struct job *, char hash[HASH_TEXT_SIZE], struct error *);

// {"op":"compile"} for one configuration.
json_t *request_compile(const struct job *, const uint16_t *config, const char *arch, const char *source_hash,
                        const char *cache);
// What a compile worker has to do for an implementation that is no candidate: {"op":"compile"} for a kernel or a
// configuration, {"op":"build"} for a library that is given by its source. NULL: nothing.
json_t *request_implementation(const struct job *, const struct implementation *, const char *arch, const char *cache);
// What messages call it: "the reference", "baseline 'mine'". malloc'ed.
char *implementation_label(const struct job *, const struct implementation *);

// {"op":"job"} without "support", "ceilings" and "counters". `answers` are those of compilers to
// request_implementation, by the number of job_implementation, NULL where there is none; all may be NULL. NULL with a
// message when a shape cannot be worked out or a problem does not fit `memory` bytes.
json_t *request_job(const struct job *, int64_t memory, json_t *const *answers, uint64_t seed, struct error *);

// One launch of a candidate on one problem, worked out.
struct planned_launch {
    int problem, stage;
    int run; // of the stage, from 0; all of them are one stage in answers
    struct launch_shape shape;
};

// The "problems" array of a trial (all problems) or a count (tuned ones only), with the launches' shapes in *launches,
// which the caller frees. Both may be NULL. NULL with a message when an expression fails for this configuration.
json_t *request_problems(const struct job *, const uint16_t *config, const struct compiled *, bool tuned_only,
                         struct planned_launch **launches, size_t *launch_count, struct error *);

// One problem of that array, by itself.
json_t *request_problem(const struct job *, const uint16_t *config, const struct compiled *, size_t problem,
                        struct planned_launch **launches, size_t *launch_count, struct error *);

// The "problems" of a kernel that is no candidate, or of a function in `library`. NULL with a message.
json_t *request_own_problems(const struct job *, const struct implementation *, const struct compiled *,
                             const char *library, struct error *);

// Whether stage s is part of this configuration (its `when`). 1, 0, or -1 with a message.
int request_stage_used(const struct job *, size_t stage, const int64_t *values, struct error *);
