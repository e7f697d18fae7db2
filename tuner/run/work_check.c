// See work_check.h.
#include "tuner/run/work_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"

static const double slack = 1.05, beyond_caches = 0x1p29; // bytes, of any device's L2 and more

static double evaluate(const struct expr *expression, const int64_t *values)
{
    int64_t result;
    return expression && !expr_eval(expression, values, &result, NULL) ? (double)result : (double)NAN;
}

// The fastest pipe's, whichever the kernel uses. Ceilings that an older version measured lack wgmma's, and say nothing.
static double flop_ceiling(const json_t *ceilings)
{
    static const char ending[] = "flops_per_second";
    double most = NAN;
    const char *key;
    json_t *value;
    if (json_object_get(ceilings, "tensor_bf16_flops_per_second") &&
        !json_object_get(ceilings, "tensor_int8_flops_per_second"))
        return NAN;
    json_object_foreach((json_t *)(uintptr_t)ceilings, key, value)
    {
        size_t length = strlen(key);
        if (length >= sizeof ending - 1 && !strcmp(key + length - (sizeof ending - 1), ending))
            most = fmax(most, json_number_value(value));
    }
    return most;
}

static double byte_ceiling(const struct job *job, double bytes, const json_t *ceilings)
{
    if (!job->measure.cold || bytes < beyond_caches) return json_get_number(ceilings, "l2_bytes_per_second", NAN);
    return fmax(json_get_number(ceilings, "bytes_per_second", NAN),
                json_get_number(ceilings, "copy_bytes_per_second", NAN));
}

bool work_is_doubtful(const struct job *job, size_t problem, double time, const json_t *ceilings, struct error *warning)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    double flops = NAN, bytes = NAN;
    if (!job_problem_values(job, NULL, problem, values, NULL)) {
        flops = evaluate(job->flops, values);
        bytes = evaluate(job->bytes, values);
    }
    free(values);
    double most_flops = flop_ceiling(ceilings), most_bytes = byte_ceiling(job, bytes, ceilings);
    bool many_flops = flops / time > slack * most_flops, many_bytes = bytes / time > slack * most_bytes;
    if (!many_flops && !many_bytes) return false;
    error_set(
        warning,
        "%s:%d: 'work' says %.4g %s of problem %s, which in %.4g s are %.3g a second, and the device was measured "
        "to do %.3g: either 'work' or the kernel is not what the job is about",
        job->path, job->work_line, many_flops ? flops : bytes, many_flops ? "operations" : "bytes",
        job->problems[problem].name, time, (many_flops ? flops : bytes) / time, many_flops ? most_flops : most_bytes);
    return true;
}
