// The text of a whole header.
#ifndef SWEETSPOT_HEADER_RENDER_H
#define SWEETSPOT_HEADER_RENDER_H

#include "tuner/base/base.h"
#include "tuner/base/json.h"

// Writes the header of these sections (at least one; the first is the default device). -1 with a message when a
// parameter's macro would collide with one of the header's own.
int header_render(FILE *, const json_t *sections, struct error *);

#endif
