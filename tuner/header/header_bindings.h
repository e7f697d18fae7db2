// Constants, textures and surfaces of a kernel, as members of a header's section (header_section.h), and their text in
// the header. Members are missing where a job has none:
//
//    "constants":[{"name":"ns::coef","type":"f32","direction":"in","bytes":"C","symbol":"_ZN2ns4coefE"}]
//                                                         symbol: in a section with a binary
//    "objects":[{"name":"image","kind":"texture"|"surface","type":"f32","direction":"in","about":"array, ..",
//                "size":["C","C"]}]                       texels, the contiguous dimension first
//
// The user sets a constant by cudaMemcpyToSymbol, or in the embedded binary at the address that NAME_constant gives,
// and makes the objects.
#ifndef SWEETSPOT_HEADER_BINDINGS_H
#define SWEETSPOT_HEADER_BINDINGS_H

#include "tuner/header/header_const_eval.h"
#include "tuner/header/header_text.h"

// Whether a buffer of the job is an argument of the launch by its address.
bool header_has_address(const struct job *, size_t buffer);
// Adds the members. -1 with the message in the const_eval's error.
int header_bindings_add(json_t *section, struct const_eval *);
// Finds the constants' symbols in the binary. -1 with a message when it lacks one.
int header_bindings_symbols(json_t *section, const unsigned char *binary, size_t size, struct error *);

// The lines of the opening comment.
void header_comment_bindings(struct renderer *, const json_t *section);
// The textures and surfaces that a launch takes: they are the same in all sections (header_merge). Borrowed.
const json_t *header_objects(const struct renderer *);
// The identifier of an argument's object. malloc'ed.
char *header_object_name(const json_t *argument);

#endif
