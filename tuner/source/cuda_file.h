// The declarations of a CUDA C++ source, as far as they can be read without a compiler: its kernels with their template
// parameters and arguments, its macros, and the names that its device code uses. `init` drafts jobs from them, and
// `check` compares jobs with them. All conditional parts are read, except `#if 0`.
#pragma once

#include "tuner/source/cuda_tokens.h"

struct cuda_argument {
    const char *type; // without const, *, & and __restrict__: "unsigned int"
    const char *name; // "argument_2" if the source gives none
    int stars;        // 1: a pointer
    bool constant, reference;
    int line;
};

struct cuda_template_parameter {
    const char *name;
    bool is_type, is_bool, is_pack;
    const char *value; // the default, or NULL
    int line;
};

struct cuda_kernel {
    const char *name;  // with its namespaces: "a::b"
    size_t head, body; // tokens: of the declaration; of the body, from { to }
    size_t end;
    int line;
    size_t template_count, argument_count;
    struct cuda_template_parameter *templates;
    struct cuda_argument *arguments;
};

struct cuda_macro {
    const char *name, *value; // value: without comments; "" if there is none
    bool function;            // NAME(...)
    int line;
};

// A name in a preprocessor line, except one that the line defines or that is a guard.
struct cuda_line_name {
    const char *name, *value;                          // value: number that #if compares it with using ==; NULL: none
    enum { NAME_USED, NAME_TESTED, NAME_UNROLL } kind; // tested by #if or #elif; used in `#pragma unroll NAME`
    bool ordered;                                      // compared using < or >
    int line;
};

// The lines from an #if, #elif or #else to the next #elif, #else or #endif.
struct cuda_condition {
    const char *guard; // the name of #ifndef NAME, or of #if !defined(NAME); NULL: another condition
    int first, last;
};

struct cuda_range {
    size_t begin, end; // indices of tokens
};

struct cuda_file {
    char *source;
    struct arena memory; // of all names and strings
    struct cuda_tokens tokens;
    size_t kernel_count, macro_count, device_count, constant_count, line_name_count, condition_count, host_count;
    struct cuda_kernel *kernels;
    struct cuda_macro *macros;
    struct cuda_macro *constants; // const and constexpr variables; members of enums and names of types ("")
    struct cuda_line_name *line_names;
    struct cuda_condition *conditions;
    bool pastes;               // has ##, so names may be formed that are not in the file
    struct cuda_range *device; // code for the device compiler, without preprocessor lines
    struct cuda_range *host;   // host functions
};

// Takes ownership of the source.
void cuda_file_init(struct cuda_file *, char *source);
void cuda_file_release(struct cuda_file *);

// The name of the next kernel from token *from on; *from then points after it. Also finds kernels that are only
// declared, or whose surroundings cannot be read. NULL: there are no more.
const struct cuda_token *cuda_file_next_kernel(const struct cuda_file *, size_t *from, bool *is_template);
const struct cuda_macro *cuda_file_find_macro(const struct cuda_file *, const char *name); // or NULL
// The first kernel with this name, with or without its namespaces, or NULL.
const struct cuda_kernel *cuda_file_find_kernel(const struct cuda_file *, const char *name);
// Whether the line is inside a guard of this name, such as `#ifndef name`.
bool cuda_file_guards(const struct cuda_file *, const char *name, int line);
// The next token from *from on that declares this name, judging by the type before it. *from then points after it.
const struct cuda_token *cuda_file_next_declaration(const struct cuda_file *, size_t *from, const char *name);
// Whether the file declares this name anywhere: as a variable, argument, type, member of an enum, or macro.
bool cuda_file_declares(const struct cuda_file *, const char *name);
// Whether the name occurs anywhere in the file, except in comments and strings.
bool cuda_file_uses(const struct cuda_file *, const char *name);
