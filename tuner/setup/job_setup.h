// A job made ready for the workers of a pool: its space, its source's hash, everything that is compiled before any
// candidate, and the request that sets a GPU worker up.
#pragma once

#include "tuner/base/protocol.h"
#include "tuner/pool/worker_pool.h"
#include "tuner/setup/request.h"

enum { JOB_SETUP_IMPLEMENTATIONS = 2 + JOB_MAX_BASELINES }; // the reference, the current kernel, baselines

struct job_setup {
    struct job *job;
    const char *cache; // folder of the compile cache
    uint64_t seed;
    double time; // s for the whole command; baselines must be built in a quarter of it; 0: no limit
    char source_hash[HASH_TEXT_SIZE];
    struct compiled support, ceilings;          // the worker's own kernels
    json_t *answers[JOB_SETUP_IMPLEMENTATIONS]; // compilers' answers, in the form that request_job takes
    json_t *request;                            // result of request_job
    json_t *sizes;                              // request for drawn sizes (job_sizes.c); NULL: none
};

// The first half: makes the cache's folder, builds the job's space for the pool's device, and hashes the source.
// Returns 0, or an exit status with a message. `job` and `cache` are borrowed. The caller releases the setup in either
// case.
int job_setup_space(struct job_setup *, struct worker_pool *, struct job *, const char *cache, uint64_t seed,
                    struct error *);
// The second half: compiles the worker's own kernels and the reference, and creates the request. Returns the same as
// job_setup_space.
int job_setup_request(struct job_setup *, struct worker_pool *, struct error *);
void job_setup_release(struct job_setup *);

// The request that sets a GPU worker up. With `counters`, the worker counts `more` (unless that is NULL) and the job's
// metrics. With `sizes`, it verifies drawn sizes. New reference.
json_t *job_setup_for_gpu(const struct job_setup *, bool counters, const char *more, bool sizes);

// The compile request for a configuration; `text` is its text. The compiler should end by itself at the job's deadline.
// If it does not, it is killed COMPILE_GRACE seconds later. `by_nvcc`: nvcc builds it even if the job uses another
// compiler.
enum { COMPILE_GRACE = 10 };
json_t *job_setup_compile(const struct job_setup *, const struct worker_pool *, const uint16_t *config,
                          const char *text, bool by_nvcc);

// The meaning of a compiler's answer for a candidate.
enum compile_result {
    COMPILE_DONE,
    COMPILE_FAILED,         // because of the candidate itself
    COMPILE_SOURCE_CHANGED, // the template has changed since it was hashed: every other candidate would fail too
    COMPILE_IMPOSSIBLE,     // the compiler cannot work, or its answer does not follow the protocol
};
// For COMPILE_FAILED, fills in the candidate's status. Except for COMPILE_DONE, *reason is set; it is borrowed from the
// answer or from `text`.
enum compile_result compile_result_read(const json_t *answer, const struct job *, struct compiled *,
                                        enum trial_status *, const char **reason, struct error *text);

// Fills `stages` (with room for `count` stages) with the stages of the first launch's problem, including the compiler's
// figures and the theoretical occupancy. The kernels are the same for the other problems. Returns the number of stages.
size_t job_setup_stages(const struct job *, const struct device_limits *, const struct compiled *,
                        const struct planned_launch *, size_t count, struct trial_stage *stages);

// Computes the launches of a compiled candidate on every problem, and checks them against the device. Returns 0, or -1
// with the reason why it is pruned. *problems has the same form as the result of request_problems (new reference), and
// *launches is malloc'ed. Launches on drawn sizes are appended to *problems but not to *launches. They are left out if
// the job's expressions or the device do not allow them.
int job_setup_launches(const struct job *, const struct device_limits *, const uint16_t *config,
                       const struct compiled *, json_t **problems, struct planned_launch **launches, size_t *count,
                       struct error *reason);
