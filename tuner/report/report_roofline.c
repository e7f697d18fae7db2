// The roofline: the measured ceilings, and the places of candidates, winner and libraries under them on the first tuned
// problem.
//
// Operations are those of the pipe of the job's arithmetic. Bytes are those that device memory moved
// where they were counted, else the job's: then all candidates have the same intensity.
#include "tuner/base/base.h"
#include "tuner/report/report_parts.h"
#include "tuner/setup/work_bounds.h"

static double counted_bytes(const struct trial *trial)
{
    double bytes = 0;
    for (size_t k = 0; k < trial->counter_count; k++)
        if (trial->counters[k].problem == 0 && !strcmp(trial->counters[k].key, "dram_bytes"))
            bytes += trial->counters[k].value;
    return bytes > 0 ? bytes : (double)NAN;
}

// [operations per byte, operations per second]; false where one is unknown.
static bool place_of(const struct work_bounds *work, const struct trial *trial, double *x, double *y)
{
    double bytes = counted_bytes(trial);
    if (isnan(bytes)) bytes = work->bytes;
    *x = work->operations / bytes;
    *y = trial->problem_count ? work->operations / trial->problems[0].time : (double)NAN;
    return isfinite(*x) && isfinite(*y);
}

static json_t *baselines_of(const struct result *r, const struct work_bounds *work)
{
    json_t *document = result_document(r, "baselines", NULL), *list = json_array(), *baseline;
    size_t i;
    json_array_foreach(json_object_get(document, "baselines"), i, baseline)
    {
        double time = json_get_number(json_array_get(json_object_get(baseline, "problems"), 0), "time", NAN),
               x = work->operations / work->bytes;
        if (isfinite(x) && time > 0)
            json_array_append_new(list, json_pack("{s:s, s:f, s:f}", "name", json_get_string(baseline, "name", "?"),
                                                  "x", x, "y", work->operations / time));
    }
    json_decref(document);
    return list;
}

int report_roofline(const struct result *r, int64_t winner, json_t **roofline, struct error *err)
{
    const struct report_problem *problem = r->tuned_count ? &r->problems[0] : NULL;
    struct work_bounds work = {.ceiling = NAN};
    struct trial trial;
    double bytes, x, y;
    int status = 0;
    *roofline = json_null();
    if (!problem || !r->job_fits) return 0;
    json_t *ceilings = result_document(r, "ceilings", NULL);
    bytes = work_ceiling(ceilings, &execution_units[UNIT_READ]);
    status = work_bounds(r->source->job, 0, ceilings, &work, err);
    json_decref(ceilings);
    if (status || !work.pipe || !(work.operations > 0) || !(work.ceiling > 0) || !(bytes > 0)) return status;
    json_t *points = json_array(), *place = json_null();
    size_t count, *chosen = report_select(r, r->options->points, r->options->points / 4, &count);
    for (size_t k = 0; k < count && !status; k++) {
        status = store_get(r->store, r->table.ids[chosen[k]], &trial, err);
        if (!status && place_of(&work, &trial, &x, &y))
            json_array_append_new(points, json_pack("[f, f, I]", x, y, (json_int_t)trial.id));
    }
    free(chosen);
    if (!status && winner != NO_TRIAL && !store_get(r->store, winner, &trial, err) && place_of(&work, &trial, &x, &y))
        place = json_pack("[f, f]", x, y);
    *roofline = json_pack("{s:s, s:f, s:f, s:s, s:o, s:o, s:o}", "pipe", work.pipe->name, "flops_per_second",
                          work.ceiling, "bytes_per_second", bytes, "problem", problem->name, "points", points, "winner",
                          place, "baselines", baselines_of(r, &work));
    return status;
}
