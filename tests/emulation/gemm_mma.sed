# What templates/gemm_mma.cu says in PTX, in terms of cuda.h and mma.h (see ptx.sed).
s/extern __shared__ uint4 shared_memory\[\];/char *const shared_memory = emulation::shared;/
s/^#include "instructions.cuh"/#include "mma.h"/
