// The parts of the header's text, which header_render.c puts together. For the files of this folder.
#ifndef SWEETSPOT_HEADER_PARTS_H
#define SWEETSPOT_HEADER_PARTS_H

#include "tuner/header/header_section.h"
#include "tuner/header/header_text.h"

// header_fill.c: the function of an embedding header that evaluates a stage's launch and its arguments: `..._fill`,
// which launch.in declares and calls.
void header_fill(struct renderer *);
// The bytes that a stage's arguments take in a step's `room`, however they are aligned.
size_t header_argument_room(const json_t *stage);
// Whether the section's configuration uses a stage (a launch or a library call) for any problem.
bool header_is_part(const json_t *stage);
// Whether any section calls a library: then functions take a callback.
bool header_calls_library(const struct renderer *);
// The buffers that are the functions' arguments: they are the same in all sections (header_merge).
const json_t *header_buffers(const struct renderer *);
// The type that a buffer's pointer points to in C99: "float", or "void" for types that C99 lacks.
const char *header_pointed_type(const json_t *buffer);

// header_launch.c: functions that load an embedded binary and launch it, for the driver API and for the runtime API.
// Writes nothing where no section has a binary. Must follow the geometry functions, which it calls.
void header_launch(struct renderer *);
// Whether any section has a binary.
bool header_embeds(const json_t *sections);
// The name of the array that has a section's bytes; malloc'ed, NULL where the section has none.
char *header_binary_name(const char *lower, const json_t *section);

// header_arguments.c: a kernel's inputs. A stage's scalar arguments in all sections, and the members of its structs,
// names beginning with `prefix`; the function of a scalar argument, or of a member of a struct (NULL: none), without
// "_on", malloc'ed; bytes of every buffer, and which sizes are supported.
void header_scalars(struct renderer *, const char *stage, const char *prefix);
char *header_scalar_name(const char *prefix, size_t place, const json_t *member);
void header_limits(struct renderer *);

// header_maps.c: the type of tensor maps, if any stage takes one; a stage's tensor maps in all sections, names
// beginning with `prefix`.
void header_tensor_map_type(struct renderer *);
void header_tensor_maps(struct renderer *, const char *stage, const char *prefix);

// header_select.c: the selector among several kernels. Must follow the geometry functions, which it calls
// (r->prefixes).
void header_select(struct renderer *);

// header_functions.c: launch geometry, arguments, tensor maps, and where there are binaries what launches them; what
// was measured, and the selector where a device has several kernels.
void header_functions(struct renderer *);
void header_results(struct renderer *);

// header_source.c: what compiling the template takes. In the opening comment, each stage's arguments in their order,
// and what a caller must do; macros of a section: entries, options, arguments; after the parameters under the
// template's own names, a warning if the compiler's architecture differs.
void header_comment_arguments(struct renderer *, const json_t *section);
void header_comment_contract(struct renderer *, const json_t *section);
void header_source_macros(struct renderer *, const json_t *section);
void header_architecture(struct renderer *);

// header_provenance.c: what was measured and verified, as a comment and as macros. In the opening comment, advice to
// use the binary where nvcc's build of the template is slower or fails.
void header_provenance(struct renderer *);
void header_advise(struct renderer *, const json_t *section);

#endif
