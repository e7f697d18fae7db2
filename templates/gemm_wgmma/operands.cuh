/* gemm_wgmma.cu: tiles of A and B in a stage: how they are loaded, and where the instructions find them. */
#pragma once

#include "parameters.cuh"
#include "ring.cuh"
#include "wgmma.cuh"

namespace
{

/* An operand. A stage holds ROWS of its rows. PEERS blocks of the cluster need the same rows; each loads a share and
 * sends it to all. A panel is LINE bytes of all rows (K-major), or 64 rows of all BLOCK_K lines (M- or N-major). */
template <bool K_MAJOR, int ROWS, int PEERS, int HINT> struct operand {
    enum { SHARE = ROWS / PEERS, PANELS = K_MAJOR ? BLOCK_K / PANEL : SHARE / 64 };

    /* Loads this block's share of a stage. number: which share it is; row, k: where it begins in the matrix. */
    static __device__ __forceinline__ void load(unsigned stage, const tensor_map *map, int number, int row, int k,
                                                unsigned full, unsigned short mask, unsigned long long policy)
    {
#pragma unroll
        for (int panel = 0; panel < PANELS; panel++)
            if constexpr (K_MAJOR)
                load_box<PEERS, HINT>(stage + (panel * ROWS + number * SHARE) * LINE, map, k + panel * PANEL, row, full,
                                      mask, policy);
            else
                load_box<PEERS, HINT>(stage + (number * SHARE + panel * 64) * BLOCK_K * 2, map, row + panel * 64, k,
                                      full, mask, policy);
    }

    /* The offset in a stage of the rows from `row` on, at the `step`-th 32 bytes along K. */
    static __device__ __forceinline__ int offset(int row, int step)
    {
        const int panel = step * 32 / LINE, within = step * 32 % LINE;
        return K_MAJOR ? (panel * ROWS + row) * LINE + within : row * BLOCK_K * 2 + step * 16 * 128;
    }

    static __device__ __forceinline__ constexpr unsigned long long strides()
    {
        return K_MAJOR ? descriptor(16, 8 * LINE, LINE) : descriptor(BLOCK_K * 128, 1024, 128);
    }
};
typedef operand<A_MAJOR_IS == MAJOR_k, BLOCK_M, CLUSTER_N, HINT_A> operand_a;
typedef operand<B_MAJOR_IS == MAJOR_k, BLOCK_N, CLUSTER_M, HINT_B> operand_b;

} // namespace
