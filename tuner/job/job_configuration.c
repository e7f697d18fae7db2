// Names with values in a job file: macros and configurations. A configuration gives every parameter a value and is
// checked against the constraints once the space is built. The `fallback` is the configuration that the job's header
// uses on devices without tuning results. It needs no more shared memory than every device offers without an opt-in.
#include "tuner/job/header_names.h"
#include "tuner/job/job_parts.h"

void load_define(struct reader *r, struct job *job, const struct node *n, struct macro **list, size_t *count)
{
    char *value = node_is_string(n)    ? job_copy(job, node_string(n))
                  : node_is_integer(n) ? job_keep(job, text_format("%" PRId64, node_integer(n)))
                  : node_is_number(n)  ? job_keep(job, text_of_number(node_real(n)))
                                       : NULL;
    const char *refused = node_is_string(n) ? header_refuse_value(node_string(n)) : NULL;
    if (refused) reader_mistake(r, n, "the value of macro '%s' %s", node_name(n), refused);
    if (!value) {
        reader_mistake(r, n, "the value of macro '%s' must be a string or a number", node_name(n));
        return;
    }
    *list = job_room(job, *list, *count, sizeof **list);
    (*list)[(*count)++] = (struct macro){job_copy(job, node_name(n)), value};
}

static bool is_value(const struct node *n, const struct space *space, size_t parameter, size_t value)
{
    const char *text = space_value_text(space, parameter, value, (char[32]){0});
    if (node_is_string(n))
        return space_parameter(space, parameter)->kind == PARAMETER_STRING && !strcmp(text, node_string(n));
    if (space_parameter(space, parameter)->kind == PARAMETER_REAL)
        return node_is_number(n) && strtod(text, NULL) == node_real(n);
    return node_is_integer(n) && space_parameter(space, parameter)->kind != PARAMETER_STRING &&
           strtoll(text, NULL, 10) == node_integer(n);
}

static void load_value(struct reader *r, const struct job *job, const struct node *group, const char *what,
                       size_t parameter, uint16_t *config)
{
    const struct parameter *p = space_parameter(job->space, parameter);
    const struct node *n = node_member(group, p->name);
    if (!n) {
        reader_mistake(r, group, "%s lacks parameter '%s'", what, p->name);
        return;
    }
    for (size_t v = 0; v < p->count; v++) {
        if (!is_value(n, job->space, parameter, v)) continue;
        config[parameter] = (uint16_t)v;
        return;
    }
    autorelease(text_release) struct text list = {0};
    for (size_t v = 0; v < p->count; v++)
        text_add(&list, "%s%s", v ? ", " : "", space_value_text(job->space, parameter, v, (char[32]){0}));
    reader_mistake(r, n, "parameter '%s' has no such value (it has: %s)", p->name, list.text);
}

void load_configuration(struct reader *r, const struct job *job, const struct node *group, const char *what,
                        uint16_t *config)
{
    size_t count = space_parameter_count(job->space);
    autofree const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[i] = space_parameter(job->space, i)->name;
    reader_check_members(r, group, what, names);
    for (size_t i = 0; i < count; i++) load_value(r, job, group, what, i, config);
}

// Sets the reason why a configuration is not valid.
static int explain_constraint(const struct job *job, const uint16_t *config, const char *what, struct error *err)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    const char *broken = NULL;
    for (size_t i = 0; i < space_constraint_count(job->space) && !broken; i++) {
        const char *text = space_constraint_text(job->space, i);
        struct expr *e = expr_parse(text, job->symbols, err);
        int64_t holds = 0;
        if (e && (space_values(job->space, config, values, err) || expr_eval(e, values, &holds, err) || !holds))
            broken = text;
        expr_free(e);
    }
    return broken ? error_set(err, "%s violates the constraint \"%s\"", what, broken)
                  : error_set(err, "%s is not a valid configuration", what);
}

int job_check_configuration(const struct job *job, const struct implementation *c, struct error *err)
{
    autofree char *what = text_format("'%s'", c->setting);
    bool bad = c->kind == IMPLEMENTATION_CONFIGURATION && space_index(job->space, c->config) < 0;
    if (bad) explain_constraint(job, c->config, what, err);
    return bad ? job_locate_error(job, c->setting, err) : 0;
}

int job_locate_error(const struct job *job, const char *setting, struct error *err)
{
    struct location at = job_location(job, "%s", setting);
    const char *file = at.file ? at.file : job->path;
    return at.line ? error_prefix(err, "%s:%d", file, at.line) : error_prefix(err, "%s", file);
}

int job_fallback_shared(const struct job *job, size_t stage, int64_t *bytes, size_t *problem, struct error *err)
{
    const struct stage *s = &job->stages[stage];
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int failed = 0;
    *bytes = 0;
    *problem = 0;
    for (size_t p = 0; p < job->problem_count && !failed; p++) {
        int more =
            job_problem_values(job, job->others.fallback.config, p, values, err) ? -1 : job_first_run(s, values, err);
        for (; more > 0; more = job_next_run(s, values, err)) {
            int64_t here = 0;
            if (s->shared && expr_eval(s->shared, values, &here, err)) break;
            if (here <= *bytes) continue;
            *bytes = here;
            *problem = p;
        }
        failed = more != 0;
    }
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
    int failed = 0;
    for (size_t s = 0; s < job->stage_count && !failed; s++) failed = check_shared(job, s, err);
    return failed ? job_locate_error(job, job->others.fallback.setting, err) : 0;
}

bool job_is_fallback(const struct job *job, const uint16_t *config)
{
    return job->others.fallback.kind &&
           !memcmp(job->others.fallback.config, config, space_parameter_count(job->space) * sizeof *config);
}
