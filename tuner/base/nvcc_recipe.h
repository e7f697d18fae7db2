// How nvcc builds a tuned template. The header gives its users these instructions, and the race between the winner's
// builds uses them.
#pragma once

#include "tuner/base/text.h"

// nvcc's options except include folders; the caller releases them. They are the architecture ("": left to the user),
// the language, and the job's NVRTC options that nvcc knows too.
struct text_list nvcc_options(const char *arch, const char *const *options, size_t count);
// The text to append to the source: the explicit instantiation of an entry that is a template. malloc'ed; NULL for any
// other entry.
char *nvcc_instantiation(const char *entry);
