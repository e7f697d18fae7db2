// The header's text for compiling the template: the compiler's options, the entries and their arguments.
#ifndef SWEETSPOT_HEADER_SOURCE_H
#define SWEETSPOT_HEADER_SOURCE_H

#include "tuner/header/header_text.h"

// In the opening comment: each stage's arguments in their order.
void header_comment_arguments(struct renderer *, const json_t *section);
// Macros of a section: entries, options, arguments.
void header_source_macros(struct renderer *, const json_t *section);
// After the parameters under the template's own names: a warning if the compiler's architecture differs.
void header_architecture(struct renderer *);

#endif
