/*
 * transpose.cu: the transpose of a matrix of floats, out of place (transpose) and, for a square matrix, in place
 * (transpose_in_place).
 *
 * Bound by memory: every float is read once and written once. A block copies a tile of TILE_ROWS x TILE_COLS to shared
 * memory and writes it transposed:
 *
 *     A (rows x cols)                      tile in shared memory          B (cols x rows)
 *     row r  | .. TILE_COLS floats .. |    row r of the tile, chunks of   row c | .. TILE_ROWS floats .. |
 *     a warp reads 32 / V vectors of V     V floats at swizzled places    a warp writes 32 / V vectors to each of
 *     floats of V rows at a time                                          V rows
 *
 * Every thread first issues all its loads (TILE_ROWS * TILE_COLS / V / BLOCK_SIZE vectors of V floats), then stores
 * them to shared memory. Then it collects each vector of B from V rows of the tile. The banks of these elements decide
 * whether that takes one access or up to 32:
 *
 *     LAYOUT plain     place r * TILE_COLS + c
 *     LAYOUT padding   place r * (TILE_COLS + 1) + c: a column's elements lie in different banks, but vectors are no
 *                      longer aligned and are stored float by float
 *     LAYOUT swizzle   place r * TILE_COLS + V * ((c / V) ^ (r / V % (32 / V))) + c % V: no conflicts, whole vectors,
 *                      no additional memory
 *
 * V is VECTOR if both leading dimensions are multiples of VECTOR and both matrices are aligned, otherwise 1. The kernel
 * decides at run time, so that it works for any size.
 *
 * Launches
 *     transpose           (const float *a, float *b, int rows, int cols)
 *         grid   ceil_div(cols, TILE_COLS) * ceil_div(rows, TILE_ROWS);   block  BLOCK_SIZE
 *         dynamic shared memory  4 * TILE_ROWS * (TILE_COLS + (1 for LAYOUT padding)) bytes
 *     transpose_in_place  (float *a, int n)   TILE_ROWS == TILE_COLS; a block exchanges tile (i, j) with tile (j, i)
 *         grid   t * (t + 1) / 2, t = ceil_div(n, TILE_ROWS);   block  BLOCK_SIZE;   twice that much shared memory
 *
 * Parameters (macros; each has a default)
 *     TILE_ROWS, TILE_COLS   powers of two, 32 or more
 *     BLOCK_SIZE             threads, a power of two, 32 or more
 *     VECTOR                 1, 2, 4 floats per access
 *     LAYOUT                 see above
 *     ORDER                  the order in which blocks take tiles: `rows` of A, `columns` of A, or `squares` of 8 x 8
 *                            tiles
 *     BY_LINE                1: if V is 1, a warp writes whole rows of the transposed tile, and each access begins at a
 *                            128-byte line. 0: each access begins where the tile's part of the row begins. If rows are
 *                            not aligned, such an access touches five sectors of 32 bytes, two of them partly
 *     STORE                  `plain` or `streaming` (st.global.cs): B's lines are not needed again
 *     LOAD                   `plain`, `streaming` (ld.global.cs) or `ahead` (ld.global.L2::256B: on a miss the L2
 *                            fetches 256 bytes)
 *
 * SWEETSPOT_VARIANT (set by `sweetspot profile --limits`): 0 is the kernel. 1 is the same, because a transposition
 * computes only addresses. 2 does only the address arithmetic and uses shared memory: no load, and stores under a
 * condition that never holds.
 */
#ifndef SWEETSPOT_VARIANT
#define SWEETSPOT_VARIANT 0
#endif
#ifdef TILE /* one parameter for both */
#define TILE_ROWS TILE
#define TILE_COLS TILE
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 64
#endif
#ifndef TILE_COLS
#define TILE_COLS 64
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef VECTOR
#define VECTOR 4
#endif
#ifndef LAYOUT
#define LAYOUT swizzle
#endif
#ifndef ORDER
#define ORDER rows
#endif
#ifndef BY_LINE
#define BY_LINE 0
#endif
#ifndef STORE
#define STORE plain
#endif
#ifndef LOAD
#define LOAD plain
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define LAYOUT_plain 1
#define LAYOUT_padding 2
#define LAYOUT_swizzle 3
#define LAYOUT_IS JOIN(LAYOUT_, LAYOUT)
#define ORDER_rows 1
#define ORDER_columns 2
#define ORDER_squares 3
#define ORDER_IS JOIN(ORDER_, ORDER)
#define ACCESS_plain 1
#define ACCESS_streaming 2
#define ACCESS_ahead 3
#define STORE_IS JOIN(ACCESS_, STORE)
#define LOAD_IS JOIN(ACCESS_, LOAD)
#if LAYOUT_IS == 0
#error "LAYOUT must be plain, padding or swizzle"
#endif
#if ORDER_IS == 0
#error "ORDER must be rows, columns or squares"
#endif
#if STORE_IS == 0 || LOAD_IS == 0
#error "STORE must be plain or streaming, LOAD plain, streaming or ahead"
#endif

static_assert(TILE_ROWS % 32 == 0 && TILE_COLS % 32 == 0, "tiles must be multiples of 32");
static_assert(VECTOR == 1 || VECTOR == 2 || VECTOR == 4, "VECTOR must be 1, 2 or 4");
static_assert((TILE_ROWS & (TILE_ROWS - 1)) == 0 && (TILE_COLS & (TILE_COLS - 1)) == 0 &&
                  (BLOCK_SIZE & (BLOCK_SIZE - 1)) == 0 && BLOCK_SIZE >= 32 && BLOCK_SIZE <= 1024,
              "TILE_ROWS, TILE_COLS and BLOCK_SIZE must be powers of two, BLOCK_SIZE from 32 to 1024");
static_assert(TILE_ROWS * TILE_COLS % (BLOCK_SIZE * VECTOR) == 0, "a tile must be a multiple of BLOCK_SIZE vectors");

namespace
{

constexpr int PITCH = TILE_COLS + (LAYOUT_IS == LAYOUT_padding ? 1 : 0);
constexpr int TILE_FLOATS = TILE_ROWS * PITCH;

template <int V> __device__ __forceinline__ int place(int row, int col)
{
#if LAYOUT_IS == LAYOUT_swizzle
    return row * PITCH + V * ((col / V) ^ (row / V % (32 / V))) + col % V;
#else
    return row * PITCH + col;
#endif
}

__device__ __forceinline__ void store1(float *to, float x)
{
    if (STORE_IS == ACCESS_streaming)
        __stcs(to, x);
    else
        *to = x;
}

template <int V> __device__ __forceinline__ void load(float *to, const float *from)
{
    if constexpr (LOAD_IS == ACCESS_ahead) {
        if constexpr (V == 4)
            asm volatile("ld.global.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                         : "l"(from));
        else if constexpr (V == 2)
            asm volatile("ld.global.L2::256B.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "l"(from));
        else
            asm volatile("ld.global.L2::256B.f32 %0, [%1];" : "=f"(to[0]) : "l"(from));
    } else if constexpr (V == 4) {
        const float4 *at = reinterpret_cast<const float4 *>(from), v = LOAD_IS == ACCESS_streaming ? __ldcs(at) : *at;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (V == 2) {
        const float2 *at = reinterpret_cast<const float2 *>(from), v = LOAD_IS == ACCESS_streaming ? __ldcs(at) : *at;
        to[0] = v.x, to[1] = v.y;
    } else {
        to[0] = LOAD_IS == ACCESS_streaming ? __ldcs(from) : *from;
    }
}

template <int V> __device__ __forceinline__ void store(float *to, const float *x)
{
    if constexpr (V == 4) {
        const float4 v = make_float4(x[0], x[1], x[2], x[3]);
        if (STORE_IS == ACCESS_streaming)
            __stcs(reinterpret_cast<float4 *>(to), v);
        else
            *reinterpret_cast<float4 *>(to) = v;
    } else if constexpr (V == 2) {
        const float2 v = make_float2(x[0], x[1]);
        if (STORE_IS == ACCESS_streaming)
            __stcs(reinterpret_cast<float2 *>(to), v);
        else
            *reinterpret_cast<float2 *>(to) = v;
    } else {
        store1(to, x[0]);
    }
}

/* How many vectors of a tile a thread reads and writes; all are in flight at once. */
template <int V> struct share {
    static constexpr int count = TILE_ROWS * TILE_COLS / V / BLOCK_SIZE;
};

/* The position in the tile of this thread's vector `i` when the tile is read, with ACROSS vectors per row. All sizes
 * are powers of two. The thread's part of the position does not depend on i, and i's part is a constant. Otherwise
 * address arithmetic dominates (59 instructions for 32 single floats, measured). */
template <int V> __device__ __forceinline__ int read_row(int i)
{
    constexpr int ACROSS = TILE_COLS / V;
    return BLOCK_SIZE >= ACROSS ? (int)threadIdx.x / ACROSS + i * (BLOCK_SIZE / ACROSS)
                                : i / (ACROSS / BLOCK_SIZE + (ACROSS < BLOCK_SIZE));
}
template <int V> __device__ __forceinline__ int read_col(int i)
{
    constexpr int ACROSS = TILE_COLS / V;
    return BLOCK_SIZE >= ACROSS
               ? (int)threadIdx.x % ACROSS * V
               : ((int)threadIdx.x + i % (ACROSS / BLOCK_SIZE + (ACROSS < BLOCK_SIZE)) * BLOCK_SIZE) * V;
}
/* The vector's position when it is written: the first of V rows, and the column. A warp takes 32 rows. GROUPS warps, or
 * one warp in GROUPS steps, take all rows. */
template <int V> __device__ __forceinline__ int write_row(int i)
{
    constexpr int GROUPS = TILE_ROWS / 32, WARPS = BLOCK_SIZE / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return (WARPS >= GROUPS ? warp % GROUPS : warp + i % (GROUPS / WARPS + (GROUPS < WARPS)) * WARPS) * 32 +
           lane % (32 / V) * V;
}
template <int V> __device__ __forceinline__ int write_col(int i)
{
    constexpr int GROUPS = TILE_ROWS / 32, WARPS = BLOCK_SIZE / 32;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return (WARPS >= GROUPS ? warp / GROUPS + i * (WARPS / GROUPS) : i / (GROUPS / WARPS + (GROUPS < WARPS))) * V +
           lane / (32 / V);
}

/* Reads this thread's part of the tile at (row, col) of a rows x cols matrix into registers. WHOLE: the tile lies
 * within the matrix. */
template <int V, bool WHOLE>
__device__ __forceinline__ void fetch_some(float (&held)[share<V>::count][V], const float *a, int rows, int cols,
                                           int row, int col)
{
    const float *const first = a + (long long)(row + read_row<V>(0)) * cols + col;
#pragma unroll
    for (int i = 0; i < share<V>::count; ++i) {
        const int down = read_row<V>(i) - read_row<V>(0);
#if SWEETSPOT_VARIANT == 2
        for (int v = 0; v < V; ++v) held[i][v] = __int_as_float(row + col + i);
#else
        if (WHOLE || (row + read_row<V>(i) < rows && col + read_col<V>(i) < cols))
            load<V>(held[i], first + (long long)down * cols + read_col<V>(i));
#endif
    }
}

template <int V>
__device__ __forceinline__ void fetch(float (&held)[share<V>::count][V], const float *a, int rows, int cols, int row,
                                      int col)
{
    if (row + TILE_ROWS <= rows && col + TILE_COLS <= cols)
        fetch_some<V, true>(held, a, rows, cols, row, col);
    else
        fetch_some<V, false>(held, a, rows, cols, row, col);
}

template <int V> __device__ __forceinline__ void keep(float *tile, const float (&held)[share<V>::count][V])
{
#pragma unroll
    for (int i = 0; i < share<V>::count; ++i) {
        float *to = tile + place<V>(read_row<V>(i), read_col<V>(i));
        if constexpr (LAYOUT_IS == LAYOUT_padding) {
#pragma unroll
            for (int v = 0; v < V; ++v) to[v] = held[i][v];
        } else if constexpr (V == 4) {
            *reinterpret_cast<float4 *>(to) = make_float4(held[i][0], held[i][1], held[i][2], held[i][3]);
        } else if constexpr (V == 2) {
            *reinterpret_cast<float2 *>(to) = make_float2(held[i][0], held[i][1]);
        } else {
            to[0] = held[i][0];
        }
    }
}

/* Writes the transposed tile to (row, col) of a rows x cols matrix. A warp writes 32 / V vectors along each of V rows
 * of B. */
template <int V, bool WHOLE>
__device__ __forceinline__ void release_some(const float *tile, float *b, int rows, int cols, int row, int col)
{
    float *const first = b + (long long)(row + write_col<V>(0)) * cols + col;
#pragma unroll
    for (int i = 0; i < share<V>::count; ++i) {
        const int from_row = write_row<V>(i), from_col = write_col<V>(i), down = from_col - write_col<V>(0);
        float out[V];
#pragma unroll
        for (int v = 0; v < V; ++v) out[v] = tile[place<V>(from_row + v, from_col)];
#if SWEETSPOT_VARIANT == 2
        if (out[0] != -1.0f) continue;
#endif
        if (WHOLE || (row + from_col < rows && col + from_row < cols))
            store<V>(first + (long long)down * cols + from_row, out);
    }
}

/* The same with BY_LINE. */
template <bool WHOLE>
__device__ __forceinline__ void release_by_line(const float *tile, float *b, int rows, int cols, int row, int col)
{
    constexpr int GROUPS = TILE_ROWS / 32, WARPS = BLOCK_SIZE / 32;
#pragma unroll 2
    for (int from_col = threadIdx.x / 32; from_col < TILE_COLS; from_col += WARPS) {
        float *const to = b + (long long)(row + from_col) * cols + col;
        /* row of the tile, from -31 to 31 */
        const int first = (int)(threadIdx.x % 32) - (int)(reinterpret_cast<unsigned long long>(to) / 4 % 32);
        /* the swizzle repeats every 32 rows */
        const float *const from = tile + place<1>(first & 31, from_col) - (first < 0 ? 32 * PITCH : 0);
        float out[GROUPS + 1];
#pragma unroll
        for (int k = 0; k <= GROUPS; ++k)
            if ((k > 0 || first >= 0) && (k < GROUPS || first < 0)) out[k] = from[32 * k * PITCH];
#pragma unroll
        for (int k = 0; k <= GROUPS; ++k) {
            const int from_row = first + 32 * k;
#if SWEETSPOT_VARIANT == 2
            if (out[k] != -1.0f) continue;
#endif
            if ((k > 0 || first >= 0) && (k < GROUPS || first < 0) &&
                (WHOLE || (row + from_col < rows && col + from_row < cols)))
                store1(to + from_row, out[k]);
        }
    }
}

template <int V>
__device__ __forceinline__ void release(const float *tile, float *b, int rows, int cols, int row, int col)
{
    if constexpr (BY_LINE && V == 1) {
        if (row + TILE_COLS <= rows && col + TILE_ROWS <= cols)
            release_by_line<true>(tile, b, rows, cols, row, col);
        else
            release_by_line<false>(tile, b, rows, cols, row, col);
        return;
    }
    if (row + TILE_COLS <= rows && col + TILE_ROWS <= cols)
        release_some<V, true>(tile, b, rows, cols, row, col);
    else
        release_some<V, false>(tile, b, rows, cols, row, col);
}

/* Which tile (i, j), of down x across tiles, block `n` takes. */
__device__ __forceinline__ void choose(int n, int down, int across, int &i, int &j)
{
#if ORDER_IS == ORDER_rows
    i = n / across, j = n % across;
#elif ORDER_IS == ORDER_columns
    i = n % down, j = n / down;
#else
    const int band = n / (8 * across), height = min(8, down - 8 * band), inside = n - band * 8 * across,
              square = inside / (8 * height);
    const int width = min(8, across - 8 * square), rest = inside - square * 8 * height;
    i = 8 * band + rest / width, j = 8 * square + rest % width;
#endif
}

template <int V> __device__ __forceinline__ void turn(float *tile, const float *a, float *b, int rows, int cols)
{
    float held[share<V>::count][V];
    int i, j;
    choose(blockIdx.x, (rows + TILE_ROWS - 1) / TILE_ROWS, (cols + TILE_COLS - 1) / TILE_COLS, i, j);
    fetch<V>(held, a, rows, cols, i * TILE_ROWS, j * TILE_COLS);
    keep<V>(tile, held);
    __syncthreads();
    release<V>(tile, b, cols, rows, j * TILE_COLS, i * TILE_ROWS);
}

template <int V> __device__ __forceinline__ void exchange(float *upper, float *lower, float *a, int n, int i, int j)
{
    float held[share<V>::count][V];
    fetch<V>(held, a, n, n, i * TILE_ROWS, j * TILE_COLS);
    keep<V>(upper, held);
    if (i != j) {
        fetch<V>(held, a, n, n, j * TILE_ROWS, i * TILE_COLS);
        keep<V>(lower, held);
    }
    __syncthreads();
    release<V>(upper, a, n, n, j * TILE_COLS, i * TILE_ROWS);
    if (i != j) release<V>(lower, a, n, n, i * TILE_COLS, j * TILE_ROWS);
}

__device__ __forceinline__ bool aligned(const void *pointer)
{
    return reinterpret_cast<unsigned long long>(pointer) % (4 * VECTOR) == 0;
}

} // namespace

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    transpose(const float *__restrict__ a, float *__restrict__ b, int rows, int cols)
{
    extern __shared__ __align__(16) float tile[];
    if (VECTOR > 1 && rows % VECTOR == 0 && cols % VECTOR == 0 && aligned(a) && aligned(b))
        turn<VECTOR>(tile, a, b, rows, cols);
    else
        turn<1>(tile, a, b, rows, cols);
}

#if TILE_ROWS == TILE_COLS
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE) transpose_in_place(float *a, int n)
{
    extern __shared__ __align__(16) float tile[];
    float *const upper = tile, *const lower = tile + TILE_FLOATS;
    /* Block k takes tile k of the triangle j <= i, counted row by row: i is the largest with i * (i + 1) / 2 <= k. */
    const long long k = blockIdx.x;
    int i = (int)((sqrtf(8.0f * (float)k + 1.0f) - 1.0f) * 0.5f);
    while ((long long)(i + 1) * (i + 2) / 2 <= k) ++i;
    while ((long long)i * (i + 1) / 2 > k) --i;
    const int j = (int)(k - (long long)i * (i + 1) / 2);
    if (VECTOR > 1 && n % VECTOR == 0 && aligned(a))
        exchange<VECTOR>(upper, lower, a, n, i, j);
    else
        exchange<1>(upper, lower, a, n, i, j);
}
#endif
