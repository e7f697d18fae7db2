# What templates/transpose.cu says in PTX or of shared memory, in terms of cuda.h.
s/extern __shared__ __align__(16) float tile\[\];/float *const tile = reinterpret_cast<float *>(emulation::shared);/
/asm volatile("ld.global.L2::256B/{:more;/;$/!{N;s/\n */ /;bmore};}
s/asm volatile("ld.global.L2::256B.*/emulation::fail("not emulated");/
