// How much memory this process, and each that it starts, may take beyond what it has when it begins.
#ifndef SWEETSPOT_MEMORY_LIMIT_H
#define SWEETSPOT_MEMORY_LIMIT_H

#include "tuner/base/base.h"

// From now on `bytes` of private memory (RLIMIT_DATA), which does not count address space that is only reserved, of
// which NVRTC takes much. 0: without limit. -1 with a message.
int memory_limit_set(int64_t bytes, struct error *);

#endif
