// The header's tensor maps.
#ifndef SWEETSPOT_HEADER_MAPS_H
#define SWEETSPOT_HEADER_MAPS_H

#include "tuner/header/header_text.h"

// Writes the type of tensor maps, if any stage takes one.
void header_tensor_map_type(struct renderer *);
// A stage's tensor maps in all sections, names beginning with `prefix`.
void header_tensor_maps(struct renderer *, const char *stage, const char *prefix);

#endif
