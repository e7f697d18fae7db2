# Replaces the PTX and the shared memory in templates/transpose.cu with those of cuda.h.
s/extern __shared__ __align__(16) float tile\[\];/float *const tile = reinterpret_cast<float *>(emulation::shared);/
/asm volatile("ld.global.L2::256B/{:more;/;$/!{N;s/\n */ /;bmore};}
s/asm volatile("ld.global.L2::256B.*/emulation::fail("not emulated");/
