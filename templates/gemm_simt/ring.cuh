/* gemm_simt.cu: copies of tiles of A and B from global memory into the ring of slots. */
#pragma once

#include "../device/ptx.cuh"
#include "access.cuh"
#include "parameters.cuh"

namespace
{

__device__ __forceinline__ int next_slot(int slot)
{
    if constexpr (STAGES <= 2)
        return (STAGES - 1) * SLOT - slot;
    else
        return slot == (STAGES - 1) * SLOT ? 0 : slot + SLOT;
}

__device__ __forceinline__ int last_slot(int slot)
{
    if constexpr (STAGES <= 2)
        return (STAGES - 1) * SLOT - slot;
    else
        return slot == 0 ? (STAGES - 1) * SLOT : slot - SLOT;
}

/*
 * Copies one operand: EXTENT rows of op(A), or columns of op(B), by BLOCK_K values of k, into rows of shared memory
 * that are ROW floats apart. x counts along EXTENT.
 *
 * K_FAST says that k is contiguous in memory, so that the copy transposes. Then the unit is 8 consecutive k of one x (a
 * 32-byte sector), for every width, so that with PAD 4 the transposed writes of a warp hit 32 different banks.
 * Otherwise x is contiguous, and rows are copied unchanged. If the sizes allow it, each warp copies rows of its own, so
 * that a thread's copies are at constant distances and no addresses are computed. If not, the block goes along x.
 *
 * One pass of the block covers X_STEP by K_STEP. In the last pass along x of a transposing copy, some threads may have
 * nothing to do.
 */
template <bool K_FAST, int EXTENT, int ROW> struct operand {
    static constexpr bool HELD = K_FAST && !A_ASYNC; /* copied through registers */
    static constexpr int WIDTH = K_FAST && A_ASYNC ? 1 : VECTOR;
    static constexpr int LANES = K_FAST ? 8 / WIDTH : 1; /* threads along k in a unit */
    static constexpr int WARP_LANES =
        power_of_two_in(smaller(32, EXTENT / WIDTH), EXTENT / WIDTH); /* lanes of a warp along a row */
    static constexpr int WARP_ROWS = N_THREADS / WARP_LANES;
    static constexpr bool BY_WARPS = !K_FAST && WARP_ROWS <= BLOCK_K && BLOCK_K % larger(1, WARP_ROWS) == 0;
    static constexpr int THREADS_X = K_FAST ? N_THREADS / LANES : (BY_WARPS ? WARP_LANES : N_THREADS) * WIDTH;
    static constexpr int X_STEP = smaller(THREADS_X, EXTENT);
    static constexpr int K_STEP = BY_WARPS ? WARP_ROWS : (K_FAST ? 8 : 1) * larger(1, THREADS_X / EXTENT);
    static constexpr int X_PASSES = (EXTENT + X_STEP - 1) / larger(1, X_STEP), K_PASSES = BLOCK_K / K_STEP;
    static constexpr int PASSES = X_PASSES * K_PASSES;
    static constexpr bool UNEVEN = X_PASSES * X_STEP != EXTENT;
    static_assert(THREADS_X >= 1 && (K_FAST || !UNEVEN) && K_PASSES * K_STEP == BLOCK_K &&
                      X_STEP * larger(1, THREADS_X < EXTENT ? 1 : THREADS_X / EXTENT) == THREADS_X,
                  "the threads of the block do not divide the tile of an operand evenly");

    const float *from; /* this thread's first element of the next tile */
    int ld;
    unsigned to; /* this thread's first position in the first slot */
    int left;    /* values of x from the tile's first one to the end of the matrix */
    float held[HELD ? PASSES * WIDTH : 1];

    static __device__ __forceinline__ int own_x(int thread)
    {
        return K_FAST ? thread / LANES % EXTENT : BY_WARPS ? thread % WARP_LANES * WIDTH : thread * WIDTH % EXTENT;
    }
    static __device__ __forceinline__ int own_k(int thread)
    {
        return K_FAST     ? thread % LANES * WIDTH + thread / LANES / EXTENT * 8
               : BY_WARPS ? thread / WARP_LANES
                          : thread * WIDTH / EXTENT;
    }
    /* Whether the thread has something to copy in a pass along x. */
    static __device__ __forceinline__ bool in_pass(int i)
    {
        return !UNEVEN || i < X_PASSES - 1 || own_x((int)threadIdx.x) + i * X_STEP < EXTENT;
    }
    __device__ __forceinline__ const float *at(int x, int k) const
    {
        return K_FAST ? from + (long long)ld * x + k : from + (long long)ld * k + x;
    }

    /* Starts at k = first and at row x of op(A), or column x of op(B). There are `extent` of these rows or columns.
     * Returns whether tiles can be copied without tests. */
    __device__ __forceinline__ bool start(const float *matrix, int ld_, int x, int extent, int first, float *slot)
    {
        ld = ld_;
        from = matrix;
        from = at(x, first);
        const bool inside = x + EXTENT <= extent && aligned(from, ld_, WIDTH);
        const int own_x_ = own_x((int)threadIdx.x), own_k_ = own_k((int)threadIdx.x);
        from = at(own_x_, own_k_);
        to = shared_address(slot + own_k_ * ROW + own_x_);
        left = extent - x;
        return inside;
    }

    __device__ __forceinline__ void step()
    {
        from += K_FAST ? BLOCK_K : (long long)BLOCK_K * ld;
    }

    __device__ __forceinline__ void copy_inside(int slot)
    {
#pragma unroll
        for (int i = 0; i < X_PASSES; ++i)
#pragma unroll
            for (int j = 0; j < K_PASSES; ++j) {
                const int x = i * X_STEP, k = j * K_STEP;
                if (!in_pass(i)) continue;
                if constexpr (HELD)
                    load<WIDTH>(held + (i * K_PASSES + j) * WIDTH, at(x, k));
                else
                    copy_async<4 * WIDTH>(to + 4 * (slot + k * ROW + x), at(x, k));
            }
    }

    /* Copies float by float, with zeros outside. The loop over passes is unrolled only where it indexes a register
     * array, because this path is rare and would otherwise be half of the kernel's code. */
    __device__ __forceinline__ void copy_checked(int slot, int k_left)
    {
        const int thread = thread_anew(), x_left = left - own_x(thread), k_own_left = k_left - own_k(thread);
        if constexpr (HELD) {
#pragma unroll
            for (int i = 0; i < X_PASSES; ++i)
#pragma unroll
                for (int j = 0; j < K_PASSES; ++j)
#pragma unroll
                    for (int v = 0; v < WIDTH; ++v) {
                        const int x = i * X_STEP, k = j * K_STEP + v;
                        held[(i * K_PASSES + j) * WIDTH + v] =
                            in_pass(i) && x < x_left && k < k_own_left ? *at(x, k) : 0.0f;
                    }
        } else {
#pragma unroll 1
            for (int i = 0; i < X_PASSES; ++i)
#pragma unroll 1
                for (int j = 0; j < K_PASSES * WIDTH; ++j) {
                    const int x = i * X_STEP + j % WIDTH, k = j / WIDTH * K_STEP;
                    const bool valid = x < x_left && k < k_own_left;
                    if (!in_pass(i)) continue;
                    copy_async_or_zero<4>(to + 4 * (slot + k * ROW + x), valid ? at(x, k) : from, valid ? 4 : 0);
                }
        }
    }

    /* Stores what the last copy left in registers. */
    __device__ __forceinline__ void finish(float *slot)
    {
        if constexpr (HELD) {
            const int thread = (int)threadIdx.x;
            float *const first = slot + own_k(thread) * ROW + own_x(thread);
#pragma unroll
            for (int i = 0; i < X_PASSES; ++i)
#pragma unroll
                for (int j = 0; j < K_PASSES; ++j)
#pragma unroll
                    for (int v = 0; v < WIDTH; ++v)
                        if (in_pass(i))
                            first[(j * K_STEP + v) * ROW + i * X_STEP] = held[(i * K_PASSES + j) * WIDTH + v];
        }
    }
};

/* Copies tile after tile into the ring. Beyond the last tile nothing is copied, so callers need not count. */
struct copier {
    operand<!TRANSPOSE_A, BLOCK_M, A_ROW> a;
    operand<TRANSPOSE_B, BLOCK_N, B_ROW> b;
    int k_left;    /* values of k from the next tile to the end */
    int k_checked; /* tiles are copied without tests while k_left >= k_checked */
    int slot;      /* where the next tile goes, in floats from the ring's start. The slot still holds the tile that
                      advance() made readable */

    /* Starts copying the next tile into the next slot. With A_ASYNC 0, operands that are transposed arrive in registers
     * (see finish()). */
    __device__ __forceinline__ void next()
    {
#if SWEETSPOT_VARIANT != 2
        if (k_left >= k_checked) {
            a.copy_inside(slot);
            b.copy_inside(slot);
        } else if (k_left > 0) {
            a.copy_checked(slot, k_left);
            b.copy_checked(slot, k_left);
        }
#endif
        a.step();
        b.step();
        k_left -= BLOCK_K;
        slot = next_slot(slot);
    }

    __device__ __forceinline__ void finish(float *ring)
    {
#if SWEETSPOT_VARIANT != 2
        a.finish(ring + last_slot(slot));
        b.finish(ring + last_slot(slot) + A_SLOT);
#endif
    }
};

/* Makes the next tile readable for the whole block. Then starts to copy the tile that is STAGES - 1 further on into the
 * slot that was read last; after the barrier, all threads have finished with that slot. */
__device__ __forceinline__ void advance(copier &copy, float *ring)
{
    if constexpr (STAGES == 1) {
        __syncthreads();
        copy.next();
        copy.finish(ring);
        commit_copies();
        wait_for_copies<0>();
        __syncthreads();
    } else {
        copy.finish(ring);
        wait_for_copies<larger(0, STAGES - 2)>();
        __syncthreads();
        copy.next();
        commit_copies();
    }
}

} // namespace
