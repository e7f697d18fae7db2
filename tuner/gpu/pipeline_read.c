// Reads the stages of a candidate: launches with their arguments, library calls, and user functions.
#include "tuner/gpu/pipeline.h"

#include "tuner/gpu/addresses.h"

// -1: the size is missing. A size of zero is refused at launch.
static void read_triple(const int64_t from[3], unsigned out[3])
{
    for (size_t i = 0; i < 3; i++)
        out[i] = from[i] == -1 ? 1 : from[i] < 0 || from[i] > UINT32_MAX ? 0 : (unsigned)from[i];
}

// Tensor maps are encoded here, and moved for launches that use other copies of the memory.
static int read_tensor_map(struct pipeline_launch *s, const struct device_problem *problem,
                           const struct stage_argument *from, struct error *err)
{
    struct cuda_tensor t = {.rank = (int)from->box_count,
                            .swizzle = from->swizzle,
                            .promotion = from->promotion,
                            .nan = from->nan,
                            .tf32 = from->tf32};
    struct cuda_tensor_map map;
    int found = buffers_find(&problem->buffers, from->tensor_map);
    if (found < 0) return error_set(err, "argument %u: no buffer '%s'", s->count, from->tensor_map);
    if (s->map_count == PIPELINE_MAPS_MAX) return error_set(err, "more than %d tensor maps", PIPELINE_MAPS_MAX);
    if (from->box_count < 1 || from->box_count > CUDA_TENSOR_RANK || from->size_count != from->box_count ||
        from->stride_count != from->box_count - 1)
        return error_set(err, "argument %u: a tensor map needs sizes, strides and a box of 1 to %d dimensions",
                         s->count, CUDA_TENSOR_RANK);
    for (int i = 0; i < t.rank; i++) {
        t.size[i] = (uint64_t)from->sizes[i];
        if (i + 1 < t.rank) t.stride[i] = (uint64_t)from->strides[i];
        t.box[i] = (uint32_t)from->box[i];
    }
    t.type = problem->buffers.list[found].view.type;
    struct pipeline_argument *to = &s->argument[s->count];
    to->value = problem->buffers.list[found].view.device;
    int failed = cuda_tensor_map_encode(&t, to->value, &map, err);
    if (failed) return error_prefix(err, "tensor map '%s'", from->tensor_map), failed;
    memcpy(s->maps[s->map_count++], &map, sizeof map);
    to->map = (int)s->map_count;
    s->count++;
    return 0;
}

static int read_object(struct pipeline_launch *s, const struct device_problem *problem,
                       const struct stage_argument *from, struct error *err)
{
    bool surface = *from->surface;
    const char *name = surface ? from->surface : from->texture;
    int found = buffers_find(&problem->buffers, name);
    const struct device_buffer *b = found < 0 ? NULL : &problem->buffers.list[found];
    if (!b || !b->seen.has_image || (surface && !b->seen.image.about.surface))
        return error_set(err, "argument %u: no %s '%s'", s->count, surface ? "surface" : "texture", name);
    s->argument[s->count++] =
        (struct pipeline_argument){.value = (uint64_t)found, .object = surface ? BINDING_SURFACE : BINDING_TEXTURE};
    return 0;
}

// Reads a struct or a vector by value.
static int read_bytes(struct pipeline_launch *s, const struct device_problem *problem,
                      const struct stage_argument *from, struct error *err)
{
    const char *digits = from->bytes;
    static const char hex[] = "0123456789abcdef";
    size_t length = strlen(digits);
    if (!length || length % 2 || length > 2 * PIPELINE_BYTES_MAX || strspn(digits, hex) != length)
        return error_set(err, "argument %u: a struct has 1 to %d bytes of two digits each", s->count,
                         PIPELINE_BYTES_MAX);
    unsigned char *bytes = memory_try(length / 2, 1, err);
    if (!bytes) return -1;
    for (size_t i = 0; i < length / 2; i++)
        bytes[i] = (unsigned char)((strchr(hex, digits[2 * i]) - hex) * 16 + (strchr(hex, digits[2 * i + 1]) - hex));
    struct pipeline_argument *to = &s->argument[s->count];
    to->bytes = bytes;
    to->address_count = from->address_count;
    if (addresses_read(&problem->buffers, -1, from->addresses, from->address_count, length / 2, &to->addresses, err))
        return error_prefix(err, "argument %u", s->count);
    s->count++;
    return 0;
}

static int read_argument(struct pipeline_launch *s, const struct device_problem *problem,
                         const struct stage_argument *from, struct error *err)
{
    unsigned i = s->count;
    if (i == PIPELINE_ARGUMENTS_MAX) return error_set(err, "more than %d arguments", PIPELINE_ARGUMENTS_MAX);
    if (*from->tensor_map) return read_tensor_map(s, problem, from, err);
    if (*from->texture || *from->surface) return read_object(s, problem, from, err);
    if (*from->bytes) return read_bytes(s, problem, from, err);
    struct pipeline_argument *to = &s->argument[i];
    if (*from->buffer) {
        int found = buffers_find(&problem->buffers, from->buffer);
        if (found < 0) return error_set(err, "argument %u: no buffer '%s'", i, from->buffer);
        to->value = problem->buffers.list[found].view.device;
        to->pointer = true;
    } else {
        int type = element_find(from->scalar);
        if (type < 0 || isnan(from->value.real)) return error_set(err, "argument %u is neither buffer nor scalar", i);
        if ((type == ELEMENT_I64 || type == ELEMENT_U64) && from->value.whole)
            to->value = (uint64_t)from->value.integer;
        else
            element_store((enum element)type, from->value.real, &to->value);
    }
    s->count++;
    return 0;
}

static const char *bound_buffer(const struct stage_call *from, const char *role)
{
    for (size_t i = 0; i < from->buffer_count; i++)
        if (!strcmp(from->buffers[i].name, role)) return from->buffers[i].value;
    return "";
}

// Reads a library call: binds roles to this problem's buffers and to numbers, checks them, and prepares the library.
static int read_library_stage(struct pipeline_part *part, const struct device_problem *problem,
                              const struct stage_call *from, struct error *err)
{
    struct pipeline_launch *s = &part->launch[part->count];
    const char *name = from->operation;
    const struct operation *op = operation_find(name, NULL);
    s->library = op ? operation_baseline(op, from->by) : NULL;
    if (!s->library) return error_set(err, "no library computes '%s' by '%s'", name, from->by);
    for (int i = 0; op->roles[i].name; i++) {
        const struct operation_role *role = &op->roles[i];
        if (role->kind == ROLE_SIZE || role->kind == ROLE_SCALAR) {
            s->operation.value[i] = named_number(from->roles, from->role_count, role->name, role->fallback);
            continue;
        }
        int found = buffers_find(&problem->buffers, bound_buffer(from, role->name));
        if (found < 0) return error_set(err, "%s: no buffer for the role %s", name, role->name);
        const struct device_buffer *b = &problem->buffers.list[found];
        if (role->kind == ROLE_OUTPUT && b->direction == DIRECTION_IN && !b->restored)
            return error_set(err, "%s would write %s, which is an input", name, b->name);
        s->operation.operand[i] = b->view;
    }
    if (op->check(&s->operation, err)) return error_prefix(err, "%s", name);
    int failed = s->library->prepare ? s->library->prepare(part->operations, &s->operation, NULL, &s->state, err) : 0;
    if (!failed) part->count++;
    return failed;
}

static int read_arguments(struct pipeline_launch *s, const struct device_problem *problem,
                          const struct stage_call *from, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < from->arg_count && !failed; i++) failed = read_argument(s, problem, &from->args[i], err);
    return failed;
}

// Reads a user function and opens it for this problem.
static int read_program(struct pipeline_part *part, const struct device_problem *problem, const char *baseline,
                        const struct stage_call *from, struct error *err)
{
    struct pipeline_launch *s = &part->launch[part->count];
    int failed = read_arguments(s, problem, from, err);
    if (!failed) failed = program_call_open(&s->program, baseline, from, err);
    part->count += s->program != NULL; // so that it is closed
    return failed;
}

int pipeline_read_stage(struct pipeline *p, struct pipeline_part *part, const struct device_problem *problem,
                        const struct candidate *candidate, const struct stage_call *from, struct error *err)
{
    bool again = part->count && from->again;
    if (!again && part->stage_count == PIPELINE_STAGES_MAX)
        return error_set(err, "more than %d stages", PIPELINE_STAGES_MAX);
    if (!again) part->stage_count++;
    part->launch[part->count].stage = part->stage_count - 1;
    part->launch[part->count].untimed = from->untimed;
    if (*from->operation) return read_library_stage(part, problem, from, err);
    if (*from->host.function) return read_program(part, problem, candidate->name, from, err);
    struct pipeline_launch *s = &part->launch[part->count];
    if (from->unit < 0 || (size_t)from->unit >= p->unit_count || !p->units[from->unit].module)
        return error_set(err, "the cubin has no unit %lld", (long long)from->unit);
    read_triple(from->grid, s->geometry.grid);
    read_triple(from->block, s->geometry.block);
    read_triple(from->cluster, s->geometry.cluster);
    s->geometry.shared = from->shared < 0 || from->shared > INT32_MAX ? INT32_MAX : (unsigned)from->shared;
    s->geometry.cooperative = from->cooperative;
    const struct pipeline_launch *before = part->count ? s - 1 : NULL;
    s->overlap = from->overlap && before && !before->library && before->untimed == s->untimed;
    int failed = read_arguments(s, problem, from, err);
    if (failed) return failed;
    for (size_t i = 0; i < 3; i++)
        if (!s->geometry.grid[i] || !s->geometry.block[i] || !s->geometry.cluster[i])
            return cuda_refuse(err, "a grid, block or cluster of size 0 or beyond 2^32");
    if ((failed = cuda_module_kernel(p->units[from->unit].module, from->symbol, &s->kernel, err)) ||
        (failed = cuda_kernel_allow(p->cuda, s->kernel, &s->geometry, err)) ||
        (failed = cuda_kernel_info(s->kernel, &s->info, err)) ||
        (failed = cuda_kernel_occupancy(s->kernel, &s->geometry, &s->blocks_per_sm, err)))
        return failed;
    const struct cuda_info *info = cuda_info(p->cuda);
    unsigned threads = s->geometry.block[0] * s->geometry.block[1] * s->geometry.block[2],
             warp = (unsigned)info->warp_size;
    unsigned warps = (threads + warp - 1) / warp;
    s->occupancy = (double)s->blocks_per_sm * warps * warp / info->threads_per_sm;
    part->count++;
    return 0;
}
