# Replaces the PTX in kernels/support.cu and support_elements.cuh with functions of cuda.h.
s/^\( *\)asm\( volatile\)\?(.*/\1emulation::fail("not emulated");/
/^ *: "=r"/d
/^ *: "l"(data/d
s/extern __shared__ volatile u32 everything\[\];/volatile u32 *const everything = reinterpret_cast<u32 *>(emulation::shared);/
