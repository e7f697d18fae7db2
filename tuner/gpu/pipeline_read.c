// See pipeline_read.h.
#include "tuner/gpu/pipeline_read.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

static void read_triple(const json_t *object, const char *key, unsigned out[3])
{
    const json_t *array = json_object_get(object, key);
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(array, i);
        json_int_t n = json_is_integer(value) ? json_integer_value(value) : 1;
        out[i] = n < 0 || n > UINT32_MAX ? 0 : (unsigned)n; // a zero size is refused at launch
    }
}

static int read_integers(const json_t *from, const char *key, int count, uint64_t *out)
{
    const json_t *list = json_object_get(from, key);
    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        if (!json_is_integer(value) || json_integer_value(value) < 0) return -1;
        out[i] = (uint64_t)json_integer_value(value);
    }
    return json_array_size(list) == (size_t)count ? 0 : -1;
}

// {"tensor_map":"A",...}: encoded here, moved at launches that use copies of the memory.
static int read_tensor_map(struct pipeline *p, struct pipeline_launch *s, const struct device_problem *problem,
                           const json_t *from, struct error *err)
{
    const char *name = json_get_string(from, "tensor_map", "");
    struct cuda_tensor t = {.rank = (int)json_array_size(json_object_get(from, "box")),
                            .swizzle = (int)json_get_integer(from, "swizzle", 0),
                            .promotion = (int)json_get_integer(from, "promotion", 0),
                            .nan = json_get_bool(from, "nan", false),
                            .tf32 = json_get_bool(from, "tf32", false)};
    struct cuda_tensor_map map;
    uint64_t box[CUDA_TENSOR_RANK] = {0};
    int found = buffers_find(&problem->buffers, name);
    if (found < 0) return error_set(err, "argument %u: no buffer '%s'", s->count, name);
    if (s->map_count == PIPELINE_MAPS_MAX) return error_set(err, "more than %d tensor maps", PIPELINE_MAPS_MAX);
    if (t.rank < 1 || t.rank > CUDA_TENSOR_RANK || read_integers(from, "sizes", t.rank, t.size) ||
        read_integers(from, "strides", t.rank - 1, t.stride) || read_integers(from, "box", t.rank, box))
        return error_set(err, "argument %u: a tensor map needs sizes, strides and a box of 1 to %d dimensions",
                         s->count, CUDA_TENSOR_RANK);
    for (int i = 0; i < t.rank; i++) {
        if (box[i] > UINT32_MAX) return error_set(err, "argument %u: a tensor map with a box beyond 2^32", s->count);
        t.box[i] = (uint32_t)box[i];
    }
    t.type = problem->buffers.list[found].view.type;
    s->value[s->count] = problem->buffers.list[found].view.device;
    int failed = cuda_tensor_map_encode(p->cuda, &t, s->value[s->count], &map, err);
    if (failed) return error_prefix(err, "tensor map '%s'", name), failed;
    memcpy(s->maps[s->map_count++], &map, sizeof map);
    s->map[s->count++] = (int)s->map_count;
    return 0;
}

// {"texture":"image"}, {"surface":"out"}.
static int read_object(struct pipeline_launch *s, const struct device_problem *problem, const json_t *from,
                       struct error *err)
{
    const char *surface = json_get_string(from, "surface", NULL),
               *name = surface ? surface : json_get_string(from, "texture", "");
    int found = buffers_find(&problem->buffers, name);
    const struct device_buffer *b = found < 0 ? NULL : &problem->buffers.list[found];
    if (!b || !b->has_image || (surface && !b->image.about.surface))
        return error_set(err, "argument %u: no %s '%s'", s->count, surface ? "surface" : "texture", name);
    s->value[s->count] = (uint64_t)found;
    s->object[s->count++] = surface ? PLACE_SURFACE : PLACE_TEXTURE;
    return 0;
}

// {"bytes":"0a000000..."}: a struct or a vector by value.
static int read_bytes(struct pipeline_launch *s, const char *digits, struct error *err)
{
    static const char hex[] = "0123456789abcdef";
    size_t length = strlen(digits);
    if (!length || length % 2 || length > 2 * PIPELINE_BYTES_MAX || strspn(digits, hex) != length)
        return error_set(err, "argument %u: a struct has 1 to %d bytes of two digits each", s->count,
                         PIPELINE_BYTES_MAX);
    unsigned char *bytes = memory_try(length / 2, 1, err);
    if (!bytes) return -1;
    for (size_t i = 0; i < length / 2; i++)
        bytes[i] = (unsigned char)((strchr(hex, digits[2 * i]) - hex) * 16 + (strchr(hex, digits[2 * i + 1]) - hex));
    s->bytes[s->count++] = bytes;
    return 0;
}

static int read_argument(struct pipeline *p, struct pipeline_launch *s, const struct device_problem *problem,
                         const json_t *from, struct error *err)
{
    unsigned i = s->count;
    const char *buffer = json_get_string(from, "buffer", NULL), *scalar = json_get_string(from, "scalar", NULL);
    if (i == PIPELINE_ARGUMENTS_MAX) return error_set(err, "more than %d arguments", PIPELINE_ARGUMENTS_MAX);
    if (json_object_get(from, "tensor_map")) return read_tensor_map(p, s, problem, from, err);
    if (json_object_get(from, "texture") || json_object_get(from, "surface")) return read_object(s, problem, from, err);
    if (json_object_get(from, "bytes")) return read_bytes(s, json_get_string(from, "bytes", ""), err);
    if (buffer) {
        int found = buffers_find(&problem->buffers, buffer);
        if (found < 0) return error_set(err, "argument %u: no buffer '%s'", i, buffer);
        s->value[i] = problem->buffers.list[found].view.device;
        s->pointer[i] = true;
    } else {
        int type = element_find(scalar);
        const json_t *value = json_object_get(from, "value");
        if (type < 0 || !json_is_number(value)) return error_set(err, "argument %u is neither buffer nor scalar", i);
        if ((type == ELEMENT_I64 || type == ELEMENT_U64) && json_is_integer(value))
            s->value[i] = (uint64_t)json_integer_value(value);
        else
            element_store((enum element)type, json_number_value(value), &s->value[i]);
    }
    s->count++;
    return 0;
}

// A library's call: roles bound to this problem's buffers and to numbers, checked, and the library made ready.
static int read_library_stage(struct pipeline_part *part, const struct device_problem *problem, const json_t *from,
                              struct error *err)
{
    struct pipeline_launch *s = &part->launch[part->count];
    const char *name = json_get_string(from, "operation", ""), *by = json_get_string(from, "by", "");
    const struct operation *op = operation_find(name, NULL);
    const json_t *buffers = json_object_get(from, "buffers"), *roles = json_object_get(from, "roles");
    char detail[OPERATION_DETAIL_MAX];
    s->library = op ? operation_baseline(op, by) : NULL;
    if (!s->library) return error_set(err, "no library computes '%s' by '%s'", name, by);
    for (int i = 0; op->roles[i].name; i++) {
        const struct operation_role *role = &op->roles[i];
        if (role->kind == ROLE_SIZE || role->kind == ROLE_SCALAR) {
            s->operation.value[i] = json_get_number(roles, role->name, role->fallback);
            continue;
        }
        int found = buffers_find(&problem->buffers, json_get_string(buffers, role->name, ""));
        if (found < 0) return error_set(err, "%s: no buffer for the role %s", name, role->name);
        const struct device_buffer *b = &problem->buffers.list[found];
        if (role->kind == ROLE_OUTPUT && b->direction == DIRECTION_IN && !b->restored)
            return error_set(err, "%s would write %s, which is an input", name, b->name);
        s->operation.operand[i] = b->view;
    }
    if (op->check(&s->operation, err)) return error_prefix(err, "%s", name);
    int failed = s->library->prepare ? s->library->prepare(part->operations, &s->operation, &s->state, detail, err) : 0;
    if (!failed) part->count++;
    return failed;
}

static int read_arguments(struct pipeline *p, struct pipeline_launch *s, const struct device_problem *problem,
                          const json_t *from, struct error *err)
{
    size_t i;
    json_t *each;
    int failed = 0;
    json_array_foreach(json_object_get(from, "args"), i, each)
    {
        if (!failed) failed = read_argument(p, s, problem, each, err);
    }
    return failed;
}

// A function of the user's, made ready for this problem.
static int read_program(struct pipeline *p, struct pipeline_part *part, const struct device_problem *problem,
                        const char *baseline, const json_t *from, struct error *err)
{
    struct pipeline_launch *s = &part->launch[part->count];
    int failed = read_arguments(p, s, problem, from, err);
    if (!failed) failed = program_call_open(&s->program, baseline, from, err);
    part->count += s->program != NULL; // so that it is closed
    return failed;
}

int pipeline_read_stage(struct pipeline *p, struct pipeline_part *part, const struct device_problem *problem,
                        const json_t *candidate, const json_t *from, struct error *err)
{
    bool again = part->count && json_get_bool(from, "again", false);
    if (!again && part->stage_count == PIPELINE_STAGES_MAX)
        return error_set(err, "more than %d stages", PIPELINE_STAGES_MAX);
    if (!again) part->stage_count++;
    part->launch[part->count].stage = part->stage_count - 1;
    if (json_object_get(from, "operation")) return read_library_stage(part, problem, from, err);
    if (json_object_get(from, "function"))
        return read_program(p, part, problem, json_get_string(candidate, "name", ""), from, err);
    struct pipeline_launch *s = &part->launch[part->count];
    const char *symbol = json_get_string(from, "symbol", "");
    int64_t unit = json_get_integer(from, "unit", 0);
    if (unit < 0 || (size_t)unit >= p->unit_count || !p->units[unit].module)
        return error_set(err, "the cubin has no unit %lld", (long long)unit);
    read_triple(from, "grid", s->geometry.grid);
    read_triple(from, "block", s->geometry.block);
    read_triple(from, "cluster", s->geometry.cluster);
    int64_t shared = json_get_integer(from, "shared", 0);
    s->geometry.shared = shared < 0 || shared > INT32_MAX ? INT32_MAX : (unsigned)shared;
    s->geometry.cooperative = json_get_bool(from, "cooperative", false);
    s->overlap = json_get_bool(from, "overlap", false) && part->count && !part->launch[part->count - 1].library;
    int failed = read_arguments(p, s, problem, from, err);
    if (failed) return failed;
    for (size_t i = 0; i < 3; i++)
        if (!s->geometry.grid[i] || !s->geometry.block[i] || !s->geometry.cluster[i]) {
            error_set(err, "a grid, block or cluster of size 0 or beyond 2^32");
            return CUDA_REFUSED;
        }
    if ((failed = cuda_module_kernel(p->cuda, p->units[unit].module, symbol, &s->kernel, err)) ||
        (failed = cuda_kernel_allow(p->cuda, s->kernel, &s->geometry, err)) ||
        (failed = cuda_kernel_info(p->cuda, s->kernel, &s->info, err)) ||
        (failed = cuda_kernel_occupancy(p->cuda, s->kernel, &s->geometry, &s->blocks_per_sm, err)))
        return failed;
    struct cuda_info info;
    cuda_info(p->cuda, &info);
    unsigned threads = s->geometry.block[0] * s->geometry.block[1] * s->geometry.block[2],
             warp = (unsigned)info.warp_size;
    unsigned warps = (threads + warp - 1) / warp;
    s->occupancy = (double)s->blocks_per_sm * warps * warp / info.threads_per_sm;
    part->count++;
    return 0;
}
