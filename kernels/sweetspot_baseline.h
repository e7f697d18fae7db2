/*
 * The interface of your own baseline:   baselines = ( { name = "cub"; library = "sum.cu"; function = "my_sum"; } );
 *
 * The function enqueues its work on a CUDA stream and returns; it does not wait. `stream` is a cudaStream_t.
 * `arguments` are the job's arguments in the job's order, in the form that cudaLaunchKernel takes: arguments[i] is the
 * address of the value of argument i, which is a pointer to device memory, a scalar of the job's type, a struct, a
 * CUtensorMap, or a texture or surface object. `sizes` are the problem's sizes in the order of the job file. The
 * current context is the device's primary context, which the CUDA runtime also uses.
 *
 * The first call for a problem is not timed and may allocate memory. Later calls may be captured into a graph, so they
 * must not allocate, free or wait. Calls differ in the addresses of the buffers. A function named by `init` has the
 * same signature and is called once for each problem before the first call; it may wait. Both return 0, or anything
 * else if they failed.
 *
 * Your code runs inside sweetspot-gpu, and nothing stops it from doing harm there. If it crashes, the baseline has no
 * result. C99, C++ and CUDA; this header needs no other one.
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
