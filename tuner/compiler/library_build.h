// Builds a source of the user's, for the host or for both sides, into a shared library: nvcc for .cu, the system's
// compilers cc and c++ for others. A library is kept in the compile cache by its content.
#pragma once

#include "tuner/protocol/compile_message.h"

// The answer to a "build" request (protocol.h). `home` is the toolkit's folder. New reference.
json_t *library_build(const struct compile_request *, const char *home);
