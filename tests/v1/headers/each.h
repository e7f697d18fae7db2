/* each: the fastest configuration that sweetspot found. Written by sweetspot; do not edit.
 *
 * Golden GPU (sm_90a), kernel 0 of 2: X=1,MODE=plain
 * Golden GPU (sm_90a), kernel 1 of 2: X=2,MODE=plain
 *
 * `sweetspot header JOB --embed` writes a header with the measured binary and functions that launch it. Without it, compile the template:
 *     #define EACH_DEFINE_PARAMETERS           the parameters under the template's own names too
 *     #include "each_best.h"
 *     #include "kernel.cu"
 *     #define EACH_UNDEFINE_PARAMETERS         undefines them, so that another job can follow
 *     #include "each_best.h"
 * with the options EACH_OPTIONS_NVCC or EACH_OPTIONS_NVRTC, and launch EACH_ENTRY with each_geometry(sizes).
 * A compiled template may differ from the measured kernel in registers and code.
 *
 *   scale: entry scale; its arguments
 *      0  f32  x, in
 *      1  f32  total, out
 *      2  i32  N = N: each_argument_2(sizes)
 *
 * The contract: what a program must do, and all that a launch relies on. Buffers contain, before every launch:
 *     x      your input; verified with random numbers from -1 to 1
 *     total  anything
 * Variables of the module keep what the last launch left. Addresses are multiples of EACH_ALIGNMENT; timed launches used
 * multiples of 256, as allocators return them. Launches that use the same buffers, or the same loaded module, must run one
 * after another: concurrent launches were not tested. each_supported(sizes) says which sizes are accepted: the verified range. NOTHING
 * was verified here.
 * Define EACH_DEVICE as one of the devices (-DEACH_DEVICE=GOLDEN_GPU); the default is the first.
 * A problem's kernel takes at most 0.0% longer than the fastest known one.
 * On the problems that were held back from the choice of kernels (1): at most 33.3%.
 * There are several kernels, each for some problems. Define EACH_KERNEL as 0, 1 ... EACH_KERNELS - 1 and include the template once for
 * each, in a separate file, with its entry renamed. each_select(sizes) returns the one to launch (-1: none), and
 * ..._geometry_on(EACH_FIRST_SECTION + kernel, sizes) returns its launch geometry.
 * The build stops when the template has changed since, if the build passes the template's hash:
 *   -DSWEETSPOT_SOURCE_HASH=$(sweetspot header JOB --hash)
 */
#ifndef SWEETSPOT_EACH_BEST_H
#define SWEETSPOT_EACH_BEST_H

#ifndef EACH_DEVICE
#define EACH_DEVICE GOLDEN_GPU
#endif
#define EACH_CHOICE_3(name, number, ...) number
#define EACH_CHOICE_2(name) EACH_CHOICE_3(name, 0, 0)
#define EACH_CHOICE_1(device) EACH_CHOICE_2(EACH_DEVICE_##device)
#define EACH_CHOICE(device) EACH_CHOICE_1(device)
#define EACH_DEVICE_GOLDEN_GPU 0, 1
#if EACH_CHOICE(EACH_DEVICE) == 1
#define EACH_FIRST_SECTION 0
#define EACH_KERNELS 2
#else
#error "EACH_DEVICE must be one of: GOLDEN_GPU"
#endif
#ifndef EACH_KERNEL
#define EACH_KERNEL 0
#endif
#if EACH_KERNEL < 0 || EACH_KERNEL >= EACH_KERNELS
#error "EACH_KERNEL must be from 0 to EACH_KERNELS - 1"
#endif
#define EACH_SECTION (EACH_FIRST_SECTION + EACH_KERNEL)

/* Text parameters are string literals here; macros with the template's own names expand to unquoted text. */
#if EACH_SECTION == 0
#define EACH_X 1
#define EACH_MODE "plain"
#define EACH_DEVICE_NAME "Golden GPU"
#define EACH_ARCH "sm_90a"
#define EACH_COMPUTE 90
#define EACH_FALLBACK 0
#define EACH_CONFIGURATION "X=1,MODE=plain"
#define EACH_TEMPLATE "kernel.cu"
#define EACH_STD "c++17"
#define EACH_OPTIONS_NVRTC "--gpu-architecture=sm_90a -std=c++17"
#define EACH_OPTIONS_NVCC "-gencode=arch=compute_90a,code=sm_90a -std=c++17"
#define EACH_ALIGNMENT 16
#define EACH_ENTRY "scale"
#define EACH_BUFFERS(X) X(in, f32, x) X(out, f32, total)
#define EACH_SOURCE_HASH_TEXT ""
#define EACH_SOURCE_HASH 0x0ULL
#elif EACH_SECTION == 1
#define EACH_X 2
#define EACH_MODE "plain"
#define EACH_DEVICE_NAME "Golden GPU"
#define EACH_ARCH "sm_90a"
#define EACH_COMPUTE 90
#define EACH_FALLBACK 0
#define EACH_CONFIGURATION "X=2,MODE=plain"
#define EACH_TEMPLATE "kernel.cu"
#define EACH_STD "c++17"
#define EACH_OPTIONS_NVRTC "--gpu-architecture=sm_90a -std=c++17"
#define EACH_OPTIONS_NVCC "-gencode=arch=compute_90a,code=sm_90a -std=c++17"
#define EACH_ALIGNMENT 16
#define EACH_ENTRY "scale"
#define EACH_BUFFERS(X) X(in, f32, x) X(out, f32, total)
#define EACH_SOURCE_HASH_TEXT ""
#define EACH_SOURCE_HASH 0x0ULL
#endif

#if defined(SWEETSPOT_SOURCE_HASH) && (SWEETSPOT_SOURCE_HASH + 0) != EACH_SOURCE_HASH
#error "the template has changed since each was tuned: tune it again, or check with `sweetspot header JOB --check FILE`"
#endif

#if defined(__CUDACC_RTC__)
#define EACH_FUNCTION static inline __host__ __device__ __attribute__((unused))
#elif defined(__CUDACC__)
#define EACH_FUNCTION static inline __host__ __device__
#else
#define EACH_FUNCTION static inline
#endif

// The quotient rounded towards plus infinity; 0 if there is none of 64 bits.
EACH_FUNCTION long long each_fn_ceil_div(long long a, long long b)
{
    return b && (b != -1 || a >= -9223372036854775807LL) ? a / b + (a % b != 0 && (a < 0) == (b < 0)) : 0;
}

// A member of a launch's shape. A number that has more than 32 bits becomes the largest one, which cannot be launched.
EACH_FUNCTION unsigned each_fn_narrow(long long a)
{
    return a < 0 || a > 4294967295LL ? 4294967295U : (unsigned)a;
}

// The larger of two sizes over the smaller; sizes below 1 count as 1.
EACH_FUNCTION double each_fn_ratio(long long a, long long b)
{
    const double x = a > 1 ? (double)a : 1, y = b > 1 ? (double)b : 1;
    return x > y ? x / y : y / x;
}

/* One launch. overlap: 1 if sweetspot launched it with programmatic stream serialization
 * (cudaLaunchAttributeProgrammaticStreamSerialization) after the previous stage. used: 0 if this stage is not part of
 * the configuration. The sections are numbered in the order of this file. */
struct each_launch_shape { unsigned grid[3], block[3], cluster[3], shared_bytes; int cooperative, overlap, used; };

EACH_FUNCTION struct each_launch_shape each_geometry_on(int section, long long size_N)
{
    struct each_launch_shape g = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0};
    (void)size_N;
    if (section == 0) { /* Golden GPU */
        g.grid[0] = each_fn_narrow(each_fn_ceil_div(size_N, 128)); g.grid[1] = 1; g.grid[2] = 1;
        g.block[0] = 128; g.block[1] = 1; g.block[2] = 1;
        g.cluster[0] = 1; g.cluster[1] = 1; g.cluster[2] = 1;
        g.shared_bytes = 0; g.cooperative = 0; g.overlap = 0; g.used = 1;
    }
    if (section == 1) { /* Golden GPU */
        g.grid[0] = each_fn_narrow(each_fn_ceil_div(size_N, 256)); g.grid[1] = 1; g.grid[2] = 1;
        g.block[0] = 128; g.block[1] = 1; g.block[2] = 1;
        g.cluster[0] = 1; g.cluster[1] = 1; g.cluster[2] = 1;
        g.shared_bytes = 0; g.cooperative = 0; g.overlap = 0; g.used = 1;
    }
    return g;
}
EACH_FUNCTION struct each_launch_shape each_geometry(long long size_N) { return each_geometry_on(EACH_SECTION, size_N); }
#define EACH_CHOICE_MEMBER(function, member) EACH_FUNCTION unsigned function(long long size_N) { return each_geometry(size_N).member; }
EACH_CHOICE_MEMBER(each_grid_x, grid[0]) EACH_CHOICE_MEMBER(each_grid_y, grid[1]) EACH_CHOICE_MEMBER(each_grid_z, grid[2])
EACH_CHOICE_MEMBER(each_block_x, block[0]) EACH_CHOICE_MEMBER(each_block_y, block[1]) EACH_CHOICE_MEMBER(each_block_z, block[2])
EACH_CHOICE_MEMBER(each_cluster_x, cluster[0]) EACH_CHOICE_MEMBER(each_cluster_y, cluster[1]) EACH_CHOICE_MEMBER(each_cluster_z, cluster[2])
EACH_CHOICE_MEMBER(each_shared_bytes, shared_bytes)
#undef EACH_CHOICE_MEMBER
/* Argument 2, N (i32). */
EACH_FUNCTION long long each_argument_2_on(int section, long long size_N) { (void)size_N; return section == 0 ? size_N : section == 1 ? size_N : 0; }
EACH_FUNCTION long long each_argument_2(long long size_N) { return each_argument_2_on(EACH_SECTION, size_N); }

/* The smallest size of each buffer, in bytes. */
EACH_FUNCTION long long each_bytes_x_on(int section, long long size_N) { (void)size_N; return section == 0 ? 4 * (1) * (size_N) : section == 1 ? 4 * (1) * (size_N) : 0; }
EACH_FUNCTION long long each_bytes_x(long long size_N) { return each_bytes_x_on(EACH_SECTION, size_N); }
EACH_FUNCTION long long each_bytes_total_on(int section, long long size_N) { (void)size_N; return section == 0 ? 4 * (1) * (1) : section == 1 ? 4 * (1) * (1) : 0; }
EACH_FUNCTION long long each_bytes_total(long long size_N) { return each_bytes_total_on(EACH_SECTION, size_N); }
/* Whether each size is between the smallest and the largest that were verified, and a multiple of their greatest common divisor. */
EACH_FUNCTION int each_supported_on(int section, long long size_N) { (void)size_N; return section == 0 ? 0 /* it was not verified */ : section == 1 ? 0 /* it was not verified */ : 0; }
EACH_FUNCTION int each_supported(long long size_N) { return each_supported_on(EACH_SECTION, size_N); }

/* The evidence.
 *
 * Golden GPU (sm_90a, driver 580.0, compiler (recorded)), 2026-11-28
 *   kernel 0 of 2: X=1,MODE=plain
 *   decided by 3 recorded times of each candidate
 *   replayed from a recording: nothing was measured here; the recording has no final
 *   source not recorded: it is unknown which version of the template was measured
 *   N=1000  10.00 us [9.90, 10.10]
 *   1.100 [1.061, 1.139] times the speed of cublas
 *   not verified here: replayed from a recording
 *   scale: 32 registers, 0 bytes spilled, 0 bytes of static shared memory, 1024 bytes of code, occupancy 1
 *   scale, counters on the first problem: dram_bytes 524288
 *
 * Golden GPU (sm_90a, driver 580.0, compiler (recorded)), 2026-11-28
 *   kernel 1 of 2: X=2,MODE=plain
 *   decided by 3 recorded times of each candidate
 *   replayed from a recording: nothing was measured here; the recording has no final
 *   source not recorded: it is unknown which version of the template was measured
 *   N=65536  200.0 us [198.0, 202.0]
 *   1.100 [1.061, 1.139] times the speed of cublas
 *   not verified here: replayed from a recording
 *   scale: 32 registers, 0 bytes spilled, 0 bytes of static shared memory, 1024 bytes of code, occupancy 1
 *   scale, counters on the first problem: dram_bytes 524288
 * SECONDS: median; for several problems the job's objective. RATIO_x: x's time over ours. NVCC_RATIO: the time of
 * nvcc's build over that of NVRTC's, which SECONDS is. LOW, HIGH: 95% intervals. ERROR: the largest error over the
 * bound. */
#if EACH_SECTION == 0
#define EACH_DRIVER "580.0"
#define EACH_COMPILER "compiler (recorded)"
#define EACH_DATE "2026-11-28"
#define EACH_DECIDED_IN_FINAL 1
#define EACH_FINAL_ROUNDS 3
#define EACH_VERIFIED_PROBLEMS 0
#define EACH_SECONDS 1e-05
#define EACH_SECONDS_LOW 9.9e-06
#define EACH_SECONDS_HIGH 1.01e-05
#define EACH_RATIO_CUBLAS 1.1
#define EACH_RATIO_CUBLAS_LOW 1.06060606
#define EACH_RATIO_CUBLAS_HIGH 1.13861386
#elif EACH_SECTION == 1
#define EACH_DRIVER "580.0"
#define EACH_COMPILER "compiler (recorded)"
#define EACH_DATE "2026-11-28"
#define EACH_DECIDED_IN_FINAL 1
#define EACH_FINAL_ROUNDS 3
#define EACH_VERIFIED_PROBLEMS 0
#define EACH_SECONDS 0.0002
#define EACH_SECONDS_LOW 0.000198
#define EACH_SECONDS_HIGH 0.000202
#define EACH_RATIO_CUBLAS 1.1
#define EACH_RATIO_CUBLAS_LOW 1.06060606
#define EACH_RATIO_CUBLAS_HIGH 1.13861386
#endif

#ifndef __CUDACC_RTC__ /* on the host only */
/* The measured times of each device and problem. size: in the order of the arguments; seconds, low, high: median and 95% interval, or 0. */
struct each_result { const char *device; int compute, section; const char *problem; long long size[1]; double seconds, low, high; };

static inline const struct each_result *each_results(int *count)
{
    static const struct each_result results[] = {
        {"Golden GPU", 90, 0, "N=1000", {1000}, 1e-05, 9.9e-06, 1.01e-05},
        {"Golden GPU", 90, 1, "N=65536", {65536}, 0.0002, 0.000198, 0.000202},
    };
    *count = (int)(sizeof results / sizeof results[0]);
    return results;
}

/* The section for the device with this name (cudaDeviceProp.name), otherwise for one with this compute capability
 * (10 * major + minor), otherwise the fallback's; -1 if there is none. */
static inline int each_section_of(const char *device, int compute)
{
    int count, i, k, found = -1;
    const struct each_result *results = each_results(&count);
    for (i = 0; i < count; i++) {
        for (k = 0; device[k] && device[k] == results[i].device[k]; k++) { }
        if (device[k] == results[i].device[k]) return results[i].section;
        if (found < 0 && compute > 0 && compute == results[i].compute) found = results[i].section;
    }
    return found < 0 ? -1 : found;
}

#endif /* on the host only */
#ifndef __CUDACC_RTC__
// The base-2 logarithm of the largest power of two, up to 8, that divides a size. Alignment matters because a kernel
// that loads 16 bytes at a time suits only some sizes.
EACH_FUNCTION int each_fn_alignment(long long size)
{
    return size % 8 == 0 ? 3 : size % 4 == 0 ? 2 : size % 2 == 0;
}

// The distance between two problems: the product of the ratios of their sizes, doubled for each size whose alignment
// differs. It is 1 if the sizes are equal.
EACH_FUNCTION double each_fn_distance(const long long *a, const long long *b, int sizes)
{
    double distance = 1;
    int i;
    for (i = 0; i < sizes; i++)
        distance *= each_fn_ratio(a[i], b[i]) * (each_fn_alignment(a[i]) == each_fn_alignment(b[i]) ? 1 : 2);
    return distance;
}

// The wave model. A kernel's time on a problem is expected to be proportional to the work per block times the number of
// waves: work / blocks * ceil(blocks / at_once), where the device holds `at_once` blocks at a time. If `blocks` is
// below 1, their number is unknown, and the time is taken to be proportional to the work.
EACH_FUNCTION double each_fn_relative_time(double work, double blocks, double at_once)
{
    double waves;
    if (!(work > 1)) work = 1;
    if (!(blocks >= 1)) return work;
    waves = blocks / at_once;
    if (waves < 9e15 && waves > (double)(long long)waves) waves = (double)(long long)waves + 1;
    return work / blocks * waves;
}

// The state of selecting the kernel that is expected to be the fastest on a problem. The kernels are considered one
// after another. A kernel's expected time is computed from the three nearest problems on which it was timed. Each of
// these times is scaled by the ratio of the relative times of the two problems; the expected time is their average,
// weighted by the inverse of the distance. On a problem where the kernel was timed, it is the measured time.
struct each_fn_selection {
    int kernel;                     // expected to be the fastest of those considered so far; -1: none
    double least;                   // its expected time, s
    int count;                      // nearest problems of the current kernel, nearest first
    double distance[3], seconds[3]; // for these problems; seconds scaled by the relative times
};

EACH_FUNCTION struct each_fn_selection each_fn_selection_begin(void)
{
    const struct each_fn_selection s = {-1, 0, 0, {0, 0, 0}, {0, 0, 0}};
    return s;
}

// Adds a problem on which the kernel was timed (`there`); `here` is the problem to select for.
EACH_FUNCTION void each_fn_selection_add(struct each_fn_selection * s, const long long *here, const long long *there, int sizes,
                                   double seconds, double relative_here, double relative_there)
{
    const double distance = each_fn_distance(here, there, sizes);
    int k;
    if (s->count == 3 && distance >= s->distance[2]) return;
    k = s->count < 3 ? s->count++ : 2;
    for (; k > 0 && s->distance[k - 1] > distance; k--) {
        s->distance[k] = s->distance[k - 1];
        s->seconds[k] = s->seconds[k - 1];
    }
    s->distance[k] = distance;
    s->seconds[k] = seconds * (relative_here / relative_there);
}

// Call this after adding all problems of a kernel. The kernel is selected if it is expected to be faster than all
// earlier ones.
EACH_FUNCTION void each_fn_selection_take(struct each_fn_selection * s, int kernel)
{
    const int count = s->count && s->distance[0] <= 1 ? 1 : s->count;
    double sum = 0, weights = 0;
    int k;
    for (k = 0; k < count; k++) {
        sum += s->seconds[k] / s->distance[k];
        weights += 1 / s->distance[k];
    }
    if (count && (s->kernel < 0 || sum / weights < s->least)) {
        s->kernel = kernel;
        s->least = sum / weights;
    }
    s->count = 0;
}

/* Whether a section's kernel supports a problem: it has a stage for it. */
static inline int each_can_on(int section, long long size_N)
{
    return each_geometry_on(section, size_N).used;
}

/* The section's relative time on these sizes. */
static inline double each_relative_time(int section, long long size_N)
{
    double work = 1, blocks = 0, at_once = 1;
    switch (section) {
    case 0: {
        work = (double)(size_N);
        const struct each_launch_shape g = each_geometry_on(section, size_N);
        if (g.used) blocks = (double)g.grid[0] * (double)g.grid[1] * (double)g.grid[2];
        at_once = 2112;
        break;
    }
    case 1: {
        work = (double)(size_N);
        const struct each_launch_shape g = each_geometry_on(section, size_N);
        if (g.used) blocks = (double)g.grid[0] * (double)g.grid[1] * (double)g.grid[2];
        at_once = 2112;
        break;
    }
    default: break;
    }
    return each_fn_relative_time(work, blocks, at_once);
}

/* Every kernel's median time on every problem that was not held back. */
struct each_time { int section; long long size[1]; double seconds; };
static inline const struct each_time *each_times(int *count)
{
    static const struct each_time times[] = {
        {0, {65536}, 0.0004},
        {0, {1000}, 1e-05},
        {1, {65536}, 0.0002},
        {1, {1000}, 2e-05},
    };
    *count = (int)(sizeof times / sizeof times[0]);
    return times;
}

/* The kernel (0 to EACH_KERNELS - 1) for a problem: of those that support it, the one expected to be the fastest (see
 * struct each_fn_selection). -1 if no kernel supports the problem, or a size is below 1. */
static inline int each_select_on(int first, int kernels, long long size_N)
{
    const long long size[] = {1, size_N};
    const int sizes = (int)(sizeof size / sizeof size[0]) - 1;
    int count, i, section;
    const struct each_time *times = each_times(&count);
    struct each_fn_selection selection = each_fn_selection_begin();
    for (i = 1; i <= sizes; i++)
        if (size[i] < 1) return -1;
    for (section = first; section < first + kernels; section++) {
        double here;
        if (!each_can_on(section, size_N)) continue;
        here = each_relative_time(section, size_N);
        for (i = 0; i < count; i++)
            if (times[i].section == section)
                each_fn_selection_add(&selection, size + 1, times[i].size, sizes, times[i].seconds, here,
                                      each_relative_time(section, times[i].size[0]));
        each_fn_selection_take(&selection, section - first);
    }
    return selection.kernel;
}

static inline int each_select(long long size_N) { return each_select_on(EACH_FIRST_SECTION, EACH_KERNELS, size_N); }
#endif

#endif /* SWEETSPOT_EACH_BEST_H */

#if defined(EACH_DEFINE_PARAMETERS) && !defined(EACH_PARAMETERS_DEFINED)
#define EACH_PARAMETERS_DEFINED
#if EACH_SECTION == 0
#define X 1
#define MODE plain
#elif EACH_SECTION == 1
#define X 2
#define MODE plain
#endif
#endif
#if defined(EACH_UNDEFINE_PARAMETERS) && defined(EACH_PARAMETERS_DEFINED)
#undef EACH_UNDEFINE_PARAMETERS
#undef EACH_DEFINE_PARAMETERS
#undef EACH_PARAMETERS_DEFINED
#undef X
#undef MODE
#endif
#if defined(__CUDA_ARCH__) && defined(EACH_DEFINE_PARAMETERS) && !defined(EACH_ANY_ARCHITECTURE)
#if EACH_COMPUTE * 10 == 900 && (__CUDA_ARCH__ != 900 || !defined(__CUDA_ARCH_FEAT_SM90_ALL))
#warning "each: this section was tuned for sm_90a and is compiled for another architecture"
#endif
#endif

/* sweetspot-section {"version":2,"job":"each","template":"kernel.cu","source_hash":"","device":"Golden GPU","arch":"sm_90a","driver":"580.0","compiler":"compiler (recorded)","when":1795867470,"trial":1,"configuration":"X=1,MODE=plain","final":true,"rounds":3,"replayed":true,"ratios":[{"name":"cublas","ratio":[1.0999999999999999,1.0606060606060606,1.1386138613861387],"error_max":null,"error_rms":null}],"ties":[],"stage":"scale","at_once":2112,"problems":[{"name":"N=1000","sizes":[1000],"time":[1.0000000000000001e-5,9.9000000000000001e-6,1.01e-5]}],"verified":[],"times":[{"sizes":[65536],"time":0.00040000000000000002},{"sizes":[1000],"time":1.0000000000000001e-5}],"regret":{"tuned":0.0,"held_back":0.33333333333333348,"held":1},"error":null,"launches_judged":0,"sizes_verified":0,"values":["scaled","zero","full"],"kernel":0,"kernels":2,"sizes":["N"],"parameters":[{"name":"X","kind":"integer","value":1},{"name":"MODE","kind":"text","value":"plain"}],"defines":[],"stages":[{"name":"scale","entry":"scale","cooperative":false,"grid":["each_fn_ceil_div(size_N, 128)","1","1"],"block":["128","1","1"],"cluster":["1","1","1"],"arguments":[{"kind":"buffer","name":"x","type":"f32","direction":"in"},{"kind":"buffer","name":"total","type":"f32","direction":"out"},{"kind":"scalar","name":"N","type":"i32","from":"N","value":"size_N"}],"shared":"0","when":"1","overlap":"0","registers":32,"spills":0,"shared_static":0,"code_bytes":1024,"occupancy":1.0,"counters":"dram_bytes 524288"}],"work":"size_N","options":[],"includes":0,"alignment":16,"buffers":[{"name":"x","type":"f32","direction":"in","bytes":"4 * (1) * (size_N)","before":"your input; verified with random numbers from -1 to 1"},{"name":"total","type":"f32","direction":"out","bytes":"4 * (1) * (1)","before":"anything"}],"recorded_rounds":0} */
/* sweetspot-section {"version":2,"job":"each","template":"kernel.cu","source_hash":"","device":"Golden GPU","arch":"sm_90a","driver":"580.0","compiler":"compiler (recorded)","when":1795867470,"trial":3,"configuration":"X=2,MODE=plain","final":true,"rounds":3,"replayed":true,"ratios":[{"name":"cublas","ratio":[1.0999999999999999,1.0606060606060606,1.1386138613861387],"error_max":null,"error_rms":null}],"ties":[],"stage":"scale","at_once":2112,"problems":[{"name":"N=65536","sizes":[65536],"time":[0.00020000000000000001,0.00019799999999999999,0.000202]}],"verified":[],"times":[{"sizes":[65536],"time":0.00020000000000000001},{"sizes":[1000],"time":2.0000000000000002e-5}],"regret":{"tuned":0.0,"held_back":0.33333333333333348,"held":1},"error":null,"launches_judged":0,"sizes_verified":0,"values":["scaled","zero","full"],"kernel":1,"kernels":2,"sizes":["N"],"parameters":[{"name":"X","kind":"integer","value":2},{"name":"MODE","kind":"text","value":"plain"}],"defines":[],"stages":[{"name":"scale","entry":"scale","cooperative":false,"grid":["each_fn_ceil_div(size_N, 256)","1","1"],"block":["128","1","1"],"cluster":["1","1","1"],"arguments":[{"kind":"buffer","name":"x","type":"f32","direction":"in"},{"kind":"buffer","name":"total","type":"f32","direction":"out"},{"kind":"scalar","name":"N","type":"i32","from":"N","value":"size_N"}],"shared":"0","when":"1","overlap":"0","registers":32,"spills":0,"shared_static":0,"code_bytes":1024,"occupancy":1.0,"counters":"dram_bytes 524288"}],"work":"size_N","options":[],"includes":0,"alignment":16,"buffers":[{"name":"x","type":"f32","direction":"in","bytes":"4 * (1) * (size_N)","before":"your input; verified with random numbers from -1 to 1"},{"name":"total","type":"f32","direction":"out","bytes":"4 * (1) * (1)","before":"anything"}],"recorded_rounds":0} */
