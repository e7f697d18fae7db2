// A struct and a vector by value, pointers to vectors, another kernel with its own macro.
#include <cuda_fp16.h>
struct Window {
    int begin, end;
    __device__ bool has(int i) const
    {
        return i >= begin && i < end;
    }
};
template <typename T, int ITEMS = 4, bool CLAMP = true>
__global__ void blend(float4 *__restrict__ out, const float4 in[], const __half *weights, Window window, float eps,
                      unsigned long long seed, T, int n, float3 tint)
{
    const int base = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    for (int k = 0; k < ITEMS; k++) {
        if (base + k >= n || !window.has(base + k)) return;
        float w = __half2float(weights[base + k]) + eps + (float)(seed & 1);
        out[base + k] = in[base + k];
        out[base + k].x = CLAMP ? fminf(w, tint.x) : w;
    }
}
__global__ void fill(float *to, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) to[i] = FILL_VALUE;
}
