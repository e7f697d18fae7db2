// The kernel of the job whose outputs are kept in this folder. SWEETSPOT_VARIANT: `sweetspot limiter` asks for it.
enum { plain = 1, wide = 4 };

extern "C" __global__ void scale(const float *x, float *y, int n)
{
#pragma unroll MODE
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x))
        y[i] = 2 * x[i];
}
