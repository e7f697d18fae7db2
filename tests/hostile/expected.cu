// The correct results of the families of tests/hostile/, computed by the simplest kernels.

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

// Matrices with padding after each row: y = a*x + 1, and x added to b.
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

// Tile t of 1024 elements is added to sum t % 64. Each block computes one sum.
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

// y = a*x + y0. Tile t of 1024 elements belongs to group t % 64. Block g computes group g's largest and smallest
// result, smallest bit pattern of |x|, and number of positive x. A group without elements gets four zeros.
extern "C" __global__ void groups_expected(int n, float a, const float *x, const float *y0, float *y, float *top,
                                           float *low, unsigned *least, unsigned *hits)
{
    __shared__ float tops[256], lows[256];
    __shared__ unsigned leasts[256], counts[256];
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < n && i < (int)blockIdx.x * 1024 + 1024; i += 256)
        y[i] = a * x[i] + y0[i];
    if (blockIdx.x >= 64) return;
    float most = -3e38f, fewest = 3e38f;
    unsigned bits = ~0u, count = 0;
    for (int tile = blockIdx.x; tile * 1024 < n; tile += 64)
        for (int i = tile * 1024 + threadIdx.x; i < n && i < tile * 1024 + 1024; i += 256) {
            float value = a * x[i] + y0[i];
            most = value > most ? value : most;
            fewest = value < fewest ? value : fewest;
            bits = min(bits, __float_as_uint(x[i]) & 0x7fffffffu);
            count += x[i] > 0;
        }
    tops[threadIdx.x] = most;
    lows[threadIdx.x] = fewest;
    leasts[threadIdx.x] = bits;
    counts[threadIdx.x] = count;
    __syncthreads();
    if (threadIdx.x) return;
    for (int k = 1; k < 256; k++) {
        most = tops[k] > most ? tops[k] : most;
        fewest = lows[k] < fewest ? lows[k] : fewest;
        bits = min(bits, leasts[k]);
        count += counts[k];
    }
    bool any = blockIdx.x * 1024 < n;
    top[blockIdx.x] = any ? most : 0;
    low[blockIdx.x] = any ? fewest : 0;
    least[blockIdx.x] = any ? bits : 0;
    hits[blockIdx.x] = any ? count : 0;
}

// Results for each row of 1001 elements; rows are 1024 apart. See absorbed.cu.
extern "C" __global__ void rows_expected(int rows, const float *x, const int *w, const unsigned *v, const float *q,
                                         const float *p, float *top, float *low, float *sum, float *clip, int *count,
                                         int *most, unsigned *fewest, float *ends)
{
    const int r = blockIdx.x, first = r * 1024;
    for (int c = threadIdx.x; c < 1001; c += 32) {
        float left = c ? x[first + c - 1] : x[first + c], right = c < 1000 ? x[first + c + 1] : x[first + c];
        clip[first + c] = (left > right ? left : right) + x[first + c];
    }
    if (threadIdx.x) return;
    float t = x[first], l = x[first], s = 0;
    int a = 0, b = 0, d = 0, m = w[first];
    unsigned f = v[first];
    for (int c = 0; c < 1001; c++) {
        float e = x[first + c];
        t = e > t ? e : t;
        l = e < l ? e : l;
        s += e < 0 ? -e : e;
        a += e > 0.5f;
        b += e < -0.5f;
        d += w[first + c] >= 0;
        m = max(m, w[first + c]);
        f = min(f, v[first + c]);
    }
    top[r] = t;
    low[r] = l;
    sum[r] = s;
    count[3 * r] = a;
    count[3 * r + 1] = b;
    count[3 * r + 2] = d;
    most[r] = m;
    fewest[r] = f;
    if (r) return;
    t = q[0];
    l = p[0];
    for (int i = 0; i < rows * 7 + 2; i++) {
        t = q[i] > t ? q[i] : t;
        l = p[i] < l ? p[i] : l;
    }
    ends[0] = t;
    ends[1] = l;
}

// y = a*x + y0, and the sum of w.
extern "C" __global__ void total_expected(int n, float a, const float *x, const float *y0, float *y, const int *w,
                                          long long *total)
{
    int i = blockIdx.x * 1024 + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y0[i];
    if (blockIdx.x) return;
    __shared__ long long part[1024];
    long long mine = 0;
    for (i = threadIdx.x; i < n; i += 1024) mine += w[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x) return;
    for (int k = 1; k < 1024; k++) mine += part[k];
    *total = mine;
}

// The positive part of x, x*m and x - x.
extern "C" __global__ void signs_expected(int n, const float *x, const float *m, float *positive, float *product,
                                          float *difference)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    positive[i] = x[i] > 0 ? x[i] : 0.0f;
    product[i] = __fmul_rn(x[i], m[i]);
    difference[i] = __fsub_rn(x[i], x[i]);
}

// y = (x + y0) * 2^-(row % 32), rows of 1000 elements.
extern "C" __global__ void scales_expected(int rows, const float *x, const float *y0, float *y)
{
    const int r = blockIdx.x;
    if (r >= rows) return;
    for (int c = threadIdx.x; c < 1000; c += 256)
        y[r * 1000 + c] = (x[r * 1000 + c] + y0[r * 1000 + c]) * __uint_as_float((127u - r % 32) << 23);
}

// y[i] = a*x[j] + y0[i], where j is i's place in the next tile of 1024 elements (after the last tile comes the first).
// The previous element of b is added to each element, and the first element is doubled. One block computes this,
// because b changes in place.
extern "C" __global__ void waits_expected(int n, float a, const float *x, const float *y0, float *y, float *b)
{
    const int tiles = (n + 1023) / 1024;
    for (int i = threadIdx.x; i < n; i += 1024) {
        int j = (i / 1024 + 1) % tiles * 1024 + i % 1024;
        y[i] = a * x[j < n ? j : i] + y0[i];
    }
    for (int first = (tiles - 1) * 1024; first >= 0; first -= 1024) {
        int i = first + threadIdx.x;
        float own = i < n ? b[i] : 0, before = i > 0 && i < n ? b[i - 1] : own;
        __syncthreads();
        if (i < n) b[i] = own + before;
        __syncthreads();
    }
}
