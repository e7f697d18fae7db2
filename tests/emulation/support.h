// The parts of CUDA that kernels/support.cu needs in addition to cuda.h.
#pragma once

#include "cuda.h"

#define __grid_constant__
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
static emulated_index blockDim;
template <class T> static T atomicAdd(T *p, T x)
{
    T old = *p;
    *p = old + x;
    return old;
}
template <class T> static T atomicMax(T *p, T x)
{
    T old = *p;
    *p = std::max(old, x);
    return old;
}
template <class To, class From> static To bits(From x)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    std::memcpy(&to, &x, sizeof to);
    return to;
}
static double __longlong_as_double(long long x)
{
    return bits<double>(x);
}
static long long __double_as_longlong(double x)
{
    return bits<long long>(x);
}
static float __uint_as_float(unsigned x)
{
    return bits<float>(x);
}
static unsigned __float_as_uint(float x)
{
    return bits<unsigned>(x);
}
static float __double2float_ru(double x)
{
    float f = (float)x;
    return f < x ? std::nextafterf(f, INFINITY) : f;
}

static double __dadd_rn(double a, double b)
{
    return a + b;
}
static double __dmul_rn(double a, double b)
{
    return a * b;
}
static double __fma_rn(double a, double b, double c)
{
    return std::fma(a, b, c);
}
static long long __double2ll_rn(double x)
{
    return std::llrint(x);
}
static double cospi(double x)
{
    return std::cos(3.14159265358979323846 * x);
}
static float cospif(float x)
{
    return (float)cospi(x);
}
