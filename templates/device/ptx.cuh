/* PTX that several templates share: addresses in shared memory, asynchronous copies, overlapping launches. */
#pragma once

namespace
{

/* An address in shared memory in the form that PTX instructions take. */
[[maybe_unused]] __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Copies COPY_BYTES (4, 8, 16) asynchronously from global to shared memory, both aligned to COPY_BYTES. Only copies of
 * 16 bytes can bypass L1 (.cg). The pointer keeps its type, because converting it to a pointer to void changed the
 * register allocation. */
template <int COPY_BYTES, class T>
[[maybe_unused]] __device__ __forceinline__ void copy_async(unsigned to, const T *from)
{
    if constexpr (COPY_BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(COPY_BYTES) : "memory");
}

/* Copies the first `valid` bytes and writes zeros for the others; `from` is not read if valid is 0. */
template <int COPY_BYTES, class T>
[[maybe_unused]] __device__ __forceinline__ void copy_async_or_zero(unsigned to, const T *from, int valid)
{
    if constexpr (COPY_BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(COPY_BYTES), "r"(valid)
                     : "memory");
}

[[maybe_unused]] __device__ __forceinline__ void commit_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <int PENDING> [[maybe_unused]] __device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

/* For launches that may overlap (programmatic dependent launch). The first function waits until the previous launch has
 * ended and its writes are visible. The second lets the next launch begin, which happens once all blocks have called
 * it. Neither has an effect where launches do not overlap. */
[[maybe_unused]] __device__ __forceinline__ void wait_for_launch_before()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

[[maybe_unused]] __device__ __forceinline__ void let_launch_after_begin()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

} // namespace
