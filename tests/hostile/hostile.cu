/*
 * Kernels that misbehave, one for each way in which a candidate can fail. They compute y[i] = a*x[i] + y0[i] for n
 * elements, sabotaged according to MODE. One job file enumerates the modes. The worker must survive each of them, and
 * only CORRECT and SLOW may be accepted.
 *
 *     buffers   x (in), y0 (in), y (out), n floats each; guards of 4096 bytes
 *     launch    grid ceil_div(n, 256), block 256, shared memory as in the table (0 if it names none)
 *     entry     hostile(n, a, x, y0, y)
 *
 *  MODE              what it does                                     status            reason says
 *  CORRECT           nothing wrong                                    ok
 *  SLOW              correct, a hundred times slower than CORRECT     slow (or ok)      the limit it exceeded
 *  HANG              one block never ends                             timeout           (the driver kills the worker)
 *  TRAP              __trap()                                         crashed           CUDA_ERROR_ILLEGAL_INSTRUCTION
 *                                                                                       or LAUNCH_FAILED
 *  ASSERT_ADDRESS    a misaligned 16-byte store                       crashed           CUDA_ERROR_MISALIGNED_ADDRESS
 *  READ_FAR          reads 2^40 bytes away                            crashed           CUDA_ERROR_ILLEGAL_ADDRESS
 *  READ_PAST         adds the element after x's end (a guard)         wrong             last element, or two differ
 *  WRITE_FAR         writes 2^40 bytes away                           crashed           CUDA_ERROR_ILLEGAL_ADDRESS
 *  WRITE_PAST        writes one element past the end of y             out_of_bounds     4 bytes outside y, past its end
 *  WRITE_BEFORE      writes one element before y                      out_of_bounds     4 bytes outside y, before it
 *  PARTIAL           leaves the last eighth of y unwritten            wrong             never written
 *  NOTHING           writes nothing at all                            wrong             never written
 *  NANS              writes NaN to every tenth element                wrong             nan
 *  OFF_BY_ONE        y[i] gets the value of element i+1               wrong
 *  ONE_WRONG         one element is off by 1e-3                       wrong             1 of n elements
 *  RACE              all blocks add to y[0] in any order              nondeterministic  two runs differ (or wrong)
 *  TOO_MUCH_SHARED   launched with 300,000 bytes of shared memory     launch_error *    bytes of shared memory
 *  TOO_MANY_THREADS  launched with 2048 threads a block               launch_error *    threads per block
 *  MODIFIES_INPUT    correct, then doubles x[5]                       wrong             changed x
 *  WORKS_ONCE        correct in its first launch only (a counter)     nondeterministic  in launch 2
 *  DOES_NOT_COMPILE  a syntax error                                   compile_error     hostile.cu(line): error
 *  COMPILES_SLOWLY   a template that takes minutes                    compile_timeout
 *
 *  * the worker's status; the driver prunes these candidates before they reach it
 */
#define CORRECT 0
#define SLOW 1
#define HANG 2
#define TRAP 3
#define ASSERT_ADDRESS 4
#define READ_FAR 5
#define READ_PAST 6
#define WRITE_FAR 7
#define WRITE_PAST 8
#define WRITE_BEFORE 9
#define PARTIAL 10
#define NOTHING 11
#define NANS 12
#define OFF_BY_ONE 13
#define ONE_WRONG 14
#define RACE 15
#define TOO_MUCH_SHARED 16
#define TOO_MANY_THREADS 17
#define MODIFIES_INPUT 18
#define WORKS_ONCE 19
#define DOES_NOT_COMPILE 20
#define COMPILES_SLOWLY 21

#ifndef MODE
#define MODE CORRECT
#endif

#if MODE == DOES_NOT_COMPILE
#error this does not compile
#endif

#if MODE == COMPILES_SLOWLY
// Each instance uses two different instances of the next depth, which gives 2^28 functions to instantiate.
template <int depth, unsigned path> struct tree {
    static __device__ float walk(float x)
    {
        return tree<depth - 1, path * 2>::walk(x) + tree<depth - 1, path * 2 + 1>::walk(x);
    }
};
template <unsigned path> struct tree<0, path> {
    static __device__ float walk(float x)
    {
        return x * path;
    }
};
#endif

#if MODE == WORKS_ONCE
__device__ unsigned launches;
#endif

extern "C" __global__ void hostile(int n, float a, float *x, const float *y0, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if MODE == HANG
    if (blockIdx.x == 0)
        while (*(volatile float *)x < 1e30f) {
        }
#elif MODE == TRAP
    if (i == n / 2) __trap();
#elif MODE == ASSERT_ADDRESS
    if (i == 0) *(float4 *)(y + 1) = make_float4(0, 0, 0, 0);
#elif MODE == READ_FAR
    if (i == 0) y[0] = x[1ll << 38];
#elif MODE == WRITE_FAR
    if (i == 0) y[1ll << 38] = 1;
#elif MODE == WRITE_PAST
    if (i == n - 1) y[n] = 1;
#elif MODE == WRITE_BEFORE
    if (i == 0) y[-1] = 1;
#elif MODE == COMPILES_SLOWLY
    if (i == 0) y[0] = tree<28, 1>::walk(a);
#endif
    if (i >= n) return;
    float value = a * x[i] + y0[i];
#if MODE == SLOW
    for (int k = 0; k < 2000; k++) value = __fmaf_rn(value, 1.0f, x[(i + k * 4099) % n] * 0.0f);
#elif MODE == READ_PAST
    if (i == n - 1) value += x[i + 1] * 0.0f;
#elif MODE == PARTIAL
    if (i >= n / 8 * 7) return;
#elif MODE == NOTHING
    return;
#elif MODE == NANS
    if (i % 10 == 3) value = __int_as_float(0x7fffffff);
#elif MODE == OFF_BY_ONE
    if (i + 1 < n) value = a * x[i + 1] + y0[i + 1];
#elif MODE == ONE_WRONG
    if (i == n / 3) value += 1e-3f;
#elif MODE == WORKS_ONCE
    // A global variable that outlives the launch, like an arrival counter that is never reset.
    if (i == 0) atomicAdd(&launches, 1u);
    if (*(volatile unsigned *)&launches > 1) value = 0;
#endif
    y[i] = value;
#if MODE == RACE
    // Element 0 is correct up to rounding, which depends on the order of the blocks.
    if (threadIdx.x == 0 && blockIdx.x > 0)
        atomicAdd(y, (blockIdx.x & 1 ? 1.1e-7f : -1.1e-7f) * (float)(blockIdx.x % 13));
#elif MODE == MODIFIES_INPUT
    if (i == 5) x[5] = 2 * x[5];
#endif
}
