// See request.h: the "job" request, with problems, their buffers, and implementations that are no candidates, which GPU
// workers get by one record (tuner/protocol/job_message.h).
#include "tuner/setup/request.h"

#include <math.h>

#include "tuner/base/base.h"
#include "tuner/base/entropy.h"
#include "tuner/base/input_file.h"
#include "tuner/protocol/job_message.h"

// What the job calls a role of the reference's operation.
static const char *bound_name(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->reference.binding_count; i++)
        if (!strcmp(job->reference.bindings[i].role, role) && job->reference.bindings[i].name)
            return job->reference.bindings[i].name;
    return role;
}

// Buffers: shapes, fills, images, and what is compared ----------------------------------------------------------------

static json_t *describe_fill(enum fill_kind kind, double low, double high)
{
    bool range = kind == FILL_UNIFORM || kind == FILL_NONFINITE || kind == FILL_ZEROS || kind == FILL_INTEGER ||
                 kind == FILL_SORTED;
    json_t *fill = json_pack("{s:s}", "kind", fill_text[kind]);
    if (kind == FILL_CONSTANT) json_object_set_new(fill, "value", json_real(low));
    if (range) json_object_set_new(fill, "low", json_real(low));
    if (range) json_object_set_new(fill, "high", json_real(high));
    if (kind == FILL_OFFSETS) json_object_set_new(fill, "total", json_real(high));
    return fill;
}

// What the worker needs beyond the buffer: the image, or the name of the module's variable.
static int describe_place(json_t *buffer, const struct buffer *b, const int64_t *values, struct error *err)
{
    struct image_layout image;
    if (b->symbol) json_object_set_new(buffer, "symbol", json_string(b->optional ? "optional" : "required"));
    if (!b->image) return 0;
    if (job_image_resolve(b, values, &image, err)) return error_prefix(err, "image '%s'", b->name);
    json_t *sizes = json_array(), *address = json_array();
    for (int i = 0; i < image.rank; i++) {
        json_array_append_new(sizes, json_integer(image.size[i]));
        json_array_append_new(address, json_string(image_address_text[image.address[i]]));
    }
    json_object_set_new(buffer, "image",
                        json_pack("{s:s, s:o, s:i, s:b, s:s, s:o, s:b, s:s}", "memory", image_memory_text[image.memory],
                                  "size", sizes, "channels", image.channels, "surface", (int)image.surface, "filter",
                                  image_filter_text[image.filter], "address", address, "normalized",
                                  (int)image.normalized, "read", image_read_text[image.read]));
    return 0;
}

static json_t *describe_compared(const struct buffer *b, const int64_t *values, struct error *err)
{
    const struct compared *c = b->compared;
    json_t *sizes = json_array(), *firsts = json_array(), *counts = json_array();
    int64_t size, first, count;
    int failed = 0;
    for (size_t i = 0; i < c->rank && !failed; i++) {
        failed = job_compared_numbers(b, i, values, &size, &first, &count, err);
        json_array_append_new(sizes, json_integer(size));
        json_array_append_new(firsts, json_integer(first));
        json_array_append_new(counts, json_integer(count));
    }
    if (c->rank && b->image && b->image->about.channels > 1) { // all elements of a texel
        json_array_append_new(sizes, json_integer(b->image->about.channels));
        json_array_append_new(firsts, json_integer(0));
        json_array_append_new(counts, json_integer(b->image->about.channels));
    }
    json_t *compared = json_pack("{s:o, s:o, s:o}", "sizes", sizes, "first", firsts, "count", counts);
    if (!failed) return compared;
    json_decref(compared);
    return NULL;
}

// Whether other values than those of its fill may be tried in a buffer: an input, whose values mean nothing else, such
// as an index.
static bool has_domain(const struct job *job, const struct buffer *b)
{
    const struct operation *op = job_operation(job);
    bool integers = !element_is_float(b->type), given = b->fill.given, input = !op;
    for (size_t k = 0; op && op->roles[k].name; k++)
        input |= op->roles[k].kind == ROLE_INPUT && !strcmp(bound_name(job, op->roles[k].name), b->name);
    return input && b->direction == DIRECTION_IN && !b->value && !b->image &&
           (integers ? !given : b->fill.kind == FILL_UNIFORM || b->fill.kind == FILL_NORMAL);
}

// Another fill for the second set of data, of the job's domain: with consecutive variants, all there are. NULL: the
// same.
static json_t *other_fill(const struct job *job, const struct buffer *b, uint64_t variant, double low, double high)
{
    static const struct {
        enum value_domain domain;
        int sign;
    } all[] = {{VALUES_SCALED, 1},   {VALUES_SHIFTED, 1},   {VALUES_ZERO, 1},
               {VALUES_NEGATIVE, 1}, {VALUES_SCALED, -1},   {VALUES_SHIFTED, -1},
               {VALUES_ZERO, -1},    {VALUES_SUBNORMAL, 1}, {VALUES_FULL, 1}};
    enum { ALL = sizeof all / sizeof *all };
    const bool integers = !element_is_float(b->type);
    unsigned domain = job->domain & (integers ? VALUES_FULL | VALUES_ZERO : ~(unsigned)VALUES_FULL);
    size_t possible[ALL], count = 0;
    if (b->type == ELEMENT_F16 || element_size(b->type) == 1) domain &= ~(unsigned)VALUES_SCALED;
    for (size_t i = 0; i < ALL; i++)
        if (domain & all[i].domain) possible[count++] = i;
    if (!has_domain(job, b) || !count) return NULL;
    const size_t chosen = possible[variant % count];
    const int sign = all[chosen].sign;
    if (b->fill.kind == FILL_NORMAL) low = -1, high = 1;
    const double most = fmax(fabs(low), fabs(high)), scale = ldexp(1, sign * (7 + (int)entropy_below(4)));
    double tiny;
    switch (all[chosen].domain) {
    case VALUES_SCALED:
        return describe_fill(FILL_UNIFORM, low * scale, high * scale);
    case VALUES_NEGATIVE:
        return describe_fill(FILL_UNIFORM, -most, -most / 1024);
    case VALUES_SHIFTED:
        return describe_fill(FILL_UNIFORM, low + sign * 100 * most, high + sign * 100 * most);
    case VALUES_SUBNORMAL:
        tiny = ldexp(1, 1 - ilogb(element_largest(b->type)));
        return describe_fill(FILL_UNIFORM, -tiny, tiny);
    case VALUES_FULL: // 64-bit integers: as far as the request's numbers hold them
        return describe_fill(FILL_INTEGER, fmax((double)element_least(b->type), -0x1p53),
                             fmin((double)element_greatest(b->type), 0x1p53));
    case VALUES_ZERO:
        if (!integers && sign > 0) return describe_fill(FILL_ZEROS, low, high);
        break;
    case VALUES_END:
        break;
    }
    return describe_fill(FILL_CONSTANT, 0, 0);
}

static json_t *describe_buffers(const struct job *job, const struct problem *problem, const int64_t *values,
                                struct error *err)
{
    json_t *buffers = json_array();
    for (size_t i = 0; i < job->buffer_count; i++) {
        const struct buffer *b = &job->buffers[i];
        struct operand o;
        double low, high;
        int64_t value;
        json_t *compared = NULL, *added = json_object();
        json_array_append_new(buffers, added);
        if (job_buffer_shape(b, values, &o, err) || job_fill_numbers(b, values, &low, &high, err) ||
            (b->value && job_constant_value(b, values, &value, err)) || describe_place(added, b, values, err) ||
            (b->compared && !(compared = describe_compared(b, values, err)))) {
            json_decref(buffers);
            return NULL;
        }
        json_t *fill =
                   b->value ? describe_fill(FILL_CONSTANT, (double)value, 0) : describe_fill(b->fill.kind, low, high),
               *other = job->is_drawn ? other_fill(job, b, problem->variant + 3 * i, low, high) : NULL;
        if (b->fill.path) json_object_set_new(fill, "path", json_string(b->fill.path));
        json_object_set_new(added, "name", json_string(b->name));
        json_object_set_new(added, "type", json_string(element_name(b->type)));
        json_object_set_new(added, "rows", json_integer(o.rows));
        json_object_set_new(added, "cols", json_integer(o.cols));
        json_object_set_new(added, "ld", json_integer(o.ld));
        json_object_set_new(added, "direction", json_string(direction_text[b->direction]));
        // Nothing is promised of scratch that the job does not fill.
        if (b->fill.given || b->direction != DIRECTION_SCRATCH)
            json_object_set_new(added, "fill", fill);
        else
            json_decref(fill);
        if (other) json_object_set_new(added, "other", other);
        if (b->restore) json_object_set_new(added, "restore", json_true());
        if (compared) json_object_set_new(added, "compare", compared);
    }
    return buffers;
}

// Implementations -----------------------------------------------------------------------------------------------------

enum { BASELINE_TIMEOUTS = 4 }; // times `measure.timeout`

char *implementation_label(const struct job *job, const struct implementation *m)
{
    if (m == &job->reference) return text_copy("the reference");
    return m == job_current(job) ? text_copy("the current kernel") : text_format("baseline '%s'", m->name);
}

// Launches, or calls of a function, for every problem, and the file that has the code: a cubin, PTX or a library.
static int describe_own_launches(const struct job *job, const struct implementation *m, const json_t *answer,
                                 struct implementation_request *to, struct arena *memory, json_t **problems,
                                 struct error *err)
{
    struct compiled compiled = {0};
    bool compiles = m->kind == IMPLEMENTATION_KERNEL || m->kind == IMPLEMENTATION_CONFIGURATION;
    if (compiles && answer && compiled_read(answer, &compiled, err)) return -1;
    const char *library = json_get_string(answer, "library", m->path);
    *problems = m->kind == IMPLEMENTATION_CONFIGURATION
                    ? request_problems(job, m->config, &compiled, false, NULL, NULL, err)
                    : request_own_problems(job, m, &compiled, library, err);
    if (m->kind == IMPLEMENTATION_LIBRARY) to->timeout = BASELINE_TIMEOUTS * job->measure.timeout;
    to->candidate.cubin = m->kind == IMPLEMENTATION_BINARY ? m->path : arena_copy(memory, compiled.cubin);
    to->candidate.written = *problems;
    compiled_release(&compiled);
    return *problems ? 0 : -1;
}

// A baseline's name and description, or why there is none.
static void name_baseline(const struct job *job, const struct implementation *m, const json_t *answer,
                          struct implementation_request *to, struct arena *memory)
{
    char *detail = m->kind == IMPLEMENTATION_CONFIGURATION
                       ? space_text(job->space, m->config)
                       : text_format("%s of %s", m->stage.entry, text_file_name(m->path));
    bool made = !answer || status_find(json_get_string(answer, "status", "")) == STATUS_OK;
    to->candidate.name = m->name;
    to->detail = arena_copy(memory, detail);
    if (!made) to->reason = json_get_string(answer, "reason", "it could not be built");
    free(detail);
}

// The functions of the reference's library. What is at its path may be built again there. A library that is given by
// its source has the hash of what it is built from.
static void describe_library(const struct implementation *m, const json_t *answer, struct implementation_request *to,
                             struct arena *memory)
{
    char hash[HASH_TEXT_SIZE];
    size_t size;
    char *content = implementation_is_built(m) ? NULL : text_read_file(m->path, &size);
    if (content) hash_content(content, size, hash);
    free(content);
    to->path = m->path;
    to->hash = content ? arena_copy(memory, hash) : json_get_string(answer, "hash", "");
    to->built = json_get_string(answer, "library", "");
    to->function = arena_copy(memory, m->functions[FUNCTION_RESULT]);
    to->generate = arena_copy(memory, m->functions[FUNCTION_GENERATE]);
    to->verify = arena_copy(memory, m->functions[FUNCTION_VERIFY]);
    to->timeout = m->timeout;
}

static void describe_command(const struct job *job, struct implementation_request *to, struct arena *memory)
{
    char hash[HASH_TEXT_SIZE];
    command_files_hash(job->reference.command, job->directory, hash);
    to->command = job->reference.command;
    to->folder = job->directory;
    to->hash = arena_copy(memory, hash);
    to->timeout = job->reference.timeout;
}

// Which buffer plays each role; and for files, which file has each buffer's values.
static void describe_role_buffers(const struct job *job, struct implementation_request *to, struct arena *memory)
{
    const struct implementation *m = &job->reference;
    const struct operation *op = job_operation(job);
    struct record_named_text *list = arena_new(memory, (OPERATION_ROLES_MAX + m->binding_count) * sizeof *list);
    size_t count = 0;
    for (size_t k = 0; op && op->roles[k].name; k++)
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT)
            list[count++] = (struct record_named_text){op->roles[k].name, bound_name(job, op->roles[k].name)};
    for (size_t i = 0; !op && i < m->binding_count; i++)
        list[count++] = (struct record_named_text){m->bindings[i].role, m->bindings[i].name};
    if (op) {
        to->candidate.name = m->operation;
        to->by = m->by;
        to->buffers = list;
        to->buffer_count = count;
    } else {
        to->files = list;
        to->file_count = count;
    }
}

static json_t *describe_implementation(const struct job *job, const struct implementation *m, const json_t *answer,
                                       struct error *err)
{
    struct arena memory = {NULL};
    struct implementation_request r;
    json_t *problems = NULL, *written = NULL;
    bool is_reference = m == &job->reference;
    int failed = 0;
    record_clear(&implementation_request_record, &r);
    r.kind =
        m->kind == IMPLEMENTATION_CONFIGURATION || m->kind == IMPLEMENTATION_BINARY ? IMPLEMENTATION_KERNEL : m->kind;
    if (!is_reference) name_baseline(job, m, answer, &r, &memory);
    if (!is_reference || r.kind == IMPLEMENTATION_KERNEL) {
        failed = describe_own_launches(job, m, *r.reason ? NULL : answer, &r, &memory, &problems, err);
        if (failed && is_reference)
            error_prefix(err, "%s: reference kernel", job->path);
        else if (failed)
            error_prefix(err, m == job_current(job) ? "%s: '%s'" : "%s: baseline '%s'", job->path, m->name);
    } else if (r.kind == IMPLEMENTATION_LIBRARY) {
        describe_library(m, answer, &r, &memory);
    } else if (r.kind == IMPLEMENTATION_COMMAND) {
        describe_command(job, &r, &memory);
    } else {
        describe_role_buffers(job, &r, &memory);
    }
    if (!failed) written = record_write(&implementation_request_record, &r);
    json_decref(problems);
    arena_release(&memory);
    return written;
}

// Problems ------------------------------------------------------------------------------------------------------------

// The value of a size or scalar role: a number that kernels get by value, or any name expressions know.
static json_t *role_value(const struct job *job, const struct job_number *numbers, const char *name,
                          const int64_t *values)
{
    int slot = symbols_find(job->symbols, name);
    int64_t value;
    for (const struct job_number *n = numbers; n->name; n++) {
        if (strcmp(n->name, name) != 0) continue;
        if (!n->value) return json_real(n->real);
        if (!expr_eval(n->value, values, &value, NULL)) return json_integer(value);
    }
    return slot >= 0 ? json_integer(values[slot]) : NULL;
}

// The constant that the job file gives for a role (`transpose_b = true`), or NULL.
static json_t *constant_role(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->reference.binding_count; i++)
        if (!strcmp(job->reference.bindings[i].role, role) && !job->reference.bindings[i].name)
            return json_real(job->reference.bindings[i].value);
    return NULL;
}

static json_t *describe_roles(const struct job *job, const int64_t *values)
{
    json_t *roles = json_object();
    struct job_number *numbers = job_numbers(job);
    const struct operation *op = job_operation(job);
    for (size_t k = 0; op && op->roles[k].name; k++) {
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT) continue;
        json_t *value = constant_role(job, op->roles[k].name);
        if (!value) value = role_value(job, numbers, bound_name(job, op->roles[k].name), values);
        if (value) json_object_set_new(roles, op->roles[k].name, value);
    }
    // A user's program gets every size and scalar under its own name.
    bool program = job->reference.kind == IMPLEMENTATION_LIBRARY || job->reference.kind == IMPLEMENTATION_COMMAND;
    for (size_t i = 0; i < job->size_count && program; i++)
        json_object_set_new(roles, job->size_names[i], role_value(job, numbers, job->size_names[i], values));
    for (const struct job_number *n = numbers; n->name && program; n++)
        json_object_set_new(roles, n->name, role_value(job, numbers, n->name, values));
    free(numbers);
    return roles;
}

static json_t *describe_problem(const struct job *job, size_t p, int64_t memory, int64_t *values, struct error *err)
{
    const struct problem *problem = &job->problems[p];
    int64_t flops = 0, bytes = 0, needed = job_problem_bytes(job, p, err);
    json_t *buffers = NULL;
    int failed = needed < 0 ? -1 : job_problem_values(job, NULL, p, values, err);
    if (needed > memory && memory > 0)
        failed = error_set(err, "the buffers of problem %s take %.1f GiB; the device has %.1f", problem->name,
                           (double)needed / (1 << 30), (double)memory / (1 << 30));
    if (!failed && ((job->flops && expr_eval(job->flops, values, &flops, err)) ||
                    (job->bytes && expr_eval(job->bytes, values, &bytes, err))))
        failed = error_prefix(err, "work of this problem");
    if (failed || !(buffers = describe_buffers(job, problem, values, err))) {
        error_prefix(err, "%s:%d", job->path, problem->line);
        return NULL;
    }
    json_t *sizes = json_object();
    for (size_t i = 0; i < job->size_count; i++)
        json_object_set_new(sizes, job->size_names[i], json_integer(problem->sizes[i]));
    return json_pack("{s:s, s:b, s:f, s:o, s:o, s:I, s:I, s:o}", "name", problem->name, "tune", (int)problem->tune,
                     "weight", problem->weight, "sizes", sizes, "roles", describe_roles(job, values), "flops",
                     (json_int_t)flops, "bytes", (json_int_t)bytes, "buffers", buffers);
}

// The current kernel, as what progress is shown against, the libraries of the reference's operation, and the rest.
static json_t *describe_baselines(const struct job *job, json_t *const *answers, struct error *err)
{
    const struct operation *op = job_operation(job);
    json_t *list = json_array();
    for (size_t i = 0; i < job->baseline_count; i++) {
        json_t *one = describe_implementation(job, &job->baselines[i], answers ? answers[i + 1] : NULL, err);
        if (!one) return json_decref(list), NULL;
        json_array_append_new(list, one);
    }
    for (size_t i = 0; op && op->baselines && op->baselines[i].name; i++)
        json_array_insert_new(list, i + (job_current(job) != NULL),
                              json_pack("{s:s, s:s}", "kind", implementation_words[IMPLEMENTATION_OPERATION], "name",
                                        op->baselines[i].name));
    return list;
}

json_t *request_job(const struct job *job, int64_t memory, json_t *const *answers, uint64_t seed, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    json_t *problems = json_array(), *baselines = describe_baselines(job, answers, err), *how = NULL;
    bool failed = !baselines;
    for (size_t p = 0; p < job->problem_count && !failed; p++) {
        json_t *problem = describe_problem(job, p, memory, values, err);
        failed = !problem;
        if (problem) json_array_append_new(problems, problem);
    }
    if (!failed) how = describe_implementation(job, &job->reference, answers ? answers[0] : NULL, err);
    free(values);
    if (how)
        return json_pack("{s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:o}", "op", "job", "seed", (json_int_t)seed, "problems",
                         problems, "objective", objective_text[job->objective], "reference", how, "verify",
                         settings_write(verify_table, &job->verify), "measure",
                         settings_write(measure_table, &job->measure), "baselines", baselines);
    json_decref(problems);
    json_decref(baselines);
    return NULL;
}
