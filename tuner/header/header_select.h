// The header's selector among several kernels.
#ifndef SWEETSPOT_HEADER_SELECT_H
#define SWEETSPOT_HEADER_SELECT_H

#include "tuner/header/header_text.h"

// Must follow the geometry functions, which it calls (r->prefixes).
void header_select(struct renderer *);

#endif
