// See request.h.
#include "tuner/run/request.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/operation.h"
#include "tuner/base/command_files.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/compile/source.h"
#include "tuner/trial/trial_field.h"

// On the guide one launch that takes so many times the best there is enough.
static const double guide_slow_factor = 2;

int compiled_read(const json_t *answer, struct compiled *c, struct error *err)
{
    const json_t *entries = json_object_get(answer, "entries"), *warnings = json_object_get(answer, "warnings");
    const char *cubin = json_get_string(answer, "cubin", NULL);
    *c = (struct compiled){0};
    if (!cubin || !json_is_array(entries))
        return error_set(err, "the compiler's answer lacks \"cubin\" or \"entries\"");
    c->cubin = text_copy(cubin);
    c->cached = json_get_bool(answer, "cached", false);
    c->seconds = json_get_number(answer, "seconds", 0);
    c->warnings =
        text_copy(json_is_string(json_array_get(warnings, 0)) ? json_string_value(json_array_get(warnings, 0)) : "");
    c->entry_count = json_array_size(entries);
    c->entries = memory_new(c->entry_count, sizeof *c->entries);
    for (size_t i = 0; i < c->entry_count; i++) {
        const json_t *e = json_array_get(entries, i);
        c->entries[i] = (struct compiled_entry){
            .entry = text_copy(json_get_string(e, "entry", "")),
            .symbol = text_copy(json_get_string(e, "symbol", "")),
            .unit = (size_t)json_get_integer(e, "unit", 0),
        };
        trial_clear(FIELD_STAGE, &c->entries[i].figures);
        trial_read_answer(FIELD_STAGE, FIELD_COMPILER, &c->entries[i].figures, e, &c->memory);
    }
    return 0;
}

void compiled_release(struct compiled *c)
{
    free(c->cubin);
    free(c->warnings);
    for (size_t i = 0; i < c->entry_count; i++) {
        free(c->entries[i].entry);
        free(c->entries[i].symbol);
    }
    free(c->entries);
    arena_release(&c->memory);
    *c = (struct compiled){0};
}

const struct compiled_entry *compiled_find(const struct compiled *c, const struct stage *stage)
{
    for (size_t i = 0; i < c->entry_count; i++)
        if (c->entries[i].unit == stage->unit && !strcmp(c->entries[i].entry, stage->entry)) return &c->entries[i];
    return NULL;
}

static void define(void *defines, const char *name, const char *value)
{
    json_object_set_new(defines, name, json_string(value));
}

// The entries of a unit's stages that this configuration uses for any problem, each once: a stage's kernel need not
// exist where it is not used.
static void add_entries(const struct job *job, const uint16_t *config, size_t unit, json_t *entries)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    for (size_t i = 0; i < job->stage_count; i++) {
        if (job->stages[i].operation || job->stages[i].unit != unit) continue;
        bool used = !job->stages[i].when;
        for (size_t p = 0; p < job->problem_count && !used; p++)
            used = job_problem_values(job, config, p, values, NULL) || request_stage_used(job, i, values, NULL) != 0;
        size_t same = 0; // stages may share an entry
        while (same < json_array_size(entries) &&
               strcmp(json_string_value(json_array_get(entries, same)), job->stages[i].entry))
            same++;
        if (used && same == json_array_size(entries)) json_array_append_new(entries, json_string(job->stages[i].entry));
    }
    free(values);
}

// What is compiled for itself: the stages with the same macros. Where no stage has macros of its own, there is one, and
// it is the request itself.
static json_t *describe_units(const struct job *job, const uint16_t *config)
{
    json_t *units = json_array();
    for (size_t u = 0; u < job->unit_count; u++) {
        json_t *entries = json_array(), *defines = json_object();
        size_t s = 0;
        add_entries(job, config, u, entries);
        while (job->stages[s].operation || job->stages[s].unit != u) s++;
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            define(defines, job->stages[s].defines[i].name, job->stages[s].defines[i].value);
        if (json_array_size(entries))
            json_array_append_new(
                units, json_pack("{s:I, s:O, s:O}", "unit", (json_int_t)u, "defines", defines, "entries", entries));
        json_decref(entries);
        json_decref(defines);
    }
    return units;
}

static bool has_units(const struct job *job)
{
    bool any = false;
    for (size_t s = 0; s < job->stage_count; s++) any |= job->stages[s].define_count > 0;
    return any;
}

// A reference in the template is compiled with the macros of the first configuration: the candidates' kernels stand
// beside it and may not compile without. What it computes must not depend on them.
static void define_for_reference(const struct job *job, json_t *defines)
{
    uint16_t first[SPACE_MAX_PARAMETERS];
    if (job->space && space_size(job->space) && job->source && !strcmp(job->source, job->reference.source)) {
        space_get(job->space, 0, first);
        job_defines(job, first, define, defines);
        return;
    }
    for (size_t i = 0; i < job->define_count; i++) define(defines, job->defines[i].name, job->defines[i].value);
}

// The folders in which headers are looked for. The strings in it are of the job and of `folder`.
static const char **header_folders(const struct job *job, const char *folder, size_t *count)
{
    const char **list = memory_new(job->include_count + 1, sizeof *list);
    list[0] = folder;
    for (size_t i = 0; i < job->include_count; i++) list[i + 1] = job->includes[i];
    *count = job->include_count + 1;
    return list;
}

static void add_macro(json_t *macros, const char *name, const char *value)
{
    if (mention_is_header(value) || mention_is_identifier(value))
        json_array_append_new(macros, json_sprintf("%s=%s", name, value));
}

// "NAME=value" of the job's macros by which an #include may name a header, with every value that a parameter has.
static json_t *header_macros(const struct job *job)
{
    json_t *macros = json_array();
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const struct parameter *p = space_parameter(job->space, i);
        for (size_t k = 0; p->kind == PARAMETER_STRING && k < p->count; k++)
            add_macro(macros, p->name, symbols_text(job->symbols, p->values[k]));
    }
    for (size_t i = 0; i < job->define_count; i++) add_macro(macros, job->defines[i].name, job->defines[i].value);
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            add_macro(macros, job->stages[s].defines[i].name, job->stages[s].defines[i].value);
    return macros;
}

int request_source_hash(const struct job *job, char hash[HASH_TEXT_SIZE], struct error *err)
{
    char *folder = text_directory(job->source);
    json_t *macros = header_macros(job);
    struct source_request request = {.path = job->source,
                                     .option_count = job->option_count,
                                     .option = (const char *const *)job->options,
                                     .macro_count = json_array_size(macros),
                                     .host_headers = job->host_headers};
    const char **folders = header_folders(job, folder, &request.include_count),
               **names = memory_new(request.macro_count, sizeof *names);
    for (size_t i = 0; i < request.macro_count; i++) names[i] = json_string_value(json_array_get(macros, i));
    request.include = folders;
    request.macro = names;
    int result = source_hash(&request, hash, err);
    free(folders);
    free(names);
    free(folder);
    json_decref(macros);
    return result;
}

static void add_text(void *list, const char *text)
{
    json_array_append_new(list, json_string(text));
}

// Takes defines and entries. `config` is NULL for what is no candidate.
static json_t *describe_compilation(const struct job *job, const char *source, const uint16_t *config, json_t *defines,
                                    json_t *entries, const char *arch, const char *cache)
{
    json_t *include = json_array(), *options = json_array(), *macros = header_macros(job);
    char *folder = text_directory(source);
    size_t folder_count;
    const char **folders = header_folders(job, folder, &folder_count);
    for (size_t i = 0; i < folder_count; i++) json_array_append_new(include, json_string(folders[i]));
    free(folders);
    free(folder);
    json_t *files = json_array();
    job_options(job, config, true, add_text, options);
    job_option_files(job, config, add_text, files);
    json_t *request = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:f}", "op", "compile", "arch", arch,
                                "source", source, "include", include, "options", options, "entries", entries, "defines",
                                defines, "cache", cache, "deadline", job->compile_timeout);
    if (json_array_size(macros)) json_object_set(request, "macros", macros);
    if (json_array_size(files)) json_object_set(request, "files", files);
    json_decref(files);
    json_decref(macros);
    if (job->compiler == JOB_NVCC) {
        json_object_set_new(request, "compiler", json_string(PROTOCOL_NVCC));
        json_object_set_new(request, "alone", json_true());
    }
    if (!job->host_headers) json_object_set_new(request, "host_headers", json_false());
    json_object_set_new(request, "memory", json_integer(job->compile_memory));
    return request;
}

json_t *request_compile(const struct job *job, const uint16_t *config, const char *arch, const char *source_hash,
                        const char *cache)
{
    json_t *defines = json_object(), *entries = json_array();
    if (config) {
        job_defines(job, config, define, defines);
        if (!has_units(job)) add_entries(job, config, 0, entries);
    } else {
        define_for_reference(job, defines);
        json_array_append_new(entries, json_string(job->reference.stage.entry));
    }
    json_t *request =
        describe_compilation(job, config ? job->source : job->reference.source, config, defines, entries, arch, cache);
    if (config && has_units(job)) json_object_set_new(request, "units", describe_units(job, config));
    if (source_hash) json_object_set_new(request, "source_hash", json_string(source_hash));
    return request;
}

json_t *request_compile_current(const struct job *job, const char *arch, const char *cache)
{
    const struct current_kernel *c = &job->current;
    if (!c->source) return request_compile(job, c->own.config, arch, NULL, cache);
    json_t *defines = json_object();
    for (size_t i = 0; i < c->define_count; i++) define(defines, c->defines[i].name, c->defines[i].value);
    return describe_compilation(job, c->source, NULL, defines, json_pack("[s]", c->stage.entry), arch, cache);
}

json_t *request_build(const struct job *job, const char *source, char *const *options, size_t option_count,
                      const char *const *functions, size_t function_count, const char *arch, const char *cache)
{
    json_t *list = json_array(), *names = json_array();
    for (size_t i = 0; i < option_count; i++) json_array_append_new(list, json_string(options[i]));
    for (size_t i = 0; i < function_count; i++)
        if (functions[i]) json_array_append_new(names, json_string(functions[i]));
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:f, s:I, s:b}", "op", "build", "arch", arch, "source", source,
                     "options", list, "functions", names, "cache", cache, "deadline", job->compile_timeout * 5,
                     "memory", (json_int_t)job->compile_memory, "host_headers", 0);
}

static json_t *describe_fill(const struct fill *f, double low, double high)
{
    json_t *fill = json_pack("{s:s}", "kind", fill_words[f->kind]);
    if (f->kind == FILL_CONSTANT) json_object_set_new(fill, "value", json_real(low));
    if (f->kind == FILL_UNIFORM || f->kind == FILL_NONFINITE || f->kind == FILL_INTEGER || f->kind == FILL_SORTED) {
        json_object_set_new(fill, "low", json_real(low));
        json_object_set_new(fill, "high", json_real(high));
    }
    if (f->kind == FILL_NOISE) json_object_set_new(fill, "amplitude", json_real(high));
    if (f->kind == FILL_OFFSETS) json_object_set_new(fill, "total", json_real(high));
    if (f->path) json_object_set_new(fill, "path", json_string(f->path));
    if (f->of) json_object_set_new(fill, "of", json_string(f->of));
    return fill;
}

// The fill of a constant's `value`.
static json_t *describe_value(const struct buffer *b, const int64_t *values, struct error *err)
{
    int64_t value;
    if (job_constant_value(b, values, &value, err)) return NULL;
    return json_pack("{s:s, s:f}", "kind", fill_words[FILL_CONSTANT], "value", (double)value);
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
        json_array_append_new(address, json_string(image_address_words[image.address[i]]));
    }
    json_object_set_new(buffer, "image",
                        json_pack("{s:s, s:o, s:i, s:b, s:s, s:o, s:b, s:s}", "memory",
                                  image_memory_words[image.memory], "size", sizes, "channels", image.channels,
                                  "surface", (int)image.surface, "filter", image_filter_words[image.filter], "address",
                                  address, "normalized", (int)image.normalized, "read", image_read_words[image.read]));
    return 0;
}

static json_t *describe_compared(const struct buffer *b, const int64_t *values, struct error *err)
{
    const struct compared *c = b->compared;
    if (c->count_in) return json_pack("{s:s}", "count_in", c->count_in);
    json_t *sizes = json_array(), *firsts = json_array(), *counts = json_array();
    int64_t size, first, count;
    int failed = 0;
    for (size_t i = 0; i < c->rank && !failed; i++) {
        failed = job_compared_numbers(b, i, values, &size, &first, &count, err);
        json_array_append_new(sizes, json_integer(size));
        json_array_append_new(firsts, json_integer(first));
        json_array_append_new(counts, json_integer(count));
    }
    json_t *compared = json_pack("{s:o, s:o, s:o}", "sizes", sizes, "first", firsts, "count", counts);
    if (!failed) return compared;
    json_decref(compared);
    return NULL;
}

static json_t *describe_buffers(const struct job *job, const int64_t *values, struct error *err)
{
    json_t *buffers = json_array();
    for (size_t i = 0; i < job->buffer_count; i++) {
        const struct buffer *b = &job->buffers[i];
        int64_t rows = 1, cols, ld;
        if (expr_eval(b->cols, values, &cols, err) || (b->rows && expr_eval(b->rows, values, &rows, err))) goto fail;
        ld = cols;
        if (b->ld && expr_eval(b->ld, values, &ld, err)) goto fail;
        double low, high;
        json_t *compared = NULL;
        if (job_fill_numbers(job, b, values, &low, &high, err) ||
            (b->compared && !(compared = describe_compared(b, values, err))))
            goto fail;
        // Nothing is promised of scratch that the job does not fill.
        bool filled = b->fill.given || b->direction != DIRECTION_SCRATCH;
        json_t *fill = b->value ? describe_value(b, values, err) : filled ? describe_fill(&b->fill, low, high) : NULL;
        if (b->value && !fill) goto fail;
        json_array_append_new(buffers,
                              json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:o*}", "name", b->name, "type",
                                        element_name(b->type), "rows", (json_int_t)rows, "cols", (json_int_t)cols, "ld",
                                        (json_int_t)ld, "direction", direction_words[b->direction], "fill", fill));
        json_t *added = json_array_get(buffers, i);
        if (b->restore) json_object_set_new(added, "restore", json_true());
        if (compared) json_object_set_new(added, "compare", compared);
        if (describe_place(added, b, values, err)) goto fail;
        if (!b->bounded) continue;
        json_object_set_new(added, "absolute", json_real(b->absolute));
        json_object_set_new(added, "relative", json_real(b->relative));
    }
    return buffers;
fail:
    json_decref(buffers);
    return NULL;
}

static json_t *number_value(const struct expr *expression, double real, const int64_t *values)
{
    int64_t value;
    if (!expression) return json_real(real);
    return expr_eval(expression, values, &value, NULL) ? NULL : json_integer(value);
}

// The value of a size or scalar role: a scalar argument or member of that name, or any name expressions know.
static json_t *role_value(const struct job *job, const char *name, const int64_t *values)
{
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].argument_count; i++) {
            const struct argument *a = &job->stages[s].arguments[i];
            bool plain = a->buffer < 0 && !a->member_count && !strcmp(a->name, name);
            json_t *value = plain ? number_value(a->value, a->real, values) : NULL;
            for (size_t k = 0; k < a->member_count && !value; k++)
                if (!strcmp(a->members[k].name, name))
                    value = number_value(a->members[k].value, a->members[k].real, values);
            if (value) return value;
        }
    int slot = symbols_find(job->symbols, name);
    return slot >= 0 ? json_integer(values[slot]) : NULL;
}

static const char *bound_name(const struct job *job, const char *role)
{
    for (size_t i = 0; i < job->reference.binding_count; i++)
        if (!strcmp(job->reference.bindings[i].role, role) && job->reference.bindings[i].name)
            return job->reference.bindings[i].name;
    return role;
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
    const struct operation *op =
        job->reference.kind == REFERENCE_OPERATION ? operation_find(job->reference.operation, NULL) : NULL;
    for (size_t k = 0; op && op->roles[k].name; k++) {
        if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT) continue;
        json_t *value = constant_role(job, op->roles[k].name);
        if (!value) value = role_value(job, bound_name(job, op->roles[k].name), values);
        if (value) json_object_set_new(roles, op->roles[k].name, value);
    }
    if (job->reference.kind != REFERENCE_LIBRARY && job->reference.kind != REFERENCE_COMMAND) return roles;
    // A user's program gets every size and scalar under its own name.
    for (size_t i = 0; i < job->size_count; i++)
        json_object_set_new(roles, job->size_names[i], role_value(job, job->size_names[i], values));
    for (size_t st = 0; st < job->stage_count; st++)
        for (size_t i = 0; i < job->stages[st].argument_count; i++) {
            const struct argument *a = &job->stages[st].arguments[i];
            if (a->buffer < 0 && !a->member_count)
                json_object_set_new(roles, a->name, role_value(job, a->name, values));
            for (size_t k = 0; k < a->member_count; k++)
                json_object_set_new(roles, a->members[k].name, role_value(job, a->members[k].name, values));
        }
    return roles;
}

int request_stage_used(const struct job *job, size_t stage, const int64_t *values, struct error *err)
{
    int64_t used = 1;
    if (job->stages[stage].when && expr_eval(job->stages[stage].when, values, &used, err)) return -1;
    return used != 0;
}

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
    const struct compiled_entry *e = c ? compiled_find(c, stage) : NULL;
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

// A candidate's launches on one problem of the job, which the request calls `number`.
static json_t *describe_launches(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                                 size_t p, size_t number, struct launches *out, struct error *err)
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
    if (!failed) return json_pack("{s:i, s:o}", "problem", (int)number, "stages", stages);
    json_decref(stages);
    return NULL;
}

// Hands over what was worked out, or frees it.
static void give(struct launches *out, const json_t *problems, struct planned_launch **launches, size_t *count)
{
    if (count) *count = problems ? out->count : 0;
    if (launches) *launches = problems ? out->list : NULL;
    if (!launches || !problems) free(out->list);
}

json_t *request_problems(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                         bool tuned_only, struct planned_launch **launches, size_t *launch_count, struct error *err)
{
    struct launches out = {0};
    json_t *problems = json_array();
    for (size_t p = 0; problems && p < (tuned_only ? job->tuned_count : job->problem_count); p++) {
        json_t *one = describe_launches(job, config, compiled, p, p, &out, err);
        if (one) {
            json_array_append_new(problems, one);
            continue;
        }
        json_decref(problems);
        problems = NULL;
    }
    give(&out, problems, launches, launch_count);
    return problems;
}

json_t *request_guide_problems(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                               struct planned_launch **launches, size_t *launch_count, struct error *err)
{
    struct launches out = {0};
    json_t *one = describe_launches(job, config, compiled, job->problem_count, 0, &out, err),
           *problems = one ? json_pack("[o]", one) : NULL;
    give(&out, problems, launches, launch_count);
    return problems;
}

// The "problems" of a kernel that is no candidate. NULL with a message.
static json_t *describe_kernel(const struct job *job, const struct stage *stage, const struct compiled *compiled,
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

// The present kernel as an entry of "baselines".
static json_t *describe_current(const struct job *job, const struct compiled *compiled, struct error *err)
{
    const struct current_kernel *c = &job->current;
    struct stage stage = job_current_stage(job);
    json_t *problems = c->source ? describe_kernel(job, &stage, compiled, err)
                                 : request_problems(job, c->own.config, compiled, false, NULL, NULL, err);
    if (!problems) return error_prefix(err, "%s: 'current'", job->path), NULL;
    const char *slash = c->source ? strrchr(c->source, '/') : NULL;
    char *detail = c->source ? text_format("%s of %s", c->stage.entry, slash ? slash + 1 : c->source)
                             : space_text(job->space, c->own.config);
    json_t *baseline = json_pack("{s:s, s:s, s:s, s:o}", "name", CURRENT_KERNEL, "detail", detail, "cubin",
                                 compiled && compiled->cubin ? compiled->cubin : "", "problems", problems);
    free(detail);
    return baseline;
}

// A reference in a library, or what is left of it where nothing is judged: the function that makes the inputs.
static json_t *describe_functions(const struct reference *r, const char *kind)
{
    bool judged = strcmp(kind, "none") != 0;
    json_t *out = json_pack("{s:s}", "kind", kind);
    if (judged || r->generate) {
        json_object_set_new(out, "path", json_string(r->library));
        json_object_set_new(out, "timeout", json_real(r->timeout));
    }
    if (r->function && judged) json_object_set_new(out, "function", json_string(r->function));
    if (r->generate) json_object_set_new(out, "generate", json_string(r->generate));
    if (r->verify && judged) json_object_set_new(out, "verify", json_string(r->verify));
    return out;
}

static json_t *describe_command(const struct job *job)
{
    const struct reference *r = &job->reference;
    char hash[HASH_TEXT_SIZE];
    command_files_hash(r->command, job->directory, hash);
    return json_pack("{s:s, s:s, s:s, s:s, s:f}", "kind", "command", "command", r->command, "folder", job->directory,
                     "hash", hash, "timeout", r->timeout);
}

static json_t *describe_reference(const struct job *job, const struct compiled *reference, struct error *err)
{
    const struct reference *r = &job->reference;
    json_t *out, *map = json_object();
    switch (r->kind) {
    case REFERENCE_OPERATION: {
        const struct operation *op = operation_find(r->operation, NULL);
        for (size_t k = 0; op && op->roles[k].name; k++)
            if (op->roles[k].kind == ROLE_INPUT || op->roles[k].kind == ROLE_OUTPUT)
                json_object_set_new(map, op->roles[k].name, json_string(bound_name(job, op->roles[k].name)));
        return json_pack("{s:s, s:s, s:s, s:o}", "kind", "operation", "name", r->operation, "by", r->by, "buffers",
                         map);
    }
    case REFERENCE_KERNEL: {
        struct stage stage = r->stage;
        if (!stage.argument_count) { // the job's own
            stage.arguments = job->stages[0].arguments;
            stage.argument_count = job->stages[0].argument_count;
        }
        json_t *problems = describe_kernel(job, &stage, reference, err);
        json_decref(map);
        if (!problems) return error_prefix(err, "%s: reference kernel", job->path), NULL;
        return json_pack("{s:s, s:s, s:o}", "kind", "kernel", "cubin",
                         reference && reference->cubin ? reference->cubin : "", "problems", problems);
    }
    case REFERENCE_LIBRARY:
        out = describe_functions(r, "library");
        break;
    case REFERENCE_COMMAND:
        out = describe_command(job);
        break;
    case REFERENCE_NPY:
        for (size_t i = 0; i < r->file_count; i++)
            json_object_set_new(map, r->files[i].buffer, json_string(r->files[i].path));
        return json_pack("{s:s, s:o}", "kind", "npy", "files", map);
    default:
        out = json_pack("{s:s}", "kind", "none");
    }
    json_decref(map);
    return out;
}

// A program as an entry of "baselines".
static json_t *describe_program(const struct job *job, size_t number, struct error *err)
{
    const struct job_baseline *b = &job->baselines[number];
    struct stage stage = job_baseline_stage(job, number);
    const char *slash = strrchr(b->library, '/');
    size_t p, i;
    json_t *problems = describe_kernel(job, &stage, NULL, err), *each;
    if (!problems) return error_prefix(err, "%s: baseline '%s'", job->path, b->name), NULL;
    json_array_foreach(problems, p, each)
    {
        json_t *launch = json_array_get(json_object_get(each, "stages"), 0), *sizes = json_array(),
               *call = json_pack("{s:s, s:s, s:O}", "library", b->library, "function", b->function, "args",
                                 json_object_get(launch, "args"));
        for (i = 0; i < job->size_count; i++) json_array_append_new(sizes, json_integer(job->problems[p].sizes[i]));
        json_object_set_new(call, "sizes", sizes);
        if (b->init) json_object_set_new(call, "init", json_string(b->init));
        json_object_set_new(each, "stages", json_pack("[o]", call));
    }
    return json_pack("{s:s, s:o, s:f, s:o}", "name", b->name, "detail",
                     json_sprintf("%s of %s", b->function, slash ? slash + 1 : b->library), "timeout", b->timeout,
                     "problems", problems);
}

static json_t *describe_problem(const struct job *job, size_t p, int64_t memory, int64_t *values, struct error *err)
{
    const struct problem *problem = &job->problems[p];
    int64_t flops = 0, bytes = 0, needed = job_problem_bytes(job, p, err);
    if (needed > memory && memory > 0) {
        error_set(err, "the buffers of problem %s take %.1f GiB; the device has %.1f", problem->name,
                  (double)needed / (1 << 30), (double)memory / (1 << 30));
        needed = -1;
    }
    if (needed < 0 || job_problem_values(job, NULL, p, values, err)) {
        error_prefix(err, "%s:%d", job->path, problem->line);
        return NULL;
    }
    if ((job->flops && expr_eval(job->flops, values, &flops, err)) ||
        (job->bytes && expr_eval(job->bytes, values, &bytes, err))) {
        error_prefix(err, "%s:%d: work of this problem", job->path, problem->line);
        return NULL;
    }
    json_t *buffers = describe_buffers(job, values, err), *sizes = json_object();
    if (!buffers) {
        error_prefix(err, "%s:%d", job->path, problem->line);
        json_decref(sizes);
        return NULL;
    }
    for (size_t i = 0; i < job->size_count; i++)
        json_object_set_new(sizes, job->size_names[i], json_integer(problem->sizes[i]));
    return json_pack("{s:s, s:b, s:f, s:o, s:o, s:I, s:I, s:o}", "name", problem->name, "tune", (int)problem->tune,
                     "weight", problem->weight, "sizes", sizes, "roles", describe_roles(job, values), "flops",
                     (json_int_t)flops, "bytes", (json_int_t)bytes, "buffers", buffers);
}

json_t *request_job(const struct job *job, int64_t memory, const struct compiled *reference,
                    const struct compiled *current, uint64_t seed, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    json_t *problems = json_array(), *baselines = json_array(), *how = NULL;
    if (job->current.own.given) { // first, as what progress is shown against
        json_t *baseline = describe_current(job, current, err);
        if (!baseline) goto fail;
        json_array_append_new(baselines, baseline);
    }
    for (size_t p = 0; p < job->problem_count; p++) {
        json_t *problem = describe_problem(job, p, memory, values, err);
        if (!problem) goto fail;
        json_array_append_new(problems, problem);
    }
    how = describe_reference(job, reference, err);
    if (!how) goto fail;
    const struct operation *op =
        job->reference.kind == REFERENCE_OPERATION ? operation_find(job->reference.operation, NULL) : NULL;
    for (size_t i = 0; op && op->baselines && op->baselines[i].name; i++)
        json_array_append_new(baselines, json_string(op->baselines[i].name));
    for (size_t i = 0; i < job->baseline_count; i++) {
        json_t *program = describe_program(job, i, err);
        if (!program) goto fail;
        json_array_append_new(baselines, program);
    }
    free(values);
    return json_pack("{s:s, s:I, s:o, s:s, s:o, s:o, s:o, s:o}", "op", "job", "seed", (json_int_t)seed, "problems",
                     problems, "objective", objective_words[job->objective], "reference", how, "verify",
                     settings_write(verify_table, &job->verify), "measure",
                     settings_write(measure_table, &job->measure), "baselines", baselines);
fail:
    free(values);
    json_decref(problems);
    json_decref(baselines);
    json_decref(how);
    return NULL;
}

json_t *request_guide(const struct job *job, int64_t memory, uint64_t seed, struct error *err)
{
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    json_t *problem = describe_problem(job, job->problem_count, memory, values, err);
    free(values);
    if (!problem) return NULL;
    struct verify_settings verify = job->verify;
    struct measure_settings measure = job->measure;
    verify.enabled = false;
    measure.warmup = 0; // the single launch by which it may be cut off is one
    measure.min_samples = measure.max_samples = 3;
    measure.slow_factor = fmin(measure.slow_factor, guide_slow_factor);
    return json_pack("{s:I, s:[o], s:s, s:o, s:o, s:o, s:[]}", "seed", (json_int_t)seed, "problems", problem,
                     "objective", objective_words[OBJECTIVE_GEOMEAN], "reference",
                     describe_functions(&job->reference, "none"), "verify", settings_write(verify_table, &verify),
                     "measure", settings_write(measure_table, &measure), "baselines");
}
