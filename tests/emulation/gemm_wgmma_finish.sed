# Reduces templates/gemm_wgmma.cu to the code for partial sums, with functions of cuda.h. Removes barriers, copies,
# tensor cores, both roles, and the other kernels.
/^#include ".*\(ptx\|ring\|tma\|wgmma\|prepare\).cuh"/d
s/^#include "gemm_wgmma\/mainloop.cuh"/#include "gemm_wgmma\/partials.cuh"/
/^extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)/,/^}/d
/^extern "C" __global__ void __launch_bounds__(256)/,/^}/d
s/asm("cvt.rn." TEXT(OUTPUT) "x2.f32 %0, %1, %2;".*/both = rounded(low) | rounded(high) << 16;/
# First joins the lines of an asm.
/asm volatile("[a-z]*.global.cg.v4.f32 /{:more;/;$/!{N;s/\n */ /;bmore};}
s/asm volatile("st.global.cg.v4.f32 \[%0\],.*"l"(to + \(.*\)), "f"(v\[0\]).*/emulated_store(to + \1, v);/
s/asm volatile("ld.global.cg.v4.f32 .*"l"(from + \(.*\)) : "memory");/emulated_load(v[i], from + \1);/
