// The "stages" of requests: launches of kernels and calls to libraries, with their arguments.
#include "tuner/protocol/candidate.h"
#include "tuner/setup/request.h"

static int evaluate3(struct expr *const e[3], const int64_t *values, int64_t out[3], struct error *err)
{
    for (int i = 0; i < 3; i++) {
        out[i] = 1;
        if (e[i] && expr_eval(e[i], values, &out[i], err)) return -1;
    }
    return 0;
}

// Copies integers into the arena.
static const int64_t *keep_integers(struct arena *memory, const int64_t *values, int count)
{
    int64_t *list = arena_new(memory, (size_t)(count + 1) * sizeof *list);
    memcpy(list, values, (size_t)count * sizeof *list);
    return list;
}

// The name of the buffer that `buffer`'s name currently refers to. `names`: from job_first_names; NULL: every name
// refers to its own buffer.
static const char *buffer_name(const struct job *job, const int *names, int buffer)
{
    return job->buffers[names ? names[buffer] : buffer].name;
}

static int describe_tensor_map(const struct job *job, const struct argument *a, const int *names, const int64_t *values,
                               struct stage_argument *out, struct arena *memory, struct error *err)
{
    struct tensor_map_shape s;
    if (tensor_map_resolve(job, a, values, &s, err)) return -1;
    out->tensor_map = buffer_name(job, names, a->buffer);
    out->sizes = keep_integers(memory, s.size, s.rank);
    out->strides = keep_integers(memory, s.stride, s.rank - 1);
    out->box = keep_integers(memory, s.box, s.rank);
    out->size_count = out->box_count = (size_t)s.rank;
    out->stride_count = (size_t)s.rank - 1;
    out->swizzle = (int)s.swizzle;
    out->promotion = (int)s.promotion;
    out->nan = s.nan;
    out->tf32 = s.tf32;
    return 0;
}

// Describes a struct or a vector as hexadecimal digits, and lists the addresses among its members.
static int describe_bytes(const struct job *job, const struct argument *a, const int *names, const int64_t *values,
                          struct stage_argument *out, struct arena *memory, struct error *err)
{
    struct address_request *list = arena_new(memory, a->member_count * sizeof *list);
    unsigned char bytes[ARGUMENT_BYTES_MAX];
    char *text = arena_new(memory, 2 * a->bytes + 1);
    if (job_argument_bytes(a, values, bytes, err)) return -1;
    for (size_t i = 0; i < a->bytes; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    out->bytes = text;
    out->addresses = list;
    for (size_t i = 0; i < a->member_count; i++) {
        const struct value_member *m = &a->members[i];
        struct address_request *one = &list[out->address_count];
        if (!m->is_address) continue;
        *one = (struct address_request){buffer_name(job, names, m->address.buffer), (int64_t)m->offset, 0, 0, 1};
        if (job_address(job, &m->address, values, &one->at, err)) return error_prefix(err, "member '%s'", m->name);
        out->address_count++;
    }
    return 0;
}

static int describe_argument(const struct job *job, const struct argument *a, const int *names, const int64_t *values,
                             struct stage_argument *out, struct arena *memory, struct error *err)
{
    const char **views[] = {
        [VIEW_POINTER] = &out->buffer, [VIEW_TEXTURE] = &out->texture, [VIEW_SURFACE] = &out->surface};
    int64_t value;
    record_clear(&stage_argument_record, out);
    if (a->map) return describe_tensor_map(job, a, names, values, out, memory, err);
    if (a->buffer >= 0) *views[a->view] = buffer_name(job, names, a->buffer);
    if (a->buffer >= 0) return 0;
    if (a->member_count) return describe_bytes(job, a, names, values, out, memory, err);
    out->scalar = element_name(a->type);
    out->value = (struct record_number){.real = a->real};
    if (!a->value) return 0;
    if (expr_eval(a->value, values, &value, err)) return -1;
    out->value = (struct record_number){(double)value, true, value};
    if (element_is_float(a->type) || (value >= element_least(a->type) && value <= element_greatest(a->type))) return 0;
    return error_set(err, "%" PRId64 " does not fit into type %s; a larger one is i64", value, element_name(a->type));
}

// Describes a stage that a library computes: the buffer for each role, and the sizes and scalars.
static int describe_library_stage(const struct job *job, const struct stage *s, const int *names, const int64_t *values,
                                  struct stage_call *out, struct arena *memory, struct error *err)
{
    struct record_named_text *buffers = arena_new(memory, s->role_count * sizeof *buffers);
    struct record_named_number *roles = arena_new(memory, s->role_count * sizeof *roles);
    for (size_t i = 0; i < s->role_count; i++) {
        const struct stage_role *role = &s->roles[i];
        int64_t value = 0;
        if (role->buffer >= 0) {
            buffers[out->buffer_count++] =
                (struct record_named_text){role->role, buffer_name(job, names, role->buffer)};
            continue;
        }
        if (role->value && expr_eval(role->value, values, &value, err))
            return error_prefix(err, "stage '%s', role '%s'", s->name, role->role);
        const struct record_number number = {role->value ? (double)value : role->real, role->value != NULL, value};
        roles[out->role_count++] = (struct record_named_number){role->role, number};
    }
    out->operation = s->operation;
    out->by = s->by;
    out->buffers = buffers;
    out->roles = roles;
    return 0;
}

static int describe_arguments(const struct job *job, const struct stage *s, const int *names, const int64_t *values,
                              struct stage_call *out, struct arena *memory, struct error *err)
{
    struct stage_argument *arguments = arena_new(memory, s->argument_count * sizeof *arguments);
    for (size_t i = 0; i < s->argument_count; i++)
        if (describe_argument(job, &s->arguments[i], names, values, &arguments[i], memory, err))
            return s->arguments[i].map ? -1 : error_prefix(err, "argument '%s'", s->arguments[i].name);
    out->args = arguments;
    out->arg_count = s->argument_count;
    return 0;
}

int request_shape(const struct stage *s, const int64_t *values, struct launch_shape *to, struct error *err)
{
    to->shared = 0;
    return evaluate3(s->grid, values, to->grid, err) || evaluate3(s->block, values, to->block, err) ||
                   evaluate3(s->cluster, values, to->cluster, err) ||
                   (s->shared && expr_eval(s->shared, values, &to->shared, err))
               ? -1
               : 0;
}

static int describe_kernel(const struct job *job, const struct stage *s, const int *names, const int64_t *values,
                           struct launch_shape *shape, struct stage_call *out, struct arena *memory, struct error *err)
{
    int64_t overlap = 0;
    if (request_shape(s, values, shape, err) || (s->overlap && expr_eval(s->overlap, values, &overlap, err)))
        return error_prefix(err, "launch of '%s'", s->name);
    memcpy(out->grid, shape->grid, sizeof out->grid);
    memcpy(out->block, shape->block, sizeof out->block);
    memcpy(out->cluster, shape->cluster, sizeof out->cluster);
    out->shared = shape->shared;
    out->cooperative = s->cooperative;
    out->overlap = overlap != 0;
    return describe_arguments(job, s, names, values, out, memory, err);
}

// Describes one run of a stage. `names` maps each buffer's name to the buffer that it refers to in this run (NULL: to
// itself). Returns NULL with a message on failure.
static json_t *describe_stage(const struct job *job, const struct stage *s, const char *symbol, const int *names,
                              const int64_t *values, int64_t run, struct launch_shape *shape, struct error *err)
{
    autorelease(arena_release) struct arena memory = {NULL};
    struct stage_call call;
    record_clear(&stage_call_record, &call);
    *shape = (struct launch_shape){{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0};
    int failed = s->operation ? describe_library_stage(job, s, names, values, &call, &memory, err)
                              : describe_kernel(job, s, names, values, shape, &call, &memory, err);
    if (!s->operation) call.symbol = symbol;
    call.untimed = s->untimed;
    call.again = run > 0;
    call.unit = (int64_t)s->unit;
    return failed ? NULL : record_write(&stage_call_record, &call);
}

static const char *symbol_of(const struct compiled *c, const struct stage *stage)
{
    const struct entry_answer *e = c ? compiled_find(c, stage) : NULL;
    return e ? e->symbol : stage->entry;
}

// The launches described so far.
struct launches {
    struct planned_launch *list;
    size_t count;
};

// Describes all runs of a stage on one problem. Returns -1 with a message on failure.
static int describe_runs(const struct job *job, size_t stage, const char *symbol, size_t p, int *names, int64_t *values,
                         json_t *stages, struct launches *out, struct error *err)
{
    const struct stage *s = &job->stages[stage];
    int more = job_first_run(s, values, err);
    for (int64_t run = 0; more > 0; run++, more = job_next_run(s, values, err)) {
        struct launch_shape shape;
        if (json_array_size(stages) == JOB_MAX_LAUNCHES)
            return error_set(err, "stage '%s': more than %d launches on one problem", s->name, JOB_MAX_LAUNCHES);
        json_t *one = describe_stage(job, s, symbol, names, values, run, &shape, err);
        if (!one) return -1;
        json_array_append_new(stages, one);
        memory_add(out->list, out->count) = (struct planned_launch){(int)p, (int)stage, (int)run, shape};
        job_swap_names(s, names);
    }
    return more;
}

// A problem with its number and its stages. Takes ownership of `stages`.
static json_t *number_problem(const struct job *job, size_t p, json_t *stages)
{
    json_t *one = json_pack("{s:i, s:o}", "problem", (int)p, "stages", stages);
    if (job->sizes.is_drawn) json_object_set_new(one, "drawn", json_true());
    return one;
}

// A candidate's launches on one problem of the job.
static json_t *describe_launches(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                                 size_t p, struct launches *out, struct error *err)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    autofree int *names = memory_new(job->buffer_count + 1, sizeof *names);
    autojson json_t *stages = json_array();
    int failed = job_problem_values(job, config, p, values, err);
    if (!failed && job_first_names(job, values, names, err))
        failed = error_prefix(err, "problem %s", job->problems[p].name);
    for (size_t s = 0; s < job->stage_count && !failed; s++) {
        failed = describe_runs(job, s, symbol_of(compiled, &job->stages[s]), p, names, values, stages, out, err);
        if (failed) error_prefix(err, "problem %s", job->problems[p].name);
    }
    return failed ? NULL : number_problem(job, p, json_incref(stages));
}

json_t *request_problems(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                         bool tuned_only, struct planned_launch **launches, size_t *launch_count, struct error *err)
{
    struct launches out = {0};
    autojson json_t *problems = json_array();
    bool sound = true;
    for (size_t p = 0; sound && p < (tuned_only ? job->tuned_count : job->problem_count); p++) {
        json_t *one = describe_launches(job, config, compiled, p, &out, err);
        sound = one && !json_array_append_new(problems, one);
    }
    if (launch_count) *launch_count = sound ? out.count : 0;
    if (launches) *launches = sound ? out.list : NULL;
    if (!launches || !sound) free(out.list);
    return sound ? json_incref(problems) : NULL;
}

json_t *request_problem(const struct job *job, const uint16_t *config, const struct compiled *compiled, size_t problem,
                        struct planned_launch **launches, size_t *launch_count, struct error *err)
{
    struct launches out = {0};
    json_t *one = describe_launches(job, config, compiled, problem, &out, err);
    *launches = out.list;
    *launch_count = out.count;
    return one;
}

// Describes the call of a library's function. The function gets the sizes of the problem too.
static json_t *describe_call(const struct job *job, const struct implementation *m, const struct stage *stage,
                             const char *library, size_t problem, const int64_t *values, struct error *err)
{
    autorelease(arena_release) struct arena memory = {NULL};
    struct stage_call call;
    record_clear(&stage_call_record, &call);
    int failed = describe_arguments(job, stage, NULL, values, &call, &memory, err);
    call.host.library = library;
    call.host.function = m->functions[FUNCTION_RESULT];
    if (m->functions[FUNCTION_INIT]) call.host.init = m->functions[FUNCTION_INIT];
    call.host.sizes = job->problems[problem].sizes;
    call.host.size_count = job->names.size_count;
    return failed ? NULL : record_write(&stage_call_record, &call);
}

json_t *request_own_problems(const struct job *job, const struct implementation *m, const struct compiled *compiled,
                             const char *library, struct error *err)
{
    struct stage stage = job_stage_of(job, m);
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    autojson json_t *problems = json_array();
    for (size_t p = 0; p < job->problem_count; p++) {
        struct launch_shape shape;
        json_t *one = NULL;
        if (!job_problem_values(job, NULL, p, values, err))
            one = m->kind == IMPLEMENTATION_LIBRARY
                      ? describe_call(job, m, &stage, library, p, values, err)
                      : describe_stage(job, &stage, symbol_of(compiled, &stage), NULL, values, 0, &shape, err);
        if (!one) return NULL;
        json_array_append_new(problems, number_problem(job, p, json_pack("[o]", one)));
    }
    return json_incref(problems);
}
