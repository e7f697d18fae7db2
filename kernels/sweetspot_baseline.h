/*
 * What a baseline of yours looks like:   baselines = ( { name = "cub"; library = "sum.cu"; function = "my_sum"; } );
 *
 * The function enqueues its work on a CUDA stream and returns; it does not wait. `stream` is a cudaStream_t.
 * `arguments` are those of the job in its order, as cudaLaunchKernel takes them: arguments[i] is the address of the
 * value of argument i: a pointer to device memory, a scalar of the job's type, a struct, a CUtensorMap, or a texture's
 * or surface's object. `sizes` are the problem's sizes in the order of the job file. The device's primary context is
 * current, which the CUDA runtime uses, too.
 *
 * The first call for a problem is not timed and may allocate memory. Later ones may be captured into a graph: they must
 * not allocate, free or wait. Calls differ in the addresses of the buffers. A function named by `init` has the same
 * form and is called once for each problem before it; it may wait. Both return 0, or anything else if they failed.
 *
 * The code runs inside sweetspot-gpu. It is yours, and nothing stops it from doing harm there; a crash costs the
 * baseline its figure. C99, C++ and CUDA; needs nothing else.
 */
#ifndef SWEETSPOT_BASELINE_FUNCTION_H
#define SWEETSPOT_BASELINE_FUNCTION_H

#ifdef __cplusplus
extern "C" {
#endif

typedef int sweetspot_baseline(void *stream, void **arguments, const long long *sizes);

#ifdef __cplusplus
}
#endif

#endif
