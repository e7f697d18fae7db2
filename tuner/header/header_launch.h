// The header's functions that load an embedded binary and launch it, for the driver API and for the runtime API.
#ifndef SWEETSPOT_HEADER_LAUNCH_H
#define SWEETSPOT_HEADER_LAUNCH_H

#include <stdbool.h>

#include "tuner/header/header_text.h"

// Whether any section has a binary.
bool header_embeds(const json_t *sections);
// The name of the array that has a section's bytes; malloc'ed, NULL where the section has none.
char *header_binary_name(const char *lower, const json_t *section);
// Writes nothing where no section has a binary. Must follow the geometry functions, which it calls.
void header_launch(struct renderer *);

#endif
