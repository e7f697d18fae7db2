// Difficulties for a reader of declarations: operators, explicit specialisations, one kernel under #if and #else,
// several names in a declaration, host code in a template. Macros are tested for values, and some are in small letters.
inline __device__ float2 operator+(float2 a, float2 b)
{
    return make_float2(a.x + b.x, a.y + b.y);
}

struct scale {
    __device__ float operator()(float x) const
    {
        return 2 * x;
    }
};

template <class T> __device__ T twice(T x)
{
    return x + x;
}

template <> __device__ float twice<float>(float x)
{
    return scale()(x);
}

#if WIDTH_OF_LOAD == 1
typedef float loaded;
#elif WIDTH_OF_LOAD == 2
typedef float2 loaded;
#elif WIDTH_OF_LOAD == 4
typedef float4 loaded;
#endif

#if ROWS_A_THREAD >= 2
#define MORE 1
#endif

#if STAGED == 1
extern "C" __global__ void shift(float *to, const float *from)
{
    __shared__ float SX, SY;
    float FIRST, SECOND, THIRD;
    FIRST = from[0];
    if (threadIdx.x == 0 && threadIdx.y == 0) SX = SY = FIRST;
    __syncthreads();
    SECOND = SX, THIRD = SY;
    int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_x + threadIdx.y;
    to[y * SIDE + x] = twice(from[y * SIDE + x]) + SECOND - THIRD;
}
#else
extern "C" __global__ void shift(float *to, const float *from)
{
    int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_x + threadIdx.y;
#if use_loaded == 1
    loaded all = *(const loaded *)(from + y * SIDE + x / WIDTH_OF_LOAD * WIDTH_OF_LOAD);
    to[y * SIDE + x] = ((float *)&all)[x % WIDTH_OF_LOAD];
#else
    to[y * SIDE + x] = twice(from[y * SIDE + x]);
#endif
}
#endif

#ifndef SIDE
#define SIDE 4096
#endif

template <class T> int host_side(T *to, const T *from)
{
    shift<<<1, 1>>>(to, from);
    return 0;
}
