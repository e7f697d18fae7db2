// Reads declarations of buffers. A buffer is an argument, or a constant: a `__constant__` or `__device__` variable of
// the module. The GPU worker copies a constant's buffer to the variable before every launch that is timed or verified.
#include "tuner/job/header_names.h"
#include "tuner/job/job_parts.h"

// The columns of a buffer: the last dimension of its shape, in elements.
static struct expr *load_columns(struct reader *r, struct job *job, const struct node *n, int channels)
{
    struct expr *texels = reader_expression(r, n, job);
    if (channels == 1 || !texels) return texels;
    autofree char *text = text_format("(%s) * %d", expr_text(texels), channels);
    texels = job_parse(job, text, NULL);
    return texels;
}

int load_buffer(struct reader *r, struct job *job, const struct node *n, const char *name, const char *form,
                const struct node *image)
{
    bool constant = !strcmp(form, "constant");
    if (!constant) reader_check_group(r, n, "a buffer argument", "arguments[]", form);
    int known = job_find_buffer(job, name);
    if (!node_member(n, "type") && !node_member(n, "shape")) {
        if (known < 0) reader_mistake(r, n, "buffer '%s' needs 'type' and 'shape' where it is first named", name);
        if (known >= 0 && image) join_image(r, image, &job->buffers[known], false);
        return known;
    }
    if (known >= 0) {
        reader_mistake(r, n, "buffer '%s' is declared twice", name);
        return known;
    }
    if (!*name || strlen(name) > JOB_MAX_BUFFER_NAME)
        return reader_mistake(r, n, "a buffer's name has 1 to %d characters, not %zu: '%s'", JOB_MAX_BUFFER_NAME,
                              strlen(name), name);
    for (size_t i = 0; i < job->buffer_count; i++)
        if (header_same_identifier(job->buffers[i].name, name))
            reader_mistake(r, n, "buffer '%s' would have the same names in the job's header as buffer '%s'", name,
                           job->buffers[i].name);
    if (job->buffer_count == JOB_MAX_BUFFERS)
        return reader_mistake(r, n, "buffer '%s' is one too many: at most %d are possible", name, JOB_MAX_BUFFERS);
    struct buffer b = {.type = (enum element)reader_word(r, n, "arguments[].type")};
    if (!node_member(n, "type")) reader_mistake(r, n, "buffer '%s' lacks 'type'", name);
    int direction = reader_word(r, n, "arguments[].direction");
    b.restore = !direction_text[direction];
    b.direction = b.restore ? DIRECTION_IN : (enum direction)direction;
    const struct node *fill = node_member(n, "fill");
    b.fill = fill && (is_address(fill) || node_is_sequence(fill)) ? load_addresses(r, job, fill, name, b.type)
                                                                  : load_fill(r, job, n, name, b.type);
    if (b.fill.kind == FILL_ADDRESSES && (b.direction != DIRECTION_IN || b.restore || image || node_member(n, "ld")))
        reader_mistake(r, n, "buffer '%s' holds addresses, so it has the direction \"in\" and no 'ld' or image", name);
    const struct node *shape = reader_member(r, n, "arguments[].shape");
    size_t dimensions = shape ? node_count(shape) : 0;
    if (!shape && node_member(n, "shape")) return -1; // a mistake, which has been reported
    if (!dimensions && !(constant && !shape)) {       // a constant without a shape is a single number
        return reader_mistake(r, n, "buffer '%s' needs 'shape', e.g. [\"M\", \"K\"]", name);
    }
    b.name = job_copy(job, name);
    if (image) {
        b.image = load_image(r, job, n, image, &b);
        join_image(r, image, &b, true);
    }
    b.cols = dimensions ? load_columns(r, job, node_at(shape, dimensions - 1), image ? b.image->about.channels : 1)
                        : job_parse(job, "1", NULL);
    for (size_t i = 0; i < dimensions; i++) {
        b.shape = job_room(job, b.shape, b.rank, sizeof *b.shape);
        b.shape[b.rank++] = i + 1 < dimensions ? reader_expression(r, node_at(shape, i), job) : b.cols;
    }
    if (dimensions > 1) { // rows: the product of all dimensions but the last
        autorelease(text_release) struct text text = {0};
        if (dimensions > 2) text_add(&text, "1");
        for (size_t i = 0; i + 1 < dimensions; i++) {
            const struct expr *each = b.shape[i];
            if (each) text_add(&text, dimensions > 2 ? " * (%s)" : "%s", expr_text(each));
        }
        b.rows = job_parse(job, text.text ? text.text : "1", NULL);
    }
    b.ld = reader_expression(r, node_member(n, "ld"), job);
    check_fixed(r, job, n, b.rows, "shape", name);
    check_fixed(r, job, n, b.cols, "shape", name);
    check_fixed(r, job, n, b.ld, "shape", name);
    b.compared = load_compared(r, job, n, &b, name);
    job->buffers = job_room(job, job->buffers, job->buffer_count, sizeof *job->buffers);
    job->buffers[job->buffer_count] = b;
    return (int)job->buffer_count++;
}

// Constants -----------------------------------------------------------------------------------------------------------

// Whether the string is a variable's name, possibly with namespaces. An instance of a template must be named by its
// symbol.
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
    int buffer = load_buffer(r, job, n, name, "constant", NULL);
    if (buffer < 0 || job->buffer_count == before) return;
    struct buffer *b = &job->buffers[buffer];
    b->symbol = true;
    b->optional = reader_bool(r, n, "constants[].optional");
    if (b->optional && b->direction != DIRECTION_IN && b->direction != DIRECTION_SCRATCH)
        reader_mistake(r, node_member(n, "optional"), "constant '%s' is an output, which no candidate may lack", name);
}

void load_constants(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_member(r, root, "constants");
    for (size_t i = 0; list && i < node_count(list); i++)
        if (reader_is_group(r, node_at(list, i),
                            "a constant must be a group { name = \"coef\"; type = \"f32\"; shape = [...]; }"))
            load_constant(r, job, node_at(list, i));
}

void load_buffers(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_member(r, root, "buffers");
    for (size_t i = 0; list && i < node_count(list); i++) {
        static const char *const words[] = {"buffer", NULL};
        const struct node *n = node_at(list, i), *name = node_is_group(n) ? node_member(n, "buffer") : NULL;
        if (name && node_is_string(name))
            load_buffer(r, job, n, node_string(name), "buffer", NULL);
        else if (!node_is_group(n) || name || !reader_suggest(r, n, "a buffer", words))
            reader_mistake(r, n,
                           "each of 'buffers' must be a group { buffer = \"A\"; type = \"f32\"; shape = [...]; }");
    }
}
