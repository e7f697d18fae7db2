// Compares templates/gemm_mma.cu, emulated (cuda.h, mma.h), with three loops. The configuration is given by macros, as
// in the tuner. Shapes are larger than the tiles, smaller than them, or equal to them, with and without beta. Rows are
// aligned to 16 bytes or unaligned. All elements are small integers and most are 0, so that the expected bits are
// known. Exit status 0 and "ok" if all results are correct.
#include <numeric>

#include "cuda.h"

#include "gemm_mma.cu"

namespace
{

// A or B: rows of elements, with NaN between the rows, or 17 for INT8.
struct matrix {
    int rows, cols, ld;
    std::vector<input> memory;
    size_t offset(int i, int j) const
    {
        return (size_t)i * (size_t)ld + (size_t)j;
    }
};

int chosen(int i, int j, int salt)
{
    const unsigned hash = ((unsigned)i * 7919u + (unsigned)j * 104729u + (unsigned)salt * 31u) * 2654435761u >> 16;
    return hash % 3 ? 0 : (int)(hash / 3 % 5) - 2;
}

input encoded(int value)
{
#if INPUT_IS == TYPE_tf32
    return value ? (float)value + std::ldexp((float)value, -12) : 0; // the second term is ignored
#elif INPUT_IS == TYPE_i8
    return (signed char)value;
#elif INPUT_IS == TYPE_bf16
    unsigned bits;
    const float f = (float)value;
    std::memcpy(&bits, &f, sizeof bits);
    return (input)(bits >> 16);
#else
    static const input halves[] = {0xc000, 0xbc00, 0, 0x3c00, 0x4000};
    return halves[value + 2];
#endif
}

matrix made(int rows, int cols, int ld, int salt, bool transposed)
{
    matrix m = {rows, cols, ld, std::vector<input>((size_t)(rows - 1) * (size_t)ld + (size_t)cols)};
    std::memset(m.memory.data(), SIZE == 1 ? 17 : 0xff, m.memory.size() * SIZE);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            m.memory[m.offset(i, j)] = encoded(transposed ? chosen(j, i, salt) : chosen(i, j, salt));
    return m;
}

int m, n, k, ldc;
number beta;
const number alpha = -2;
matrix a, b;
std::vector<output> c;
std::vector<number> parts;
std::vector<unsigned> flags;

bool readable(const void *from, size_t bytes)
{
    const char *const p = static_cast<const char *>(from);
    for (const matrix *of : {&a, &b}) {
        const char *const begin = reinterpret_cast<const char *>(of->memory.data());
        if (p >= begin && p + bytes <= begin + of->memory.size() * SIZE) return true;
    }
    return false;
}

void multiply_all()
{
    gemm_mma(m, n, k, alpha, a.memory.data(), a.ld, b.memory.data(), b.ld, beta, c.data(), ldc
#if WORKSPACE
             ,
             parts.data(), flags.data()
#endif
    );
}

bool product(bool with_beta, bool aligned)
{
    const bool a_k = A_MAJOR_IS == MAJOR_k, b_k = B_MAJOR_IS == MAJOR_k;
    const int cols_a = a_k ? k : m, cols_b = b_k ? k : n;
    const auto ld = [&](int cols) { return aligned ? (cols + CHUNK - 1) / CHUNK * CHUNK + CHUNK : cols + 1; };
    if (k) a = made(a_k ? m : k, cols_a, ld(cols_a), 1, !a_k), b = made(b_k ? n : k, cols_b, ld(cols_b), 2, b_k);
    beta = with_beta ? 3 : 0;
    ldc = aligned ? (n + 7) / 8 * 8 : n + 1;
    c.assign((size_t)m * (size_t)ldc, (output)-1); // for BF16 and FP16, NaN
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n && with_beta; j++)
#if OUTPUT_IS == TYPE_bf16 || OUTPUT_IS == TYPE_f16
            c[(size_t)i * (size_t)ldc + (size_t)j] = rounded((float)chosen(i, j, 3));
#else
            c[(size_t)i * (size_t)ldc + (size_t)j] = (output)chosen(i, j, 3);
#endif
    const int tiles = (m + BLOCK_M - 1) / BLOCK_M * ((n + BLOCK_N - 1) / BLOCK_N);
    const int blocks = PERSISTENT ? min(tiles, tiles % 3 ? 3 : 4) : tiles; // the last wave is not full
    parts.assign((size_t)(blocks * BLOCK_M * BLOCK_N), (number)NAN);
    flags.assign((size_t)blocks, 0);
    emulation::launch((unsigned)blocks, 1, THREADS, multiply_all);
    if (std::count(flags.begin(), flags.end(), 0u) != blocks) return std::printf("a flag is left: off\n"), false;
    std::vector<int> rows, columns; // rows of A, columns of B
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++) rows.push_back(chosen(i, l, 1));
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++) columns.push_back(chosen(l, j, 2));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < ldc; j++) {
            int expected = with_beta ? 3 * chosen(i, j, 3) : 0;
            if (j < n)
                expected -=
                    2 * std::inner_product(rows.data() + i * k, rows.data() + (i + 1) * k, columns.data() + j * k, 0);
            const output value = c[(size_t)i * (size_t)ldc + (size_t)j];
            if (j < n ? from_output(value) != (number)expected : value != (output)-1)
                return std::printf("%d x %d x %d, beta %d, aligned %d: off at row %d, column %d: %g, not %d\n", m, n, k,
                                   with_beta, aligned, i, j, (double)from_output(value), expected),
                       false;
        }
    return true;
}

} // namespace

int main()
{
    static const int shapes[][3] = {{67, 101, 75},
                                    {BLOCK_M + 3, BLOCK_N + 5, 2 * BLOCK_K * STAGES},
                                    {5, 7, 3},
                                    {3 * BLOCK_M, 2 * BLOCK_N, 3 * BLOCK_K + CHUNK},
                                    {BLOCK_M - 8, BLOCK_N - 16, 3 * BLOCK_K + 1},
                                    {33, 65, 0}};
    for (const auto &shape : shapes)
        for (int which = 0; which < 4; which++) {
            m = shape[0], n = shape[1], k = shape[2];
            if (!product(which % 2 != 0, which / 2 != 0)) return 1;
        }
    std::printf("ok\n");
    return 0;
}
