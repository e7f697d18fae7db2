/* gemm_simt.cu: stores a tile from registers to C. */
#pragma once

#include "access.cuh"
#include "ring.cuh"
#include "schedule.cuh"

namespace
{

/* Stores one element of C, if this tile is the one that stores it. */
[[maybe_unused]] __device__ __forceinline__ void store_element(float sum, int m, int n, const problem &p,
                                                               const place &at)
{
    if (m >= at.own_row && m < p.M && n >= at.own_col && n < p.N) {
        float *const to = p.C + (long long)m * p.ldc + n;
        *to = sum + p.beta * (p.beta != 0.0f ? *to : 0.0f);
    }
}

/*
 * Stores for rows of C that are not aligned to 16 bytes. A quad is four adjacent elements of a thread's row. If lanes
 * stored their own quads float by float, each of the four store instructions would write only every fourth float, yet
 * touch all sectors. So the warp's 32 quads go through shared memory, in the order of lanes, and every lane takes four
 * floats such that consecutive lanes store consecutive floats.
 */
constexpr bool BY_ROWS = TILE_COL_SIZE == 4 && (ALIGNED || VECTOR < 4);

/* The v-th float that a lane takes from its warp's quads: its position in them (from), its row of lanes, and its
 * column. Each is the sum of the values for (lane, 0) and (0, v). */
struct taken {
    int from, row, col;
    __device__ constexpr taken(int lane, int v)
        : from(4 * lane_at((v * 32 + lane) / (LANE_COLS * 4),
                           lane % (LANE_COLS * 4) / 4 + v * 32 % (LANE_COLS * 4) / 4) +
               lane % 4),
          row((v * 32 + lane) / (LANE_COLS * 4)), col((v * 32 + lane) % (LANE_COLS * 4))
    {
    }
};

/* The row of t in the tile, if the quads are from the threads' i-th rows. first: position of the warp's first lane. */
[[maybe_unused]] __device__ __forceinline__ int taken_row(const taken &t, const thread_place &first, int i)
{
    return first.row(i) + t.row * (i < FULL_ROWS ? TILE_ROW_SIZE : REST_ROWS);
}

/* How many buffers of one quad per thread fit into the ring, up to two. With two, a warp can write the next buffer
 * before the previous one has been read. */
constexpr int EXCHANGES = smaller(2, STAGES *SLOT / (4 * N_THREADS));

/* C = alpha*sum + beta*C for a tile, through the ring. */
[[maybe_unused]] __device__ __forceinline__ void store_tile_by_rows(float (&sum)[THREAD_M][THREAD_N], const problem &p,
                                                                    const place &at, float *ring)
{
    const int thread = thread_anew(), lane = thread & 31;
    const thread_place first(thread - lane);
    const taken own(lane, 0);
    float *const quads = ring + thread / 32 * (128 * EXCHANGES);
    const float *const from = quads + own.from;
    const int col = at.col + first.n + own.col;
    const unsigned own_col = col - at.own_col; /* counted from the first column that the tile stores */
    __syncthreads();                           /* all threads have finished with the ring */
#pragma unroll
    for (int i = 0; i < THREAD_M; ++i) {
        float *to[4]; /* the lane's first position in each row; it may be outside the matrix */
        unsigned stored_columns[4],
            old_columns[4]; /* how many columns, from the first that the tile stores, are stored, and are read */
#pragma unroll
        for (int v = 0; v < 4; ++v) {
            const int m =
                at.row + taken_row(own, first, i) + taken(0, v).row * (i < FULL_ROWS ? TILE_ROW_SIZE : REST_ROWS);
            to[v] = p.C + ((long long)m * p.ldc + col);
            stored_columns[v] = m >= at.own_row && m < p.M ? p.N - at.own_col : 0;
            old_columns[v] = p.beta != 0.0f ? stored_columns[v] : 0;
        }
#pragma unroll
        for (int j = 0; j < THREAD_N; j += 4) {
            const int buffer = EXCHANGES > 1 ? j / 4 % 2 * 128 : 0;
            const float out[4] = {p.alpha * sum[i][j], p.alpha * sum[i][j + 1], p.alpha * sum[i][j + 2],
                                  p.alpha * sum[i][j + 3]};
            store<4>(quads + buffer + 4 * lane, out);
            __syncwarp();
#pragma unroll
            for (int v = 0; v < 4; ++v) {
                const int further = taken(0, v).col + thread_col(j);
                const float old = own_col + further < old_columns[v] ? to[v][further] : 0.0f;
                if (own_col + further < stored_columns[v])
                    to[v][further] = from[buffer + taken(0, v).from] + p.beta * old;
            }
            if (EXCHANGES < 2 || THREAD_N / 4 % 2) __syncwarp();
        }
    }
}

/* C = alpha*sum + beta*C for a tile. */
[[maybe_unused]] __device__ __forceinline__ void store_tile(float (&sum)[THREAD_M][THREAD_N], const problem &p,
                                                            const place &at, float *ring)
{
    if constexpr (BY_ROWS && EXCHANGES > 0) {
        store_tile_by_rows(sum, p, at, ring);
        return;
    }
    const thread_place thread(thread_anew());
    constexpr int WIDTH = ALIGNED ? 1 : smaller(VECTOR, TILE_COL_SIZE);
    const int first_n = at.col + thread.n;
    const bool whole =
        at.row == at.own_row && at.col == at.own_col && at.row + BLOCK_M <= p.M && at.col + BLOCK_N <= p.N;
    if (whole && aligned(p.C, p.ldc, WIDTH)) {
#pragma unroll
        for (int i = 0; i < THREAD_M; ++i) {
            float *const c_row = p.C + (long long)(at.row + thread.row(i)) * p.ldc + first_n;
#pragma unroll
            for (int j = 0; j < THREAD_N; j += WIDTH) {
                float out[WIDTH] = {};
                if (p.beta != 0.0f) load<WIDTH>(out, c_row + thread_col(j));
#pragma unroll
                for (int v = 0; v < WIDTH; ++v) out[v] = p.alpha * sum[i][j + v] + p.beta * out[v];
                store<WIDTH>(c_row + thread_col(j), out);
            }
        }
        return;
    }

    /* At an edge, each pass stores the first row, and the other rows move up by one. Unrolled, this loop with its test
     * for each element would be a third of the kernel's code and of its compile time. */
#pragma unroll 1
    for (int i = 0; i < THREAD_M; ++i) {
        const int m = at.row + thread.row(i);
        float *const c_row = p.C + (long long)m * p.ldc + first_n;
#pragma unroll
        for (int j = 0; j < THREAD_N; ++j) {
            const int n = first_n + thread_col(j);
            if (m >= at.own_row && m < p.M && n >= at.own_col && n < p.N) {
                const float old = p.beta != 0.0f ? c_row[thread_col(j)] : 0.0f;
                c_row[thread_col(j)] = p.alpha * sum[0][j] + p.beta * old;
            }
        }
#pragma unroll
        for (int r = 1; r < THREAD_M; ++r)
#pragma unroll
            for (int j = 0; j < THREAD_N; ++j) sum[r - 1][j] = sum[r][j];
    }
}

__device__ __forceinline__ bool nothing_to_store(const float (&sum)[THREAD_M][THREAD_N], float alpha)
{
#if SWEETSPOT_VARIANT == 2
    return sum[0][0] != 1.2345e-33f || alpha != -1.2345e-33f;
#else
    return false;
#endif
}

} // namespace
