# What templates/gemm_simt.cu says in PTX, in terms of cuda.h. A rule that no longer finds its line leaves an asm that does
# not compile.
s/extern __shared__ float4 shared_memory\[\];/float4 *const shared_memory = reinterpret_cast<float4 *>(emulation::shared);/
s/(unsigned)__cvta_generic_to_shared(p)/emulation::address(p)/
s/asm volatile("cp.async.cg.shared.global \[%0\], \[%1\], 16;.*/emulation::copy_async(to, from, 16);/
s/asm volatile("cp.async.ca.shared.global \[%0\], \[%1\], %2;.*/emulation::copy_async(to, from, COPY_BYTES);/
/asm volatile("cp.async.ca.shared.global \[%0\], \[%1\], %2, %3;/{:more;/;$/!{N;s/\n */ /;bmore};}
s/asm volatile("cp.async.ca.shared.global \[%0\], \[%1\], %2, %3;.*/emulation::copy_async_or_zero(to, from, COPY_BYTES, valid);/
s/asm volatile("cp.async.cg.shared.global \[%0\], \[%1\], 16, %2;.*/emulation::copy_async_or_zero(to, from, 16, valid);/
s/asm volatile("cp.async.commit_group;" ::: "memory");/emulation::commit();/
s/asm volatile("cp.async.wait_group %0;.*/emulation::wait(PENDING);/
s/asm volatile("prefetch.global.L2 \[%0\];.*/emulation::prefetched.push_back(line);/
s/asm volatile("mov.u32 %0, %%tid.x;.*/thread = (int)threadIdx.x;/
s/asm volatile("mov.u32 %0, %%ctaid.x;.*/block = (int)blockIdx.x;/
