// How nvcc builds a tuned template. The header gives its users these instructions, and the final's second race builds
// the winner by them.
#ifndef SWEETSPOT_NVCC_RECIPE_H
#define SWEETSPOT_NVCC_RECIPE_H

#include "tuner/base/json.h"

// nvcc's options besides include folders, as a list of texts (new reference): the architecture ("": the one who builds
// decides), the language, and those of the job's options for NVRTC (a list of texts) that nvcc knows.
json_t *nvcc_options(const char *arch, const json_t *options);
// The text after the template that makes a kernel of it: the explicit instantiation of an entry that
// is a template. malloc'ed; NULL for any other entry.
char *nvcc_instantiation(const char *entry);

#endif
