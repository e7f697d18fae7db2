// A launch in the file of its kernels: macros, functions with one return, dim3 with two names, host sizes and numbers.
#ifndef TILE
#define TILE 16
#endif
#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))
typedef float real;
__global__ void transpose(real *out, const real *in, int rows, int cols, float alpha)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    if (x < rows && y < cols) out[y * rows + x] = alpha * tile[threadIdx.x][threadIdx.y];
}
template <int B, typename T> __global__ void scale(T *x, unsigned n)
{
    unsigned i = blockIdx.x * B + threadIdx.x;
    if (i < n) x[i] *= 2;
}
#ifndef __CUDACC_RTC__
inline int cdiv(int a, int b)
{
    return (a + b - 1) / b;
}
int main()
{
    const int R = 4096, C = 1 << 11;
    float *a, *b, s = 0.5f;
    cudaMalloc(&a, R * C * sizeof(float));
    cudaMalloc(&b, R * C * 4);
    dim3 block(TILE, TILE), grid(CEIL_DIV(C, TILE), cdiv(R, TILE));
    transpose<<<grid, block>>>(b, a, R, C, s);
    constexpr int threads = 256;
    scale<threads, float><<<((unsigned)C * R + threads - 1) / threads, threads, 2 * sizeof(int), 0>>>(b, R * C);
}
#endif
