// Included by spmv.cu.
#define LANES 8
