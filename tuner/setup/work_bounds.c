// See work_bounds.h.
#include "tuner/setup/work_bounds.h"

#include "tuner/base/base.h"

const double work_balance = 8;

static double evaluate(const struct expr *expression, const int64_t *values)
{
    int64_t result;
    return expression && !expr_eval(expression, values, &result, NULL) && result > 0 ? (double)result : (double)NAN;
}

// The pipe whose ceiling counts: the faster of two that a name stands for.
static const struct execution_unit *measured(const json_t *ceilings, const struct execution_unit *pipe)
{
    if (pipe->key) return pipe;
    const struct execution_unit *a = &execution_units[pipe->either[0]], *b = &execution_units[pipe->either[1]];
    double first = json_get_number(ceilings, a->key, NAN), second = json_get_number(ceilings, b->key, NAN);
    return isnan(second) || first > second ? a : b;
}

double work_ceiling(const json_t *ceilings, const struct execution_unit *pipe)
{
    double value = json_get_number(ceilings, measured(ceilings, pipe)->key, NAN);
    return value > 0 ? value : (double)NAN;
}

char *work_ceiling_text(const json_t *ceilings, const struct execution_unit *pipe)
{
    double value = work_ceiling(ceilings, pipe);
    if (isnan(value)) return text_copy("");
    const struct execution_unit *own = measured(ceilings, pipe);
    const json_t *lasting = json_object_get(json_object_get(ceilings, "lasting"), own->key);
    double clock = json_get_number(lasting, "clock_mhz", NAN);
    char *at = !own->lasts ? text_copy("")
               : !lasting  ? text_copy(", for some milliseconds only")
               : clock > 0 ? text_format(", at %.0f MHz, the clock that lasts", clock)
                           : text_copy(", at the clock that lasts");
    char *words = text_format("%s %.4g T%s/s%s", own->name, value / 1e12, own->unit, at);
    free(at);
    return words;
}

int work_bounds(const struct job *job, size_t problem, const json_t *ceilings, struct work_bounds *w, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    double times;
    *w = (struct work_bounds){.flops = NAN, .bytes = NAN, .operations = NAN, .ceiling = NAN};
    w->pipe = job_unit(job, &times);
    if (w->pipe && !w->pipe->arithmetic) w->pipe = NULL;
    int failed = job_problem_values(job, NULL, problem, values, err);
    if (!failed) {
        w->flops = evaluate(job->flops, values);
        w->bytes = evaluate(job->bytes, values);
        w->operations = job->operations ? evaluate(job->operations, values) : times * w->flops;
    }
    free(values);
    if (w->pipe) w->ceiling = work_ceiling(ceilings, w->pipe);
    w->arithmetic = w->operations / w->ceiling;
    w->memory = w->bytes / work_ceiling(ceilings, &execution_units[UNIT_READ]);
    bool none_counts =
        isnan(w->flops) || job->pipe == &execution_units[UNIT_READ] || w->flops / w->bytes < work_balance;
    bool unknown = (isnan(w->arithmetic) && !none_counts) || (isnan(w->memory) && !isnan(w->bytes));
    w->floor = unknown ? (double)NAN : fmax(w->arithmetic, w->memory); // fmax skips a NaN
    return failed;
}
