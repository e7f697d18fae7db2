// See job.h: names, values and limits of a loaded job, and freeing it. Reading is in job_load.c and job_launch.c.
#include "tuner/job/job.h"

#include "tuner/base/elf_file.h"
#include "tuner/job/job_parts.h"

const struct device_limits device_limits_h200 = {
    .sm_count = 132,
    .max_shared = 232448,
    .shared_per_sm = 233472,
    .registers_per_sm = 65536,
    .max_threads = 1024,
    .threads_per_sm = 2048,
    .blocks_per_sm = 32,
    .warp_size = 32,
    .l2_bytes = 62914560,
    .memory_bytes = 150110339072,
    .max_cluster = 8,
    .compute = 90,
};

// The limits of a block and of a multiprocessor depend on the compute capability (CUDA C++ Programming Guide, table
// "technical specifications per compute capability"; also in arch_traits.h of NVIDIA's libcu++). The columns beginning
// with `device` describe one device of that capability.
int device_limits_of(const char *arch, struct device_limits *limits, const char **device)
{
    static const struct {
        int compute;
        int64_t shared_per_sm, threads_per_sm, blocks_per_sm; // a block may use 1 KiB less shared memory, except on 7.5
        const char *device;
        int64_t sm_count, l2_bytes, memory_bytes;
    } known[] = {
        {75, 64 << 10, 1024, 16, "a T4", 40, 4 << 20, 16ll << 30},
        {80, 164 << 10, 2048, 32, "an A100", 108, 40 << 20, 80ll << 30},
        {86, 100 << 10, 1536, 16, "an A40", 84, 6 << 20, 48ll << 30},
        {87, 164 << 10, 1536, 16, "a Jetson AGX Orin", 16, 4 << 20, 64ll << 30},
        {89, 100 << 10, 1536, 24, "an L40S", 142, 48 << 20, 48ll << 30},
        {100, 228 << 10, 2048, 32, "a B200", 148, 126 << 20, 180ll << 30},
        {103, 228 << 10, 2048, 32, "a B300", 148, 126 << 20, 270ll << 30},
        {110, 228 << 10, 1536, 24, "a Jetson AGX Thor", 20, 32 << 20, 128ll << 30},
        {120, 100 << 10, 1536, 24, "a GeForce RTX 5090", 170, 96 << 20, 32ll << 30},
        {121, 100 << 10, 1536, 24, "a GB10 (DGX Spark)", 48, 24 << 20, 128ll << 30},
    };
    int compute = text_architecture(arch);
    *limits = device_limits_h200;
    *device = "an H200";
    if (!compute) return -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].compute != compute) continue;
        *device = known[i].device;
        limits->sm_count = known[i].sm_count;
        limits->shared_per_sm = known[i].shared_per_sm;
        limits->max_shared = known[i].shared_per_sm - (compute >= 80 ? 1 << 10 : 0);
        limits->threads_per_sm = known[i].threads_per_sm;
        limits->blocks_per_sm = known[i].blocks_per_sm;
        limits->l2_bytes = known[i].l2_bytes;
        limits->memory_bytes = known[i].memory_bytes;
        if (compute < 90) limits->max_cluster = 1;
        limits->compute = compute;
    }
    return limits->compute == compute ? 0 : -1;
}

#define NAME(member, least, meaning)                                              \
    {                                                                             \
        "device." #member, offsetof(struct device_limits, member), least, meaning \
    }
const struct device_name device_names[] = {
    NAME(sm_count, 1, "multiprocessors"),
    NAME(max_shared, 1, "largest shared memory of a block in bytes"),
    NAME(shared_per_sm, 1, "bytes of shared memory per multiprocessor"),
    NAME(registers_per_sm, 1, "32-bit registers per multiprocessor"),
    NAME(max_threads, 1, "largest number of threads in a block"),
    NAME(threads_per_sm, 1, "threads that a multiprocessor can hold"),
    NAME(blocks_per_sm, 1, "blocks that a multiprocessor can hold"),
    NAME(warp_size, 1, "threads of a warp"),
    NAME(l2_bytes, 0, "bytes of the L2 cache"),
    NAME(memory_bytes, 0, "bytes of device memory"),
    NAME(max_cluster, 0, "blocks that a cluster can have; 1 if the device has no clusters"),
    NAME(compute, 0, "compute capability: 90 for sm_90"),
    {0},
};
#undef NAME

int device_limits_read(const json_t *device, struct device_limits *limits, struct error *err)
{
    for (const struct device_name *n = device_names; n->name; n++) {
        const char *key = n->name + strlen("device.");
        int64_t *member = (int64_t *)(void *)((char *)limits + n->offset),
                value = json_get_integer(device, key, *member);
        if (value < n->least || value > (int64_t)1 << 50)
            return error_set(err, "the GPU worker reports that its device's '%s' is %" PRId64, key, value);
        *member = value;
    }
    return 0;
}

int job_set_limits(struct job *job, const struct device_limits *limits, struct error *err)
{
    for (const struct device_name *n = device_names; n->name; n++) {
        int64_t value = *(const int64_t *)((const char *)limits + n->offset);
        if (space_set_constant(job->space, n->name, value, err)) return -1;
    }
    return 0;
}

void job_free(struct job *job)
{
    if (!job) return;
    for (size_t i = 0; i < job->file.expression_count; i++) expr_free(job->file.expressions[i]);
    mistakes_release(&job->file.old);
    arena_release(&job->file.memory);
    space_free(job->space);
    symbols_free(job->symbols);
    free(job);
}

static int compare_path(const void *path, const void *location)
{
    return strcmp(path, ((const struct location *)location)->path);
}

struct location job_location(const struct job *job, const char *format, ...)
{
    struct location found = {0};
    TEXT_FROM(format, path);
    for (char *end = path + strlen(path); *path;) {
        const struct location *at =
            job->file.location_count
                ? bsearch(path, job->file.locations, job->file.location_count, sizeof *at, compare_path)
                : NULL;
        if (at) {
            found = *at;
            break;
        }
        while (end > path && *end != '.' && *end != '[') end--;
        *end = 0;
    }
    return found;
}

json_t *job_valid_count(const struct job *job)
{
    uint64_t size = space_size(job->space);
    return size <= INT64_MAX ? json_integer((json_int_t)size) : json_real(space_valid_size(job->space));
}

char *job_valid_text(const struct job *job)
{
    autojson json_t *count = job_valid_count(job);
    return json_dumps(count, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
}

const struct implementation *job_current(const struct job *job)
{
    return job->others.baseline_count && !strcmp(job->others.baselines[0].name, CURRENT_KERNEL)
               ? &job->others.baselines[0]
               : NULL;
}

const struct implementation *job_implementation(const struct job *job, size_t number)
{
    if (!number) return &job->others.reference;
    return number <= job->others.baseline_count ? &job->others.baselines[number - 1] : NULL;
}

struct stage job_stage_of(const struct job *job, const struct implementation *of)
{
    struct stage stage = of->stage;
    if (!stage.argument_count && job->stage_count == 1) {
        stage.arguments = job->stages[0].arguments;
        stage.argument_count = job->stages[0].argument_count;
    }
    return stage;
}

const struct operation *job_operation(const struct job *job)
{
    return job->others.reference.kind == IMPLEMENTATION_OPERATION
               ? operation_find(job->others.reference.operation, NULL)
               : NULL;
}

int job_add_derived(struct job *job, const char *name, const char *text, struct error *err)
{
    struct expr *value = job_parse(job, text, err); // before the name exists, so that the value cannot use it
    if (!value) return -1;
    if (space_add_derived(job->space, name, text, err)) return -1;
    job->names.derived = job_room(job, job->names.derived, job->names.derived_count, sizeof *job->names.derived);
    job->names.derived[job->names.derived_count].slot = symbols_find(job->symbols, name);
    job->names.derived[job->names.derived_count++].value = value;
    return 0;
}

int job_parameter(const struct job *job, const char *name)
{
    for (size_t i = 0; i < space_parameter_count(job->space); i++)
        if (!strcmp(space_parameter(job->space, i)->name, name)) return (int)i;
    return -1;
}

int job_problem_values(const struct job *job, const uint16_t *config, size_t problem, int64_t *values,
                       struct error *err)
{
    uint16_t first[SPACE_MAX_PARAMETERS];
    if (!config) {
        space_get(job->space, 0, first);
        config = first;
    }
    if (space_values(job->space, config, values, err)) return -1;
    for (size_t i = 0; i < job->names.size_count; i++)
        values[symbols_find(job->symbols, job->names.size_names[i])] = job->problems[problem].sizes[i];
    for (size_t i = 0; i < job->names.derived_count; i++) {
        int slot = job->names.derived[i].slot;
        if (expr_eval(job->names.derived[i].value, values, &values[slot], err))
            return error_prefix(err, "derived name '%s'", symbols_name(job->symbols, slot));
    }
    return 0;
}

char *problem_label(const struct job *job, const int64_t *sizes)
{
    struct text label = {0};
    text_add(&label, "%s", "");
    for (size_t i = 0; i < job->names.size_count; i++)
        text_add(&label, "%s%s=%" PRId64, i ? "," : "", job->names.size_names[i], sizes[i]);
    return label.text;
}

int64_t job_problem_bytes(const struct job *job, size_t problem, struct error *err)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int64_t total = 0, result = job_problem_values(job, NULL, problem, values, err);
    for (size_t i = 0; !result && i < job->buffer_count; i++) {
        const struct buffer *b = &job->buffers[i];
        struct operand o;
        int64_t bytes;
        bool twice = b->image && b->image->about.memory == IMAGE_ARRAY; // once in memory, once in an array
        if (job_buffer_shape(b, values, &o, err)) {
            result = -1;
        } else if (o.rows < 1 || o.cols < 1 || o.ld < o.cols) {
            result = error_set(
                err, "buffer '%s' of problem %s: %" PRId64 " rows of %" PRId64 " elements, %" PRId64 " apart; %s",
                b->name, job->problems[problem].name, o.rows, o.cols, o.ld,
                o.rows < 1 || o.cols < 1 ? "every size in 'shape' must be at least 1"
                                         : "'ld' must be at least the last size in 'shape'");
        } else if (__builtin_mul_overflow(o.rows, o.ld, &bytes) ||
                   __builtin_mul_overflow(bytes, (int64_t)element_size(b->type) << twice, &bytes) ||
                   __builtin_add_overflow(total, bytes, &total)) {
            result = error_set(err, "buffer '%s' of problem %s has more bytes than an address can reach", b->name,
                               job->problems[problem].name);
        }
        double low, high;
        int64_t size, first, count;
        if (!result) result = job_fill_numbers(b, values, &low, &high, err);
        autofree struct address_run *runs = memory_new(b->fill.address_count + 1, sizeof *runs);
        if (!result && b->fill.address_count) result = job_addresses(job, b, values, runs, err);
        for (size_t k = 0; b->compared && k < b->compared->rank && !result; k++)
            result = job_compared_numbers(b, k, values, &size, &first, &count, err);
    }
    return result ? -1 : total;
}

const char *job_unroll_pragma(int64_t factor, char out[JOB_UNROLL_PRAGMA_SIZE])
{
    if (factor > 1)
        snprintf(out, JOB_UNROLL_PRAGMA_SIZE, "_Pragma(\"unroll %" PRId64 "\")", factor);
    else
        snprintf(out, JOB_UNROLL_PRAGMA_SIZE, "%s", factor ? "_Pragma(\"unroll\")" : "");
    return out;
}

void job_shared_defines(const struct job *job, void (*define)(void *user, const char *name, const char *value),
                        void *user)
{
    for (size_t i = 0; i < job->code.define_count; i++)
        define(user, job->code.defines[i].name, job->code.defines[i].value);
}

void job_defines(const struct job *job, const uint16_t *config,
                 void (*define)(void *user, const char *name, const char *value), void *user)
{
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const struct parameter *p = space_parameter(job->space, i);
        int64_t value = p->values[config[i]];
        char text[JOB_UNROLL_PRAGMA_SIZE];
        if (job->code.parameter_options[i]) continue;
        if (p->kind == PARAMETER_STRING || p->kind == PARAMETER_REAL) {
            define(user, p->name, symbols_text(job->symbols, value));
            continue;
        }
        if (p->kind == PARAMETER_UNROLL)
            job_unroll_pragma(value, text);
        else
            snprintf(text, sizeof text, "%" PRId64, value);
        define(user, p->name, text);
    }
    job_shared_defines(job, define, user);
}

const char *job_unverified(const struct job *job)
{
    return job->verify.enabled ? NULL : "NOT VERIFIED: the job has verification.enabled = false";
}

const char *job_compute_class(const struct job *job)
{
    const struct operation *op = job_operation(job);
    if (!op || !op->classes) return NULL;
    for (size_t i = 0; i < job->others.reference.binding_count; i++)
        if (!strcmp(job->others.reference.bindings[i].role, "compute"))
            return op->classes[(size_t)job->others.reference.bindings[i].value];
    return op->classes[0];
}

// The type of the buffer that an operation's first buffer role is bound to, or -1.
static int first_type(const struct job *job, const struct operation *op)
{
    const struct operation_role *role = op->roles;
    while (role->name && role->kind != ROLE_INPUT && role->kind != ROLE_OUTPUT) role++;
    const char *name = role->name;
    for (size_t i = 0; name && i < job->others.reference.binding_count; i++)
        if (!strcmp(job->others.reference.bindings[i].role, role->name)) name = job->others.reference.bindings[i].name;
    for (size_t i = 0; name && i < job->buffer_count; i++)
        if (!strcmp(job->buffers[i].name, name)) return (int)job->buffers[i].type;
    return -1;
}

const struct execution_unit *job_unit(const struct job *job, double *times)
{
    const struct operation *op = job_operation(job);
    const char *class = job_compute_class(job);
    *times = 1;
    if (job->work.pipe) return job->work.pipe;
    if (!op || !op->pipe) return NULL;
    int type = first_type(job, op);
    return type < 0 ? NULL : op->pipe((enum element)type, class ? operation_class(op, class) : 0, times);
}

double job_objective(const struct job *job, const double *times)
{
    double weights[JOB_MAX_PROBLEMS];
    for (size_t p = 0; p < job->tuned_count; p++) weights[p] = job->problems[p].weight;
    return objective_value(job->search.objective, weights, times, job->tuned_count);
}

const char *const implementation_functions[IMPLEMENTATION_FUNCTIONS] = {[FUNCTION_RESULT] = "function",
                                                                        [FUNCTION_GENERATE] = "generate",
                                                                        [FUNCTION_VERIFY] = "verify",
                                                                        [FUNCTION_INIT] = "init"};

// Visits the expressions in a list, which may contain NULL.
struct expression_visitor {
    void (*visit)(void *user, struct expr *);
    void *user;
};

static void each(const struct expression_visitor *v, struct expr *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]) v->visit(v->user, list[i]);
}

void stage_each_expression(const struct stage *s, void (*visit)(void *user, struct expr *), void *user)
{
    const struct expression_visitor v = {visit, user};
    each(&v, (struct expr *[]){s->when, s->shared, s->overlap}, 3);
    each(&v, s->grid, 3);
    each(&v, s->block, 3);
    each(&v, s->cluster, 3);
    for (size_t i = 0; i < s->repeat.loop_count; i++) {
        const struct stage_loop *l = &s->repeat.loops[i];
        each(&v, (struct expr *[]){l->from, l->holds, l->next}, 3);
    }
    for (size_t i = 0; i < s->role_count; i++) each(&v, &s->roles[i].value, 1);
    for (size_t i = 0; i < s->argument_count; i++) {
        const struct argument *a = &s->arguments[i];
        each(&v, &a->value, 1);
        for (size_t k = 0; k < a->member_count; k++)
            each(&v, (struct expr *[]){a->members[k].value, a->members[k].address.at}, 2);
        if (!a->map) continue;
        each(&v, a->map->view, TENSOR_MAP_RANK_MAX);
        each(&v, a->map->stride, TENSOR_MAP_RANK_MAX);
        each(&v, a->map->box, TENSOR_MAP_RANK_MAX);
        each(&v, (struct expr *[]){a->map->swizzle, a->map->promotion}, 2);
    }
}

bool implementation_is_built(const struct implementation *m)
{
    return m->kind == IMPLEMENTATION_LIBRARY && shared_library_is_source(m->path);
}
