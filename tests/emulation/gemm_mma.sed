# Replaces the PTX in templates/gemm_mma.cu with functions of cuda.h and mma.h (see ptx.sed).
s/extern __shared__ uint4 shared_memory\[\];/char *const shared_memory = emulation::shared;/
s/^#include "instructions.cuh"/#include "mma.h"/
