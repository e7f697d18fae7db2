// See buffers.h.
#include "tuner/gpu/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/gpu/npy.h"

enum { ALIGNMENT = 1024 };

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static int parse_fill(struct device_buffer *b, const json_t *fill, struct error *err)
{
    const char *kind = json_get_string(fill, "kind", "uniform");
    b->filled = json_is_object(fill);
    int found = word_find(fill_words, kind);
    if (found < 0) return error_set(err, "unknown fill '%s'", kind);
    b->fill = (enum fill_kind)found;
    if (b->fill == FILL_ZERO) { // the constant 0: `low` is 0 already
        b->fill = FILL_CONSTANT;
        return 0;
    }
    b->low = json_get_number(fill, "low", json_get_number(fill, "value", b->fill == FILL_UNIFORM ? -1 : 0));
    b->high = json_get_number(fill, "high", 1);
    // Uniform integers are what an integer buffer can hold of a uniform fill.
    if (b->fill == FILL_UNIFORM && !element_is_float(b->view.type)) b->fill = FILL_INTEGER;
    if (b->fill == FILL_INTEGER && b->high < b->low)
        return error_set(err, "an integer fill from %g to %g", b->low, b->high);
    if (b->fill == FILL_NPY) b->path = json_get_string(fill, "path", "");
    return 0;
}

static int parse(struct device_buffer *b, const json_t *from, struct error *err)
{
    const char *name = json_get_string(from, "name", ""), *type = json_get_string(from, "type", "");
    const char *direction = json_get_string(from, "direction", "in");
    int found = element_find(type), way = word_find(direction_words, direction);
    if (!*name) return error_set(err, "a buffer without a name");
    b->name = name;
    if (found < 0) return error_set(err, "buffer %s: unknown type '%s'", name, type);
    if (way < 0) return error_set(err, "buffer %s: unknown direction '%s'", name, direction);
    b->direction = (enum direction)way;
    struct operand *v = &b->view;
    v->type = (enum element)found;
    v->rows = json_get_integer(from, "rows", 1);
    v->cols = json_get_integer(from, "cols", 0);
    v->ld = json_get_integer(from, "ld", v->cols);
    if (v->ld < v->cols) v->ld = v->cols;
    if (v->rows < 1 || v->cols < 1)
        return error_set(err, "buffer %s: %lldx%lld elements", name, (long long)v->rows, (long long)v->cols);
    size_t cells;
    if (__builtin_mul_overflow((size_t)v->rows, (size_t)v->ld, &cells) || cells > SIZE_MAX / 16 / element_size(v->type))
        return error_set(err, "buffer %s: %lldx%lld elements are too many", name, (long long)v->rows, (long long)v->ld);
    b->bytes = cells * element_size(v->type);
    if (parse_fill(b, json_object_get(from, "fill"), err)) return error_prefix(err, "buffer %s", name);
    return 0;
}

// Where a slot's parts lie. The data is aligned; the slot's size is a multiple of the alignment.
static size_t slot_bytes(struct device_buffer *b, size_t guard)
{
    b->front = round_up(guard, ALIGNMENT);
    return b->front + round_up(b->bytes + guard, ALIGNMENT);
}

size_t buffers_bytes(const json_t *list, size_t guard_bytes, struct error *err)
{
    size_t total = 0, i;
    json_t *each;
    json_array_foreach(list, i, each)
    {
        struct device_buffer b = {0};
        if (parse(&b, each, err)) return 0;
        total += slot_bytes(&b, guard_bytes) + (b.direction == DIRECTION_INOUT ? b.bytes : 0);
    }
    return total;
}

static int guard_regions(struct buffers *s, size_t guard, struct error *err)
{
    struct region regions[3 * BUFFERS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct device_buffer *b = &s->list[i];
        const struct operand *v = &b->view;
        size_t size = element_size(v->type), pitch = (size_t)v->ld * size, used = (size_t)v->cols * size;
        if (b->front) regions[n++] = (struct region){b->slot, 1, b->front, 0, 0, i};
        if (pitch > used)
            regions[n++] =
                (struct region){v->device + used, (uint64_t)v->rows, pitch - used, pitch, b->front + used, i};
        size_t end = round_up(b->bytes + guard, ALIGNMENT);
        if (end > b->bytes)
            regions[n++] = (struct region){v->device + b->bytes, 1, end - b->bytes, 0, b->front + b->bytes, i};
    }
    s->region_count = n;
    int failed;
    if ((failed = cuda_alloc(s->cuda, sizeof regions, &s->regions, err)) ||
        (failed = cuda_upload(s->cuda, s->regions, regions, n * sizeof *regions, err)))
        return failed;
    return cuda_sync(s->cuda, err);
}

int buffers_open(struct buffers *s, struct cuda *cuda, struct support *support, const json_t *list, size_t guard_bytes,
                 struct error *err)
{
    size_t i, offset = 0;
    json_t *each;
    int failed;
    memset(s, 0, sizeof *s);
    s->cuda = cuda;
    s->support = support;
    if (json_array_size(list) > BUFFERS_MAX)
        return error_set(err, "%zu buffers; at most %d are possible", json_array_size(list), BUFFERS_MAX);
    json_array_foreach(list, i, each)
    {
        struct device_buffer *b = &s->list[s->count];
        if (parse(b, each, err)) return -1;
        s->count++;
        b->slot = offset;
        offset += slot_bytes(b, guard_bytes);
        if (b->direction == DIRECTION_INOUT) {
            s->inout = true;
            s->origin_bytes += round_up(b->bytes, ALIGNMENT);
        }
    }
    s->arena_bytes = offset;
    if ((failed = cuda_alloc(cuda, s->arena_bytes, &s->arena, err)) ||
        (s->origin_bytes && (failed = cuda_alloc(cuda, s->origin_bytes, &s->origins, err))) ||
        (failed = cuda_alloc(cuda, BUFFERS_MAX * sizeof(struct verify_finding), &s->findings, err)))
        return failed;
    uint64_t origin = s->origins;
    for (i = 0; i < s->count; i++) {
        struct device_buffer *b = &s->list[i];
        b->slot += s->arena;
        b->view.device = b->slot + b->front;
        if (b->direction == DIRECTION_INOUT) {
            b->origin = origin;
            origin += round_up(b->bytes, ALIGNMENT);
        }
    }
    return guard_regions(s, guard_bytes, err);
}

void buffers_release(struct buffers *s)
{
    if (s->cuda) {
        cuda_free(s->cuda, s->arena);
        cuda_free(s->cuda, s->clones);
        cuda_free(s->cuda, s->origins);
        cuda_free(s->cuda, s->regions);
        cuda_free(s->cuda, s->findings);
    }
    memset(s, 0, sizeof *s);
}

int buffers_find(const struct buffers *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->list[i].name, name)) return (int)i;
    return -1;
}

static int fill_from_file(struct buffers *s, const struct device_buffer *b, struct error *err)
{
    const struct operand *v = &b->view;
    struct npy npy;
    size_t size = element_size(v->type), row_bytes = (size_t)v->cols * size;
    char *row = NULL;
    int failed = -1;
    if (npy_read(&npy, b->path, err)) goto out;
    if (npy.count != (size_t)(v->rows * v->cols)) {
        error_set(err, "%s has %zu elements, buffer %s has %lldx%lld", b->path, npy.count, b->name, (long long)v->rows,
                  (long long)v->cols);
        goto out;
    }
    if (!(row = memory_try((size_t)v->cols, size, err))) goto out;
    for (int64_t i = 0; i < v->rows; i++) {
        for (int64_t j = 0; j < v->cols; j++)
            npy_element(&npy, (size_t)(i * v->cols + j), v->type, row + (size_t)j * size);
        uint64_t to = v->device + (size_t)(i * v->ld) * size;
        if ((failed = cuda_upload(s->cuda, to, row, row_bytes, err)) || (failed = cuda_sync(s->cuda, err))) goto out;
    }
    failed = 0;
out:
    free(row);
    npy_release(&npy);
    return failed;
}

static int fill(struct buffers *s, const struct device_buffer *b, uint64_t seed, struct error *err)
{
    if (b->fill == FILL_NPY) return fill_from_file(s, b, err);
    return support_fill(s->support, &b->view, b->fill, b->low, b->high, seed, err);
}

int buffers_fill(struct buffers *s, uint64_t seed, struct error *err)
{
    int failed;
    struct verify_finding findings[BUFFERS_MAX];
    if ((failed = cuda_fill16(s->cuda, s->arena, BUFFERS_GUARD, s->arena_bytes / 2, err)) ||
        (failed = cuda_zero(s->cuda, s->findings, sizeof findings, err)))
        return failed;
    for (size_t i = 0; i < s->count; i++) {
        struct device_buffer *b = &s->list[i];
        if (b->direction != DIRECTION_IN && b->direction != DIRECTION_INOUT) continue;
        if ((failed = fill(s, b, seed + (i + 1) * 0x632be59bd9b4e019ull, err))) return failed;
        if (b->origin && (failed = cuda_copy(s->cuda, b->origin, b->view.device, b->bytes, err))) return failed;
    }
    if ((failed = buffers_check(s, err)) ||
        (failed = cuda_download(s->cuda, findings, s->findings, sizeof findings, err)) ||
        (failed = cuda_sync(s->cuda, err)))
        return failed;
    for (size_t i = 0; i < s->count; i++) s->list[i].checksum = findings[i].checksum;
    for (unsigned i = 0; i < s->clone_count && !failed; i++)
        failed = cuda_copy(s->cuda, s->clones + i * s->arena_bytes, s->arena, s->arena_bytes, err);
    return failed;
}

int buffers_reset(struct buffers *s, uint16_t pattern, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < s->count && !failed; i++) {
        struct device_buffer *b = &s->list[i];
        const struct operand *v = &b->view;
        int64_t size = (int64_t)element_size(v->type);
        bool dense = v->ld == v->cols;
        if (b->direction == DIRECTION_IN) continue;
        if (b->direction == DIRECTION_INOUT)
            failed = cuda_copy(s->cuda, v->device, b->origin, b->bytes, err);
        else if (b->direction == DIRECTION_SCRATCH && b->filled && b->fill == FILL_CONSTANT)
            failed = fill(s, b, 0, err);
        else
            failed = support_pattern(s->support, v->device, dense ? 1 : v->rows,
                                     dense ? v->rows * v->cols * size : v->cols * size, v->ld * size, pattern, err);
    }
    return failed;
}

int buffers_check(struct buffers *s, struct error *err)
{
    int failed = support_guards(s->support, s->regions, s->region_count, BUFFERS_GUARD, s->findings, err);
    for (size_t i = 0; i < s->count && !failed; i++)
        if (s->list[i].direction == DIRECTION_IN)
            failed = support_checksum(s->support, s->list[i].view.device, s->list[i].bytes,
                                      s->findings + i * sizeof(struct verify_finding), err);
    return failed;
}

int buffers_clone(struct buffers *s, unsigned copies, struct error *err)
{
    if (copies <= 1 || s->clone_count + 1 >= copies) return 0;
    cuda_free(s->cuda, s->clones);
    s->clones = 0;
    s->clone_count = 0;
    int failed = cuda_alloc(s->cuda, (copies - 1) * s->arena_bytes, &s->clones, err);
    for (unsigned i = 0; i + 1 < copies && !failed; i++)
        failed = cuda_copy(s->cuda, s->clones + i * s->arena_bytes, s->arena, s->arena_bytes, err);
    if (!failed) s->clone_count = copies - 1;
    return failed;
}
