// See request.h: the "job" request, with problems, their buffers, and implementations that are not candidates. GPU
// workers get them in one record (tuner/protocol/job_message.h).
#include "tuner/setup/request.h"

#include "tuner/base/entropy.h"
#include "tuner/base/input_file.h"
#include "tuner/protocol/job_message.h"

// The job's name for a role of the reference's operation.
static const char *bound_name(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->others.reference.binding_count; i++)
        if (!strcmp(job->others.reference.bindings[i].role, role) && job->others.reference.bindings[i].name)
            return job->others.reference.bindings[i].name;
    return role;
}

// Buffers: shapes, fills, images, and compared parts ------------------------------------------------------------------

static struct fill_request *describe_fill(struct arena *memory, enum fill_kind kind, double low, double high)
{
    bool range = kind == FILL_UNIFORM || kind == FILL_NONFINITE || kind == FILL_ZEROS || kind == FILL_INTEGER ||
                 kind == FILL_SORTED;
    struct fill_request *fill = arena_new(memory, sizeof *fill);
    *fill = (struct fill_request){.kind = kind,
                                  .low = range ? low : (double)NAN,
                                  .high = range ? high : (double)NAN,
                                  .value = kind == FILL_CONSTANT ? low : (double)NAN,
                                  .total = kind == FILL_OFFSETS ? high : (double)NAN,
                                  .path = ""};
    return fill;
}

static int describe_image(const struct buffer *b, const int64_t *values, struct buffer_request *to,
                          struct arena *memory, struct error *err)
{
    struct image_layout *layout = arena_new(memory, sizeof *layout);
    struct image_request *image = arena_new(memory, sizeof *image);
    if (job_image_resolve(b, values, layout, err)) return error_prefix(err, "image '%s'", b->name);
    const size_t rank = (size_t)layout->rank;
    *image = (struct image_request){.memory = layout->memory,
                                    .filter = layout->filter,
                                    .read = layout->read,
                                    .channels = layout->channels,
                                    .normalized = layout->normalized,
                                    .surface = layout->surface,
                                    .size = layout->size,
                                    .address = layout->address,
                                    .rank = rank,
                                    .address_count = rank};
    to->image = image;
    return 0;
}

static int describe_compared(const struct buffer *b, const int64_t *values, struct buffer_request *to,
                             struct arena *memory, struct error *err)
{
    const struct compared *c = b->compared;
    struct compare_request *part = arena_new(memory, sizeof *part);
    size_t rank = c->rank;
    int64_t *size = arena_new(memory, (rank + 1) * sizeof *size),
            *first = arena_new(memory, (rank + 1) * sizeof *first),
            *count = arena_new(memory, (rank + 1) * sizeof *count);
    for (size_t i = 0; i < rank; i++)
        if (job_compared_numbers(b, i, values, &size[i], &first[i], &count[i], err)) return -1;
    if (rank && b->image && b->image->about.channels > 1) { // all elements of a texel
        size[rank] = count[rank] = b->image->about.channels;
        first[rank++] = 0;
    }
    *part = (struct compare_request){size, first, count, rank, rank, rank};
    to->compare = part;
    return 0;
}

// Whether a buffer may also be tried with values other than those of its fill. It must be an input whose values have no
// other meaning (they are not indices, for example).
static bool has_domain(const struct job *job, const struct buffer *b)
{
    const struct operation *op = job_operation(job);
    bool integers = !element_is_float(b->type), given = b->fill.given, input = !op;
    for (size_t k = 0; op && op->roles[k].name; k++)
        input |= op->roles[k].kind == ROLE_INPUT && !strcmp(bound_name(job, op->roles[k].name), b->name);
    return input && b->direction == DIRECTION_IN && !b->image &&
           (integers ? !given : b->fill.kind == FILL_UNIFORM || b->fill.kind == FILL_NORMAL);
}

// Returns another fill for the second set of data, from the job's domain. Consecutive variants give all possible fills.
// NULL means that the fill stays the same.
static const struct fill_request *other_fill(const struct job *job, const struct buffer *b, uint64_t variant,
                                             double low, double high, struct arena *memory)
{
    static const struct {
        enum value_domain domain;
        int sign;
    } all[] = {{VALUES_SCALED, 1},   {VALUES_SHIFTED, 1},   {VALUES_ZERO, 1},
               {VALUES_NEGATIVE, 1}, {VALUES_SCALED, -1},   {VALUES_SHIFTED, -1},
               {VALUES_ZERO, -1},    {VALUES_SUBNORMAL, 1}, {VALUES_FULL, 1}};
    enum { ALL = sizeof all / sizeof *all };
    const bool integers = !element_is_float(b->type);
    unsigned domain = job->sizes.domain & (integers ? VALUES_FULL | VALUES_ZERO : ~(unsigned)VALUES_FULL);
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
        return describe_fill(memory, FILL_UNIFORM, low * scale, high * scale);
    case VALUES_NEGATIVE:
        return describe_fill(memory, FILL_UNIFORM, -most, -most / 1024);
    case VALUES_SHIFTED:
        return describe_fill(memory, FILL_UNIFORM, low + sign * 100 * most, high + sign * 100 * most);
    case VALUES_SUBNORMAL:
        tiny = ldexp(1, 1 - ilogb(element_largest(b->type)));
        return describe_fill(memory, FILL_UNIFORM, -tiny, tiny);
    case VALUES_FULL: // 64-bit integers: limited to the range of the request's numbers
        return describe_fill(memory, FILL_INTEGER, fmax((double)element_least(b->type), -0x1p53),
                             fmin((double)element_greatest(b->type), 0x1p53));
    case VALUES_ZERO:
        if (!integers && sign > 0) return describe_fill(memory, FILL_ZEROS, low, high);
        break;
    case VALUES_END:
        break;
    }
    return describe_fill(memory, FILL_CONSTANT, 0, 0);
}

static int describe_addresses(const struct job *job, const struct buffer *b, const int64_t *values,
                              struct buffer_request *to, struct arena *memory, struct error *err)
{
    struct address_run *runs = arena_new(memory, b->fill.address_count * sizeof *runs);
    struct address_request *list = arena_new(memory, b->fill.address_count * sizeof *list);
    int64_t place = 0;
    if (job_addresses(job, b, values, runs, err)) return -1;
    for (size_t i = 0; i < b->fill.address_count; i++) {
        const struct address_run *run = &runs[i];
        list[i] = (struct address_request){run->buffer < 0 ? "" : job->buffers[run->buffer].name, place, run->at,
                                           run->step, run->count};
        place += run->count * (int64_t)element_size(b->type);
    }
    to->addresses = list;
    to->address_count = b->fill.address_count;
    return 0;
}

static int describe_buffer(const struct job *job, const struct buffer *b, uint64_t variant, const int64_t *values,
                           struct buffer_request *to, struct arena *memory, struct error *err)
{
    struct operand o;
    double low, high;
    if (job_buffer_shape(b, values, &o, err) || job_fill_numbers(b, values, &low, &high, err) ||
        (b->fill.address_count && describe_addresses(job, b, values, to, memory, err)) ||
        (b->image && describe_image(b, values, to, memory, err)) ||
        (b->compared && describe_compared(b, values, to, memory, err)))
        return -1;
    to->name = b->name;
    to->type = element_name(b->type);
    to->rows = o.rows;
    to->cols = o.cols;
    to->ld = o.ld;
    to->direction = b->direction;
    to->restore = b->restore;
    to->symbol = !b->symbol ? SYMBOL_NONE : b->optional ? SYMBOL_OPTIONAL : SYMBOL_REQUIRED;
    if (job->sizes.is_drawn) to->other = other_fill(job, b, variant, low, high, memory);
    // Scratch that the job does not fill has unspecified values.
    if (!b->fill.given && b->direction == DIRECTION_SCRATCH) return 0;
    struct fill_request *fill = describe_fill(memory, b->fill.kind, low, high);
    if (b->fill.path) fill->path = b->fill.path;
    to->fill = fill;
    return 0;
}

// Implementations -----------------------------------------------------------------------------------------------------

enum { BASELINE_TIMEOUTS = 4 }; // in units of `measure.timeout`

char *implementation_label(const struct job *job, const struct implementation *m)
{
    if (m == &job->others.reference) return text_copy("the reference");
    return m == job_current(job) ? text_copy("the current kernel") : text_format("baseline '%s'", m->name);
}

// Describes launches, or calls to a function, for every problem, and the file with the code: a cubin, PTX or a library.
static int describe_own_launches(const struct job *job, const struct implementation *m, const json_t *answer,
                                 struct implementation_request *to, struct arena *memory, json_t *written,
                                 struct error *err)
{
    autorelease(compiled_release) struct compiled compiled = {0};
    bool compiles = m->kind == IMPLEMENTATION_KERNEL || m->kind == IMPLEMENTATION_CONFIGURATION;
    if (compiles && answer && compiled_read(answer, &compiled, err)) return -1;
    const char *library = json_get_string(answer, "library", m->path);
    json_t *problems = m->kind == IMPLEMENTATION_CONFIGURATION
                           ? request_problems(job, m->config, &compiled, false, NULL, NULL, err)
                           : request_own_problems(job, m, &compiled, library, err);
    if (m->kind == IMPLEMENTATION_LIBRARY) to->timeout = BASELINE_TIMEOUTS * job->measure.timeout;
    to->candidate.cubin = m->kind == IMPLEMENTATION_BINARY ? m->path : arena_copy(memory, compiled.cubin);
    to->candidate.written = problems;
    if (problems) json_array_append_new(written, problems);
    return problems ? 0 : -1;
}

// A baseline's name and description, or why it is not available.
static void name_baseline(const struct job *job, const struct implementation *m, const json_t *answer,
                          struct implementation_request *to, struct arena *memory)
{
    autofree char *detail = m->kind == IMPLEMENTATION_CONFIGURATION
                                ? space_text(job->space, m->config)
                                : text_format("%s of %s", m->stage.entry, text_file_name(m->path));
    bool made = !answer || answer_status(answer) == STATUS_OK;
    to->candidate.name = m->name;
    to->detail = arena_copy(memory, detail);
    if (!made) to->reason = answer_reason(answer, "it could not be built");
    if (!made && answer_status(answer) == STATUS_COMPILE_TIMEOUT)
        to->reason = "it was not built in time (at most a quarter of --time, and the job's compile.timeout five times)";
}

// The functions of the reference's library, with a hash, because the library's file may change when it is rebuilt. For
// a library that is given by its source, the hash covers the files that it is built from.
static void describe_library(const struct implementation *m, const json_t *answer, struct implementation_request *to,
                             struct arena *memory)
{
    char hash[HASH_TEXT_SIZE];
    size_t size;
    autofree char *content = implementation_is_built(m) ? NULL : text_read_file(m->path, &size);
    if (content) hash_content(content, size, hash);
    to->library.path = m->path;
    to->hash = content ? arena_copy(memory, hash) : json_get_string(answer, "hash", "");
    to->library.built = json_get_string(answer, "library", "");
    to->library.function = arena_copy(memory, m->functions[FUNCTION_RESULT]);
    to->library.generate = arena_copy(memory, m->functions[FUNCTION_GENERATE]);
    to->library.verify = arena_copy(memory, m->functions[FUNCTION_VERIFY]);
    to->timeout = m->timeout;
}

static void describe_command(const struct job *job, struct implementation_request *to, struct arena *memory)
{
    char hash[HASH_TEXT_SIZE];
    command_files_hash(job->others.reference.command, job->file.directory, hash);
    to->command = job->others.reference.command;
    to->folder = job->file.directory;
    to->hash = arena_copy(memory, hash);
    to->timeout = job->others.reference.timeout;
}

// The buffer for each role or, if the reference is in files, the file with each buffer's values.
static void describe_role_buffers(const struct job *job, struct implementation_request *to, struct arena *memory)
{
    const struct implementation *m = &job->others.reference;
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

// Describes an implementation. Its problems, as JSON, are appended to `written`, which must outlive *r.
static int describe_implementation(const struct job *job, const struct implementation *m, const json_t *answer,
                                   struct implementation_request *r, struct arena *memory, json_t *written,
                                   struct error *err)
{
    bool is_reference = m == &job->others.reference;
    int failed = 0;
    record_clear(&implementation_request_record, r);
    r->kind =
        m->kind == IMPLEMENTATION_CONFIGURATION || m->kind == IMPLEMENTATION_BINARY ? IMPLEMENTATION_KERNEL : m->kind;
    if (!is_reference) name_baseline(job, m, answer, r, memory);
    if (!is_reference || r->kind == IMPLEMENTATION_KERNEL) {
        failed = describe_own_launches(job, m, *r->reason ? NULL : answer, r, memory, written, err);
        if (failed && is_reference)
            error_prefix(err, "reference kernel");
        else if (failed)
            error_prefix(err, m == job_current(job) ? "'%s'" : "baseline '%s'", m->name);
        if (failed) job_locate_error(job, m->setting, err);
    } else if (r->kind == IMPLEMENTATION_LIBRARY) {
        describe_library(m, answer, r, memory);
    } else if (r->kind == IMPLEMENTATION_COMMAND) {
        describe_command(job, r, memory);
    } else {
        describe_role_buffers(job, r, memory);
    }
    return failed;
}

// Problems ------------------------------------------------------------------------------------------------------------

// The value of a size or scalar role: a number that kernels get by value, or any name that expressions can use.
static bool role_value(const struct job *job, const struct job_number *numbers, const char *name, const int64_t *values,
                       struct record_number *out)
{
    const int slot = symbols_find(job->symbols, name);
    int64_t value;
    bool known = false;
    for (const struct job_number *n = numbers; n->name && !known; n++) {
        if (strcmp(n->name, name) != 0) continue;
        *out = (struct record_number){.real = n->real};
        if (!n->value) return true;
        known = !expr_eval(n->value, values, &value, NULL);
    }
    if (!known && slot < 0) return false;
    if (!known) value = values[slot];
    *out = (struct record_number){(double)value, true, value};
    return true;
}

// The constant that the job file gives for a role (`transpose_b = true`).
static bool constant_role(const struct job *job, const char *role, struct record_number *value)
{
    for (size_t i = 0; i < job->others.reference.binding_count; i++)
        if (!strcmp(job->others.reference.bindings[i].role, role) && !job->others.reference.bindings[i].name) {
            *value = (struct record_number){.real = job->others.reference.bindings[i].value};
            return true;
        }
    return false;
}

static void describe_roles(const struct job *job, const int64_t *values, struct problem_request *to,
                           struct arena *memory)
{
    autofree struct job_number *numbers = job_numbers(job);
    const struct operation *op = job_operation(job);
    size_t count = 0, most = OPERATION_ROLES_MAX + job->names.size_count;
    for (const struct job_number *n = numbers; n->name; n++) most++;
    struct record_named_number *roles = arena_new(memory, most * sizeof *roles);
    for (size_t k = 0; op && op->roles[k].name; k++) {
        const char *name = roles[count].name = op->roles[k].name;
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT) continue;
        count += constant_role(job, name, &roles[count].value) ||
                 role_value(job, numbers, bound_name(job, name), values, &roles[count].value);
    }
    // A user's program gets every size and scalar under its own name.
    bool program =
        job->others.reference.kind == IMPLEMENTATION_LIBRARY || job->others.reference.kind == IMPLEMENTATION_COMMAND;
    for (size_t i = 0; i < job->names.size_count && program; i++) {
        roles[count].name = job->names.size_names[i];
        count += role_value(job, numbers, job->names.size_names[i], values, &roles[count].value);
    }
    for (const struct job_number *n = numbers; n->name && program; n++) {
        roles[count].name = n->name;
        count += role_value(job, numbers, n->name, values, &roles[count].value);
    }
    to->roles = roles;
    to->role_count = count;
}

static int describe_problem(const struct job *job, size_t p, int64_t room, int64_t *values, struct problem_request *to,
                            struct arena *memory, struct error *err)
{
    const struct problem *problem = &job->problems[p];
    const int64_t needed = job_problem_bytes(job, p, err);
    int failed = needed < 0 ? -1 : job_problem_values(job, NULL, p, values, err);
    if (needed > room && room > 0)
        failed = error_set(err, "the buffers of problem %s take %.1f GiB; the device has %.1f", problem->name,
                           (double)needed / (1 << 30), (double)room / (1 << 30));
    if (!failed && ((job->work.flops && expr_eval(job->work.flops, values, &to->flops, err)) ||
                    (job->work.bytes && expr_eval(job->work.bytes, values, &to->bytes, err))))
        failed = error_prefix(err, "work of this problem");
    if (!failed && (to->flops < 0 || to->bytes < 0))
        failed = error_set(err, "work of this problem: %s is negative", to->flops < 0 ? "'flops'" : "'bytes'");
    struct buffer_request *buffers = arena_new(memory, job->buffer_count * sizeof *buffers);
    for (size_t i = 0; i < job->buffer_count && !failed; i++)
        failed = describe_buffer(job, &job->buffers[i], problem->variant + 3 * i, values, &buffers[i], memory, err);
    if (failed) return error_prefix(err, "%s:%d", job->path, problem->line);
    struct record_named_integer *sizes = arena_new(memory, job->names.size_count * sizeof *sizes);
    for (size_t i = 0; i < job->names.size_count; i++)
        sizes[i] = (struct record_named_integer){job->names.size_names[i], problem->sizes[i]};
    to->name = problem->name;
    to->tune = problem->tune;
    to->weight = problem->weight;
    to->sizes = sizes;
    to->size_count = job->names.size_count;
    to->buffers = buffers;
    to->buffer_count = job->buffer_count;
    describe_roles(job, values, to, memory);
    return 0;
}

// The baselines in this order: the current kernel (progress is shown relative to it), the libraries of the reference's
// operation, and the rest.
static int describe_baselines(const struct job *job, json_t *const *answers, struct job_request *to,
                              struct arena *memory, json_t *written, struct error *err)
{
    const struct operation *op = job_operation(job);
    size_t libraries = 0, before = job_current(job) != NULL;
    while (op && op->baselines && op->baselines[libraries].name) libraries++;
    to->baseline_count = job->others.baseline_count + libraries;
    struct implementation_request *list = arena_new(memory, to->baseline_count * sizeof *list);
    for (size_t i = 0; i < job->others.baseline_count; i++)
        if (describe_implementation(job, &job->others.baselines[i], answers ? answers[i + 1] : NULL,
                                    &list[i < before ? i : i + libraries], memory, written, err))
            return -1;
    for (size_t i = 0; i < libraries; i++) {
        record_clear(&implementation_request_record, &list[before + i]);
        list[before + i].kind = IMPLEMENTATION_OPERATION;
        list[before + i].candidate.name = op->baselines[i].name;
    }
    to->baselines = list;
    return 0;
}

json_t *request_job(const struct job *job, int64_t room, json_t *const *answers, uint64_t seed, struct error *err)
{
    autorelease(arena_release) struct arena memory = {NULL};
    int64_t *values = arena_new(&memory, symbols_count(job->symbols) * sizeof *values);
    struct problem_request *problems = arena_new(&memory, job->problem_count * sizeof *problems);
    struct implementation_request reference;
    struct job_request request = {.seed = (int64_t)seed,
                                  .problems = problems,
                                  .problem_count = job->problem_count,
                                  .objective = job->search.objective,
                                  .reference = &reference,
                                  .verify = settings_write(verify_table, &job->verify),
                                  .measure = settings_write(measure_table, &job->measure)};
    autojson json_t *written = json_pack("[o, o]", request.verify, request.measure);
    int failed = describe_baselines(job, answers, &request, &memory, written, err);
    for (size_t p = 0; p < job->problem_count && !failed; p++)
        failed = describe_problem(job, p, room, values, &problems[p], &memory, err);
    if (!failed)
        failed = describe_implementation(job, &job->others.reference, answers ? answers[0] : NULL, &reference, &memory,
                                         written, err);
    return failed ? NULL : request_write("job", &job_request_record, &request);
}
