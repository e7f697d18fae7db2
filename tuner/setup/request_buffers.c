// The "buffers" of a problem in requests: shapes, fills, images, and what is compared.
#include "tuner/setup/request_parts.h"

static json_t *describe_fill(const struct fill *f, double low, double high)
{
    json_t *fill = json_pack("{s:s}", "kind", fill_text[f->kind]);
    if (f->kind == FILL_CONSTANT) json_object_set_new(fill, "value", json_real(low));
    if (f->kind == FILL_UNIFORM || f->kind == FILL_NONFINITE || f->kind == FILL_INTEGER || f->kind == FILL_SORTED) {
        json_object_set_new(fill, "low", json_real(low));
        json_object_set_new(fill, "high", json_real(high));
    }
    if (f->kind == FILL_OFFSETS) json_object_set_new(fill, "total", json_real(high));
    if (f->path) json_object_set_new(fill, "path", json_string(f->path));
    return fill;
}

// The fill of a constant's `value`.
static json_t *describe_value(const struct buffer *b, const int64_t *values, struct error *err)
{
    int64_t value;
    if (job_constant_value(b, values, &value, err)) return NULL;
    return json_pack("{s:s, s:f}", "kind", fill_text[FILL_CONSTANT], "value", (double)value);
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

json_t *request_buffers(const struct job *job, const int64_t *values, struct error *err)
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
        if (job_fill_numbers(b, values, &low, &high, err) ||
            (b->compared && !(compared = describe_compared(b, values, err))))
            goto fail;
        // Nothing is promised of scratch that the job does not fill.
        bool filled = b->fill.given || b->direction != DIRECTION_SCRATCH;
        json_t *fill = b->value ? describe_value(b, values, err) : filled ? describe_fill(&b->fill, low, high) : NULL;
        if (b->value && !fill) goto fail;
        json_array_append_new(buffers,
                              json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:o*}", "name", b->name, "type",
                                        element_name(b->type), "rows", (json_int_t)rows, "cols", (json_int_t)cols, "ld",
                                        (json_int_t)ld, "direction", direction_text[b->direction], "fill", fill));
        json_t *added = json_array_get(buffers, i);
        if (b->restore) json_object_set_new(added, "restore", json_true());
        if (compared) json_object_set_new(added, "compare", compared);
        if (describe_place(added, b, values, err)) goto fail;
    }
    return buffers;
fail:
    json_decref(buffers);
    return NULL;
}
