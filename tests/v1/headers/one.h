/* one: the fastest configuration that sweetspot found. Written by sweetspot; do not edit.
 *
 * Fake GPU (sm_90a): X=2,MODE=plain
 *   nvcc 13.1.2 makes a SLOWER kernel of the template: 1.020 [1.020, 1.020] times the time below. Launch the binary that was measured, not the template.
 *
 * `sweetspot header JOB --embed` writes a header with the measured binary and functions that launch it. Without it, compile the template:
 *     #define ONE_DEFINE_PARAMETERS           the parameters under the template's own names too
 *     #include "one_best.h"
 *     #include "kernel.cu"
 *     #define ONE_UNDEFINE_PARAMETERS         undefines them, so that another job can follow
 *     #include "one_best.h"
 * with the options ONE_OPTIONS_NVCC or ONE_OPTIONS_NVRTC, and launch ONE_ENTRY with one_geometry(sizes), or call one_launch(stream, sizes, buffers).
 * A compiled template may differ from the measured kernel in registers and code.
 *
 *   scale: entry scale; its arguments
 *      0  f32  x, in
 *      1  f32  y, out
 *      2  i32  N = N: one_argument_2(sizes)
 *
 * The contract: what a program must do, and all that a launch relies on. Buffers contain, before every launch:
 *     x      your input; verified with random numbers from -1 to 1
 *     y      anything
 * Variables of the module keep what the last launch left. Addresses are multiples of ONE_ALIGNMENT; timed launches used
 * multiples of 256, as allocators return them. Launches that use the same buffers, or the same loaded module, must run one
 * after another: concurrent launches were not tested. one_supported(sizes) says which sizes are accepted: the verified range. Only the
 * sizes of the job's problems were verified.
 * Define ONE_DEVICE as one of the devices (-DONE_DEVICE=FAKE_GPU); the default is the first.
 * The build stops when the template has changed since, if the build passes the template's hash:
 *   -DSWEETSPOT_SOURCE_HASH=$(sweetspot header JOB --hash)
 */
#ifndef SWEETSPOT_ONE_BEST_H
#define SWEETSPOT_ONE_BEST_H

#ifndef ONE_DEVICE
#define ONE_DEVICE FAKE_GPU
#endif
#define ONE_CHOICE_3(name, number, ...) number
#define ONE_CHOICE_2(name) ONE_CHOICE_3(name, 0, 0)
#define ONE_CHOICE_1(device) ONE_CHOICE_2(ONE_DEVICE_##device)
#define ONE_CHOICE(device) ONE_CHOICE_1(device)
#define ONE_DEVICE_FAKE_GPU 0, 1
#if ONE_CHOICE(ONE_DEVICE) == 1
#define ONE_SECTION 0
#else
#error "ONE_DEVICE must be one of: FAKE_GPU"
#endif

/* Text parameters are string literals here; macros with the template's own names expand to unquoted text. */
#define ONE_X 2
#define ONE_MODE "plain"
#define ONE_DEVICE_NAME "Fake GPU"
#define ONE_ARCH "sm_90a"
#define ONE_COMPUTE 90
#define ONE_FALLBACK 0
#define ONE_CONFIGURATION "X=2,MODE=plain"
#define ONE_TEMPLATE "kernel.cu"
#define ONE_STD "c++17"
#define ONE_OPTIONS_NVRTC "--gpu-architecture=sm_90a -std=c++17"
#define ONE_OPTIONS_NVCC "-gencode=arch=compute_90a,code=sm_90a -std=c++17"
#define ONE_ALIGNMENT 16
#define ONE_ENTRY "scale"
#define ONE_BUFFERS(X) X(in, f32, x) X(out, f32, y)
#define ONE_SOURCE_HASH_TEXT "d748a8c878ed8ddb6d6bb176abde0a7a"
#define ONE_SOURCE_HASH 0xd748a8c878ed8ddbULL

#if defined(SWEETSPOT_SOURCE_HASH) && (SWEETSPOT_SOURCE_HASH + 0) != ONE_SOURCE_HASH
#error "the template has changed since one was tuned: tune it again, or check with `sweetspot header JOB --check FILE`"
#endif

#if defined(__CUDACC_RTC__)
#define ONE_FUNCTION static inline __host__ __device__ __attribute__((unused))
#elif defined(__CUDACC__)
#define ONE_FUNCTION static inline __host__ __device__
#else
#define ONE_FUNCTION static inline
#endif

// The quotient rounded towards plus infinity; 0 if there is none of 64 bits.
ONE_FUNCTION long long one_fn_ceil_div(long long a, long long b)
{
    return b && (b != -1 || a >= -9223372036854775807LL) ? a / b + (a % b != 0 && (a < 0) == (b < 0)) : 0;
}

// A member of a launch's shape. A number that has more than 32 bits becomes the largest one, which cannot be launched.
ONE_FUNCTION unsigned one_fn_narrow(long long a)
{
    return a < 0 || a > 4294967295LL ? 4294967295U : (unsigned)a;
}

/* One launch. overlap: 1 if sweetspot launched it with programmatic stream serialization
 * (cudaLaunchAttributeProgrammaticStreamSerialization) after the previous stage. used: 0 if this stage is not part of
 * the configuration. The sections are numbered in the order of this file. */
struct one_launch_shape { unsigned grid[3], block[3], cluster[3], shared_bytes; int cooperative, overlap, used; };

ONE_FUNCTION struct one_launch_shape one_geometry_on(int section, long long size_N)
{
    struct one_launch_shape g = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0};
    (void)size_N;
    if (section == 0) { /* Fake GPU */
        g.grid[0] = one_fn_narrow(one_fn_ceil_div(size_N, 128)); g.grid[1] = 1; g.grid[2] = 1;
        g.block[0] = 128; g.block[1] = 1; g.block[2] = 1;
        g.cluster[0] = 1; g.cluster[1] = 1; g.cluster[2] = 1;
        g.shared_bytes = 128; g.cooperative = 0; g.overlap = 0; g.used = 1;
    }
    return g;
}
ONE_FUNCTION struct one_launch_shape one_geometry(long long size_N) { return one_geometry_on(ONE_SECTION, size_N); }
#define ONE_CHOICE_MEMBER(function, member) ONE_FUNCTION unsigned function(long long size_N) { return one_geometry(size_N).member; }
ONE_CHOICE_MEMBER(one_grid_x, grid[0]) ONE_CHOICE_MEMBER(one_grid_y, grid[1]) ONE_CHOICE_MEMBER(one_grid_z, grid[2])
ONE_CHOICE_MEMBER(one_block_x, block[0]) ONE_CHOICE_MEMBER(one_block_y, block[1]) ONE_CHOICE_MEMBER(one_block_z, block[2])
ONE_CHOICE_MEMBER(one_cluster_x, cluster[0]) ONE_CHOICE_MEMBER(one_cluster_y, cluster[1]) ONE_CHOICE_MEMBER(one_cluster_z, cluster[2])
ONE_CHOICE_MEMBER(one_shared_bytes, shared_bytes)
#undef ONE_CHOICE_MEMBER
/* Argument 2, N (i32). */
ONE_FUNCTION long long one_argument_2_on(int section, long long size_N) { (void)size_N; return section == 0 ? size_N : 0; }
ONE_FUNCTION long long one_argument_2(long long size_N) { return one_argument_2_on(ONE_SECTION, size_N); }

/* The smallest size of each buffer, in bytes. */
ONE_FUNCTION long long one_bytes_x_on(int section, long long size_N) { (void)size_N; return section == 0 ? 4 * (1) * (size_N) : 0; }
ONE_FUNCTION long long one_bytes_x(long long size_N) { return one_bytes_x_on(ONE_SECTION, size_N); }
ONE_FUNCTION long long one_bytes_y_on(int section, long long size_N) { (void)size_N; return section == 0 ? 4 * (1) * (size_N) : 0; }
ONE_FUNCTION long long one_bytes_y(long long size_N) { return one_bytes_y_on(ONE_SECTION, size_N); }
/* Whether each size is between the smallest and the largest that were verified, and a multiple of their greatest common divisor. */
ONE_FUNCTION int one_supported_on(int section, long long size_N) { (void)size_N; return section == 0 ? 1 && size_N >= 1000 && size_N <= 65536 && size_N % 8 == 0 : 0; }
ONE_FUNCTION int one_supported(long long size_N) { return one_supported_on(ONE_SECTION, size_N); }

/* The template's launch, once both are included; cudaErrorInvalidValue: sizes that are not supported. */
#if defined(__CUDACC__) && defined(__cplusplus) && !defined(__CUDACC_RTC__) && !defined(ONE_DRIVER_API) && !defined(ONE_RUNTIME_API)
static inline cudaError_t one_enqueue(const void *kernel, cudaStream_t stream, const struct one_launch_shape *g,
                                       void **arguments)
{
    const unsigned *grid = g->grid, *block = g->block, *cluster = g->cluster;
    const unsigned blocks = cluster[0] * cluster[1] * cluster[2]; // of a cluster
    cudaLaunchAttribute attributes[2];
    cudaLaunchConfig_t config = {dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), g->shared_bytes,
                                 stream, attributes, blocks > 1};
    const int shared = (int)g->shared_bytes;
    cudaError_t status = cudaSuccess;
    if (shared > 49152) status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (status == cudaSuccess && blocks > 8)
        status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (status != cudaSuccess) return status;
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {cluster[0], cluster[1], cluster[2]};
    attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
    attributes[config.numAttrs].val.cooperative = 1;
    config.numAttrs += g->cooperative != 0;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

template <typename Kernel>
static inline cudaError_t one_launch_kernel(Kernel *kernel, cudaStream_t stream, long long size_N, const float *buffer_x, float *buffer_y)
{
    const struct one_launch_shape g = one_geometry(size_N);
    int argument_2 = (int)one_argument_2(size_N);
    void *arguments[] = {(void *)&buffer_x, (void *)&buffer_y, (void *)&argument_2};
    if (!one_supported(size_N)) return cudaErrorInvalidValue;
    return one_enqueue((const void *)kernel, stream, &g, arguments);
}
#define one_launch(...) one_launch_kernel(scale, __VA_ARGS__)
#endif

/* The evidence.
 *
 * Fake GPU (sm_90a, driver 1.2.3, fake 1.0), 2026-11-28
 *   X=2,MODE=plain
 *   decided in a final of 20 rounds
 *   N=65536  1.251 ms [1.250, 1.253]
 *   N=65536  125.0 mJ at 300 W and 1755 MHz, flush and restore (5%) subtracted
 *   0.879 [0.878, 0.880] times the speed of cublas; largest error 3.00 times its, root mean square 2.00 times
 *   built by nvcc 13.1.2 with ONE_OPTIONS_NVCC: 1.020 [1.020, 1.020] times the time of fake 1.0's build: slower
 *     N=65536  1.251 ms [1.250, 1.252] by NVRTC, 1.276 ms [1.275, 1.278] by nvcc
 *   tied with X=2,MODE=wide
 *   verified on N=65536; N=1000; largest error 0.1 of what is allowed
 *   520 launches judged; a fault rarer than 3/520 is not excluded
 *   scale: 32 registers, 0 bytes spilled, 0 bytes of static shared memory, 1002 bytes of code, occupancy 1
 *   scale, counters on the first problem: icache_misses 102, occupancy 50
 * SECONDS: median; for several problems the job's objective. RATIO_x: x's time over ours. NVCC_RATIO: the time of
 * nvcc's build over that of NVRTC's, which SECONDS is. LOW, HIGH: 95% intervals. ERROR: the largest error over the
 * bound. */
#define ONE_DRIVER "1.2.3"
#define ONE_COMPILER "fake 1.0"
#define ONE_DATE "2026-11-28"
#define ONE_DECIDED_IN_FINAL 1
#define ONE_FINAL_ROUNDS 20
#define ONE_VERIFIED_PROBLEMS 2
#define ONE_ERROR 0.1
#define ONE_LAUNCHES_JUDGED 520
#define ONE_SECONDS 0.00125125
#define ONE_SECONDS_LOW 0.0012503125
#define ONE_SECONDS_HIGH 0.0012525
#define ONE_RATIO_CUBLAS 0.879121318
#define ONE_RATIO_CUBLAS_LOW 0.878243513
#define ONE_RATIO_CUBLAS_HIGH 0.87978022
#define ONE_NVCC "nvcc 13.1.2"
#define ONE_NVCC_VERDICT "slower"
#define ONE_NVCC_RATIO 1.02
#define ONE_NVCC_RATIO_LOW 1.02
#define ONE_NVCC_RATIO_HIGH 1.02
#define ONE_NVCC_SECONDS 0.00127595625
#define ONE_NVCC_SECONDS_LOW 0.001275
#define ONE_NVCC_SECONDS_HIGH 0.00127755

#ifndef __CUDACC_RTC__ /* on the host only */
/* The measured times of each device and problem. size: in the order of the arguments; seconds, low, high: median and 95% interval, or 0. */
struct one_result { const char *device; int compute, section; const char *problem; long long size[1]; double seconds, low, high; };

static inline const struct one_result *one_results(int *count)
{
    static const struct one_result results[] = {
        {"Fake GPU", 90, 0, "N=65536", {65536}, 0.00125125, 0.0012503125, 0.0012525},
    };
    *count = (int)(sizeof results / sizeof results[0]);
    return results;
}

/* The section for the device with this name (cudaDeviceProp.name), otherwise for one with this compute capability
 * (10 * major + minor), otherwise the fallback's; -1 if there is none. */
static inline int one_section_of(const char *device, int compute)
{
    int count, i, k, found = -1;
    const struct one_result *results = one_results(&count);
    for (i = 0; i < count; i++) {
        for (k = 0; device[k] && device[k] == results[i].device[k]; k++) { }
        if (device[k] == results[i].device[k]) return results[i].section;
        if (found < 0 && compute > 0 && compute == results[i].compute) found = results[i].section;
    }
    return found < 0 ? -1 : found;
}

#endif /* on the host only */
#endif /* SWEETSPOT_ONE_BEST_H */

#if defined(ONE_DEFINE_PARAMETERS) && !defined(ONE_PARAMETERS_DEFINED)
#define ONE_PARAMETERS_DEFINED
#define X 2
#define MODE plain
#endif
#if defined(ONE_UNDEFINE_PARAMETERS) && defined(ONE_PARAMETERS_DEFINED)
#undef ONE_UNDEFINE_PARAMETERS
#undef ONE_DEFINE_PARAMETERS
#undef ONE_PARAMETERS_DEFINED
#undef X
#undef MODE
#endif
#if defined(__CUDA_ARCH__) && defined(ONE_DEFINE_PARAMETERS) && !defined(ONE_ANY_ARCHITECTURE)
#if ONE_COMPUTE * 10 == 900 && (__CUDA_ARCH__ != 900 || !defined(__CUDA_ARCH_FEAT_SM90_ALL))
#warning "one: this section was tuned for sm_90a and is compiled for another architecture"
#endif
#endif

/* sweetspot-section {"version":2,"job":"one","template":"kernel.cu","source_hash":"d748a8c878ed8ddb6d6bb176abde0a7a","device":"Fake GPU","arch":"sm_90a","driver":"1.2.3","compiler":"fake 1.0","when":1795864231,"trial":3,"configuration":"X=2,MODE=plain","final":true,"rounds":20,"replayed":false,"ratios":[{"name":"cublas","ratio":[0.87912131780395253,0.87824351297405201,0.87978021978021981],"error_max":3.0,"error_rms":2.0}],"ties":["X=2,MODE=wide"],"problems":[{"name":"N=65536","sizes":[65536],"time":[0.00125125,0.0012503125000000001,0.0012525000000000001],"energy":"125.0 mJ at 300 W and 1755 MHz, flush and restore (5%) subtracted"}],"verified":["N=65536","N=1000"],"error":0.10000000000000001,"launches_judged":520,"sizes_verified":0,"values":[],"seconds":0.0012512500000000004,"sizes":["N"],"parameters":[{"name":"X","kind":"integer","value":2},{"name":"MODE","kind":"text","value":"plain"}],"defines":[],"stages":[{"name":"scale","entry":"scale","cooperative":false,"grid":["one_fn_ceil_div(size_N, 128)","1","1"],"block":["128","1","1"],"cluster":["1","1","1"],"arguments":[{"kind":"buffer","name":"x","type":"f32","direction":"in"},{"kind":"buffer","name":"y","type":"f32","direction":"out"},{"kind":"scalar","name":"N","type":"i32","from":"N","value":"size_N"}],"shared":"128","when":"1","overlap":"0","registers":32,"spills":0,"shared_static":0,"code_bytes":1002,"occupancy":1.0,"counters":"icache_misses 102, occupancy 50"}],"options":[],"includes":0,"alignment":16,"supported":[{"least":1000,"most":65536,"multiple":8}],"buffers":[{"name":"x","type":"f32","direction":"in","bytes":"4 * (1) * (size_N)","before":"your input; verified with random numbers from -1 to 1"},{"name":"y","type":"f32","direction":"out","bytes":"4 * (1) * (size_N)","before":"anything"}],"nvcc":{"compiler":"nvcc 13.1.2","verdict":"slower","reason":"","ratio":[1.02,1.02,1.02],"error":0.10000000000000001,"problems":[{"problem":"N=65536","nvrtc":[0.0012509374999999999,0.00125,0.0012524999999999999],"nvcc":[0.0012759562499999998,0.0012750000000000001,0.0012775499999999999],"ratio":[1.02,1.02,1.02]}]}} */
