// A job and its configurations as requests to the workers (protocol.h): expressions evaluated, names resolved, all
// numbers concrete.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/protocol/compile_message.h"
#include "tuner/setup/launch_check.h"
#include "tuner/source/source.h"
#include "tuner/trial/trial.h"

// A compiler's result, from its answer.
struct compiled {
    const char *cubin; // path
    bool cached;
    double seconds;
    const char *warnings; // lines; ""
    const struct entry_answer *entries;
    size_t entry_count;
    struct arena memory; // for all of these
};

// Reads a compile answer with status "ok". Returns -1 if it violates the protocol.
int compiled_read(const json_t *answer, struct compiled *, struct error *);
void compiled_release(struct compiled *);
// The entry of a stage's kernel, or NULL.
const struct entry_answer *compiled_find(const struct compiled *, const struct stage *);

// Opens a source of the job with every header that one of its configurations may include (tuner/source/source.h). The
// caller releases the source, even after a failure. request_source_hash gives the hash of the job's template.
int request_source_open(const struct job *, const char *path, struct source *, struct error *);
// For an untrusted job: returns -1 with a message if the job's source, or a file below `folder` that the source
// includes, includes a file outside of `folder` by a path. `folder` is an absolute path. Files that are found by name
// in the job's include folders are allowed.
int request_source_confine(const struct job *, const char *folder, struct error *);
int request_source_hash(const struct job *, char hash[HASH_TEXT_SIZE], struct error *);

// {"op":"compile"} for one configuration.
json_t *request_compile(const struct job *, const uint16_t *config, const char *arch, const char *source_hash,
                        const char *cache);
// The request to a compile worker for an implementation that is not a candidate: {"op":"compile"} for a kernel or a
// configuration, {"op":"build"} for a library that is given by its source. NULL: nothing to do.
json_t *request_implementation(const struct job *, const struct implementation *, const char *arch, const char *cache);
// The implementation's name in messages: "the reference", "baseline 'mine'". malloc'ed.
char *implementation_label(const struct job *, const struct implementation *);

// {"op":"job"} without "support", "ceilings" and "counters". `answers` are the compilers' answers to
// request_implementation, indexed as in job_implementation, NULL where there is none; all may be NULL. Returns NULL
// with a message when a shape cannot be computed or a problem does not fit in `memory` bytes.
json_t *request_job(const struct job *, int64_t memory, json_t *const *answers, uint64_t seed, struct error *);

// One launch of a candidate on one problem, with its computed shape.
struct planned_launch {
    int problem, stage;
    int run; // the stage's run, from 0; in answers all runs are one stage
    struct launch_shape shape;
};

// Returns the "problems" array of a trial (all problems) or a count (only tuned problems). *launches becomes the list
// of the launches' shapes, which the caller frees. `launches` and `launch_count` may be NULL. Returns NULL with a
// message when an expression fails for this configuration.
json_t *request_problems(const struct job *, const uint16_t *config, const struct compiled *, bool tuned_only,
                         struct planned_launch **launches, size_t *launch_count, struct error *);

// A single problem of that array.
json_t *request_problem(const struct job *, const uint16_t *config, const struct compiled *, size_t problem,
                        struct planned_launch **launches, size_t *launch_count, struct error *);

// The "problems" of a kernel that is not a candidate, or of a function in `library`. Returns NULL with a message on
// failure.
json_t *request_own_problems(const struct job *, const struct implementation *, const struct compiled *,
                             const char *library, struct error *);

// Computes a kernel's launch from the values of sizes and parameters. Returns -1 with a message if an expression fails.
int request_shape(const struct stage *, const int64_t *values, struct launch_shape *, struct error *);

// Whether this configuration uses a stage, according to the stage's `when`. Returns 1, 0, or -1 with a message.
int request_stage_used(const struct job *, size_t stage, const int64_t *values, struct error *);
