// For the files of this folder: functions that write the header's text and its parts.
#pragma once

#include "tuner/header/header_section.h"
#include "tuner/header/header_text.h"

// header.c: writes the text of the header with these sections (at least one; the first is for the default device).
// HEADER_COLLISION (header.h) with a message if a parameter's macro would collide with one of the header's own.
int header_render(FILE *, void *sections, struct error *);
// Writes a section's line, which also fits in a raw string of Python.
void header_put_section(FILE *, const json_t *section);

// header_source.c writes what a user needs to compile the template. The opening comment lists each stage's arguments in
// order, the variables and objects, and the caller's duties. A section's macros give entries, options and arguments.
// The parameters with the template's own names are followed by a warning for compilers that build for another
// architecture.
void header_comment_arguments(struct renderer *, const json_t *section);
void header_comment_bindings(struct renderer *, const json_t *section);
void header_comment_contract(struct renderer *, const json_t *section);
void header_source_macros(struct renderer *, const json_t *section);
void header_architecture(struct renderer *);
// The textures and surfaces that a launch takes, and the buffers that functions take as arguments. They are the same in
// all sections (header_merge). Borrowed.
const json_t *header_objects(const struct renderer *);
const json_t *header_buffers(const struct renderer *);
// The identifier of an argument's object. malloc'ed.
char *header_object_name(const json_t *argument);
// Whether the section's configuration uses a stage (a launch or a library call) for any problem.
bool header_is_part(const json_t *stage);

// header_functions.c: the inline functions that depend on the sizes.
void header_functions(struct renderer *);
// Returns the name of the function for a scalar argument or, if `member` is not NULL, for this member of a struct. The
// name lacks "_on"; malloc'ed.
char *header_scalar_name(const char *prefix, size_t place, const json_t *member);
// CUDA's number for the element type of a tensor map.
int header_map_type(const char *type);

// header_launch.c: functions that load an embedded binary and launch it, for the driver API and for the runtime API.
// Writes nothing if no section has a binary. Must follow the geometry functions, which it calls.
void header_launch(struct renderer *);
// The name of the array with a section's binary; malloc'ed, NULL if the section has none.
char *header_binary_name(const char *lower, const json_t *section);
// The symbol of a stage's entry in the section's binary (borrowed), or NULL with a message.
const char *header_symbol(const json_t *section, const json_t *stage, struct error *);
// The bits of a scalar whose type does not exist in C and Python. False if its value depends on sizes.
bool header_scalar_bits(const json_t *argument, unsigned *bits);
// The largest number of bytes that a stage's arguments can occupy in a step's `room`, with padding for alignment.
size_t header_argument_room(const json_t *stage);
// The product of a stage's three sizes for a key such as "cluster"; INT64_MAX if a size depends on the problem.
int64_t header_product(const json_t *stage, const char *key);

// The type of an argument or a buffer: its element, its name in C, and whether C99 lacks the type. If so, scalars are
// stored as bits and pointers are void *.
int header_element_of(const json_t *described);
const char *header_c_type(int element);
bool header_only_bits(int element);

// header_call.c: for C++ and nvcc, a function that launches the template. Writes nothing for a job with several
// kernels, or with arguments other than buffers and plain scalars. Must follow the geometry functions, which it calls.
void header_call(struct renderer *);
bool header_is_plain(const struct renderer *); // whether header_call writes a function

// header_provenance.c writes what was measured and verified, as a comment and as macros. The opening comment advises
// users to use the binary if nvcc's build of the template is slower or fails.
void header_provenance(struct renderer *);
void header_advise(struct renderer *, const json_t *section);

// header_results.c: the measured times, and the selector if a device has several kernels. Must follow the geometry
// functions, which it calls (r->prefixes).
void header_results(struct renderer *);
