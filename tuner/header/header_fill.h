// The function of an embedding header that evaluates a stage's launch and its arguments, and what it shares with
// header_launch.c.
#ifndef SWEETSPOT_HEADER_FILL_H
#define SWEETSPOT_HEADER_FILL_H

#include <stdbool.h>

#include "tuner/header/header_text.h"

// Writes `..._fill`, which launch.in declares and calls.
void header_fill(struct renderer *);
// The bytes that a stage's arguments take in a step's `room`, however they are aligned.
size_t header_argument_room(const json_t *stage);

// Whether the section's configuration uses a stage (a launch or a library call) for any problem.
bool header_is_part(const json_t *stage);
// Whether any section calls a library: then functions take a callback.
bool header_calls_library(const struct renderer *);
// The buffers that are the functions' arguments: they are the same in all sections (header_merge).
const json_t *header_buffers(const struct renderer *);
// What a buffer's pointer points to in C99: "float", or "void" for what it has no type for.
const char *header_pointed_type(const json_t *buffer);

#endif
