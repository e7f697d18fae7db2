# Replaces the PTX in templates/device/ptx.cuh with functions of cuda.h. A rule that no longer finds its line leaves an
# asm that does not compile.
s/(unsigned)__cvta_generic_to_shared(p)/emulation::address(p)/
s/asm volatile("cp.async.cg.shared.global \[%0\], \[%1\], 16;.*/emulation::copy_async(to, from, 16);/
s/asm volatile("cp.async.ca.shared.global \[%0\], \[%1\], %2;.*/emulation::copy_async(to, from, COPY_BYTES);/
/asm volatile("cp.async.ca.shared.global \[%0\], \[%1\], %2, %3;/{:more;/;$/!{N;s/\n */ /;bmore};}
s/asm volatile("cp.async.ca.shared.global \[%0\], \[%1\], %2, %3;.*/emulation::copy_async_or_zero(to, from, COPY_BYTES, valid);/
s/asm volatile("cp.async.cg.shared.global \[%0\], \[%1\], 16, %2;.*/emulation::copy_async_or_zero(to, from, 16, valid);/
s/asm volatile("cp.async.commit_group;" ::: "memory");/emulation::commit();/
s/asm volatile("cp.async.wait_group %0;.*/emulation::wait(PENDING);/
