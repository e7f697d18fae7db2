// `constants` of a job file: variables of the module, `__constant__` or `__device__`. Each is a buffer, which the GPU
// worker copies to the variable before every launch that counts.
#include "tuner/base/base.h"
#include "tuner/job/job_parts.h"

// A name with namespaces, a template's instance by its symbol.
static bool is_variable_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    if (!strncmp(name, "::", 2)) name += 2;
    for (;; name += 2) {
        size_t length = strspn(name, letters);
        if (!length || strspn(name, "0123456789")) return false;
        name += length;
        if (!*name) return true;
        if (strncmp(name, "::", 2) != 0) return false;
    }
}

static void check_members(struct reader *r, const struct node *n)
{
    const char **parts[] = {job_setting_names("constants[]", NULL), job_setting_names("arguments[]", "constant")},
               **all = NULL;
    size_t count = 0;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; parts[k][i]; i++) memory_add(all, count) = parts[k][i];
        free(parts[k]);
    }
    memory_add(all, count) = NULL;
    reader_check_members(r, n, "a constant", all);
    free(all);
}

// A number for all elements: as a fill, or as an expression that gives one.
static void load_value(struct reader *r, struct job *job, const struct node *n, struct buffer *b)
{
    const struct node *value = node_member(n, "value");
    if (!value) return;
    b->fill.given = true;
    b->fill.kind = FILL_CONSTANT;
    b->fill.low = 0;
    if (node_member(n, "fill"))
        reader_mistake(r, value, "constant '%s' has both 'value' and 'fill': leave one out", b->name);
    if (b->direction == DIRECTION_OUT)
        reader_mistake(r, value, "constant '%s' is an output, so it has no value before a launch", b->name);
    load_number(r, job, n, value, "constant", b->name, b->type, &b->value, &b->fill.low);
    check_fixed(r, job, value, b->value, "value", b->name);
}

static void load_constant(struct reader *r, struct job *job, const struct node *n)
{
    const char *name = reader_string(r, n, "constants[].name");
    check_members(r, n);
    if (!name) {
        reader_mistake(r, n, "a constant lacks 'name', that of a __constant__ or __device__ variable");
        return;
    }
    if (!is_variable_name(name))
        reader_mistake(r, n, "'%s' is not a variable's name, e.g. \"coef\" or \"ns::coef\"", name);
    if (!node_member(n, "type")) {
        reader_mistake(r, n, "constant '%s' needs 'type' and, unless it is a single number, 'shape'", name);
        return;
    }
    size_t before = job->buffer_count;
    int buffer = load_buffer(r, job, n, name, "constant");
    if (buffer < 0 || job->buffer_count == before) return;
    struct buffer *b = &job->buffers[buffer];
    b->symbol = true;
    b->optional = reader_bool(r, n, "constants[].optional");
    load_value(r, job, n, b);
    if (b->optional && b->direction != DIRECTION_IN && b->direction != DIRECTION_SCRATCH)
        reader_mistake(r, node_member(n, "optional"), "constant '%s' is an output, which no candidate may lack", name);
}

void load_constants(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_member(r, root, "constants");
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *n = node_at(list, i);
        if (node_is_group(n))
            load_constant(r, job, n);
        else
            reader_mistake(r, n, "a constant must be a group { name = \"coef\"; type = \"f32\"; shape = [...]; }");
    }
}

int job_constant_value(const struct buffer *b, const int64_t *values, int64_t *out, struct error *err)
{
    if (expr_eval(b->value, values, out, err)) return error_prefix(err, "value of constant '%s'", b->name);
    bool exact = *out >= -(INT64_C(1) << 53) && *out <= INT64_C(1) << 53; // as a real number, which fills are
    bool fits = element_is_float(b->type) || (*out >= element_least(b->type) && *out <= element_greatest(b->type));
    if (exact && fits) return 0;
    return error_set(err, "constant '%s' is %" PRId64 ", more than an %s holds%s", b->name, *out, element_name(b->type),
                     exact ? "" : " exactly here: at most 2^53");
}
