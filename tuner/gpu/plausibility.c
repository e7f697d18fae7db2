// See plausibility.h.
#include "tuner/gpu/plausibility.h"

#include "tuner/gpu/ceilings.h"

static void read_sheet(struct workload *w)
{
    const struct cuda_info *info = cuda_info(w->cuda);
    int boost = nvml_max_clock(w->machine->nvml);
    struct peak_attributes attributes = {.sm_count = info->sm_count,
                                         .clock_mhz = boost > info->clock_mhz ? boost : info->clock_mhz,
                                         .memory_clock_mhz = info->memory_clock_mhz,
                                         .memory_bus_bits = info->memory_bus_bits,
                                         .l2_bytes = info->l2_bytes > 0 ? info->l2_bytes : 0};
    attributes.compute = text_architecture(info->arch);
    peaks_of_device(&w->peaks.figures, &attributes);
    w->peaks.known = PEAKS_OF_SHEET;
}

static int measure(struct workload *w, struct error *err)
{
    struct error why;
    autojson json_t *ceilings = json_object();
    int failed = ceilings_measure(w, NULL, ceilings, &why);
    w->peaks.known = failed ? PEAKS_UNAVAILABLE : PEAKS_MEASURED;
    if (failed)
        fprintf(stderr, "times are not checked against the device's peaks: the ceilings cannot be measured: %s\n",
                why.message);
    else
        peaks_raise(&w->peaks.figures, ceilings);
    if (failed != CUDA_CRASHED) return 0;
    *err = why;
    return failed;
}

// Infinite if a peak is unknown, 0 if nothing is known about the problem.
static double least_time(struct workload *w, const struct device_problem *p, struct error *why)
{
    struct operation_least least = {0};
    error_set(why, "nothing is known about it");
    if (!w->operation || !w->operation->least || p->unbounded) return 0;
    w->operation->least(&p->operation, &least);
    if (w->peaks.known == PEAKS_UNKNOWN) read_sheet(w);
    return peaks_least_time(&w->peaks.figures, &least, &w->settings.measure, &w->settings.verify, why);
}

int plausibility_check(struct workload *w, size_t problem, double time, enum trial_status *status, struct error *reason,
                       struct error *err)
{
    *status = STATUS_OK;
    while (w->peaks.known != PEAKS_UNAVAILABLE) {
        struct error why;
        double least = least_time(w, &w->problems[problem], &why);
        if (!peaks_refuse(time, least, why.message, reason)) return 0;
        if (w->peaks.known == PEAKS_MEASURED) {
            *status = STATUS_IMPLAUSIBLE;
            return 0;
        }
        int failed = measure(w, err);
        if (failed) return failed;
    }
    return 0;
}

int plausibility_trust(struct workload *w, size_t problem, const char *library, double time, struct error *err)
{
    enum trial_status status;
    struct error reason;
    int failed = plausibility_check(w, problem, time, &status, &reason, err);
    if (failed || status == STATUS_OK) return failed;
    w->problems[problem].unbounded = true;
    fprintf(stderr,
            "problem %s: times are not checked against the device's peaks, since %s is faster than they allow: %s\n",
            w->problems[problem].name, library, reason.message);
    return 0;
}

const struct least_time *plausibility_least(struct workload *w, size_t *count, struct arena *memory)
{
    struct least_time *list = arena_new(memory, w->problem_count * sizeof *list);
    for (size_t k = 0; w->operation && k < w->problem_count; k++) {
        struct error why;
        if (!w->problems[k].tune) continue;
        double seconds = least_time(w, &w->problems[k], &why);
        list[(*count)++] =
            (struct least_time){(int)k, isfinite(seconds) ? seconds : NAN, arena_copy(memory, why.message)};
    }
    return list;
}
