// See ceilings.h. A ceiling is the rate of the fastest of several launches or, on request, the sustained rate. The
// first launch reads and loads the cubin of kernels/ceilings.cu, so a worker that measures no ceilings never loads it.
#include "tuner/gpu/ceilings.h"

#include <errno.h>

#include "tuner/base/execution_unit.h"
#include "tuner/base/protocol.h"

enum { BLOCK = 256, WIDE_BLOCK = 512, GROUP = 128, CHAINS = 16, EACH = 8 * WIDE_BLOCK, SINK_BYTES = 16 };
enum { STEPS = 4096, LOOPS = 64, L2_LOOPS = 256, SHARED_LOOPS = 1024, WGMMA_LOOPS = 256 };

// A kernel's arguments, and what it does.
enum kernel_form { FLOATS, DOUBLES, INTEGERS, READ, COPY, L2, SHARED, MMA, WGMMA };

#define MMA_OPERATIONS(depth) (2.0 * 16 * 8 * (depth))     // per instruction of a warp
#define WGMMA_OPERATIONS(depth) (2.0 * 64 * 256 * (depth)) // per instruction of a warpgroup
static const struct {
    const char *symbol;
    enum kernel_form form;
    int length;  // steps of a chain (a multiple of 32), or loops
    double each; // operations per step or instruction
} kernels[UNIT_COUNT] = {
    [UNIT_FP32] = {"ceiling_fma", FLOATS, STEPS, 2},
    [UNIT_FP64] = {"ceiling_fp64", DOUBLES, STEPS, 2},
    [UNIT_INT_MAD] = {"ceiling_int_mad", INTEGERS, STEPS, 2},
    [UNIT_INT_ADD] = {"ceiling_int_add", INTEGERS, STEPS, 2},
    [UNIT_DPX] = {"ceiling_dpx", INTEGERS, STEPS, 2},
    [UNIT_DPX_PAIRS] = {"ceiling_dpx_pairs", INTEGERS, STEPS, 4},
    [UNIT_READ] = {"ceiling_read", READ, 0, 0},
    [UNIT_COPY] = {"ceiling_copy", COPY, 0, 0},
    [UNIT_L2] = {"ceiling_l2", L2, L2_LOOPS, 0},
    [UNIT_SHARED] = {"ceiling_shared", SHARED, SHARED_LOOPS, 0},
    [UNIT_MMA_BF16] = {"ceiling_tensor_bf16", MMA, LOOPS, MMA_OPERATIONS(16)},
    [UNIT_MMA_F16] = {"ceiling_tensor_f16", MMA, LOOPS, MMA_OPERATIONS(16)},
    [UNIT_MMA_TF32] = {"ceiling_tensor_tf32", MMA, LOOPS, MMA_OPERATIONS(8)},
    [UNIT_MMA_FP64] = {"ceiling_tensor_fp64", MMA, LOOPS, MMA_OPERATIONS(16)},
    [UNIT_MMA_S8] = {"ceiling_tensor_int8", MMA, LOOPS, MMA_OPERATIONS(32)},
    [UNIT_MMA_FP8] = {"ceiling_tensor_fp8", MMA, LOOPS, MMA_OPERATIONS(32)},
    [UNIT_WGMMA_BF16] = {"ceiling_wgmma_bf16", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(16)},
    [UNIT_WGMMA_F16] = {"ceiling_wgmma_f16", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(16)},
    [UNIT_WGMMA_TF32] = {"ceiling_wgmma_tf32", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(8)},
    [UNIT_WGMMA_S8] = {"ceiling_wgmma_int8", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(32)},
    [UNIT_WGMMA_FP8] = {"ceiling_wgmma_fp8", WGMMA, WGMMA_LOOPS, WGMMA_OPERATIONS(32)},
};

struct ceilings {
    struct cuda *cuda;
    const char *path;
    struct cuda_module *module; // NULL: not loaded yet
    struct cuda_kernel *kernel[UNIT_COUNT];
    int compute;   // 90 for sm_90a
    unsigned wide; // blocks of BLOCK threads that fill the device
    uint64_t sink; // what kernels pretend to write to
};

int ceilings_open(struct ceilings **out, struct cuda *cuda, const char *path, struct error *err)
{
    struct ceilings *k = memory_try(1, sizeof *k, err);
    *out = k;
    if (!k) return -1;
    const struct cuda_info *info = cuda_info(cuda);
    k->cuda = cuda;
    k->path = path;
    k->compute = text_architecture(info->arch);
    k->wide = (unsigned)info->sm_count * 8;
    return 0;
}

void ceilings_close(struct ceilings *k)
{
    if (!k) return;
    cuda_free(k->sink);
    cuda_module_unload(k->module);
    free(k);
}

static int load(struct ceilings *k, struct error *err)
{
    autofree char *image = text_read_file(k->path, NULL);
    if (!image) return error_set(err, "cannot read the ceilings' kernels '%s': %s", k->path, strerror(errno));
    int failed = k->sink ? 0 : cuda_alloc(SINK_BYTES, &k->sink, err);
    if (!failed) failed = cuda_module_load(image, &k->module, err);
    if (failed) error_prefix(err, "the ceilings' kernels");
    return failed;
}

// The memory that a launch may use, `bytes` of it, and the size of the device's L2.
struct ceiling_memory {
    uint64_t address;
    size_t bytes, l2_bytes;
};

// Enqueues a launch of the unit's kernel; only the units for memory and the L2 use the memory of `m`. *amount: the
// number of operations of the launch (two for a multiply-add), or of its bytes (for a copy, both reads and writes). The
// kernels of mma.sync and wgmma use the shapes that execution_unit.c names.
static int launch(struct ceilings *k, enum execution_unit_id which, const struct ceiling_memory *m, double *amount,
                  struct error *err)
{
    float f32[2] = {0.999f, 0.001f};
    double f64[2] = {0.999, 0.001}, each = kernels[which].each;
    uint32_t u32[2] = {0x9e3779b1u, 0x85ebca6bu};
    enum kernel_form form = kernels[which].form;
    bool chains = form <= INTEGERS;
    void *a = form == FLOATS    ? (void *)f32
              : form == DOUBLES ? (void *)f64
                                : (void *)u32,
         *b = (char *)a + (form == DOUBLES ? sizeof *f64 : sizeof *f32);
    // Only a quarter of the L2 is read, because it consists of two halves that keep copies of each other's lines.
    size_t bytes = form == COPY ? m->bytes / 2 : form == L2 ? m->l2_bytes / 4 : m->bytes;
    uint64_t from = m->address, to = from + bytes;
    int64_t n = (int64_t)(bytes / 16);
    int length = kernels[which].length, failed = k->module ? 0 : load(k, err);
    struct cuda_kernel **kernel = &k->kernel[which];
    void *args[4] = {&length, &k->sink};
    unsigned blocks = k->wide, block = BLOCK;
    if (form == READ || form == COPY) {
        memcpy(args, (void *[]){&from, &n, form == COPY ? &to : &k->sink}, 3 * sizeof *args);
        block = WIDE_BLOCK;
        blocks = (unsigned)((n + EACH - 1) / EACH);
        *amount = (form == COPY ? 2 : 1) * 16 * (double)n;
    } else if (form == L2 || form == SHARED) {
        if (form == L2) memcpy(args, (void *[]){&from, &n, &length, &k->sink}, sizeof args);
        block = WIDE_BLOCK;
        blocks = k->wide / 2; // 4 blocks of 512 threads fill a multiprocessor
        *amount = 16.0 * 8 * length * block * blocks;
    } else if (chains) {
        memcpy(args, (void *[]){a, b, &length, &k->sink}, sizeof args);
        *amount = each * CHAINS * length * BLOCK * k->wide;
    } else if (form == MMA) {
        if (which == UNIT_MMA_FP64 && k->compute < 90) each = 2.0 * 8 * 8 * 4;
        *amount = each * 8 * 16 * length * BLOCK / 32 * k->wide;
    } else { // two warpgroups per multiprocessor, since their sums take most registers
        block = GROUP;
        blocks = k->wide / 4;
        *amount = each * 4 * length * blocks;
    }
    struct cuda_geometry g = {.grid = {blocks, 1, 1}, .block = {block, 1, 1}, .cluster = {1, 1, 1}};
    if (!failed && !*kernel) failed = cuda_module_kernel(k->module, kernels[which].symbol, kernel, err);
    return failed ? failed : cuda_launch(k->cuda, *kernel, &g, args, err);
}

// For units whose ceiling depends on the clock, several launches are timed together: events took up to 7% of one
// launch.
enum { LAUNCHES = 12, TOGETHER = 4, WARM_UP_LAUNCHES = 200 };
static const double lasting_part = 0.1; // s

struct ceiling_context {
    struct workload *w;
    struct ceiling_memory memory;
    struct cuda_event *from, *to;
    struct nvml_reading reading; // of the last launches
};

// The seconds between two events around `count` launches.
static int timed(struct ceiling_context *g, enum execution_unit_id which, int count, double *seconds, double *amount,
                 struct error *err)
{
    int failed = cuda_event_record(g->w->cuda, g->from, err);
    for (int i = 0; i < count && !failed; i++) failed = launch(g->w->ceilings, which, &g->memory, amount, err);
    if (!failed) failed = cuda_event_record(g->w->cuda, g->to, err);
    if (!failed) g->reading = nvml_read(g->w->machine->nvml, false); // while it is running
    if (!failed) failed = cuda_sync(g->w->cuda, err);
    return failed ? failed : cuda_event_seconds(g->from, g->to, seconds, err);
}

static int fastest(struct ceiling_context *g, enum execution_unit_id which, double *rate, double *launch_time,
                   struct error *err)
{
    double seconds = INFINITY, amount = 0;
    int failed = 0, count = execution_units[which].lasts ? TOGETHER : 1;
    for (int i = 0; i < LAUNCHES && !failed; i++) {
        double all;
        failed = timed(g, which, count, &all, &amount, err);
        if (!failed && i >= 2) seconds = fmin(seconds, all / count); // the first ones warm up
    }
    *rate = amount / seconds;
    *launch_time = seconds;
    return failed;
}

// The rate at the sustained clock. The power limit lowers the clock during the first two parts, and the rate is that of
// the third part.
static int lasting(struct ceiling_context *g, enum execution_unit_id which, double launch_time, double *rate,
                   struct error *err)
{
    int count = (int)fmin(fmax(lasting_part / launch_time, 1), 1e5);
    double seconds = NAN, amount = 0;
    int failed = 0;
    for (int part = 0; part < 3 && !failed; part++) failed = timed(g, which, count, &seconds, &amount, err);
    *rate = count * amount / seconds;
    return failed;
}

static int measure_one(struct ceiling_context *g, enum execution_unit_id which, bool lasts, json_t *answer,
                       struct error *err)
{
    double rate, launch_time, first;
    int failed = fastest(g, which, &rate, &launch_time, err);
    if (!failed && lasts && execution_units[which].lasts) {
        first = rate;
        failed = lasting(g, which, launch_time, &rate, err);
        if (!failed && !json_object_get(answer, "lasting")) json_object_set_new(answer, "lasting", json_object());
        if (!failed)
            json_object_set_new(json_object_get(answer, "lasting"), execution_units[which].key,
                                json_pack("{s:o, s:f, s:f}", "clock_mhz",
                                          g->reading.clock_mhz ? json_integer(g->reading.clock_mhz) : json_null(),
                                          "first", first, "seconds", 3 * lasting_part));
    }
    if (!failed) json_object_set_new(answer, execution_units[which].key, json_real(rate));
    return failed;
}

// Finds the units that the request names; without "pipes", these are the units that have kernels in every job.
static int read_pipes(const json_t *request, int compute, bool wanted[UNIT_COUNT], struct error *err)
{
    const json_t *names = json_object_get(request, "pipes"), *name;
    size_t i;
    for (i = 0; i < UNIT_COUNT && !names; i++)
        wanted[i] = execution_units[i].key && !execution_units[i].macro && pipe_exists(&execution_units[i], compute);
    json_array_foreach((json_t *)(uintptr_t)names, i, name) {
        const struct execution_unit *p = pipe_find(json_is_string(name) ? json_string_value(name) : "", NULL);
        if (!p)
            return error_set(err, "unknown execution unit '%s'", json_is_string(name) ? json_string_value(name) : "?");
        if ((p = pipe_on(p, compute))) wanted[p - execution_units] = true;
    }
    return 0;
}

int ceilings_measure(struct workload *w, const json_t *request, json_t *answer, struct error *err)
{
    bool wanted[UNIT_COUNT] = {false};
    const struct cuda_info *info = cuda_info(w->cuda);
    struct ceiling_context g = {
        .w = w, .memory = {0, (size_t)2 << 30, info->l2_bytes > 0 ? (size_t)info->l2_bytes : (size_t)4 << 20}};
    struct ceiling_memory *m = &g.memory;
    int failed;
    if (read_pipes(request, text_architecture(info->arch), wanted, err)) return -1;
    if (!(failed = cuda_event_create(&g.from, err))) failed = cuda_event_create(&g.to, err);
    while (!failed && (failed = cuda_alloc(m->bytes, &m->address, err)) == CUDA_MEMORY && m->bytes > (size_t)64 << 20) {
        m->bytes /= 2;
        failed = 0;
    }
    if (!failed) failed = cuda_zero(w->cuda, m->address, m->bytes, err);
    for (size_t i = 0; i < UNIT_COUNT && !failed; i++)
        if (wanted[i])
            failed = measure_one(&g, (enum execution_unit_id)i, json_get_bool(request, "lasting", false), answer, err);
    if (failed != CUDA_CRASHED) cuda_free(m->address);
    if (g.from) cuda_event_destroy(g.from);
    if (g.to) cuda_event_destroy(g.to);
    if (!failed) json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    return failed;
}

int ceilings_warm_up(struct workload *w, struct error *err)
{
    double unused;
    int failed = 0;
    for (int i = 0; i < WARM_UP_LAUNCHES && !failed; i++) {
        failed = launch(w->ceilings, UNIT_FP32, &(struct ceiling_memory){0}, &unused, err);
        if (!failed) failed = support_flush(w->support, err);
    }
    return failed ? failed : cuda_sync(w->cuda, err);
}
