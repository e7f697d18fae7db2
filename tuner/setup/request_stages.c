// The "stages" of requests: launches of kernels and calls of libraries, with their arguments.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/setup/request_parts.h"

static int evaluate3(struct expr *const e[3], const int64_t *values, int64_t out[3], struct error *err)
{
    for (int i = 0; i < 3; i++) {
        out[i] = 1;
        if (e[i] && expr_eval(e[i], values, &out[i], err)) return -1;
    }
    return 0;
}

static json_t *describe_integers(const int64_t *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_integer(values[i]));
    return list;
}

// What a name stands for: `names` of job_first_names, or NULL for itself.
static const char *buffer_name(const struct job *job, const int *names, int buffer)
{
    return job->buffers[names ? names[buffer] : buffer].name;
}

static json_t *describe_tensor_map(const struct job *job, const struct argument *a, const int *names,
                                   const int64_t *values, struct error *err)
{
    struct tensor_map_shape s;
    if (tensor_map_resolve(job, a, values, &s, err)) return NULL;
    return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:I, s:b, s:b}", "tensor_map", buffer_name(job, names, a->buffer),
                     "sizes", describe_integers(s.size, s.rank), "strides", describe_integers(s.stride, s.rank - 1),
                     "box", describe_integers(s.box, s.rank), "swizzle", (json_int_t)s.swizzle, "interleave",
                     (json_int_t)s.interleave, "promotion", (json_int_t)s.promotion, "nan", (int)s.nan, "tf32",
                     (int)s.tf32);
}

// A struct or a vector, as hexadecimal digits.
static json_t *describe_bytes(const struct argument *a, const int64_t *values, struct error *err)
{
    unsigned char bytes[ARGUMENT_BYTES_MAX];
    char text[2 * ARGUMENT_BYTES_MAX + 1];
    if (job_argument_bytes(a, values, bytes, err)) return NULL;
    for (size_t i = 0; i < a->bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_pack("{s:s}", "bytes", text);
}

static json_t *describe_argument(const struct job *job, const struct argument *a, const int *names,
                                 const int64_t *values, struct error *err)
{
    if (a->map) return describe_tensor_map(job, a, names, values, err);
    static const char *const views[] = {
        [VIEW_POINTER] = "buffer", [VIEW_TEXTURE] = "texture", [VIEW_SURFACE] = "surface"};
    if (a->buffer >= 0) return json_pack("{s:s}", views[a->view], buffer_name(job, names, a->buffer));
    if (a->member_count) return describe_bytes(a, values, err);
    int64_t value;
    if (!a->value) return json_pack("{s:s, s:f}", "scalar", element_name(a->type), "value", a->real);
    if (expr_eval(a->value, values, &value, err)) return NULL;
    if (!element_is_float(a->type) && (value < element_least(a->type) || value > element_greatest(a->type))) {
        error_set(err, "%" PRId64 " is more than an %s holds", value, element_name(a->type));
        return NULL;
    }
    return json_pack("{s:s, s:I}", "scalar", element_name(a->type), "value", (json_int_t)value);
}

// A stage that a library computes: which buffer plays which role, and the sizes and scalars.
static json_t *describe_library_stage(const struct job *job, const struct stage *s, const int *names,
                                      const int64_t *values, struct launch_shape *shape, struct error *err)
{
    *shape = (struct launch_shape){{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0};
    json_t *buffers = json_object(), *roles = json_object();
    for (size_t i = 0; i < s->role_count; i++) {
        const struct stage_role *role = &s->roles[i];
        int64_t value = 0;
        if (role->buffer >= 0) {
            json_object_set_new(buffers, role->role, json_string(buffer_name(job, names, role->buffer)));
            continue;
        }
        if (role->value && expr_eval(role->value, values, &value, err)) {
            error_prefix(err, "stage '%s', role '%s'", s->name, role->role);
            json_decref(buffers);
            json_decref(roles);
            return NULL;
        }
        json_object_set_new(roles, role->role, role->value ? json_integer(value) : json_real(role->real));
    }
    return json_pack("{s:s, s:s, s:o, s:o}", "operation", s->operation, "by", s->by, "buffers", buffers, "roles",
                     roles);
}

// One run of a stage, whose buffers' names stand for `names` (NULL: for themselves).
static json_t *describe_stage(const struct job *job, const struct stage *s, const char *symbol, const int *names,
                              const int64_t *values, struct launch_shape *shape, struct error *err)
{
    if (s->operation) return describe_library_stage(job, s, names, values, shape, err);
    int64_t overlap = 0;
    shape->shared = 0;
    if (evaluate3(s->grid, values, shape->grid, err) || evaluate3(s->block, values, shape->block, err) ||
        evaluate3(s->cluster, values, shape->cluster, err) ||
        (s->shared && expr_eval(s->shared, values, &shape->shared, err)) ||
        (s->overlap && expr_eval(s->overlap, values, &overlap, err))) {
        error_prefix(err, "launch of '%s'", s->name);
        return NULL;
    }
    json_t *arguments = json_array();
    for (size_t i = 0; i < s->argument_count; i++) {
        json_t *a = describe_argument(job, &s->arguments[i], names, values, err);
        if (!a) {
            if (!s->arguments[i].map) error_prefix(err, "argument '%s'", s->arguments[i].name);
            json_decref(arguments);
            return NULL;
        }
        json_array_append_new(arguments, a);
    }
    const int64_t *g = shape->grid, *b = shape->block, *c = shape->cluster;
    return json_pack("{s:s, s:[I,I,I], s:[I,I,I], s:[I,I,I], s:I, s:b, s:b, s:o}", "symbol", symbol, "grid",
                     (json_int_t)g[0], (json_int_t)g[1], (json_int_t)g[2], "block", (json_int_t)b[0], (json_int_t)b[1],
                     (json_int_t)b[2], "cluster", (json_int_t)c[0], (json_int_t)c[1], (json_int_t)c[2], "shared",
                     (json_int_t)shape->shared, "cooperative", (int)s->cooperative, "overlap", overlap != 0, "args",
                     arguments);
}

static const char *symbol_of(const struct compiled *c, const struct stage *stage)
{
    const struct entry_answer *e = c ? compiled_find(c, stage) : NULL;
    return e ? e->symbol : stage->entry;
}

// Launches worked out so far.
struct launches {
    struct planned_launch *list;
    size_t count, room;
};

static void add_launch(struct launches *l, size_t problem, size_t stage, int64_t run, struct launch_shape shape)
{
    if (l->count == l->room) {
        l->room = 2 * l->room + JOB_MAX_STAGES;
        l->list = memory_grow(l->list, l->room, sizeof *l->list);
    }
    l->list[l->count++] = (struct planned_launch){(int)problem, (int)stage, (int)run, shape};
}

// All runs of a stage on one problem. -1 with a message.
static int describe_runs(const struct job *job, size_t stage, const char *symbol, size_t p, int *names, int64_t *values,
                         json_t *stages, struct launches *out, struct error *err)
{
    const struct stage *s = &job->stages[stage];
    int more = job_first_run(s, values, err);
    for (int64_t run = 0; more > 0; run++, more = job_next_run(s, values, err)) {
        struct launch_shape shape;
        if (json_array_size(stages) == JOB_MAX_LAUNCHES)
            return error_set(err, "stage '%s': more than %d launches on one problem", s->name, JOB_MAX_LAUNCHES);
        json_t *one = describe_stage(job, s, symbol, names, values, &shape, err);
        if (!one) return -1;
        if (run) json_object_set_new(one, "again", json_true());
        if (s->unit) json_object_set_new(one, "unit", json_integer((json_int_t)s->unit));
        json_array_append_new(stages, one);
        add_launch(out, p, stage, run, shape);
        job_swap_names(s, names);
    }
    return more;
}

// A candidate's launches on one problem of the job.
static json_t *describe_launches(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                                 size_t p, struct launches *out, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int *names = memory_new(job->buffer_count + 1, sizeof *names);
    json_t *stages = json_array();
    int failed = job_problem_values(job, config, p, values, err);
    if (!failed && job_first_names(job, values, names, err))
        failed = error_prefix(err, "problem %s", job->problems[p].name);
    for (size_t s = 0; s < job->stage_count && !failed; s++) {
        failed = describe_runs(job, s, symbol_of(compiled, &job->stages[s]), p, names, values, stages, out, err);
        if (failed) error_prefix(err, "problem %s", job->problems[p].name);
    }
    free(values);
    free(names);
    if (!failed) return json_pack("{s:i, s:o}", "problem", (int)p, "stages", stages);
    json_decref(stages);
    return NULL;
}

json_t *request_problems(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                         bool tuned_only, struct planned_launch **launches, size_t *launch_count, struct error *err)
{
    struct launches out = {0};
    json_t *problems = json_array();
    for (size_t p = 0; problems && p < (tuned_only ? job->tuned_count : job->problem_count); p++) {
        json_t *one = describe_launches(job, config, compiled, p, &out, err);
        if (one) {
            json_array_append_new(problems, one);
            continue;
        }
        json_decref(problems);
        problems = NULL;
    }
    if (launch_count) *launch_count = problems ? out.count : 0;
    if (launches) *launches = problems ? out.list : NULL;
    if (!launches || !problems) free(out.list);
    return problems;
}

json_t *request_kernel_problems(const struct job *job, const struct stage *stage, const struct compiled *compiled,
                                struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    json_t *problems = json_array();
    for (size_t p = 0; p < job->problem_count && problems; p++) {
        struct launch_shape shape;
        json_t *one = job_problem_values(job, NULL, p, values, err)
                          ? NULL
                          : describe_stage(job, stage, symbol_of(compiled, stage), NULL, values, &shape, err);
        if (one) {
            json_array_append_new(problems, json_pack("{s:i, s:[o]}", "problem", (int)p, "stages", one));
            continue;
        }
        json_decref(problems);
        problems = NULL;
    }
    free(values);
    return problems;
}
