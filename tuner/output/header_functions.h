// The header's inline functions.
#ifndef SWEETSPOT_HEADER_FUNCTIONS_H
#define SWEETSPOT_HEADER_FUNCTIONS_H

#include "tuner/output/header_text.h"

// Launch geometry, tensor maps, results, and the selector where a device has several kernels.
void header_functions(struct renderer *);

#endif
