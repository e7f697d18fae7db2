// The reference of samples_simple_texture.cfg: rotates an image of bytes around its centre, with interpolation between
// pixels as in textures and weights in 256ths. Beyond its edges, the image is repeated.
static __device__ double at(const unsigned char *image, int x, int y, int width, int height)
{
    return image[(size_t)((y % height + height) % height) * width + (x % width + width) % width] / 255.0;
}

extern "C" __global__ void turned(float *to, const unsigned char *image, int width, int height, float angle)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width) return;
    double u = x - width / 2.0, v = y - height / 2.0, c = cos((double)angle), s = sin((double)angle);
    double tu = u * c - v * s + width / 2.0 - 0.5, tv = v * c + u * s + height / 2.0 - 0.5;
    int left = (int)floor(tu), top = (int)floor(tv);
    double right = rint((tu - left) * 256) / 256, below = rint((tv - top) * 256) / 256;
    double above = (1 - right) * at(image, left, top, width, height) + right * at(image, left + 1, top, width, height);
    double under =
        (1 - right) * at(image, left, top + 1, width, height) + right * at(image, left + 1, top + 1, width, height);
    to[(size_t)y * width + x] = (1 - below) * above + below * under;
}
