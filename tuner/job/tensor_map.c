// Reads the tensor maps in a job file (see job_launch.c for the other arguments) and computes their numbers.
//
// tensor_map_resolve checks the rules of CUDA's driver API for cuTensorMapEncodeTiled. The driver's message is only
// "invalid argument"; this check names the refused value, before the candidate is sent to a GPU.
#include "tuner/job/job_parts.h"

#define STRIDE_LIMIT (INT64_C(1) << 40) // bytes; TMA strides must be smaller

static size_t load_list(struct reader *r, struct job *job, const struct node *n, const char *name,
                        struct expr *out[TENSOR_MAP_RANK_MAX])
{
    autofree char *path = text_format("arguments[].tma.%s", name);
    const struct node *list = reader_member(r, n, path);
    size_t count = list ? node_count(list) : 0;
    if (count > TENSOR_MAP_RANK_MAX) {
        reader_mistake(r, list, "'tma.%s' has %zu dimensions; a tensor map has one to %d", name, count,
                       TENSOR_MAP_RANK_MAX);
        count = TENSOR_MAP_RANK_MAX;
    }
    for (size_t i = 0; i < count; i++) out[i] = reader_expression(r, node_at(list, i), job);
    return count;
}

struct tensor_map *load_tensor_map(struct reader *r, struct job *job, const struct node *n, const struct buffer *buffer)
{
    enum { NANS = 1, TF32 = 1 }; // words of the table of settings
    struct tensor_map *map = job_new(job, 1, sizeof *map);
    map->rank = load_list(r, job, n, "box", map->box);
    size_t view = load_list(r, job, n, "view", map->view), strides = load_list(r, job, n, "strides", map->stride);
    map->swizzle = reader_expression(r, node_member(n, "swizzle"), job);
    map->promotion = reader_expression(r, node_member(n, "promotion"), job);
    map->nan = reader_word(r, n, "arguments[].tma.out_of_bounds") == NANS;
    if (!map->rank) {
        reader_mistake(r, n, "tensor map '%s' needs 'tma.box', e.g. [\"BLOCK_M\", \"BLOCK_K\"]", buffer->name);
    } else if (view && view != map->rank) {
        reader_mistake(r, node_member(n, "view"), "'tma.view' of '%s' has %zu dimensions, 'tma.box' has %zu",
                       buffer->name, view, map->rank);
    } else if (!view && map->rank != (buffer->rows ? 2 : 1)) {
        reader_mistake(
            r, node_member(n, "box"),
            "'tma.box' of '%s' has %zu dimensions, but the buffer is a %s; add 'tma.view' to change its shape",
            buffer->name, map->rank, buffer->rows ? "matrix (all dimensions but the last count as rows)" : "vector");
    } else if (strides && strides + 1 != map->rank) {
        reader_mistake(r, node_member(n, "strides"),
                       "'tma.strides' of '%s' must have one number fewer than 'tma.box', %zu: the last dimension "
                       "is contiguous",
                       buffer->name, map->rank - 1);
    }
    map->tf32 = reader_word(r, n, "arguments[].tma.convert") == TF32;
    if (map->tf32 && buffer->type != ELEMENT_F32)
        reader_mistake(r, node_member(n, "convert"), "tma.convert \"tf32\" of '%s' needs type f32, but it is %s",
                       buffer->name, element_name(buffer->type));
    if (map->nan && (!element_is_float(buffer->type) || element_size(buffer->type) == 1)) // TMA has no FP8 types
        reader_mistake(r, node_member(n, "out_of_bounds"),
                       "tma.out_of_bounds \"nan\" of '%s' needs a floating-point type of 16 bits or more",
                       buffer->name);
    return map;
}

static int evaluate(const struct expr *e, int64_t absent, const int64_t *values, int64_t *out, struct error *err)
{
    *out = absent;
    return e ? expr_eval(e, values, out, err) : 0;
}

const struct expr *tensor_map_size(const struct buffer *b, const struct tensor_map *map, size_t dimension)
{
    const struct expr *given = map->view[map->rank - 1 - dimension];
    return given ? given : dimension ? b->rows : b->cols;
}

const struct expr *tensor_map_stride(const struct buffer *b, const struct tensor_map *map, size_t dimension)
{
    const struct expr *given = map->stride[map->rank - 1 - dimension];
    if (given || map->rank != 2) return given;
    return b->ld ? b->ld : b->cols;
}

// Computes sizes and strides, the innermost dimension first, strides in bytes.
static int resolve_shape(const struct buffer *b, const struct tensor_map *map, const int64_t *values,
                         struct tensor_map_shape *s, struct error *err)
{
    int64_t dense = 1, stride; // elements
    for (size_t i = 0; i < map->rank; i++) {
        if (i && evaluate(tensor_map_stride(b, map, i), dense, values, &stride, err)) return -1;
        if (i) s->stride[i - 1] = stride * (int64_t)element_size(b->type);
        if (evaluate(tensor_map_size(b, map, i), 1, values, &s->size[i], err) ||
            evaluate(map->box[map->rank - 1 - i], 0, values, &s->box[i], err))
            return -1;
        if (__builtin_mul_overflow(dense, s->size[i], &dense) || dense > STRIDE_LIMIT) dense = STRIDE_LIMIT;
    }
    return 0;
}

static int check_shape(const struct tensor_map_shape *s, int64_t element, struct error *err)
{
    for (int i = 0; i < s->rank; i++) {
        if (s->size[i] < 1 || s->size[i] > UINT32_MAX + INT64_C(1))
            return error_set(err, "its size is %" PRId64 " in dimension %d from the last; TMA needs 1 to 2^32",
                             s->size[i], i);
        if (s->box[i] < 1 || s->box[i] > 256)
            return error_set(err, "its box is %" PRId64 " wide in dimension %d from the last; TMA needs 1 to 256",
                             s->box[i], i);
    }
    for (int i = 0; i + 1 < s->rank; i++)
        if (s->stride[i] % 16 || s->stride[i] < 1 || s->stride[i] >= STRIDE_LIMIT)
            return error_set(err,
                             "its stride must be a multiple of 16 bytes below 2^40, but is %" PRId64
                             " (in dimension %d from the last)",
                             s->stride[i], i + 1);
    int64_t inner = s->box[0] * element;
    if (inner % 16) return error_set(err, "a row of its box is %" PRId64 " bytes; TMA needs a multiple of 16", inner);
    if (s->swizzle != 0 && s->swizzle != 32 && s->swizzle != 64 && s->swizzle != 128)
        return error_set(err, "its swizzle is %" PRId64 "; TMA has 0, 32, 64 and 128 bytes", s->swizzle);
    if (s->promotion != 0 && s->promotion != 64 && s->promotion != 128 && s->promotion != 256)
        return error_set(err, "its promotion is %" PRId64 "; TMA has 0, 64, 128 and 256 bytes", s->promotion);
    if (s->swizzle && inner > s->swizzle)
        return error_set(err, "a row of its box is %" PRId64 " bytes, wider than the swizzle of %" PRId64, inner,
                         s->swizzle);
    return 0;
}

int tensor_map_resolve(const struct job *job, const struct argument *a, const int64_t *values,
                       struct tensor_map_shape *s, struct error *err)
{
    const struct buffer *b = &job->buffers[a->buffer];
    *s = (struct tensor_map_shape){.rank = (int)a->map->rank, .nan = a->map->nan, .tf32 = a->map->tf32};
    if (resolve_shape(b, a->map, values, s, err) || evaluate(a->map->swizzle, 0, values, &s->swizzle, err) ||
        evaluate(a->map->promotion, 0, values, &s->promotion, err) ||
        check_shape(s, (int64_t)element_size(b->type), err))
        return error_prefix(err, "tensor map '%s'", b->name);
    return 0;
}
