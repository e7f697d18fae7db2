// Reference kernels for foreign sources that have none: the simplest way to compute the same results, with sums in
// FP64.

extern "C" __global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// Computes rows 1 to height - 2 and columns 1 to width - 2; each block computes a part of a row.
extern "C" __global__ void five_points(float *to, const float *from, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < 1 || x > width - 2 || y < 1 || y > height - 2) return;
    const float *at = from + (size_t)y * width + x;
    to[(size_t)y * width + x] = ((double)at[0] + at[-1] + at[1] + at[-width] + at[width]) / 5;
}

// The sum of the values of a block of 256 threads, returned to thread 0.
static __device__ double block_sum(double value)
{
    __shared__ double sums[256];
    sums[threadIdx.x] = value;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    return sums[0];
}

// y1 = A*x1 and y2 = x2*A; A has n rows of m elements. Block i < n computes row i, block n + j column j.
extern "C" __global__ void bicg(const float *A, const float *x1, float *y1, const float *x2, float *y2, int m, int n)
{
    bool row = blockIdx.x < n;
    int at = row ? blockIdx.x : blockIdx.x - n;
    double sum = 0;
    for (int k = threadIdx.x; k < (row ? m : n); k += 256)
        sum += row ? (double)A[(size_t)at * m + k] * x1[k] : (double)A[(size_t)k * m + at] * x2[k];
    sum = block_sum(sum);
    if (threadIdx.x == 0) (row ? y1 : y2)[at] = sum;
}

// c[v] is the inner product of vector v of a and vector v of b, with n elements each; one block per vector.
extern "C" __global__ void inner_products(float *c, const float *a, const float *b, int n)
{
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        sum += (double)a[(size_t)blockIdx.x * n + i] * b[(size_t)blockIdx.x * n + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) c[blockIdx.x] = sum;
}

// One time step of Newton's law for bodies with x, y, z and mass; n is a multiple of 256.
extern "C" __global__ void n_bodies(float step, const float4 *from, float4 *to, const float4 *velocity, float4 *changed,
                                    float damping, float softening, int n)
{
    __shared__ float4 others[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 p = from[i], v = velocity[i];
    double x = 0, y = 0, z = 0;
    for (int k = 0; k < n; k += 256) {
        __syncthreads();
        others[threadIdx.x] = from[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            double dx = (double)others[j].x - p.x, dy = (double)others[j].y - p.y, dz = (double)others[j].z - p.z;
            double near = rsqrt(dx * dx + dy * dy + dz * dz + softening), force = others[j].w * near * near * near;
            x += dx * force;
            y += dy * force;
            z += dz * force;
        }
    }
    double half = (double)damping * step * step;
    to[i] = make_float4(p.x + step * v.x + half * x, p.y + step * v.y + half * y, p.z + step * v.z + half * z, p.w);
    changed[i] = make_float4(v.x + step * x, v.y + step * y, v.z + step * z, 0);
}

// The Black-Scholes prices of European options: price S, strike X, T years, riskless rate R, volatility V.
extern "C" __global__ void options(float *call, float *put, const float *S, const float *X, const float *T, float R,
                                   float V, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double root = V * sqrt((double)T[i]), d1 = (log((double)S[i] / X[i]) + (R + 0.5 * V * V) * T[i]) / root;
    double later = X[i] * exp(-(double)R * T[i]), n1 = normcdf(d1), n2 = normcdf(d1 - root);
    call[i] = S[i] * n1 - later * n2;
    put[i] = later * (1 - n2) - S[i] * (1 - n1);
}

// y = A*x for a sparse matrix; row i has the numbers starts[i] to starts[i + 1] - 1; one thread per row.
extern "C" __global__ void sparse(float *y, const int *starts, const int *columns, const float *values, const float *x,
                                  int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0;
    for (int i = starts[row]; i < starts[row + 1]; i++) sum += (double)values[i] * x[columns[i]];
    y[row] = sum;
}

// C += B*A^T for many matrices: A has m rows of k numbers, B has n such rows; one block per product.
extern "C" __global__ void products(const double *A, const double *B, double *C, int m, int n, int k)
{
    const double *a = A + (size_t)blockIdx.x * m * k, *b = B + (size_t)blockIdx.x * n * k;
    double *c = C + (size_t)blockIdx.x * m * n;
    for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
        double sum = 0;
        for (int j = 0; j < k; j++) sum += a[i % m * k + j] * b[i / m * k + j];
        c[i] += sum;
    }
}
