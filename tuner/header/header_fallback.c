// See header_fallback.h.
#include "tuner/header/header_fallback.h"

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"

// The static shared memory, as the compiler reports it.
static int64_t static_bytes(const struct trial *trial, const char *stage)
{
    for (size_t i = 0; i < trial->stage_count; i++)
        if (!strcmp(trial->stages[i].name, stage) && trial->stages[i].shared_static > 0)
            return trial->stages[i].shared_static;
    return 0;
}

// Checks that the fallback was verified on every problem and that its shared memory, static included, is small enough.
static int check(const struct job *job, const struct trial *trial, struct error *err)
{
    if (!trial) return error_set(err, "it has not been measured yet; sweetspot tune measures it");
    if (trial->status != STATUS_OK)
        return error_set(err, "it failed: %s%s%s", status_name(trial->status), *trial->reason ? ": " : "",
                         trial->reason);
    if (trial->problem_count < job->problem_count) return error_set(err, "it was measured on other problems");
    for (size_t p = 0; p < job->problem_count && job->verify.enabled; p++)
        if (isnan(trial->problems[p].error)) return error_set(err, "it was not verified on %s", job->problems[p].name);
    for (size_t s = 0; s < job->stage_count; s++) {
        int64_t bytes;
        size_t problem;
        if (job_fallback_shared(job, s, &bytes, &problem, err)) return -1;
        bytes += static_bytes(trial, job->stages[s].name);
        if (bytes > JOB_FALLBACK_SHARED)
            return error_set(err, "stage '%s' takes %" PRId64 " bytes of shared memory, more than %d",
                             job->stages[s].name, bytes, JOB_FALLBACK_SHARED);
    }
    return 0;
}

// The times that the selector of several kernels uses.
static void add_times(json_t *section)
{
    json_t *times = json_array(), *problem;
    size_t i;
    json_array_foreach(json_object_get(section, "problems"), i, problem)
    {
        struct interval time = json_get_interval(problem, "time");
        if (isfinite(time.value))
            json_array_append_new(
                times, json_pack("{s:O, s:f}", "sizes", json_object_get(problem, "sizes"), "time", time.value));
    }
    json_object_set_new(section, "times", times);
}

json_t *fallback_section(const struct job *job, const struct environment *environment, const struct trial *trial,
                         const char *prefix, struct error *err)
{
    if (check(job, trial, err)) return NULL;
    json_t *section = header_section(job, environment, trial, NULL, 0, NULL, prefix, err);
    if (!section) return NULL;
    json_object_set_new(section, "verified_on", json_string(environment->device));
    json_object_set_new(section, "device", json_string("FALLBACK"));
    json_object_set_new(section, "arch", json_string(""));
    json_object_set_new(section, "fallback", json_true());
    json_object_del(section, "counters"); // of another device
    if (job->objective == OBJECTIVE_EACH) add_times(section);
    return section;
}
