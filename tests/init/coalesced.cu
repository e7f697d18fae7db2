// A matrix product whose template parameter sets the size of a block; with a host program in the same file.
#include <cstdio>
#include <vector>
template <const uint BLOCKSIZE>
__global__ void sgemm_coalesced(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int cRow = blockIdx.x * BLOCKSIZE + (threadIdx.x / BLOCKSIZE);
    const int cCol = blockIdx.y * BLOCKSIZE + (threadIdx.x % BLOCKSIZE);
    if (cRow < M && cCol < N) {
        float sum = 0.0;
        for (int i = 0; i < K; ++i) sum += A[cRow * K + i] * B[i * N + cCol];
        C[cRow * N + cCol] = alpha * sum + beta * C[cRow * N + cCol];
    }
}

int main()
{
    std::vector<float> c(64 * 64);
    sgemm_coalesced<32><<<dim3(2, 2), 1024>>>(64, 64, 64, 1, nullptr, nullptr, 0, nullptr);
    printf("%zu\n", c.size());
}
