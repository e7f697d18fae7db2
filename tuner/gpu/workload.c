// See workload.h.
#include "tuner/gpu/workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/gpu/reference.h"

static int read_settings(struct workload *w, struct error *err)
{
    const json_t *verify = json_object_get(w->request, "verify"), *measure = json_object_get(w->request, "measure");
    w->seed = (uint64_t)json_get_integer(w->request, "seed", 1);
    return settings_read(verify_table, verify, &w->verify, err) ||
                   settings_read(measure_table, measure, &w->measure_settings, err)
               ? -1
               : 0;
}

// Says before allocating what would not fit: a buffer's size is a mistake in the job file, and deserves a clear
// message.
static int check_memory(const struct workload *w, const json_t *problems, struct error *err)
{
    struct cuda_info info;
    size_t i, total = 0;
    json_t *each;
    cuda_info(w->cuda, &info);
    json_array_foreach(problems, i, each)
    {
        size_t bytes = buffers_bytes(json_object_get(each, "buffers"), (size_t)w->verify.guard_bytes, err);
        if (!bytes) return error_prefix(err, "problem %s", json_get_string(each, "name", "?"));
        total += bytes;
        if (bytes > info.memory_bytes || total > info.memory_bytes)
            return error_set(
                err, "the buffers of problem %s need %.1f GiB (%.1f GiB with those before it), the device has %.1f",
                json_get_string(each, "name", "?"), (double)bytes / 0x1p30, (double)total / 0x1p30,
                (double)info.memory_bytes / 0x1p30);
    }
    return 0;
}

static int open_problem(struct workload *w, struct device_problem *p, const json_t *from, struct error *err)
{
    p->name = json_get_string(from, "name", "?");
    p->tune = json_get_bool(from, "tune", true);
    p->roles = json_object_get(from, "roles");
    int failed = buffers_open(&p->buffers, w->cuda, w->support, json_object_get(from, "buffers"),
                              (size_t)w->verify.guard_bytes, err);
    if (!failed && w->operation) failed = reference_bind(w, p, err);
    if (!failed) failed = reference_prepare(w, p, err);
    return failed;
}

static int open_support(struct workload *w, struct error *err)
{
    const char *path = json_get_string(w->request, "support", "");
    char *image = text_read_file(path, NULL);
    if (!image) return error_set(err, "cannot read the support kernels '%s': %s", path, strerror(errno));
    int failed = support_open(&w->support, w->cuda, image, err);
    w->context.support = w->support;
    free(image);
    return failed;
}

int workload_open(struct workload *w, struct machine *machine, json_t *request, struct error *err)
{
    const json_t *problems = json_object_get(request, "problems"), *reference = json_object_get(request, "reference");
    const char *nearest;
    int failed;
    memset(w, 0, sizeof *w);
    w->machine = machine;
    w->cuda = machine->cuda;
    w->request = json_incref(request);
    w->context.machine = machine;
    device_operations_init(&w->operations, &w->context);
    if (read_settings(w, err)) return -1;
    size_t count = json_array_size(problems);
    if (count < 1 || count > WORKLOAD_PROBLEMS_MAX)
        return error_set(err, "%zu problems; 1 to %d are possible", count, WORKLOAD_PROBLEMS_MAX);
    if (!strcmp(json_get_string(reference, "kind", "none"), "operation")) {
        const char *name = json_get_string(reference, "name", "");
        w->operation = operation_find(name, &nearest);
        if (!w->operation)
            return error_set(err, "no operation '%s'%s%s", name, nearest ? "; did you mean " : "",
                             nearest ? nearest : "");
    }
    w->problems = memory_try(count, sizeof *w->problems, err);
    if (!w->problems) return -1;
    void *findings = NULL;
    if ((failed = check_memory(w, problems, err)) || (failed = open_support(w, err)) ||
        (failed = measure_open(&w->measure, w->cuda, w->support, machine->nvml, &w->measure_settings, err)) ||
        (failed = cuda_host_alloc(w->cuda, count * sizeof *w->findings, &findings, err)))
        return failed;
    w->findings = findings;
    w->events = memory_try(2 * count + 1, sizeof *w->events, err);
    if (!w->events) return -1;
    for (size_t i = 0; i < 2 * count + 1; i++)
        if ((failed = cuda_event_create(w->cuda, &w->events[i], err))) return failed;
    for (w->problem_count = 0; w->problem_count < count;) {
        struct device_problem *p = &w->problems[w->problem_count++];
        if ((failed = open_problem(w, p, json_array_get(problems, w->problem_count - 1), err)))
            return error_prefix(err, "problem %s", p->name), failed;
        w->tuned_count += p->tune;
    }
    return workload_fill(w, w->seed, err);
}

void workload_release(struct workload *w)
{
    for (size_t i = 0; w->events && i < 2 * json_array_size(json_object_get(w->request, "problems")) + 1; i++)
        cuda_event_destroy(w->cuda, w->events[i]);
    free(w->events);
    for (size_t i = 0; i < w->problem_count; i++) {
        buffers_release(&w->problems[i].buffers);
        cuda_free(w->cuda, w->problems[i].results);
    }
    free(w->problems);
    if (w->cuda) {
        device_operations_free_scratch(&w->context);
        cuda_host_free(w->cuda, w->findings);
    }
    measure_close(w->measure);
    support_close(w->support);
    json_decref(w->request);
    memset(w, 0, sizeof *w);
}

int workload_fill(struct workload *w, uint64_t seed, struct error *err)
{
    w->seed = seed;
    for (size_t i = 0; i < w->problem_count; i++) {
        struct device_problem *p = &w->problems[i];
        int failed = buffers_fill(&p->buffers, seed * 0x9e3779b97f4a7c15u + i, err);
        if (!failed) failed = reference_compute(w, i, err);
        if (failed) {
            error_prefix(err, "problem %s", p->name);
            return failed;
        }
    }
    return 0;
}

int workload_mend(struct workload *w, bool *damaged, struct error *err)
{
    int failed = 0;
    *damaged = false;
    // Two rounds over the same findings: what is filled in, then what is expected.
    for (int round = 0; round < 2 && !failed; round++) {
        for (size_t k = 0; k < w->problem_count && !failed; k++) {
            struct device_problem *p = &w->problems[k];
            failed = cuda_zero(w->cuda, p->buffers.findings, sizeof w->findings[0], err);
            if (!failed && round == 0) failed = buffers_check(&p->buffers, err);
            for (size_t i = 0; i < p->buffers.count && !failed && round == 1; i++) {
                size_t n = (size_t)(p->buffers.list[i].view.rows * p->buffers.list[i].view.cols);
                uint64_t to = p->buffers.findings + i * sizeof(struct verify_finding);
                if (p->bound[i].expected) failed = support_checksum(w->support, p->bound[i].expected, n * 8, to, err);
                if (!failed && p->bound[i].scale)
                    failed = support_checksum(w->support, p->bound[i].scale, n * sizeof(float), to, err);
            }
            if (!failed)
                failed = cuda_download(w->cuda, w->findings[k], p->buffers.findings, sizeof w->findings[0], err);
        }
        if (!failed) failed = cuda_sync(w->cuda, err);
        for (size_t k = 0; k < w->problem_count && !failed; k++) {
            const struct device_problem *p = &w->problems[k];
            for (size_t i = 0; i < p->buffers.count; i++) {
                const struct device_buffer *b = &p->buffers.list[i];
                uint64_t sum = round ? p->checksum[i] : b->direction == DIRECTION_IN ? b->checksum : 0;
                if (w->findings[k][i].checksum != sum || w->findings[k][i].guard_bad) *damaged = true;
            }
        }
    }
    return !failed && *damaged ? workload_fill(w, w->seed, err) : failed;
}
