// See ceilings.h. The fastest of several launches counts: a ceiling is what was reached once; or, on request, the rate
// that lasts.
#include "tuner/gpu/ceilings.h"

#include "tuner/base/base.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/protocol.h"

enum { LAUNCHES = 12, WARM_UP_LAUNCHES = 200 };
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
    for (int i = 0; i < count && !failed; i++)
        failed = ceiling_kernels_launch(g->w->ceilings, which, &g->memory, amount, err);
    if (!failed) failed = cuda_event_record(g->w->cuda, g->to, err);
    if (!failed) g->reading = nvml_read_quickly(g->w->machine->nvml); // while it is at work
    if (!failed) failed = cuda_sync(g->w->cuda, err);
    return failed ? failed : cuda_event_seconds(g->w->cuda, g->from, g->to, seconds, err);
}

static int fastest(struct ceiling_context *g, enum execution_unit_id which, double *rate, double *launch_time,
                   struct error *err)
{
    double seconds = INFINITY, amount = 0;
    int failed = 0;
    for (int i = 0; i < LAUNCHES && !failed; i++) {
        double one;
        failed = timed(g, which, 1, &one, &amount, err);
        if (!failed && i >= 2 && one < seconds) seconds = one; // the first ones warm up
    }
    *rate = amount / seconds;
    *launch_time = seconds;
    return failed;
}

// The rate at the clock that lasts: after two parts of the time the power limit has lowered it, and the third counts.
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

// Which pipes the request names; without "pipes" those that have kernels in every job.
static int read_pipes(const json_t *request, int compute, bool wanted[UNIT_COUNT], struct error *err)
{
    const json_t *names = json_object_get(request, "pipes"), *name;
    size_t i;
    for (i = 0; i < UNIT_COUNT && !names; i++)
        wanted[i] = execution_units[i].key && !execution_units[i].macro && pipe_exists(&execution_units[i], compute);
    json_array_foreach((json_t *)(uintptr_t)names, i, name)
    {
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
    if (!(failed = cuda_event_create(w->cuda, &g.from, err))) failed = cuda_event_create(w->cuda, &g.to, err);
    while (!failed && (failed = cuda_alloc(w->cuda, m->bytes, &m->address, err)) == CUDA_MEMORY &&
           m->bytes > (size_t)64 << 20) {
        m->bytes /= 2;
        failed = 0;
    }
    if (!failed) failed = cuda_zero(w->cuda, m->address, m->bytes, err);
    for (size_t i = 0; i < UNIT_COUNT && !failed; i++)
        if (wanted[i])
            failed = measure_one(&g, (enum execution_unit_id)i, json_get_bool(request, "lasting", false), answer, err);
    if (failed != CUDA_CRASHED) cuda_free(w->cuda, m->address);
    if (g.from) cuda_event_destroy(w->cuda, g.from);
    if (g.to) cuda_event_destroy(w->cuda, g.to);
    if (!failed) json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    return failed;
}

int ceilings_warm_up(struct workload *w, struct error *err)
{
    double unused;
    int failed = 0;
    for (int i = 0; i < WARM_UP_LAUNCHES && !failed; i++) {
        failed = ceiling_kernels_launch(w->ceilings, UNIT_FP32, &(struct ceiling_memory){0}, &unused, err);
        if (!failed) failed = support_flush(w->support, err);
    }
    return failed ? failed : cuda_sync(w->cuda, err);
}
