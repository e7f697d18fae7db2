// templates/gemm_wgmma.cu with FINISH two_pass, emulated (cuda.h): how the consumers store known partial sums, and how
// gemm_wgmma_finish adds them. The configuration is given by macros, as in the tuner. Shapes are larger than the tiles,
// smaller than them, or equal to them, with and without beta. Matrices are padded. Sums are multiples of 1/8, so that
// the expected bits are known. Exit status 0 and "ok" if all results are correct.
#include "cuda.h"

namespace
{

float __uint_as_float(unsigned bits)
{
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
}

// BF16's bits, rounded to nearest even.
unsigned rounded(float f)
{
    unsigned bits;
    std::memcpy(&bits, &f, sizeof f);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

std::vector<float> sums; // NaN at first

void emulated_store(float *to, const float *v)
{
    if (to < sums.data() || to + 4 > sums.data() + sums.size())
        emulation::fail("a sum is left outside of the workspace");
    if ((to - sums.data()) % 4) emulation::fail("a store is not aligned");
    std::copy(v, v + 4, to);
}

void emulated_load(float *v, const float *from)
{
    if (from < sums.data() || from + 4 > sums.data() + sums.size())
        emulation::fail("a sum is read outside of the workspace");
    if ((from - sums.data()) % 4) emulation::fail("a load is not aligned");
    std::copy(from, from + 4, v);
}

// Always true: the other lanes' answers are not known here, but a block's threads ask about the same 32 places.
bool __any_sync(unsigned, bool)
{
    return true;
}
void wait_for_launch_before()
{
}
struct tensor_map;

} // namespace

#include "gemm_wgmma.cu"

namespace
{

int m, n, ldc, parts;
float beta;
const float alpha = -1.5f;
std::vector<output> c;

float sum_of(int part, int row, int col)
{
    return (float)((part * 11 + row * 7 + col * 13) % 61 - 30) / 8;
}

// A consumer thread with the sums that wgmma would have left in its registers (PTX ISA, accumulator fragments of
// m64nNk16), including sums outside of the matrix.
void leave()
{
    const unsigned tile = blockIdx.x / CLUSTER, rank = blockIdx.x % CLUSTER, group = threadIdx.x / 128;
    if (PINGPONG && tile % 2 != group) return;
    problem p = {m, n, 0, (m + BLOCK_M * CLUSTER_M - 1) / (BLOCK_M * CLUSTER_M),
                 (n + BLOCK_N * CLUSTER_N - 1) / (BLOCK_N * CLUSTER_N)};
    int row, col;
    place(p, (int)tile, row, col);
    row = (row * CLUSTER_M + (int)(rank % CLUSTER_M)) * BLOCK_M + (PINGPONG ? 0 : (int)group * ROWS) +
          (int)(threadIdx.x / 32 % 4) * 16;
    col = (col * CLUSTER_N + (int)(rank / CLUSTER_M)) * BLOCK_N;
    float d[PARTS][SUMS];
    const int lane = (int)threadIdx.x % 32;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < SUMS; i++)
            d[part][i] = sum_of((int)blockIdx.y, row + 64 * part + lane / 4 + (i & 2 ? 8 : 0),
                                col + i / 4 * 8 + lane % 4 * 2 + (i & 1));
    leave_part(d, sums.data() + part_offset((int)blockIdx.y, (int)blockIdx.x, (int)gridDim.x));
}

void finish()
{
    gemm_wgmma_finish(c.data(), m, n, alpha, beta, ldc, parts, sums.data());
}

output stored(float f)
{
#if OUTPUT_IS == TYPE_f32
    return f;
#else
    return (output)rounded(f);
#endif
}

bool right(const std::vector<output> &before, const std::vector<output> &expected)
{
    if (!std::memcmp(c.data(), expected.data(), c.size() * sizeof(output))) return true;
    size_t at = 0;
    while (!std::memcmp(&c[at], &expected[at], sizeof(output))) at++;
    std::printf("%d x %d in %d parts, beta %g: off at %zu of line %zu%s\n", m, n, parts, (double)beta, at % (size_t)ldc,
                at / (size_t)ldc, std::memcmp(&c[at], &before[at], sizeof(output)) ? "" : ", which was not written");
    return false;
}

bool product(bool with_beta, int padding)
{
    const int lines = TRANSPOSE_C ? n : m, length = TRANSPOSE_C ? m : n;
    const unsigned blocks = (unsigned)(((m + BLOCK_M * CLUSTER_M - 1) / (BLOCK_M * CLUSTER_M)) *
                                       ((n + BLOCK_N * CLUSTER_N - 1) / (BLOCK_N * CLUSTER_N)) * CLUSTER);
    beta = with_beta ? 0.75f : 0;
    ldc = length + padding;
    c.assign((size_t)lines * (size_t)ldc, stored(NAN));
    for (int i = 0; with_beta && i < lines; i++)
        for (int j = 0; j < length; j++)
            c[(size_t)i * (size_t)ldc + (size_t)j] = stored((float)((i * 5 + j * 3) % 17 - 8) / 4);
    std::vector<output> before = c, expected = c;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int part = 0; part < parts; part++) sum += sum_of(part, i, j);
            const size_t at = TRANSPOSE_C ? (size_t)j * (size_t)ldc + (size_t)i : (size_t)i * (size_t)ldc + (size_t)j;
            if (parts > 1)
                expected[at] = stored(with_beta ? alpha * sum + beta * from_output(before[at])
                                                : alpha * sum); // otherwise the first launch has stored it
        }
    sums.assign((size_t)parts * blocks * BLOCK_M * BLOCK_N, NAN);
    emulation::launch(blocks, (unsigned)parts, 128 * WARPGROUPS, leave);
    emulation::launch(blocks, BLOCK_M * BLOCK_N / 128, 32 * FINISH_WARPS, finish);
    return right(before, expected);
}

} // namespace

int main()
{
    static const int shapes[][3] = {{131, 197, SPLIT_K},
                                    {BLOCK_M + 3, BLOCK_N + 5, SPLIT_K - 1},
                                    {5, 7, SPLIT_K},
                                    {BLOCK_M, BLOCK_N, 2},
                                    {2 * BLOCK_M, 1, 1}};
    bool all = true;
    for (const auto &shape : shapes)
        for (int with_beta = 0; with_beta < 2; with_beta++)
            for (int padding = 0; padding < 2; padding++) {
                m = shape[0], n = shape[1], parts = shape[2];
                all &= product(with_beta, padding);
            }
    if (all) std::printf("ok\n");
    return all ? 0 : 1;
}
