// What the families of tests/hostile/ should compute: the simplest kernels there are.

// y = a*x + y0, and b doubled.
extern "C" __global__ void vector_expected(int n, float a, const float *x, const float *y0, float *y, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y0[i];
    if (i < 4096) b[i] = 2 * b[i];
}

// y = a*x + y0.
extern "C" __global__ void axpy_expected(int n, float a, const float *x, const float *y0, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y0[i];
}

extern "C" __global__ void square_expected(int n, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}

// Matrices with padding behind each row: y = a*x + 1, and x added to b.
extern "C" __global__ void matrix_expected(int rows, int cols, int ld, float a, const float *x, float *y, float *b)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)rows * cols) return;
    long long at = i / cols * ld + i % cols;
    y[at] = a * x[at] + 1;
    b[at] = b[at] + x[at];
}

// The sum of all elements, exactly.
extern "C" __global__ void sum_expected(int n, const int *x, long long *sum)
{
    __shared__ long long part[1024];
    long long mine = 0;
    for (int i = threadIdx.x; i < n; i += 1024) mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < 1024; i++) mine += part[i];
    *sum = mine;
}

// y = a*x + y0, and x added to b.
extern "C" __global__ void sums_expected(int n, float a, const float *x, const float *y0, float *y, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = a * x[i] + y0[i];
    b[i] = b[i] + x[i];
}

// Tile t of 1024 elements is added to sum t % 64; a block a sum.
extern "C" __global__ void loose_expected(int n, const float *x, float *sums)
{
    __shared__ double part[256];
    double mine = 0;
    for (int tile = blockIdx.x; tile * 1024 < n; tile += 64)
        for (int i = tile * 1024 + threadIdx.x; i < n && i < tile * 1024 + 1024; i += 256) mine += x[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 1; i < 256; i++) mine += part[i];
    sums[blockIdx.x] = (float)mine;
}
