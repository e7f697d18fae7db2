// The parts of a guess, in the order in which each uses what stands before it. For the files of this folder.
#ifndef SWEETSPOT_GUESS_PARTS_H
#define SWEETSPOT_GUESS_PARTS_H

#include "tuner/init/guess.h"

// guess_text.c: words, notes, constraints.
const struct cuda_token *guess_token(const struct guess *, size_t i);
bool guess_is(const struct guess *, size_t i, const char *text); // false behind the kernel's end
bool guess_is_name(const struct guess *, size_t i);
const struct guess_parameter *guess_find_parameter(const struct guess *, const char *source);
const struct guess_size *guess_find_size(const struct guess *, const char *name);
void guess_note(struct guess *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void guess_constrain(struct guess *, char *expression); // takes it; the same one only once
// What the name stands for in the source or what it includes: a macro's value, a constant's, NULL.
const char *guess_constant(const struct guess *, const char *name);
// As far as an operand goes: to a mark that ends it (, ; ) && || ? : or a comparison), brackets apart.
size_t guess_operand_end(const struct guess *, size_t begin);
// Appends to a malloc'ed text.
void guess_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

// guess_type.c: the job's type of a source's, after the file's own names of types. `factor`: elements of a vector type.
// NULL where there is none.
const char *guess_type(const struct guess *, const char *type, int *factor, bool *same_bits);
// Bytes of an element of such a type; 0: unknown.
size_t guess_type_size(const struct guess *, const char *type);
bool guess_is_integer(const char *job_type);

// guess_expression.c
// The tokens [begin, end) as an expression of a job: sizes and, if they are allowed, parameters; macros and constants
// with values of that kind are replaced by them. NULL where anything else is among them. malloc'ed.
char *guess_expression(const struct guess *, size_t begin, size_t end, bool parameters);

// guess_parameters.c: macros and template parameters; the entry.
void guess_parameters(struct guess *);
// A parameter of the launch alone. `wanted` is the name if the source does not have it; `fixed` is the value where it
// cannot vary, in a reference. Returns its name.
const char *guess_launch_parameter(struct guess *, const char *wanted, const char *values, int64_t fixed);

// guess_variables.c: what the body says of its variables.
struct guess_variable {
    char *name;
    int dimension; // of the blockIdx that it is computed from, or -1
    bool thread;   // and from threadIdx
    char *extent;  // what it is compared with: an expression of sizes, or NULL
    int pointer;   // the argument that it points into, or -1
    size_t move_count;
    struct cuda_range *moves; // the expressions that the pointer was moved by
};
struct guess_variables {
    size_t count;
    struct guess_variable *items;
};
void guess_variables_init(struct guess_variables *, struct guess *);
void guess_variables_release(struct guess_variables *);
struct guess_variable *guess_find_variable(const struct guess_variables *, const struct cuda_token *);
// The dimension of the blockIdx that token i is, or is a plain copy of; -1. *behind: the token behind it.
int guess_block_at(const struct guess *, const struct guess_variables *, size_t i, size_t *behind);

// guess_launch.c, guess_arguments.c
// Also gives indices the extents of the grid where nothing else is known of them.
void guess_launch(struct guess *, struct guess_variables *);
void guess_sizes(struct guess *);
void guess_buffers(struct guess *, const struct guess_variables *);

// guess_places.c
// Whether an argument's type is that of a texture or surface object; it then gets its role.
bool guess_object(struct guess_argument *);
// What the body says of textures and surfaces, and the variables of the module that it uses. Before guess_buffers.
void guess_places(struct guess *);
// Whether any of them is written.
bool guess_places_written(const struct guess *);

#endif
