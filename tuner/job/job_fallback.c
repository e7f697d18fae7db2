// A job's `fallback`: the configuration that its header has for devices without tuning results. It names every
// parameter, meets the constraints, and uses no more shared memory than every device gives without opting in.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

static bool is_value(const struct node *n, const struct space *space, size_t parameter, size_t value)
{
    char digits[32];
    const char *text = space_value_text(space, parameter, value, digits);
    if (node_is_string(n))
        return space_parameter(space, parameter)->kind == PARAMETER_STRING && !strcmp(text, node_string(n));
    return node_is_integer(n) && space_parameter(space, parameter)->kind != PARAMETER_STRING &&
           strtoll(text, NULL, 10) == node_integer(n);
}

// A parameter's values, for a message. malloc'ed.
static char *values_of(const struct space *space, size_t parameter)
{
    const struct parameter *p = space_parameter(space, parameter);
    char *list = text_copy(""), digits[32];
    for (size_t v = 0; v < p->count; v++) {
        char *longer = text_format("%s%s%s", list, v ? ", " : "", space_value_text(space, parameter, v, digits));
        free(list);
        list = longer;
    }
    return list;
}

static void load_value(struct reader *r, struct job *job, const struct node *group, size_t parameter)
{
    const struct parameter *p = space_parameter(job->space, parameter);
    const struct node *n = node_member(group, p->name);
    if (!n) {
        reader_mistake(r, group, "'fallback' lacks parameter '%s'", p->name);
        return;
    }
    for (size_t v = 0; v < p->count; v++) {
        if (!is_value(n, job->space, parameter, v)) continue;
        job->fallback.config[parameter] = (uint16_t)v;
        return;
    }
    char *list = values_of(job->space, parameter);
    reader_mistake(r, n, "parameter '%s' has no such value (it has: %s)", p->name, list);
    free(list);
}

void load_fallback(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *group = reader_group(r, root, "fallback");
    size_t count = space_parameter_count(job->space);
    if (!group) return;
    const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = space_parameter(job->space, i)->name;
    reader_check_members(r, group, "'fallback'", names);
    free(names);
    for (size_t i = 0; i < count; i++) load_value(r, job, group, i);
    job->fallback.given = true;
    job->fallback.line = node_line(group);
    job->fallback.file = reader_file(r, group);
}

// Why the fallback is not a valid configuration.
static int blame_constraint(const struct job *job, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    const char *broken = NULL;
    for (size_t i = 0; i < space_constraint_count(job->space) && !broken; i++) {
        const char *text = space_constraint_text(job->space, i);
        struct expr *e = expr_parse(text, job->symbols, err);
        int64_t holds = 0;
        if (e && (space_values(job->space, job->fallback.config, values, err) || expr_eval(e, values, &holds, err) ||
                  !holds))
            broken = text;
        expr_free(e);
    }
    free(values);
    return broken ? error_set(err, "'fallback' violates the constraint \"%s\"", broken)
                  : error_set(err, "'fallback' is not a valid configuration");
}

int job_fallback_shared(const struct job *job, size_t stage, int64_t *bytes, size_t *problem, struct error *err)
{
    const struct stage *s = &job->stages[stage];
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int failed = 0;
    *bytes = 0;
    *problem = 0;
    for (size_t p = 0; p < job->problem_count && !failed; p++) {
        int64_t used = 1, here = 0;
        failed = job_problem_values(job, job->fallback.config, p, values, err) ||
                 (s->when && expr_eval(s->when, values, &used, err)) ||
                 (used && s->shared && expr_eval(s->shared, values, &here, err));
        if (failed || here <= *bytes) continue;
        *bytes = here;
        *problem = p;
    }
    free(values);
    return failed ? error_prefix(err, "'fallback', stage '%s'", s->name) : 0;
}

static int check_shared(const struct job *job, size_t stage, struct error *err)
{
    int64_t bytes;
    size_t problem;
    if (job_fallback_shared(job, stage, &bytes, &problem, err)) return -1;
    if (bytes <= JOB_FALLBACK_SHARED) return 0;
    return error_set(err,
                     "'fallback' needs %" PRId64
                     " bytes of shared memory in stage '%s' on problem %s; to run on every device "
                     "it may use at most %d",
                     bytes, job->stages[stage].name, job->problems[problem].name, JOB_FALLBACK_SHARED);
}

int job_check_fallback(const struct job *job, struct error *err)
{
    if (!job->fallback.given) return 0;
    int failed = space_index(job->space, job->fallback.config) < 0 ? blame_constraint(job, err) : 0;
    for (size_t s = 0; s < job->stage_count && !failed; s++) failed = check_shared(job, s, err);
    if (!failed) return 0;
    return error_prefix(err, "%s:%d", job->fallback.file ? job->fallback.file : job->path, job->fallback.line);
}

bool job_is_fallback(const struct job *job, const uint16_t *config)
{
    return job->fallback.given &&
           !memcmp(job->fallback.config, config, space_parameter_count(job->space) * sizeof *config);
}
