// templates/norm.cu, emulated (cuda.h), with a configuration that is given by macros, as in the tuner. Rows fit into
// registers or are longer, have sizes that VECTOR does not divide, and lie at addresses that are not aligned for
// vectors. Data are far from 0, and one row has a NaN. Exit status 0 and "ok" if all results are correct.
#include "cuda.h"

namespace
{

struct uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
template <class T> void __stcs(T *to, const T &x)
{
    *to = x;
}
float __fdividef(float x, float y)
{
    return x / y;
}
float rsqrtf(float x)
{
    return 1 / std::sqrt(x);
}
float __uint_as_float(unsigned bits)
{
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return f;
}
// BF16's bits, rounded to nearest even.
unsigned short rounded(float f)
{
    unsigned bits;
    std::memcpy(&bits, &f, sizeof f);
    return f != f ? 0x7fff : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Values that the lanes of a warp exchange. There are two sets, because a lane may give its next value before the other
// lanes have read its previous value.
float given[1024][2];
unsigned calls[1024];

float __shfl_xor_sync(unsigned, float x, int distance)
{
    const unsigned set = calls[threadIdx.x]++ % 2, now = calls[threadIdx.x], first = threadIdx.x / 32 * 32;
    given[threadIdx.x][set] = x;
    do emulation::yield();
    while (std::any_of(calls + first, calls + first + 32, [=](unsigned other) { return other < now; }));
    return given[threadIdx.x ^ (unsigned)distance][set];
}

} // namespace

#include "norm.cu"

namespace
{

int rows, cols;
std::vector<element> x, y, weight, bias;
int shift; // added to all addresses, in elements

void kernel()
{
#if NORM_IS == NORM_layer
    norm_rows(x.data() + shift, y.data() + shift, weight.data() + shift, bias.data() + shift, rows, cols, 1e-5f);
#else
    norm_rows(x.data() + shift, y.data() + shift, weight.data() + shift, rows, cols, 1e-5f);
#endif
}

float number(unsigned &state)
{
    return (float)((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
}

bool normalised(float middle, int nan_in)
{
    unsigned state = 7;
    const size_t all = (size_t)rows * (size_t)cols + 1;
    x.resize(all), weight.resize((size_t)cols + 1), bias.resize((size_t)cols + 1);
    y.assign(all, from_float(12345.0f));
    for (element &e : x) e = from_float(middle + number(state));
    for (element &e : weight) e = from_float(number(state));
    for (element &e : bias) e = from_float(number(state));
    if (nan_in >= 0) x[(size_t)(nan_in * cols + cols / 2 + shift)] = from_float(NAN);
    emulation::launch((unsigned)((rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK), 1, ROW_THREADS * ROWS_PER_BLOCK,
                      kernel);
    for (int i = 0; i < rows; i++) {
        double mean = 0, size = 0, square = 0;
        auto at = [&](int j) { return (double)to_float(x[(size_t)(i * cols + j + shift)]); };
        for (int j = 0; LAYER && j < cols; j++) mean += at(j) / cols, size += std::fabs(at(j)) / cols;
        for (int j = 0; j < cols; j++) square += (at(j) - mean) * (at(j) - mean) / cols;
        for (int j = 0; j < cols; j++) {
            const double factor = to_float(weight[(size_t)(j + shift)]) / std::sqrt(square + 1e-5),
                         more = LAYER ? to_float(bias[(size_t)(j + shift)]) : 0, right = (at(j) - mean) * factor + more,
                         found = to_float(y[(size_t)(i * cols + j + shift)]),
                         allowed = 0x1p-24 * (16 + std::sqrt(cols) / 4) *
                                       (std::fabs(factor) * (std::fabs(at(j)) + size) + std::fabs(more)) +
                                   (SIZE < 4 ? 0x1p-8 * std::fabs(right) : 0);
            if (i == nan_in ? found == found : !(std::fabs(found - right) <= allowed))
                return std::printf("%d x %d: row %d, column %d is %g, expected %g\n", rows, cols, i, j, found, right),
                       false;
        }
    }
    if (to_float(y[shift ? 0 : all - 1]) != to_float(from_float(12345.0f)))
        return std::printf("%d x %d: something else was written\n", rows, cols), false;
    return true;
}

} // namespace

int main()
{
    const int held = ROW_THREADS * HELD,
              shapes[][2] = {
                  {2 * ROWS_PER_BLOCK + 1, held}, {3, held + VECTOR}, {ROWS_PER_BLOCK, 2 * held - 3}, {5, 1}, {4, 37}};
    bool all = true;
    for (const auto &shape : shapes)
        for (shift = 0; shift < 2; shift++) {
            rows = shape[0], cols = shape[1];
            all &= normalised(0, -1) && normalised(30, rows - 1);
        }
    if (all) std::printf("ok\n");
    return all ? 0 : 1;
}
