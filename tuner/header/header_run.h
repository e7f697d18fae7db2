// One section's launches in the header: the function that checks and launches them, and what it shares with the rest of
// header_launch.c.
#ifndef SWEETSPOT_HEADER_RUN_H
#define SWEETSPOT_HEADER_RUN_H

#include <stdbool.h>

#include "tuner/header/header_text.h"

// Writes `..._run_I` for section i, which has a binary.
void header_run(struct renderer *, const json_t *section, size_t i);

// Whether the section's configuration uses a stage (a launch or a library call) for any problem.
bool header_is_part(const json_t *stage);
// Whether any section calls a library: then functions take a callback.
bool header_calls_library(const struct renderer *);
// The buffers that are the functions' arguments: they are the same in all sections (header_merge).
const json_t *header_buffers(const struct renderer *);
// What a buffer's pointer points to in C99: "float", or "void" for what it has no type for.
const char *header_pointed_type(const json_t *buffer);
// ", unsigned long long NAME", for header_each_object.
void header_declare_object(struct renderer *, const char *identifier);
bool header_is_number(const char *text);

#endif
