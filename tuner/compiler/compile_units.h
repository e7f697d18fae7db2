// A request whose stages have different macros: every unit is compiled for itself, and their cubins are joined.
#pragma once

#include "tuner/protocol/compile_message.h"

// Answers a request that has units, each of which `compile` compiles as a request of its own. The units
// share the deadline. New reference.
json_t *compile_units(const struct compile_request *request, const char *version,
                      json_t *(*compile)(const struct compile_request *request, const char *version));
