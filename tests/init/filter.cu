#define FILTER 7
#ifndef BLOCK
#define BLOCK 16
#endif
__constant__ float coef[FILTER * FILTER];
namespace deep
{
__constant__ int shift, table[4][BLOCK];
}
__constant__ float fixed[2] = {1.0f, 2.0f};
__device__ unsigned int hits;
__device__ float other;
struct Two {
    float a, b;
};
__constant__ Two two;
__global__ void convolve(cudaTextureObject_t image, cudaSurfaceObject_t out, int width, int height)
{
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= height) return;
    float sum = fixed[0] + two.a;
    for (int i = 0; i < FILTER; i++)
        for (int j = 0; j < FILTER; j++)
            sum += coef[i * FILTER + j] * tex2D<float>(image, x + i - deep::shift, y + j) * deep::table[0][x % BLOCK];
    surf2Dwrite(sum, out, x * 4, y);
    if (sum > 3) atomicAdd(&hits, 1);
}
__global__ void second(float *y)
{
    y[0] = other;
}
