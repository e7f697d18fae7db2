// The arguments of a source's kernels, as the compiler knows them. Works for `extern "C"` kernels, overloads and
// instances of templates, and without a GPU.
#pragma once

#include "kernels/vector_type.h"
#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/pool/worker.h"

// A builtin type of CUDA C++.
struct kernel_type {
    const char *expression, *name; // for the compiler; for people
    char kind;                     // 'f' floating, 's' signed, 'u' unsigned integer; 0: void
    size_t bytes;
    const char *element; // the word of job files; NULL: none
};

struct kernel_parameter {
    bool pointer, constant;           // constant: a pointer to const
    const struct kernel_type *type;   // for a pointer, the type pointed to; NULL: a class, an enumeration, ...
    const struct vector_type *vector; // if the type is a vector; then `type` is NULL
    size_t bytes;                     // of the parameter
};

struct kernel_signature {
    const char *entry;
    const char *problem; // NULL: the arguments are known; otherwise the compiler's first error line
    size_t parameter_count;
    struct kernel_parameter *parameters;
};

// A `__constant__` or `__device__` variable of the source.
struct source_variable {
    const char *symbol;
    size_t bytes;
    bool constant, initialised; // initialised: the source gives it a value
};

struct signatures {
    struct arena memory; // of all strings
    size_t count, kernel_count, variable_count;
    struct kernel_signature *list;
    struct source_variable *variables;
    const char **kernels; // all kernels that are not templates, by their names in compiled code
    const char *log;      // not NULL: the source does not compile, and nothing else is known
};

// Asks a compile worker about all entries of a request from request_compile, for architecture `arch`. Takes the
// request. Temporary files are written to `folder`. -1 with a message if the worker cannot be asked.
int signatures_ask(struct signatures *, struct worker *, json_t *request, const char *arch, const char *folder,
                   double seconds, struct error *);
void signatures_release(struct signatures *);

// The builtin type with this name, as it is written in sources ("unsigned int"), or NULL.
const struct kernel_type *kernel_type_find(const char *name);
// The word in job files for this type, or for an integer of the same size; NULL if there is none.
const char *kernel_type_word(const struct kernel_type *);
// "const float *", "int", "a type of 16 bytes". malloc'ed.
char *kernel_parameter_text(const struct kernel_parameter *);
// All parameters: "(const float *, int)". malloc'ed.
char *kernel_signature_text(const struct kernel_signature *);
