// See work_check.h.
#include "tuner/setup/work_check.h"

#include "tuner/base/base.h"
#include "tuner/setup/work_bounds.h"

static const double slack = 1.05, beyond_caches = 0x1p29; // bytes, of any device's L2 and more

// The fastest pipe's, whichever the kernel uses. NaN unless all were measured: ceilings of an older version lack
// wgmma's.
static double fastest_ceiling(const json_t *ceilings)
{
    double most = NAN;
    if (json_object_get(ceilings, execution_units[UNIT_MMA_BF16].key) &&
        !json_object_get(ceilings, execution_units[UNIT_MMA_S8].key))
        return NAN;
    for (int i = 0; i < UNIT_COUNT; i++)
        if (execution_units[i].key && execution_units[i].arithmetic)
            most = fmax(most, json_get_number(ceilings, execution_units[i].key, NAN));
    return most;
}

static double byte_ceiling(const struct job *job, double bytes, const json_t *ceilings)
{
    if (!job->measure.cold || bytes < beyond_caches) return work_ceiling(ceilings, &execution_units[UNIT_L2]);
    return fmax(work_ceiling(ceilings, &execution_units[UNIT_READ]),
                work_ceiling(ceilings, &execution_units[UNIT_COPY]));
}

// A launch of some milliseconds runs at a higher clock than the one that lasts.
static double at_most(const json_t *ceilings, const struct work_bounds *w)
{
    const char *keys[] = {w->pipe->key ? w->pipe->key : execution_units[w->pipe->either[0]].key,
                          w->pipe->key ? w->pipe->key : execution_units[w->pipe->either[1]].key};
    double most = w->ceiling;
    for (int i = 0; i < 2; i++)
        most =
            fmax(most, json_get_number(json_object_get(json_object_get(ceilings, "lasting"), keys[i]), "first", NAN));
    return most;
}

bool work_is_doubtful(const struct job *job, size_t problem, double time, const json_t *ceilings, struct error *warning)
{
    struct work_bounds w;
    if (work_bounds(job, problem, ceilings, &w, NULL)) return false;
    double most_bytes = byte_ceiling(job, w.bytes, ceilings), amount = w.pipe ? w.operations : w.flops,
           most = w.pipe ? at_most(ceilings, &w) : fastest_ceiling(ceilings);
    bool many = amount / time > slack * most, many_bytes = w.bytes / time > slack * most_bytes;
    if (!many && !many_bytes) return false;
    error_set(warning,
              "%s:%d: 'work' says %.4g %s%s%s%s of problem %s, which in %.4g s are %.3g a second, and the device was "
              "measured to do %.3g: correct 'work', or check that the kernel does all of it",
              job->path, job_location(job, "work").line, many ? amount : w.bytes, many ? "operations" : "bytes",
              many && w.pipe ? " of the execution unit '" : "", many && w.pipe ? w.pipe->name : "",
              many && w.pipe ? "'" : "", job->problems[problem].name, time, (many ? amount : w.bytes) / time,
              many ? most : most_bytes);
    return true;
}
