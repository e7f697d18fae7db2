// The header's functions for a kernel's inputs: its scalar arguments, its buffers, and the sizes it was verified
// on.
#ifndef SWEETSPOT_HEADER_ARGUMENTS_H
#define SWEETSPOT_HEADER_ARGUMENTS_H

#include "tuner/header/header_text.h"

// The function of a scalar argument, or of a member of a struct (NULL: none), without "_on". malloc'ed.
char *header_scalar_name(const char *prefix, size_t place, const json_t *member);
// A stage's scalar arguments in all sections, and the members of its structs, names beginning with `prefix`.
void header_scalars(struct renderer *, const char *stage, const char *prefix);
// Bytes of every buffer, and which sizes are supported.
void header_limits(struct renderer *);

#endif
