// Compares templates/gemm_simt.cu, emulated (cuda.h), with three loops. The configuration is given by macros, as in the
// tuner. Shapes are larger than the tiles, smaller than them, or equal to them, with and without beta. Matrices are
// padded. Exit status 0 and "ok" if all results are correct.
#include <set>

#include "cuda.h"

#include "gemm_simt.cu"

#ifndef TAIL
#define TAIL 0 // 1: K is not split for half of the tiles
#endif

namespace
{

struct matrix {
    int rows, cols, ld;
    std::vector<float> memory; // padding is NaN
    float *at()
    {
        return memory.data();
    }
    float get(int i, int j) const
    {
        return memory[(size_t)i * (size_t)ld + (size_t)j];
    }
};

matrix random_matrix(int rows, int cols, int ld)
{
    matrix m = {rows, cols, ld, std::vector<float>((size_t)rows * (size_t)ld, NAN)};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            m.memory[(size_t)i * (size_t)ld + (size_t)j] = (float)(std::rand() % 2001 - 1000) / 1000;
    return m;
}

int round_up(int a, int b)
{
    return (a + b - 1) / b * b;
}

const float alpha = -1.5f;
int m, n, k, depth, alone, shared_tiles;
float beta;
matrix a, b, c, a_aligned, b_aligned;
std::vector<float> partial;
std::vector<unsigned> counts;

#if ALIGNED
void align()
{
    gemm_simt_align(a.at(), a.rows, a.cols, a.ld, a_aligned.at(), ALIGNED == 1 ? a_aligned.rows : 0, a_aligned.ld,
                    b.at(), b.rows, b.cols, b.ld, b_aligned.at(), b_aligned.rows, b_aligned.ld);
}
#endif

void multiply_all()
{
    matrix &from_a = ALIGNED == 1 ? a_aligned : a, &from_b = ALIGNED ? b_aligned : b;
    gemm_simt_split(m, n, depth, alpha, from_a.at(), from_a.ld, 0, from_b.at(), from_b.ld, 0, beta, c.at(), c.ld, 0, 1,
                    partial.data(), counts.data());
}

#if SPLIT_K > 1 && FINISH_IS == FINISH_two_pass
void finish()
{
    gemm_simt_finish(m, n, beta, c.at(), c.ld, 0, alone, shared_tiles, partial.data());
}
#endif

bool right(const matrix &before)
{
    double worst = 0;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)(TRANSPOSE_A ? a.get(l, i) : a.get(i, l)) *
                       (double)(TRANSPOSE_B ? b.get(j, l) : b.get(l, j));
            double error = std::fabs(alpha * sum + (beta != 0 ? beta * before.get(i, j) : 0) - c.get(i, j));
            if (!(error <= worst)) worst = error;
        }
        for (int j = n; j < c.ld; j++)
            if (c.get(i, j) == c.get(i, j)) worst = INFINITY; // the padding was written
    }
    if (worst < 1e-4) return true;
    std::printf("%d x %d x %d, beta %g: off by %g\n", m, n, k, (double)beta, worst);
    return false;
}

#if AFTER_LAUNCH == 2
// Whether every line of B was prefetched into the L2, and nothing else.
bool prefetched_b()
{
    std::set<size_t> lines;
    for (const float *p : emulation::prefetched) {
        const long long at = p - b.at();
        if (at < 0 || at >= (long long)b.rows * b.ld || at % b.ld >= b.cols)
            return std::printf("prefetched outside of B: off by %lld\n", at), false;
        lines.insert(reinterpret_cast<size_t>(p) / 128);
    }
    emulation::prefetched.clear();
    for (int i = 0; i < b.rows; i++)
        for (int j = 0; j < b.cols; j++)
            if (!lines.count(reinterpret_cast<size_t>(b.at() + (size_t)i * (size_t)b.ld + (size_t)j) / 128))
                return std::printf("not prefetched: row %d, off by %d\n", i, j), false;
    return true;
}
#endif

bool product(bool with_beta)
{
    const bool padded = ALIGNED || VECTOR == 1;
    const int cols_a = TRANSPOSE_A ? m : k, cols_b = TRANSPOSE_B ? k : n,
              tiles = tiles_along(m, BLOCK_M) * tiles_along(n, BLOCK_N);
    beta = with_beta ? 0.75f : 0;
    a = random_matrix(TRANSPOSE_A ? k : m, cols_a, padded ? cols_a + 1 : round_up(cols_a, 4) + 4);
    b = random_matrix(TRANSPOSE_B ? n : k, cols_b, padded ? cols_b + 1 : round_up(cols_b, 4) + 4);
    c = random_matrix(m, n, padded ? n + 1 : round_up(n, 4) + 4);
    if (!with_beta) std::fill(c.memory.begin(), c.memory.end(), NAN); // must not be read
    const matrix before = c;
    const int rows_to_a = round_up(a.rows, TRANSPOSE_A ? 32 : 4), rows_to_b = round_up(b.rows, TRANSPOSE_B ? 4 : 32);
    a_aligned = {rows_to_a, 0, round_up(cols_a, TRANSPOSE_A ? 4 : 32), {}};
    b_aligned = {rows_to_b, 0, round_up(cols_b, TRANSPOSE_B ? 32 : 4), {}};
    a_aligned.memory.assign((size_t)rows_to_a * (size_t)a_aligned.ld, NAN);
    b_aligned.memory.assign((size_t)rows_to_b * (size_t)b_aligned.ld, NAN);
    depth = ALIGNED == 1 ? round_up(k, 32) : k;
    alone = SPLIT_K == 1 ? tiles : TAIL ? tiles / 2 : 0;
    shared_tiles = tiles - alone;
    partial.assign((size_t)shared_tiles * SPLIT_K * BLOCK_M * BLOCK_N + 4, NAN);
    counts.assign((size_t)tiles + 1, 0);
#if ALIGNED
    emulation::launch((unsigned)((ALIGNED == 1 ? rows_to_a : 0) + rows_to_b), 1, 256, align);
#endif
    emulation::launch((unsigned)(alone + shared_tiles * SPLIT_K), 1, (unsigned)N_THREADS, multiply_all);
#if SPLIT_K > 1 && FINISH_IS == FINISH_two_pass
    emulation::launch((unsigned)max(shared_tiles, 1), BLOCK_M * BLOCK_N / 128, 256, finish);
#endif
#if AFTER_LAUNCH == 2
    if (!prefetched_b()) return false;
#endif
    return right(before);
}

} // namespace

int main()
{
    static const int shapes[][3] = {
        {131, 197, 75}, {BLOCK_M + 3, BLOCK_N + 5, 33}, {5, 7, 3}, {2 * BLOCK_M, BLOCK_N, 64}, {67, 301, 0}};
    bool all = true;
    for (const auto &shape : shapes)
        for (int with_beta = 0; with_beta < 2; with_beta++) {
            m = shape[0], n = shape[1], k = shape[2];
            if (k || !ALIGNED) all &= product(with_beta);
        }
    if (all) std::printf("ok\n");
    return all ? 0 : 1;
}
