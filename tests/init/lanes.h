// What spmv.cu includes.
#define LANES 8
