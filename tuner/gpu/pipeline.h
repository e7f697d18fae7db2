// A candidate on the device: a loaded cubin and, for each problem, the stages that compute it. Stages are launches of
// the cubin's kernels, and library calls. A candidate may also be a user program, which has no cubin and is called with
// the same arguments.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/base/limits.h"
#include "tuner/base/units.h"
#include "tuner/gpu/measure.h"
#include "tuner/gpu/module_state.h"
#include "tuner/gpu/program_call.h"
#include "tuner/gpu/symbol_bindings.h"
#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/candidate.h"

enum {
    PIPELINE_STAGES_MAX = JOB_MAX_STAGES,
    PIPELINE_LAUNCHES_MAX = JOB_MAX_LAUNCHES,
    PIPELINE_ARGUMENTS_MAX = JOB_MAX_ARGUMENTS,
    PIPELINE_MAPS_MAX = JOB_MAX_TENSOR_MAPS,
    PIPELINE_BYTES_MAX = 4096 // of a struct by value
};

struct pipeline_argument {
    uint64_t value;       // begins with the argument's bytes
    bool pointer;         // it is a buffer's address
    unsigned char object; // BINDING_TEXTURE, BINDING_SURFACE: of the buffer whose index is the value; 0: not an object
    unsigned char *bytes; // of a struct or vector by value, in place of `value`; or NULL
    struct device_address *addresses; // stored in these bytes
    size_t address_count;
    int map; // 1 + index of its tensor map, whose address is the value; 0: not a tensor map
};

// One run of a stage: a launch, or a library call.
struct pipeline_launch {
    unsigned stage; // runs of one stage follow each other
    bool untimed;   // part of work.prepare(), not of work.enqueue()
    const struct operation_baseline
        *library;                 // not NULL: a library call on this problem, with `operation` and `state` only
    struct program_call *program; // not NULL: a user function, with the arguments below and no kernel
    struct operation_problem operation;
    void *state;
    struct cuda_kernel *kernel;
    struct cuda_geometry geometry;
    bool overlap; // in the pipeline it may begin before the previous kernel has ended
    unsigned count;
    struct pipeline_argument argument[PIPELINE_ARGUMENTS_MAX];
    unsigned map_count;
    unsigned char maps[PIPELINE_MAPS_MAX]
                      [sizeof(struct cuda_tensor_map)]; // copied to an aligned place for every launch
    struct cuda_kernel_info info;
    int blocks_per_sm;
    double occupancy; // theoretical: resident warps over those that the multiprocessor can hold
};

struct pipeline_part {
    struct cuda *cuda;
    const struct pipeline *pipeline;
    const struct device_operations *operations; // the workload's
    struct buffers *home;                       // the problem's buffers, whose addresses are in its launches
    struct symbol_bindings symbol_bindings;     // variables and arrays that its kernels work on
    unsigned count;                             // 0: the candidate has no launches for this problem
    unsigned stage_count;
    struct pipeline_launch *launch; // `count` of them
};

struct pipeline {
    struct cuda *cuda;
    char image_hash[HASH_TEXT_SIZE]; // hash_content() of the cubin, or of the file of units, as it was loaded
    size_t unit_count;
    struct module_unit units[UNITS_MAX];
    size_t problem_count;
    struct pipeline_part *parts; // by problem of the workload
};

// Prepares a candidate for launching. If it is a program, the candidate must outlive the pipeline. CUDA_REFUSED: this
// candidate cannot be launched. The caller must release it, even after a failure.
int pipeline_open(struct pipeline *, const struct workload *, const struct candidate *, struct error *err);
// Whether a failure to open says nothing about the candidate: host memory has run out, a file is missing, or other
// processes use almost all of the device's memory.
bool pipeline_blameless(const struct workload *, int failed);
// Prepares a library's version of the workload's operation for the tuned problems, and runs it once. `ways`: the way to
// compute each problem, or NULL for a problem that is left out. Pass NULL as `ways` if the library has only one way.
// Fails like pipeline_open().
int pipeline_open_operation(struct pipeline *, struct workload *, const struct operation_baseline *,
                            const char *const *ways, struct error *err);
void pipeline_release(struct pipeline *);

// pipeline_restore() and pipeline_scan() are module_state_restore() and module_state_inspect() for the variables of all
// units. pipeline_leaves_traces(): whether any unit uses the device's heap or prints.
int pipeline_restore(const struct pipeline *, struct error *err);
int pipeline_scan(struct pipeline *, bool *late, struct error *err);
bool pipeline_leaves_traces(const struct pipeline *);
// Enqueues what a launch needs in addition to the buffers: restoring the module's variables, and writing the job's
// constants, textures and surfaces from a copy. For launches outside of a struct work.
int pipeline_prepare(struct pipeline_part *, int64_t shift, struct error *err);
// Launches one problem's stages in order; `shift` is added to every buffer's address.
int pipeline_enqueue(struct pipeline_part *, int64_t shift, struct error *err);
// Launches one stage with all of its runs.
int pipeline_enqueue_stage(struct pipeline_part *, unsigned stage, int64_t shift, struct error *err);
// Prepares the first copy of the buffers, and runs the stages before `stage` on this copy. Then brings the L2 into the
// state that the job asks for, and waits.
int pipeline_reach(struct workload *, struct pipeline_part *, unsigned stage, struct error *err);
// The first run of a stage.
const struct pipeline_launch *pipeline_stage(const struct pipeline_part *, unsigned stage);
// Makes a problem's later launches work on these buffers, which are at other addresses (placement.h). NULL: they work
// on the problem's own buffers again.
void pipeline_place(struct pipeline *, size_t problem, struct buffers *);
// Whether all of a problem's launches accept every address that headers allow. Libraries and user functions may not.
bool pipeline_moves(const struct pipeline *, size_t problem);
// Whether the candidate has any stage for a problem. A candidate without stages for a problem cannot compute it
// (objective "each").
bool pipeline_does(const struct pipeline *, size_t problem);
// Whether some stages of a problem are not timed, so that the measured time may be shorter than the whole work
// requires.
bool pipeline_prepares(const struct pipeline *, size_t problem);
// The work of a problem. The module's variables are restored before every launch once they have been seen to change
// (module_state_inspect()).
struct work pipeline_work(struct pipeline *, size_t problem);

// ---- for pipeline.c: pipeline_read.c ------------------------------------------------------------------------------

// Appends the stage, or another run of the last stage, to the launches of a problem, and prepares this launch. There
// must be room for it, and the pipeline's units, one of which has the kernel, must be loaded. CUDA_REFUSED: the stage
// cannot be launched.
int pipeline_read_stage(struct pipeline *, struct pipeline_part *, const struct device_problem *,
                        const struct candidate *, const struct stage_call *, struct error *);
