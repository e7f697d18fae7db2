// A product with a sparse matrix, with a group of threads per row.
#include "lanes.h"
namespace sparse
{
namespace csr
{
template <typename T>
__global__ void multiply(const int *row_begin, const int *columns, const T *values, const T *x, T *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (row >= rows) return;
    T sum = 0;
#pragma unroll UNROLL
    for (int i = row_begin[row] + lane; i < row_begin[row + 1]; i += LANES) sum += values[i] * x[columns[i]];
    for (int offset = LANES / 2; offset; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) y[row] = sum;
}
} // namespace csr
} // namespace sparse
