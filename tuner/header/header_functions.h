// The header's inline functions.
#ifndef SWEETSPOT_HEADER_FUNCTIONS_H
#define SWEETSPOT_HEADER_FUNCTIONS_H

#include "tuner/header/header_text.h"

// Launch geometry, arguments, tensor maps, and where there are binaries what launches them.
void header_functions(struct renderer *);
// What was measured, and the selector where a device has several kernels.
void header_results(struct renderer *);

#endif
