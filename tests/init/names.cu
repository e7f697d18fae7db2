// Names that no job file can have.
__global__ void f(int _n, float *_x, const int *größe, int ä, int name, int weight, int min, float *n)
{
    _x[0] = (float)(_n + größe[0] + ä + name + weight + min) + n[0];
}
