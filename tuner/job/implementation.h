// An implementation: anything that computes a job's outputs from its inputs. The reference, the current kernel, the
// baselines and the fallback are implementations, and so is each configuration of the tuned kernel. A table in
// job_implementation.c lists the kinds that are allowed in each place of a job file.
#pragma once

#include "search/space/space.h"
#include "tuner/job/stage.h"

#define CURRENT_KERNEL "current" // the name of the current kernel among the baselines

// The functions of a library. FUNCTION_RESULT computes the outputs of a reference, or enqueues the work of a baseline.
// A baseline's INIT is called first, untimed. A reference's GENERATE makes inputs, and its VERIFY judges outputs.
enum implementation_function {
    FUNCTION_RESULT,
    FUNCTION_GENERATE,
    FUNCTION_VERIFY,
    FUNCTION_INIT,
    IMPLEMENTATION_FUNCTIONS
};
extern const char *const implementation_functions[IMPLEMENTATION_FUNCTIONS]; // the settings that name them

struct implementation {
    enum implementation_kind kind; // IMPLEMENTATION_NONE: the job has none; only `setting` may be set
    const char *setting;           // its setting in the job file: "reference", "baselines[1]"
    const char *name;              // its name in reports; "" for the reference and the fallback
    const char *path;              // absolute path of the source, the binary, or the library or its source; NULL: none
    struct stage stage;            // kernel, binary, function of a baseline: its entry, launch and arguments
    uint16_t config[SPACE_MAX_PARAMETERS]; // configuration
    const char *operation;                 // kernels/ name
    const char *by;                        // "cublas" or "cpu"
    // Roles of the operation that have another name in this job. For a role that is the constant `value`, `name` is
    // NULL. If the implementation consists of files, the list has the outputs and the paths of their files instead.
    size_t binding_count;
    struct binding {
        const char *role, *name;
        double value;
    } * bindings;
    const char *functions[IMPLEMENTATION_FUNCTIONS]; // library; NULL: not given
    size_t option_count;                             // for the compiler of a library's source
    char **options;
    const char *command; // for the shell, run in the job file's folder
    double timeout;      // s, for one call of a reference's function or command
};

// Whether the implementation is a library that is given as source code.
bool implementation_is_built(const struct implementation *);
