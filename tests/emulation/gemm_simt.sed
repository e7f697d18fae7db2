# Replaces the PTX in templates/gemm_simt.cu with functions of cuda.h (see ptx.sed).
s/extern __shared__ float4 shared_memory\[\];/float4 *const shared_memory = reinterpret_cast<float4 *>(emulation::shared);/
s/asm volatile("prefetch.global.L2 \[%0\];.*/emulation::prefetched.push_back(line);/
s/asm volatile("mov.u32 %0, %%tid.x;.*/thread = (int)threadIdx.x;/
s/asm volatile("mov.u32 %0, %%ctaid.x;.*/block = (int)blockIdx.x;/
