/* The correct results of hostile.cu. */
extern "C" __global__ void reference(int n, float a, const float *x, const float *y0, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y0[i];
}
