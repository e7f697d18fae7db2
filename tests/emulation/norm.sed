# Replaces the PTX in templates/norm.cu with functions of norm.cpp.
s/asm("cvt.rn.bf16.f32 %0, %1;".*/y = rounded(x);/
s/asm("cvt.*f16.*/emulation::fail("not emulated");/
