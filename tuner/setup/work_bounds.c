// See work_bounds.h.
#include "tuner/setup/work_bounds.h"

const double work_balance = 8;

static double evaluate(const struct expr *expression, const int64_t *values)
{
    int64_t result;
    return expression && !expr_eval(expression, values, &result, NULL) && result > 0 ? (double)result : (double)NAN;
}

// The execution unit whose ceiling is used. If a name stands for two units, this is the faster one.
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
    autofree char *at = !own->lasts ? text_copy("")
                        : !lasting  ? text_copy(", only for a few milliseconds")
                        : clock > 0 ? text_format(", at %.0f MHz, the sustained clock", clock)
                                    : text_copy(", at the sustained clock");
    return text_format("%s %.4g T%s/s%s", own->name, value / 1e12, own->unit, at);
}

int work_bounds(const struct job *job, size_t problem, const json_t *ceilings, struct work_bounds *w, struct error *err)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    double times;
    *w = (struct work_bounds){.flops = NAN, .bytes = NAN, .operations = NAN, .ceiling = NAN};
    w->pipe = job_unit(job, &times);
    if (w->pipe && !w->pipe->arithmetic) w->pipe = NULL;
    int failed = job_problem_values(job, NULL, problem, values, err);
    if (!failed) {
        w->flops = evaluate(job->work.flops, values);
        w->bytes = evaluate(job->work.bytes, values);
        w->operations = job->work.operations ? evaluate(job->work.operations, values) : times * w->flops;
    }
    if (w->pipe) w->ceiling = work_ceiling(ceilings, w->pipe);
    w->arithmetic = w->operations / w->ceiling;
    w->memory = w->bytes / work_ceiling(ceilings, &execution_units[UNIT_READ]);
    bool none_counts =
        isnan(w->flops) || job->work.pipe == &execution_units[UNIT_READ] || w->flops / w->bytes < work_balance;
    bool unknown = (isnan(w->arithmetic) && !none_counts) || (isnan(w->memory) && !isnan(w->bytes));
    w->floor = unknown ? (double)NAN : fmax(w->arithmetic, w->memory); // fmax skips a NaN
    return failed;
}

double work_least_objective(const struct job *job, const json_t *ceilings)
{
    autofree double *floors = memory_new(job->tuned_count, sizeof *floors);
    struct work_bounds w;
    struct error ignored;
    for (size_t p = 0; p < job->tuned_count; p++)
        floors[p] = work_bounds(job, p, ceilings, &w, &ignored) ? (double)NAN : w.floor;
    return job_objective(job, floors);
}

// Whether `work` is possible ------------------------------------------------------------------------------------------

// A mistake in `work` leads to wrong rates and wrong advice, but not to a wrong kernel, so it causes only a warning.
static const double slack = 1.05, beyond_caches = 0x1p29; // bytes, larger than any device's L2

// The ceiling of the fastest execution unit, whichever unit the kernel uses. NaN unless all units were measured: the
// ceilings from an older version lack wgmma.
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

// The highest rate possible: a launch of a few milliseconds runs at a higher clock than the sustained one.
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
              "%s:%d: 'work' gives %.4g %s%s%s%s for problem %s, which in %.4g s is %.3g per second, but the device "
              "was measured at %.3g: correct 'work', or check that the kernel does all of it",
              job->path, job_location(job, "work").line, many ? amount : w.bytes, many ? "operations" : "bytes",
              many && w.pipe ? " of the execution unit '" : "", many && w.pipe ? w.pipe->name : "",
              many && w.pipe ? "'" : "", job->problems[problem].name, time, (many ? amount : w.bytes) / time,
              many ? most : most_bytes);
    return true;
}

// Ceilings that a job needs -------------------------------------------------------------------------------------------

// Documents of older versions have no list of execution units; there, a unit was measured if its figure is present.
static bool is_known(const json_t *known, const struct execution_unit *p, bool lasting)
{
    if (lasting && p->lasts) return json_array_has(json_object_get(known, "lasting_pipes"), p->name);
    return json_array_has(json_object_get(known, "pipes"), p->name) || (p->key && json_object_get(known, p->key));
}

json_t *job_ceilings_request(const struct job *job, const json_t *known)
{
    double times;
    const struct execution_unit *own = job_unit(job, &times);
    autojson json_t *missing = json_array();
    for (int i = 0; i < UNIT_COUNT; i++) {
        const struct execution_unit *p = &execution_units[i];
        bool wanted = p == own || !p->arithmetic || (!own && p->key && !p->macro);
        if (wanted && !is_known(known, p, own)) json_array_append_new(missing, json_string(p->name));
    }
    if (json_array_size(missing))
        return json_pack("{s:s, s:b, s:O}", "op", "ceilings", "lasting", own != NULL, "pipes", missing);
    return NULL;
}

// `lasting`: adds only execution units for which the sustained clock makes a difference.
static void add_names(json_t *document, const char *member, const json_t *names, bool lasting)
{
    if (!json_object_get(document, member)) json_object_set_new(document, member, json_array());
    json_array_each(names, i, each) {
        const char *name = json_string_value(each);
        if (!json_array_has(json_object_get(document, member), name) && (!lasting || pipe_find(name, NULL)->lasts))
            json_array_append(json_object_get(document, member), each);
    }
}

json_t *job_ceilings_merge(const json_t *known, const json_t *request, const json_t *answer)
{
    json_t *document = known ? json_deep_copy(known) : json_object();
    json_object_each((json_t *)(uintptr_t)answer, key, value) {
        json_t *before = json_object_get(document, key);
        if (!strcmp(key, "id") || !strcmp(key, "status")) continue;
        if (json_is_object(value) && json_is_object(before))
            json_object_update(before, value);
        else
            json_object_set(document, key, value);
    }
    add_names(document, "pipes", json_object_get(request, "pipes"), false);
    if (json_get_bool(request, "lasting", false))
        add_names(document, "lasting_pipes", json_object_get(request, "pipes"), true);
    return document;
}

json_t *job_ceilings_defines(const struct job *job)
{
    double times;
    const struct execution_unit *own = job_unit(job, &times);
    json_t *defines = json_object();
    if (!own) return defines;
    const char *macro = own->macro ? own->macro : own->key ? NULL : execution_units[own->either[0]].macro;
    if (macro) json_object_set_new(defines, macro, json_string("1"));
    return defines;
}
