// Stages and the reference for llmc_layernorm_backward.cfg, in addition to llm.c's kernels.
#include "sources/llm.c/dev/cuda/layernorm_backward.cu"

// The sum over a block, which has one warp.
__device__ double sum_of(double x)
{
    for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(~0u, x, k);
    return x;
}

// The mean of a row and the reciprocal of its standard deviation.
__device__ void statistics_of(const float *row, int c, float *mean, float *rstd)
{
    double sum = 0, squares = 0;
    for (int i = threadIdx.x; i < c; i += 32) sum += row[i];
    sum = sum_of(sum) / c;
    for (int i = threadIdx.x; i < c; i += 32) squares += (row[i] - sum) * (row[i] - sum);
    *mean = (float)sum;
    *rstd = (float)(1 / sqrt(sum_of(squares) / c + 1e-5));
}

// Computes the results of the forward pass that the backward pass needs; one warp per row.
extern "C" __global__ void statistics(const float *inp, float *mean, float *rstd, int c)
{
    float m, r;
    statistics_of(inp + (size_t)blockIdx.x * c, c, &m, &r);
    if (threadIdx.x == 0) mean[blockIdx.x] = m, rstd[blockIdx.x] = r;
}

// Computes all gradients; one warp per row.
extern "C" __global__ void gradients(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                                     const float *weight, int c)
{
    const size_t row = (size_t)blockIdx.x * c;
    double first = 0, second = 0;
    float mean, rstd;
    statistics_of(inp + row, c, &mean, &rstd);
    for (int i = threadIdx.x; i < c; i += 32) {
        double norm = ((double)inp[row + i] - mean) * rstd, d = (double)weight[i] * dout[row + i];
        first += d;
        second += d * norm;
        atomicAdd(&dbias[i], dout[row + i]);
        atomicAdd(&dweight[i], (float)(norm * dout[row + i]));
    }
    first = sum_of(first) / c;
    second = sum_of(second) / c;
    for (int i = threadIdx.x; i < c; i += 32) {
        double norm = ((double)inp[row + i] - mean) * rstd;
        dinp[row + i] += (float)((weight[i] * (double)dout[row + i] - first - norm * second) * rstd);
    }
}
