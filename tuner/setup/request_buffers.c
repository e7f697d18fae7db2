// The "buffers" of a problem in requests: shapes, fills, images, and what is compared.
#include <math.h>

#include "kernels/operation.h"
#include "tuner/base/entropy.h"
#include "tuner/setup/request_parts.h"

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
        input |= op->roles[k].kind == ROLE_INPUT && !strcmp(request_bound_name(job, op->roles[k].name), b->name);
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
    } all[] = {{VALUES_SCALED, 1},  {VALUES_SHIFTED, 1},  {VALUES_ZERO, 1},  {VALUES_NEGATIVE, 1},
               {VALUES_SCALED, -1}, {VALUES_SHIFTED, -1}, {VALUES_ZERO, -1}, {VALUES_FULL, 1}};
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
    switch (all[chosen].domain) {
    case VALUES_SCALED:
        return describe_fill(FILL_UNIFORM, low * scale, high * scale);
    case VALUES_NEGATIVE:
        return describe_fill(FILL_UNIFORM, -most, -most / 1024);
    case VALUES_SHIFTED:
        return describe_fill(FILL_UNIFORM, low + sign * 100 * most, high + sign * 100 * most);
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

json_t *request_buffers(const struct job *job, const struct problem *problem, const int64_t *values, struct error *err)
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
