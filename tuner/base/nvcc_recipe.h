// How nvcc builds a tuned template. The header gives its users these instructions, and the final's second race builds
// the winner by them.
#pragma once

#include "tuner/base/text.h"

// nvcc's options besides include folders, to be released: the architecture ("": the one who builds decides), the
// language, and those of the job's options for NVRTC that nvcc knows.
struct text_list nvcc_options(const char *arch, const char *const *options, size_t count);
// The text after the template that makes a kernel of it: the explicit instantiation of an entry that
// is a template. malloc'ed; NULL for any other entry.
char *nvcc_instantiation(const char *entry);
