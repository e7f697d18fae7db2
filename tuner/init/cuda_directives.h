// Private to cuda_file.c: the preprocessor lines of a source.
#ifndef SWEETSPOT_CUDA_DIRECTIVES_H
#define SWEETSPOT_CUDA_DIRECTIVES_H

#include "tuner/init/cuda_file.h"

// Takes macros and the names in #if and #pragma unroll from the tokens, and then the lines themselves,
// which would be in the way of declarations.
void cuda_directives_read(struct cuda_file *);

#endif
