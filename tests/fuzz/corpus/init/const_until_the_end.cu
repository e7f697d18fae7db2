__global__ void k(float *x) { x[0] = 1; }
void h() { k<<<const, 1>>>(x); const const const const const const const const const const const const const const const const const const const const const const const const const const const const const
