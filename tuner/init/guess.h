// A job for a kernel, guessed from its source: what may be tuned, the sizes, the launch, the buffers. Guesses go by the
// usual forms of CUDA code and by names; whoever has written the kernel looks at them again (job_draft.h marks them).
#ifndef SWEETSPOT_GUESS_H
#define SWEETSPOT_GUESS_H

#include <stdint.h>

#include "tuner/init/cuda_file.h"

// A tuning parameter. Those of templates and launches get names that the source does not have.
struct guess_parameter {
    char *name;    // of the macro
    char *source;  // what the source calls it: a macro, a template's parameter; NULL: the launch alone knows it
    char *values;  // "[64, 128, 256]"
    char *why;     // for a comment
    int64_t first; // the value in the launch of a reference
    bool pragma;   // the macro stands before a loop, as a whole pragma would
};

struct guess_size {
    const char *name; // the argument's
    int64_t value;
};

struct guess_launch {
    char *grid[3], *block[3]; // NULL: as 1
    char *shared;             // bytes, or NULL
};

enum guess_role { GUESS_SIZE, GUESS_SCALAR, GUESS_BUFFER, GUESS_TEXTURE, GUESS_SURFACE, GUESS_UNKNOWN };

struct guess_argument {
    const struct cuda_argument *argument;
    enum guess_role role;
    const char *type;      // of a job file; NULL where there is none
    bool same_bits;        // the type is not the argument's, but has its size
    char *shape;           // of a buffer, a texture or a surface: "\"M\", \"N\""
    int channels;          // of a texture or a surface
    bool fetched;          // a texture of memory "linear"
    const char *direction; // "in", "out", "inout"
    const char *value;     // of a scalar
};

// A variable of the module that the kernel uses.
struct guess_module_variable {
    const struct cuda_variable *variable;
    const char *type;      // NULL: a job file has none
    char *shape;           // NULL: it depends on what is tuned; "": a single number
    const char *direction; // "in", "inout"
};

struct guess {
    const struct cuda_file *file;
    const struct cuda_kernel *kernel;
    const struct cuda_file *included; // files that the source includes and that are there
    size_t included_count;
    size_t parameter_count, define_count, size_count, argument_count, module_count, constraint_count, note_count;
    struct guess_parameter *parameters;
    struct guess_parameter *defines; // macros that only other kernels of the source need; no values
    struct guess_size *sizes;
    struct guess_argument *arguments;
    struct guess_module_variable *module; // its constants
    char **constraints;                   // expressions
    char **notes;                         // what is left to fill in, or worth a look
    char *entry;                          // the name, or a name expression
    struct guess_launch launch;
};

// The whole guess; it lives no longer than the files. Ends with guess_release.
void guess_kernel(struct guess *, const struct cuda_file *, const struct cuda_kernel *,
                  const struct cuda_file *included, size_t included_count);
void guess_release(struct guess *);

#endif
