// A job's `fallback`: the configuration that its header has for devices that nobody tuned for. It names every
// parameter, keeps to the constraints, and takes no more shared memory than every device gives without being asked.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

static bool is_value(const struct node *n, const struct space *space, size_t parameter, size_t value)
{
    char digits[32];
    const char *text = space_value_text(space, parameter, value, digits);
    if (node_is_string(n)) return !strcmp(text, node_string(n));
    if (node_is_integer(n))
        return strtoll(text, NULL, 10) == node_integer(n) && strspn(text, "-0123456789") == strlen(text);
    return node_is_number(n) && !(fabs(strtod(text, NULL) - node_real(n)) > 0);
}

// The values that a parameter has, for a message. malloc'ed.
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

// Why it is not a valid configuration.
static int blame_constraint(const struct job *job, int64_t *values, struct error *err)
{
    for (size_t i = 0; i < space_constraint_count(job->space); i++) {
        const char *text = space_constraint_text(job->space, i);
        struct expr *e = expr_parse(text, job->symbols, err);
        int64_t holds = 0;
        bool broken = e && (space_values(job->space, job->fallback.config, values, err) ||
                            expr_eval(e, values, &holds, err) || !holds);
        expr_free(e);
        if (broken) return error_set(err, "'fallback' breaks the constraint \"%s\"", text);
    }
    return error_set(err, "'fallback' is not a valid configuration");
}

static int check_shared(const struct job *job, size_t problem, int64_t *values, struct error *err)
{
    if (job_problem_values(job, job->fallback.config, problem, values, err)) return error_prefix(err, "'fallback'");
    for (size_t s = 0; s < job->stage_count; s++) {
        const struct stage *stage = &job->stages[s];
        int64_t used = 1, bytes = 0;
        if ((stage->when && expr_eval(stage->when, values, &used, err)) ||
            (used && stage->shared && expr_eval(stage->shared, values, &bytes, err)))
            return error_prefix(err, "'fallback', stage '%s'", stage->name);
        if (bytes > JOB_FALLBACK_SHARED)
            return error_set(err,
                             "'fallback' asks for %" PRId64 " bytes of shared memory in stage '%s' on problem %s; what "
                             "runs on every device has at most %d",
                             bytes, stage->name, job->problems[problem].name, JOB_FALLBACK_SHARED);
    }
    return 0;
}

int job_check_fallback(const struct job *job, struct error *err)
{
    if (!job->fallback.given) return 0;
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int failed = space_index(job->space, job->fallback.config) < 0 ? blame_constraint(job, values, err) : 0;
    for (size_t p = 0; p < job->problem_count && !failed; p++) failed = check_shared(job, p, values, err);
    free(values);
    if (!failed) return 0;
    return error_prefix(err, "%s:%d", job->fallback.file ? job->fallback.file : job->path, job->fallback.line);
}

bool job_is_fallback(const struct job *job, const uint16_t *config)
{
    return job->fallback.given &&
           !memcmp(job->fallback.config, config, space_parameter_count(job->space) * sizeof *config);
}
