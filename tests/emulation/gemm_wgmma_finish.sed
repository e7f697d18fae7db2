# Of templates/gemm_wgmma.cu what has to do with parts of a sum, in terms of cuda.h: no barriers, copies and tensor
# cores, neither role, no other kernel.
/^#include ".*\(ptx\|ring\|tma\|wgmma\|prepare\).cuh"/d
s/^#include "gemm_wgmma\/mainloop.cuh"/#include "gemm_wgmma\/partials.cuh"/
/^extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)/,/^}/d
/^extern "C" __global__ void __launch_bounds__(256)/,/^}/d
s/asm("cvt.rn." TEXT(OUTPUT) "x2.f32 %0, %1, %2;".*/both = rounded(low) | rounded(high) << 16;/
# An asm of several lines becomes one line first.
/asm volatile("[a-z]*.global.cg.v4.f32 /{:more;/;$/!{N;s/\n */ /;bmore};}
s/asm volatile("st.global.cg.v4.f32 \[%0\],.*"l"(to + \(.*\)), "f"(v\[0\]).*/emulated_store(to + \1, v);/
s/asm volatile("ld.global.cg.v4.f32 .*"l"(from + \(.*\)) : "memory");/emulated_load(v[i], from + \1);/
