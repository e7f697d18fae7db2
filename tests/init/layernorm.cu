// Layer normalisation with a warp per row, as in the training of language models.
__global__ void layernorm_forward(float *__restrict__ out, float *__restrict__ mean, const float *__restrict__ inp,
                                  const float *__restrict__ weight, const float *__restrict__ bias, int N, int C)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int idx = blockIdx.x * warps + warp;
    if (idx >= N) return;
    const float *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = lane; i < C; i += 32) sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    float m = sum / C;
    if (lane == 0 && mean != nullptr) __stcs(mean + idx, m);
    float *o = out + idx * C;
    for (int c = lane; c < C; c += 32) __stcs(o + c, (x[c] - m) * weight[c] + bias[c]);
}
