// The README's kernel and the simple kernel that serves as its reference. UNROLL stands for a whole pragma.
// z = x + y. A thread adds FACTOR elements,
// which lie a whole grid apart.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    add(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, long long n)
{
    const long long step = (long long)gridDim.x * BLOCK_SIZE;
    long long i = (long long)blockIdx.x * BLOCK_SIZE + threadIdx.x;
    UNROLL
    for (; i < n; i += step) z[i] = x[i] + y[i];
}

// The same sum, computed as simply as possible.
extern "C" __global__ void add_naive(const float *x, const float *y, float *z, long long n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] = x[i] + y[i];
}
