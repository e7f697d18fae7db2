// The unchanged sweetspot-gpu on a fake device, whose memory is host memory (tests/fuzz/fake_cuda.h), with the worker's
// own kernels emulated (tests/emulation/worker_support.cpp). With it, whole jobs are tuned without a GPU
// (tests/test_emulated_gpu.c). $FAKE_NVML adds an NVML, whose energy counter grows at 300 W in real time, in steps of
// 98 ms. $FAKE_CUBLAS adds a cuBLAS (fake_cublas.h). Candidates are functions in this file, chosen by the kernel's
// name: FAMILY and FAMILY_none are correct, and FAMILY_FAULT has the fault FAULT. Time is virtual. A launch takes 1 ms
// if the candidate is correct and 0.5 ms if it is faulty, so that a faulty candidate would win.
#include <math.h>

#define FAKE_CUDA_EMULATES
#define FAKE_CUDA_WITH_LIBRARIES
#include "tests/fuzz/fake_cuda.h"

#include "tests/fake_cublas.h"
#include "tuner/base/clock.h"
#include "tuner/base/entropy.h"

#define main gpu_main
#include "tuner/gpu/main_gpu.c" // NOLINT: includes the source for its static functions
#undef main

int emulate_support(const char *name, const unsigned grid[3], unsigned block, void **args);

static double now; // s

#define FLOATS(i) (*(float **)args[i])
#define LONG(i) ((long)*(int64_t *)args[i])
#define HAS(text) (!strcmp(fault, text))

// y += a * x
static void axpy(void **args, const char *fault)
{
    const long n = LONG(0);
    const float a = *(const float *)args[1];
    float *x = FLOATS(2), *y = FLOATS(3);
    if (HAS("aligned")) x = (float *)((uintptr_t)x & ~(uintptr_t)255); // as if addresses were multiples of 256
    for (long i = 0; i < n; i++) y[i] += a * x[i];
    for (long i = n; HAS("stray") && i % 4; i++) y[i] = 0;
    if (HAS("input")) x[n / 2] = 0;
}

// Reduces n numbers. A module variable counts blocks, and the last of the four blocks adds up all results.
static void reduce(void **args, const char *fault, bool squares)
{
    const float *x = FLOATS(0);
    const long n = LONG(1), end = HAS("past") ? (n + 3) / 4 * 4 : n;
    float *partial = FLOATS(2), *out = FLOATS(3);
    unsigned *count = fake_variable("counter");
    double total = HAS("adds") ? (double)*out : 0;
    for (long b = 0; b < 4; b++) {
        double sum = 0;
        for (long i = b; i < end; i += 4) sum += squares ? (double)x[i] * x[i] : (double)x[i];
        partial[b] = (float)sum;
        if (++*count % 4 || (HAS("forgets") && *count > 4)) continue;
        for (long k = 0; k < 4; k++) total += (double)partial[k];
        if (!HAS("forgets")) *count = 0;
        *out = (float)(squares ? sqrt(total) : total);
    }
}

static void sum(void **args, const char *fault)
{
    reduce(args, fault, false);
}

static void nrm2(void **args, const char *fault)
{
    reduce(args, fault, true);
}

// Keeps the first answer after a module is loaded, and returns it for all data with the same first number and size.
static float kept_answer[1 << 16];
struct kept {
    float first;
    long size;
};

static bool is_kept(const char *fault, float first, float *y, long size)
{
    const struct kept *k = fake_variable("kept");
    if (!HAS("keeps") || k->size != size || k->first != first) return false;
    memcpy(y, kept_answer, (size_t)size * sizeof *y);
    return true;
}

static void keep(float first, const float *y, long size)
{
    struct kept *k = fake_variable("kept");
    if (k->size || size > 1 << 16) return;
    memcpy(kept_answer, y, (size_t)size * sizeof *y);
    *k = (struct kept){first, size};
}

static void softmax(void **args, const char *fault)
{
    const float *x = FLOATS(0);
    float *y = FLOATS(1);
    const int rows = *(const int *)args[2], cols = *(const int *)args[3];
    if (is_kept(fault, x[0], y, (long)rows * cols)) return;
    for (int i = 0; i < (HAS("rest") ? rows / 2 * 2 : rows); i++) {
        const float *from = x + (long)i * cols;
        float most = HAS("shift") ? 0 : -INFINITY;
        double all = 0;
        for (int j = 0; j < cols && !HAS("shift"); j++) most = fmaxf(most, from[j]);
        for (int j = 0; j < cols; j++) all += (double)expf(from[j] - most);
        for (int j = 0; j < cols; j++) y[(long)i * cols + j] = (float)((double)expf(from[j] - most) / all);
    }
    keep(x[0], y, (long)rows * cols);
}

// Doubles y in place.
static void twice(void **args, const char *fault)
{
    float *y = FLOATS(0);
    const float first = y[0];
    if (is_kept(fault, first, y, LONG(1))) return;
    for (long i = 0; i < LONG(1); i++) y[i] *= 2;
    keep(first, y, LONG(1));
}

// The fault `large` gives wrong results for large inputs.
static void power(void **args, const char *fault)
{
    const float *x = FLOATS(0);
    float *y = FLOATS(1);
    for (long i = 0; i < LONG(2); i++) y[i] = HAS("large") && x[i] > 2 ? 0 : powf(x[i], 20);
}

// Square matrices.
static void gemm(void **args, const char *fault)
{
    const float *a = FLOATS(0), *b = FLOATS(1);
    float *c = FLOATS(2);
    const long n = *(const int *)args[3];
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < (HAS("short") ? n - 1 : n); k++) sum += (double)a[i * n + k] * b[k * n + j];
            c[i * n + j] = (float)sum;
        }
}

// y[i][j] = 2 x[i][j] + x[1][j], for kernels that get all buffers as arguments, and for kernels that get them through a
// struct and a buffer of addresses. The last of these addresses is null.
static void rows_direct(const float *x, float *y, long rows, long cols)
{
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < cols; j++) y[i * cols + j] = 2 * x[i * cols + j] + x[cols + j];
}

static void direct(void **args, const char *fault)
{
    (void)fault;
    rows_direct(FLOATS(0), FLOATS(1), LONG(2), LONG(3));
}

static void rows(void **args, const char *fault)
{
    const struct {
        int rows;
        const float *shift;
        float *y;
        long cols;
    } *p = args[0];
    const float **list = *(const float ***)args[1], **kept = fake_variable("kept");
    if (HAS("keeps")) { // uses an address from the first launch
        if (!*kept) *kept = list[0];
        list[0] = *kept;
    }
    if (list[p->rows]) rows_direct(p->shift, p->y, 1, 1); // never true, because the last address is null
    for (long i = 0; i < p->rows; i++)
        for (long j = 0; j < p->cols; j++) p->y[i * p->cols + j] = 2 * list[i][j] + p->shift[j];
    if (HAS("writes")) list[p->rows] = p->y;
}

// One stage makes a table, t = 2 * x, another stage clears y, and the kernel adds the table to y.
static void table(void **args, const char *fault)
{
    const float *x = FLOATS(0);
    float *t = FLOATS(1);
    (void)fault;
    for (long i = 0; i < LONG(2); i++) t[i] = 2 * x[i];
}

static void add_table(void **args, const char *fault)
{
    float *t = FLOATS(0), *y = FLOATS(1);
    for (long i = 0; i < LONG(2); i++) y[i] += t[i];
    if (HAS("spoils")) t[0] = 1;
}

static const struct {
    const char *family;
    void (*run)(void **args, const char *fault);
} candidates[] = {{"axpy", axpy},     {"sum", sum},     {"nrm2", nrm2},         {"softmax", softmax},
                  {"twice", twice},   {"power", power}, {"gemm", gemm},         {"rows", rows},
                  {"direct", direct}, {"table", table}, {"addition", add_table}};

// NVML --------------------------------------------------------------------------------------------------------------

static int succeed(void)
{
    return 0;
}

static int find_device(const char *uuid, void **device)
{
    *device = (void *)(uintptr_t)uuid;
    return 0;
}

static int read_clock(void *device, int which, unsigned *value)
{
    *value = 1755;
    return !device || which != 1;
}

static int read_reasons(void *device, unsigned long long *value)
{
    *value = 4; // the power limit
    return !device;
}

static int read_energy(void *device, unsigned long long *millijoules)
{
    *millijoules = 29400 * (unsigned long long)(clock_now() / 0.098);
    return !device;
}

typedef void any_function(void);
static const struct {
    const char *name;
    any_function *function;
} functions[] = {{"cublasGetProperty", (any_function *)fake_version},
                 {"cublasGetStatusString", (any_function *)fake_words},
                 {"cublasCreate_v2", (any_function *)succeed},
                 {"cublasDestroy_v2", (any_function *)succeed},
                 {"cublasSetStream_v2", (any_function *)succeed},
                 {"cublasSetWorkspace_v2", (any_function *)succeed},
                 {"cublasSetMathMode", (any_function *)succeed},
                 {"cublasLtCreate", (any_function *)succeed},
                 {"cublasLtDestroy", (any_function *)succeed},
                 {"cublasLtMatmulDescCreate", (any_function *)succeed},
                 {"cublasLtMatmulDescDestroy", (any_function *)succeed},
                 {"cublasLtMatmulDescSetAttribute", (any_function *)succeed},
                 {"cublasLtMatrixLayoutCreate", (any_function *)fake_layout},
                 {"cublasLtMatrixLayoutDestroy", (any_function *)succeed},
                 {"cublasLtMatmulPreferenceCreate", (any_function *)succeed},
                 {"cublasLtMatmulPreferenceSetAttribute", (any_function *)succeed},
                 {"cublasLtMatmulPreferenceDestroy", (any_function *)succeed},
                 {"cublasLtMatmulAlgoGetHeuristic", (any_function *)fake_find},
                 {"cublasLtMatmulAlgoConfigGetAttribute", (any_function *)fake_attribute},
                 {"cublasLtMatmul", (any_function *)fake_multiply},
                 {"nvmlDeviceGetHandleByUUID", (any_function *)find_device},
                 {"nvmlDeviceGetClockInfo", (any_function *)read_clock},
                 {"nvmlDeviceGetMaxClockInfo", (any_function *)read_clock},
                 {"nvmlDeviceGetCurrentClocksEventReasons", (any_function *)read_reasons},
                 {"nvmlDeviceGetTotalEnergyConsumption", (any_function *)read_energy},
                 {"nvmlInit_v2", (any_function *)succeed},
                 {"nvmlShutdown", (any_function *)succeed}};

void *library_open(const char *name, bool toolkit, bool global, struct error *err)
{
    (void)toolkit, (void)global;
    if (getenv("FAKE_NVML") && !strcmp(name, "libnvidia-ml.so.1")) return &now;
    if (getenv("FAKE_CUBLAS") && !strncmp(name, "libcublas", strlen("libcublas"))) return fake_clock = &now;
    error_set(err, "%s is not there", name);
    return NULL;
}

// Replaces all other functions of the library; every call fails.
static int fail(void)
{
    return 1;
}

int library_find(void *library, const struct library_symbol *symbols, size_t count, void *table, struct error *err)
{
    (void)library, (void)err;
    for (size_t i = 0; i < count; i++) {
        ((any_function **)table)[i] = (any_function *)fail;
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
            if (!strcmp(symbols[i].name, functions[k].name)) ((any_function **)table)[i] = functions[k].function;
    }
    return 0;
}

static void launch(void **args)
{
    const size_t family = strcspn(fake_launched, "_");
    const char *fault = fake_launched[family] ? fake_launched + family + 1 : "none";
    if (emulate_support(fake_launched, fake_geometry.grid, fake_geometry.block[0], args)) return;
    now += (HAS("none") ? 1e-3 : 0.5e-3) * (1 + 0.01 * entropy_unit()); // no two samples are the same
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (strlen(candidates[i].family) == family && !strncmp(fake_launched, candidates[i].family, family)) {
            candidates[i].run(args, fault);
            return;
        }
    if (!strncmp(fake_launched, "ceiling", family)) return;
    fprintf(stderr, "tests/emulated_gpu.c has no kernel '%s'\n", fake_launched);
    _exit(EXIT_USAGE);
}

int cuda_event_create(struct cuda_event **out, struct error *err)
{
    *out = memory_try(2, sizeof now, err); // the time at which it was recorded, and the number of queries since then
    return *out ? 0 : -1;
}

void cuda_event_destroy(struct cuda_event *event)
{
    free(event);
}

int cuda_event_record(struct cuda *c, struct cuda_event *event, struct error *err)
{
    (void)c, (void)err;
    *(double *)event = now;
    ((double *)event)[1] = 0;
    return 0;
}

int cuda_event_happened(struct cuda_event *event, bool *happened, struct error *err)
{
    (void)err;
    *happened = ((double *)event)[1]++ > 0;
    return 0;
}

int cuda_event_seconds(struct cuda_event *from, struct cuda_event *to, double *seconds, struct error *err)
{
    (void)err;
    *seconds = *(double *)to - *(double *)from;
    return 0;
}

int main(int argc, char **argv)
{
    fake_kernel = launch;
    return gpu_main(argc, argv);
}
