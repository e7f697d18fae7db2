// The reference of samples_fdtd3d.cfg: a star of radius 4 on all points except a border that is 4 points wide; one
// thread per point.
__constant__ float stencil[5];

extern "C" __global__ void star(float *to, const float *from, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    size_t row = nx + 8, plane = row * (ny + 8), at = (z + 4) * plane + (y + 4) * row + x + 4;
    if (x >= nx || z >= nz) return;
    double sum = (double)stencil[0] * from[at];
    for (int i = 1; i <= 4; i++)
        sum += stencil[i] * ((double)from[at - i] + from[at + i] + from[at - i * row] + from[at + i * row] +
                             from[at - i * plane] + from[at + i * plane]);
    to[at] = sum;
}
