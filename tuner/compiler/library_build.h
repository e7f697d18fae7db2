// Builds a user's source, for the host or for host and device, into a shared library: with nvcc for .cu, with the
// system's compilers cc and c++ for others. Libraries are kept in the compile cache, keyed by content.
#pragma once

#include "tuner/protocol/compile_message.h"

// The answer to a "build" request (protocol.h). `home` is the toolkit's folder. New reference.
json_t *library_build(const struct compile_request *, const char *home);
