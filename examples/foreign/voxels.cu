// The reference of samples_marching_cubes.cfg: a voxel's case has one bit for each of its eight corners, which is set
// if the corner is below the threshold. Corners are numbered around the lower face, then around the upper face. One
// thread per voxel.
extern "C" __global__ void voxels(unsigned *corners, unsigned *occupied, const unsigned char *volume,
                                  const unsigned *table, int side, float threshold)
{
    static const int dx[8] = {0, 1, 1, 0, 0, 1, 1, 0}, dy[8] = {0, 0, 1, 1, 0, 0, 1, 1};
    int voxel = blockIdx.x * blockDim.x + threadIdx.x, which = 0;
    int x = voxel % side, y = voxel / side % side, z = voxel / (side * side);
    for (int i = 0; i < 8; i++) {
        int cx = min(x + dx[i], side - 1), cy = min(y + dy[i], side - 1), cz = min(z + i / 4, side - 1);
        which |= (volume[(cz * side + cy) * side + cx] / 255.0f < threshold) << i;
    }
    corners[voxel] = table[which];
    occupied[voxel] = table[which] > 0;
}
