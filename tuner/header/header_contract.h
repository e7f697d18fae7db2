// Everything that a caller of the tuned kernel must know, as members of a header's section (header_section.h):
//
//    "options":["-use_fast_math",..],"includes":1,"alignment":16,
//    "conditions":["size_M % 8 == 0",..]                         on sizes, as C code; missing if there are none
//    "supported":[{"least":1,"most":4096,"multiple":8},..]     for each size, from the verified problems;
//                                                               missing if no problem was verified
//    "buffers":[{"name":"A","type":"f32","direction":"in","bytes":"C","before":"anything"}]
//    stages: "arguments":[{"kind":"buffer"|"map"|"texture"|"surface","name":"A","type":"f32","direction":"in"},
//                         {"kind":"scalar","name":"lda","type":"i32","value":"C","from":"K"},
//                         {"kind":"scalar","name":"alpha","type":"f32","real":1.0}]
//
//    "constants":[{"name":"ns::coef","type":"f32","direction":"in","bytes":"C","symbol":"_ZN2ns4coefE"}]
//                                                         symbol: in a section with a binary
//    "objects":[{"name":"image","kind":"texture"|"surface","type":"f32","direction":"in","about":"array, ..",
//                "size":["C","C"]}]                       texels, the contiguous dimension first
//
// A section of a Python file has "python":true and Python code instead of C, and its buffers also have
//
//    "shape":["size_M","size_K"],"ld":"C","zero":true|"filled":true       ld: if it is given; zero, filled: scratch
//                                                               that is filled with zeros or other values
//
// "buffers" lists all buffers that kernels access by address. "C" is C code that uses size_M, size_N, .. "before" says
// what the buffer must contain before every launch. A size is supported if it lies between the smallest and the largest
// verified size and is a multiple of the greatest common divisor of all verified sizes. "constants" and "objects" are
// missing if a job has none. The user sets a constant with cudaMemcpyToSymbol or, in the embedded binary, at the
// address that NAME_constant returns. The user also creates the objects (textures and surfaces).
#pragma once

#include "tuner/base/json.h"
#include "tuner/job/job.h"
#include "tuner/trial/trial.h"

// Translates a job's expressions to C code that reads only the problem's sizes: parameters and device limits become
// numbers, and a derived name that depends on a size is replaced by its expression.
struct const_eval {
    const struct job *job;
    char *prefix;          // prefix of the functions that expressions call in C: "sgemm_fn_"; NULL for Python
    const int64_t *values; // values for the configuration and the first problem
    bool *varies;          // by slot: whether it is a size, derived from a size, or a loop's name
    char **text;           // by slot: the C code, if it varies
    struct error *err;     // about the first expression that cannot be written as C
    bool failed;
};

// Prepares to translate for one configuration, to C or Python. -1 with a message. The caller releases it, even after a
// failure.
int const_eval_init(struct const_eval *, const struct job *, const uint16_t *config, bool python, struct error *);
void const_eval_release(struct const_eval *);

// The expression's C code, or `absent` if there is no expression. If the expression cannot be written as C, *err has
// the reason, `failed` is set, and the code is "0". New reference.
json_t *const_eval_text(struct const_eval *, const struct expr *, const char *absent);
// The code of several expressions, "1" for a missing expression. New reference.
json_t *const_eval_list(struct const_eval *, struct expr *const *expressions, size_t count);
// Sets a member to a list, unless the list is empty. Takes ownership of the list.
void const_eval_set_list(json_t *object, const char *key, json_t *list);

// Adds the members that concern the whole candidate. -1 with the message in the const_eval's error.
int contract_add(json_t *section, struct const_eval *, const struct trial *, const char *arch);
// A stage's arguments. New reference.
json_t *contract_arguments(struct const_eval *, const struct stage *);
// Finds the constants' symbols in the binary. -1 with a message if a symbol is missing.
int contract_symbols(json_t *section, const unsigned char *binary, size_t size, struct error *);
