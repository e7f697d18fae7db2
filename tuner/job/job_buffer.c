// Reading what declares a buffer: an argument or a constant.
#include "tuner/base/base.h"
#include "tuner/job/job_parts.h"

// Columns of a buffer: the last size, in elements.
static struct expr *load_columns(struct reader *r, struct job *job, const struct node *n, int channels)
{
    struct expr *texels = reader_expression(r, n, job);
    if (channels == 1 || !texels) return texels;
    char *text = text_format("(%s) * %d", expr_text(texels), channels);
    texels = job_parse(job, text, NULL);
    free(text);
    return texels;
}

int load_buffer(struct reader *r, struct job *job, const struct node *n, const char *name, const char *form)
{
    bool constant = !strcmp(form, "constant"), surface = !strcmp(form, "surface"),
         image = surface || !strcmp(form, "texture");
    char *what = !strcmp(form, "tensor_map") ? text_copy("a tensor map") : text_format("a %s argument", form);
    if (!constant) reader_check_group(r, n, what, "arguments[]", form);
    free(what);
    int known = job_find_buffer(job, name);
    if (!node_member(n, "type") && !node_member(n, "shape")) {
        if (known < 0) reader_mistake(r, n, "buffer '%s' needs 'type' and 'shape' where it is first named", name);
        if (known >= 0 && image) join_image(r, n, &job->buffers[known], surface, false);
        return known;
    }
    if (known >= 0) {
        reader_mistake(r, n, "buffer '%s' is declared twice", name);
        return known;
    }
    if (!*name || strlen(name) > JOB_MAX_BUFFER_NAME) {
        reader_mistake(r, n, "a buffer's name has 1 to %d characters, not %zu: '%s'", JOB_MAX_BUFFER_NAME, strlen(name),
                       name);
        return -1;
    }
    if (job->buffer_count == JOB_MAX_BUFFERS) {
        reader_mistake(r, n, "buffer '%s' is one too many: at most %d are possible", name, JOB_MAX_BUFFERS);
        return -1;
    }
    struct buffer b = {.type = (enum element)reader_word(r, n, "arguments[].type")};
    if (!node_member(n, "type")) reader_mistake(r, n, "buffer '%s' lacks 'type'", name);
    b.direction = (enum direction)reader_word(r, n, "arguments[].direction");
    b.fill = load_fill(r, job, n, name, b.type);
    b.restore = reader_bool(r, n, "arguments[].restore");
    if (b.restore && b.direction != DIRECTION_IN)
        reader_mistake(r, node_member(n, "restore"), "'restore' is for inputs: buffer '%s' has direction \"%s\"", name,
                       direction_text[b.direction]);
    const struct node *shape = reader_member(r, n, "arguments[].shape");
    size_t dimensions = shape ? node_count(shape) : 0;
    if (!dimensions && !(constant && !node_member(n, "shape"))) { // a constant without one is a single number
        reader_mistake(r, n, "buffer '%s' needs 'shape', e.g. [\"M\", \"K\"]", name);
        return -1;
    }
    b.name = job_copy(job, name);
    if (image) {
        b.image = load_image(r, job, n, &b, surface);
        join_image(r, n, &b, surface, true);
    }
    b.cols = dimensions ? load_columns(r, job, node_at(shape, dimensions - 1), image ? b.image->about.channels : 1)
                        : job_parse(job, "1", NULL);
    if (dimensions > 1) { // rows: the product of all dimensions but the last
        char *text = text_copy("1");
        for (size_t i = 0; i + 1 < dimensions; i++) {
            const struct node *d = node_at(shape, i);
            struct expr *each = reader_expression(r, d, job);
            if (each && dimensions == 2) {
                free(text);
                text = text_copy(expr_text(each));
            } else if (each) {
                char *longer = text_format("%s * (%s)", text, expr_text(each));
                free(text);
                text = longer;
            }
        }
        b.rows = job_parse(job, text, NULL);
        free(text);
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
