// Reading launches, arguments and the reference of a job file: see job_load.c.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

// An output's own tolerance.
static void load_tolerance(struct reader *r, const struct node *n, struct buffer *b, const char *name)
{
    b->bounded = node_member(n, "absolute") || node_member(n, "relative");
    b->absolute = reader_number(r, n, "arguments[].absolute");
    b->relative = reader_number(r, n, "arguments[].relative");
    if (b->bounded && b->direction != DIRECTION_OUT && b->direction != DIRECTION_INOUT)
        reader_mistake(r, n, "buffer '%s' is not an output: 'absolute' and 'relative' have no meaning", name);
    else if (b->bounded && !element_is_float(b->type))
        reader_mistake(r, n, "buffer '%s' holds integers, which are compared exactly", name);
}

// Columns of a buffer: the last size, in elements.
static struct expr *load_columns(struct reader *r, struct job *job, const struct node *n, int channels)
{
    struct expr *texels = reader_expression(r, n, job->symbols);
    if (channels == 1 || !texels) return texels;
    char *text = text_format("(%s) * %d", expr_text(texels), channels);
    expr_free(texels);
    texels = expr_parse(text, job->symbols, NULL);
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
    load_tolerance(r, n, &b, name);
    b.restore = reader_bool(r, n, "arguments[].restore");
    if (b.restore && b.direction != DIRECTION_IN)
        reader_mistake(r, node_member(n, "restore"), "'restore' is for inputs: buffer '%s' has direction \"%s\"", name,
                       direction_words[b.direction]);
    const struct node *shape = reader_sequence(r, n, "arguments[].shape");
    size_t dimensions = shape ? node_count(shape) : 0;
    if (!dimensions && !(constant && !node_member(n, "shape"))) { // a constant without one is a single number
        reader_mistake(r, n, "buffer '%s' needs 'shape', e.g. [\"M\", \"K\"]", name);
        fill_release(&b.fill);
        return -1;
    }
    b.name = text_copy(name);
    if (image) {
        b.image = load_image(r, job, n, &b, surface);
        join_image(r, n, &b, surface, true);
    }
    b.cols = dimensions ? load_columns(r, job, node_at(shape, dimensions - 1), image ? b.image->about.channels : 1)
                        : expr_parse("1", job->symbols, NULL);
    if (dimensions > 1) { // rows: the product of all dimensions but the last
        char *text = text_copy("1");
        for (size_t i = 0; i + 1 < dimensions; i++) {
            const struct node *d = node_at(shape, i);
            struct expr *each = reader_expression(r, d, job->symbols);
            if (each && dimensions == 2) {
                free(text);
                text = text_copy(expr_text(each));
            } else if (each) {
                char *longer = text_format("%s * (%s)", text, expr_text(each));
                free(text);
                text = longer;
            }
            expr_free(each);
        }
        b.rows = expr_parse(text, job->symbols, NULL);
        free(text);
    }
    if (node_member(n, "ld")) b.ld = reader_expression(r, node_member(n, "ld"), job->symbols);
    check_fixed(r, job, n, b.rows, "shape", name);
    check_fixed(r, job, n, b.cols, "shape", name);
    check_fixed(r, job, n, b.ld, "shape", name);
    b.compared = load_compared(r, job, n, &b, name);
    job->buffers = memory_grow(job->buffers, job->buffer_count + 1, sizeof *job->buffers);
    job->buffers[job->buffer_count] = b;
    return (int)job->buffer_count++;
}

static void load_scalar(struct reader *r, struct job *job, const struct node *n, struct argument *a)
{
    reader_check_group(r, n, "a scalar argument", "arguments[]", "scalar");
    const char *name = node_string(node_member(n, "scalar"));
    a->name = text_copy(name);
    if (load_value_argument(r, job, n, a)) return;
    a->type = (enum element)reader_word(r, n, "arguments[].type");
    if (!node_member(n, "type")) reader_mistake(r, n, "scalar '%s' lacks 'type'", name);
    load_number(r, job, n, node_member(n, "value"), "scalar", name, a->type, &a->value, &a->real);
}

void load_arguments(struct reader *r, struct job *job, const struct node *owner, struct stage *stage)
{
    const struct node *list = reader_sequence(r, owner, "arguments");
    if (!node_member(owner, "arguments"))
        reader_mistake(r, node_line(owner) ? owner : NULL, "the kernel has no 'arguments': add 'arguments = ( ... );'");
    stage->arguments = memory_new(list ? node_count(list) : 0, sizeof *stage->arguments);
    int maps = 0;
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *n = node_at(list, i), *buffer = node_member(n, "buffer"), *scalar = node_member(n, "scalar");
        const struct node *map = node_member(n, "tensor_map"), *texture = node_member(n, "texture"),
                          *surface = node_member(n, "surface");
        struct argument a = {.buffer = -1};
        if (!node_is_group(n) ||
            (buffer != NULL) + (scalar != NULL) + (map != NULL) + (texture != NULL) + (surface != NULL) != 1) {
            reader_mistake(r, n,
                           "an argument must be { scalar = \"M\"; type = \"i32\"; }, { buffer = \"A\"; type = \"f32\"; "
                           "shape = [...]; }, { tensor_map = \"A\"; type = ...; shape = [...]; box = [...]; }, "
                           "{ texture = \"A\"; type = ...; shape = [...]; } or the same with 'surface'");
            continue;
        }
        if (map || texture || surface) buffer = map ? map : texture ? texture : surface;
        if (!node_is_string(buffer ? buffer : scalar)) {
            reader_mistake(r, n, "an argument's name must be a string");
            continue;
        }
        if (stage->argument_count == JOB_MAX_ARGUMENTS) {
            reader_mistake(r, n, "more than %d arguments", JOB_MAX_ARGUMENTS);
            return;
        }
        maps += map != NULL;
        if (map && maps > JOB_MAX_TENSOR_MAPS) {
            reader_mistake(r, n, "more than %d tensor maps", JOB_MAX_TENSOR_MAPS);
            return;
        }
        if (buffer) {
            a.buffer = load_buffer(r, job, n, node_string(buffer), node_name(buffer));
            if (a.buffer < 0) continue;
            a.view = texture ? VIEW_TEXTURE : surface ? VIEW_SURFACE : VIEW_POINTER;
            a.type = job->buffers[a.buffer].type;
            a.name = text_copy(job->buffers[a.buffer].name);
            if (map) a.map = load_tensor_map(r, job, n, &job->buffers[a.buffer]);
        } else {
            load_scalar(r, job, n, &a);
        }
        stage->arguments[stage->argument_count++] = a;
    }
}

static void load_dimensions(struct reader *r, struct job *job, const struct node *launch, const char *name,
                            struct expr *out[3])
{
    const struct node *list = node_member(launch, name);
    if (!list) return;
    if (!node_is_sequence(list)) {
        out[0] = reader_expression(r, list, job->symbols);
        return;
    }
    if (node_count(list) < 1 || node_count(list) > 3)
        reader_mistake(r, list, "'%s' must have one to three dimensions", name);
    for (size_t i = 0; i < node_count(list) && i < 3; i++)
        out[i] = reader_expression(r, node_at(list, i), job->symbols);
}

void load_launch(struct reader *r, struct job *job, const struct node *owner, struct stage *stage)
{
    const struct node *launch = reader_group(r, owner, "launch");
    if (!launch) {
        reader_mistake(r, node_line(owner) ? owner : NULL,
                       "'launch' is missing: add 'launch = { grid = [...]; block = [...]; };'");
        return;
    }
    reader_check_group(r, launch, "'launch'", "launch", NULL);
    if (!node_member(launch, "grid")) reader_mistake(r, launch, "'launch' lacks 'grid'");
    if (!node_member(launch, "block")) reader_mistake(r, launch, "'launch' lacks 'block'");
    load_dimensions(r, job, launch, "grid", stage->grid);
    load_dimensions(r, job, launch, "block", stage->block);
    load_dimensions(r, job, launch, "cluster", stage->cluster);
    if (node_member(launch, "shared"))
        stage->shared = reader_expression(r, node_member(launch, "shared"), job->symbols);
    stage->cooperative = reader_bool(r, launch, "launch.cooperative");
    const struct node *overlap = node_member(launch, "overlap");
    if (!overlap) return;
    stage->overlap = reader_expression(r, overlap, job->symbols);
    if (stage == job->stages && !stage->repeat.loop_count)
        reader_mistake(r, overlap, "'overlap' is not possible in the first launch: there is no launch before it");
}

static void unknown_operation(struct reader *r, const struct node *n, const char *name)
{
    const char *const *names = operation_names();
    char *text = text_unknown("operation", name, names);
    reader_mistake(r, n, "%s", text);
    free(text);
}

// The number that a word stands for, a compute class of the operation; -1 for words that are names.
static int class_number(struct reader *r, const struct operation *op, const struct node *member)
{
    if (!op || !op->classes || strcmp(node_name(member), "compute") || !node_is_string(member)) return -1;
    int number = operation_class(op, node_string(member));
    if (number >= 0) return number;
    char *text = text_unknown("compute class", node_string(member), op->classes);
    reader_mistake(r, member, "%s", text);
    free(text);
    return 0;
}

// A stage that a library computes: { operation = "gemm"; by = "cublas"; A = "mean"; ... }, roles as in `reference`, but
// sizes and scalars may be expressions or numbers too. Its buffers are declared by the arguments of earlier stages.
static void load_library_stage(struct reader *r, struct job *job, const struct node *n, struct stage *stage)
{
    const char *name = text_or_empty(reader_string(r, n, "stages[].operation")),
               *shown = reader_string(r, n, "stages[].name");
    const struct operation *op = operation_find(name, NULL);
    stage->entry = text_copy("");
    stage->operation = text_copy(name);
    stage->name = text_copy(shown ? shown : name);
    if (!op) {
        unknown_operation(r, n, name);
        return;
    }
    const char *by = reader_string(r, n, "stages[].by");
    const struct operation_baseline *baseline = operation_baseline(op, by);
    stage->by = text_copy(by);
    if (!baseline || !baseline->same_result) reader_mistake(r, n, "no library computes '%s' by '%s'", name, by);
    stage->roles = memory_new(node_count(n), sizeof *stage->roles);
    for (size_t i = 0; i < node_count(n); i++) {
        const struct node *member = node_at(n, i);
        const char *role = node_name(member);
        if (job_setting_has("stages[]", "library", role)) continue;
        int found = operation_role(op, role);
        struct stage_role *to = &stage->roles[stage->role_count];
        int class = class_number(r, op, member);
        *to = (struct stage_role){.buffer = -1};
        if (found < 0) {
            reader_mistake(r, member, "operation '%s' has no role '%s'", name, role);
        } else if (op->roles[found].kind == ROLE_INPUT || op->roles[found].kind == ROLE_OUTPUT) {
            to->buffer = node_is_string(member) ? job_find_buffer(job, node_string(member)) : -1;
            if (to->buffer < 0)
                reader_mistake(r, member, "'%s' must name a buffer that an earlier stage's arguments declare", role);
        } else if (class >= 0) {
            to->real = class;
        } else if (node_is_number(member) && !node_is_integer(member)) {
            to->real = node_real(member);
        } else {
            to->value = reader_expression(r, member, job->symbols);
        }
        to->role = text_copy(role);
        stage->role_count++;
    }
    for (size_t k = 0; op->roles[k].name; k++) {
        bool given = op->roles[k].kind == ROLE_SIZE || op->roles[k].kind == ROLE_SCALAR;
        for (size_t i = 0; i < stage->role_count; i++) given |= !strcmp(stage->roles[i].role, op->roles[k].name);
        if (!given) reader_mistake(r, n, "operation '%s' needs the buffer '%s'", name, op->roles[k].name);
    }
}

// All but `when`, its loops and its pairs.
static void load_stage_parts(struct reader *r, struct job *job, const struct node *root, const struct node *n,
                             struct stage *stage)
{
    const struct node *kernel = node_member(root, "kernel");
    const struct node *owner = n ? n : root;
    if (n && node_member(n, "operation")) {
        load_library_stage(r, job, n, stage);
        return;
    }
    const char *entry = n ? reader_string(r, n, "stages[].entry") : reader_string(r, kernel, "kernel.entry");
    reader_check_group(r, n, "a stage", "stages[]", "kernel");
    if (!entry && kernel && !node_member(n ? n : kernel, "entry"))
        reader_mistake(r, n ? n : kernel, "'entry', the kernel's name, is missing");
    load_launch(r, job, owner, stage);
    load_arguments(r, job, owner, stage);
    const struct node *defines = n ? reader_group(r, n, "stages[].defines") : NULL;
    for (size_t i = 0; defines && i < node_count(defines); i++)
        load_define(r, node_at(defines, i), &stage->defines, &stage->define_count);
    const char *shown = n ? reader_string(r, n, "stages[].name") : NULL;
    stage->entry = text_copy(text_or_empty(entry));
    stage->name = text_copy(shown ? shown : stage->entry);
}

static void load_stage(struct reader *r, struct job *job, const struct node *root, const struct node *n,
                       struct stage *stage)
{
    if (n && node_member(n, "when")) stage->when = reader_expression(r, node_member(n, "when"), job->symbols);
    if (n) load_repeat(r, job, n, &stage->repeat);
    load_stage_parts(r, job, root, n, stage);
    hide_loops(job, &stage->repeat);
    if (n) load_swaps(r, job, n, &stage->repeat);
}

// Whether an expression reads a name that only its stage knows.
static bool reads_loop(const struct stage *s, const struct expr *e)
{
    size_t count;
    const int *slots = expr_slots(e, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < s->repeat.loop_count; k++)
            if (slots[i] == s->repeat.loops[k].slot) return true;
    return false;
}

static bool same_macros(const struct stage *a, const struct stage *b)
{
    bool same = a->define_count == b->define_count;
    for (size_t i = 0; i < a->define_count && same; i++) {
        size_t k = 0;
        while (k < b->define_count && strcmp(a->defines[i].name, b->defines[k].name) != 0) k++;
        same = k < b->define_count && !strcmp(a->defines[i].value, b->defines[k].value);
    }
    return same;
}

// Library stages belong to no unit.
static void number_units(struct job *job)
{
    for (size_t s = 0; s < job->stage_count; s++) {
        size_t same = 0;
        if (job->stages[s].operation) continue;
        while (same < s && (job->stages[same].operation || !same_macros(&job->stages[same], &job->stages[s]))) same++;
        job->stages[s].unit = same < s ? job->stages[same].unit : job->unit_count++;
    }
}

void load_launches(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *stages = reader_sequence(r, root, "stages");
    static const char *const kernel_only[] = {"launch", "arguments", NULL};
    job->stage_count = stages ? node_count(stages) : 1;
    if (stages && (!job->stage_count || job->stage_count > JOB_MAX_STAGES)) {
        reader_mistake(r, stages, "'stages' must hold one to %d launches", JOB_MAX_STAGES);
        job->stage_count = job->stage_count ? JOB_MAX_STAGES : 0;
    }
    job->stages = memory_new(job->stage_count, sizeof *job->stages);
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct node *n = stages ? node_at(stages, i) : NULL;
        if (n && !node_is_group(n))
            reader_mistake(r, n, "a stage must be a group { entry = ...; launch = ...; arguments = ...; }");
        else
            load_stage(r, job, root, n, &job->stages[i]);
    }
    number_units(job);
    for (int i = 0; stages && kernel_only[i]; i++)
        if (node_member(root, kernel_only[i]))
            reader_mistake(r, node_member(root, kernel_only[i]), "with 'stages', '%s' belongs in each stage",
                           kernel_only[i]);
    // The dynamic shared memory of a single launch has a name that constraints can use.
    if (job->stage_count == 1 && job->stages[0].shared && !reads_loop(&job->stages[0], job->stages[0].shared) &&
        symbols_find(job->symbols, "shared_bytes") < 0) {
        struct error err;
        if (job_add_derived(job, "shared_bytes", expr_text(job->stages[0].shared), &err))
            reader_mistake(r, node_member(node_member(root, "launch"), "shared"), "%s", err.message);
    }
    check_views(r, job, node_member(root, stages ? "stages" : "arguments"), job->stages, job->stage_count);
    check_compared(r, job, root);
    bool output = false;
    for (size_t i = 0; i < job->buffer_count; i++)
        output |= job->buffers[i].direction == DIRECTION_OUT || job->buffers[i].direction == DIRECTION_INOUT;
    if (!output && job->buffer_count)
        reader_mistake(
            r, node_member(root, "arguments"),
            "no buffer has direction \"out\" or \"inout\", so nothing could be verified: give the result one");
}

// Every role of the operation must be filled: buffers by name or binding, sizes and scalars among problem sizes and
// scalar arguments.
static void check_roles(struct reader *r, struct job *job, const struct node *n, const struct operation *op)
{
    size_t count = 0, room = job->buffer_count + 1;
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].argument_count; i++) room += 1 + job->stages[s].arguments[i].member_count;
    const char **names = memory_new(room, sizeof *names);
    for (size_t i = 0; i < job->buffer_count; i++) names[count++] = job->buffers[i].name;
    for (size_t s = 0; s < job->stage_count; s++)
        for (size_t i = 0; i < job->stages[s].argument_count; i++) {
            const struct argument *a = &job->stages[s].arguments[i];
            if (a->buffer < 0 && !a->member_count) names[count++] = a->name;
            for (size_t k = 0; k < a->member_count; k++) names[count++] = a->members[k].name;
        }
    names[count] = NULL;
    for (size_t k = 0; op->roles[k].name; k++) {
        const struct operation_role *role = &op->roles[k];
        const char *bound = role->name;
        bool is_buffer = role->kind == ROLE_INPUT || role->kind == ROLE_OUTPUT, constant = false;
        for (size_t b = 0; b < job->reference.binding_count; b++)
            if (!strcmp(job->reference.bindings[b].role, role->name)) {
                constant = !job->reference.bindings[b].name;
                if (!constant) bound = job->reference.bindings[b].name;
            }
        if (constant && role->kind != ROLE_SCALAR)
            reader_mistake(r, n, "'%s' of operation '%s' must name a %s", role->name, op->name,
                           is_buffer ? "buffer" : "size or scalar");
        if (constant) continue;
        bool there = is_buffer ? job_find_buffer(job, bound) >= 0 : symbols_find(job->symbols, bound) >= 0;
        for (size_t i = 0; !is_buffer && !there && i < count; i++) there = !strcmp(names[i], bound);
        if (there || role->kind == ROLE_SCALAR) continue; // a scalar has a default
        const char *nearest = text_nearest(bound, names);
        reader_mistake(r, n, "operation '%s' needs the %s '%s'%s%s%s; name it in 'reference' as %s = \"...\"", op->name,
                       is_buffer ? "buffer" : "size or scalar", bound, nearest ? " (did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?)" : "", role->name);
    }
    free(names);
    for (size_t b = 0; b < job->reference.binding_count; b++) {
        size_t k = 0;
        while (op->roles[k].name && strcmp(op->roles[k].name, job->reference.bindings[b].role)) k++;
        if (!op->roles[k].name)
            reader_mistake(r, n, "operation '%s' has no role '%s'", op->name, job->reference.bindings[b].role);
    }
}

static void load_operation(struct reader *r, struct job *job, const struct node *n)
{
    enum { CUBLAS, CPU }; // words of the table of settings
    const char *name = reader_string(r, n, "reference.operation");
    const struct operation *op = name ? operation_find(name, NULL) : NULL;
    job->reference.kind = REFERENCE_OPERATION;
    job->reference.operation = text_copy(name ? name : "");
    int how = node_member(n, "by") ? reader_word(r, n, "reference.by") : op && !op->reference ? CPU : CUBLAS;
    if (op && !op->reference && how == CUBLAS)
        reader_mistake(r, n, "operation '%s' has a reference only on the CPU: write by = \"cpu\"", name);
    job->reference.by = text_copy(job_setting_find("reference.by")->words[how]);
    for (size_t i = 0; i < node_count(n); i++) {
        const struct node *member = node_at(n, i);
        const char *role = node_name(member);
        if (job_setting_has("reference", "operation", role)) continue;
        bool constant = node_is_bool(member) || node_is_number(member);
        if (!constant && !node_is_string(member)) {
            reader_mistake(r, member, "'%s' must name a buffer, size or scalar, or be true, false or a number", role);
            continue;
        }
        int class = class_number(r, op, member);
        if (!strcmp(role, "compute") && op && op->classes && class < 0) {
            reader_mistake(r, member, "'compute' must be a word, e.g. \"%s\"", op->classes[0]);
            continue;
        }
        if (class >= 0) constant = true;
        size_t b = job->reference.binding_count++;
        job->reference.bindings = memory_grow(job->reference.bindings, b + 1, sizeof *job->reference.bindings);
        job->reference.bindings[b].role = text_copy(role);
        job->reference.bindings[b].name = constant ? NULL : text_copy(node_string(member));
        job->reference.bindings[b].value = class >= 0             ? class
                                           : node_is_bool(member) ? node_bool(member)
                                           : constant             ? node_real(member)
                                                                  : 0;
    }
    if (op) {
        check_roles(r, job, n, op);
    } else if (name) {
        unknown_operation(r, node_member(n, "operation"), name);
    }
}

static void load_files(struct reader *r, struct job *job, const struct node *n)
{
    const struct node *files = reader_group(r, n, "reference.files");
    job->reference.kind = REFERENCE_NPY;
    for (size_t i = 0; files && i < node_count(files); i++) {
        const struct node *file = node_at(files, i);
        if (!node_is_string(file) || job_find_buffer(job, node_name(file)) < 0) {
            reader_mistake(
                r, file,
                "'files' must give a .npy file for an output buffer, e.g. { C = \"c.npy\"; }; there is no buffer '%s'",
                node_name(file));
            continue;
        }
        job->reference.files =
            memory_grow(job->reference.files, job->reference.file_count + 1, sizeof *job->reference.files);
        job->reference.files[job->reference.file_count].buffer = text_copy(node_name(file));
        char *path = text_join_path(job->directory, node_string(file));
        check_npy(r, file, path);
        job->reference.files[job->reference.file_count++].path = path;
    }
}

void load_reference(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *n = reader_group(r, root, "reference");
    if (!n) {
        const struct node *verification = node_member(root, "verification"),
                          *enabled = node_member(verification, "enabled");
        if (!enabled || !node_is_bool(enabled) || node_bool(enabled))
            reader_mistake(r, NULL,
                           "'reference' is missing: add 'reference = { operation = ...; };' (or set "
                           "verification.enabled = false to "
                           "trust the kernel)");
        return;
    }
    int forms = (node_member(n, "operation") != NULL) + (node_member(n, "kernel") != NULL) +
                (node_member(n, "library") != NULL) + (node_member(n, "command") != NULL) +
                (node_member(n, "files") != NULL);
    if (forms != 1) {
        reader_mistake(r, n,
                       "'reference' needs exactly one of 'operation', 'kernel', 'library', 'command' and 'files'");
    } else if (node_member(n, "operation")) {
        load_operation(r, job, n);
    } else if (node_member(n, "kernel")) {
        reader_check_group(r, n, "'reference'", "reference", "kernel");
        const char *entry = text_or_empty(reader_string(r, n, "reference.kernel")),
                   *source = reader_string(r, n, "reference.template");
        job->reference.kind = REFERENCE_KERNEL;
        job->reference.source =
            source ? text_join_path(job->directory, source) : text_copy(job->source ? job->source : "");
        if (source && access(job->reference.source, R_OK))
            reader_mistake(r, node_member(n, "template"), "cannot read '%s'", source);
        job->reference.stage.entry = text_copy(entry);
        job->reference.stage.name = text_copy(entry);
        load_launch(r, job, n, &job->reference.stage);
        if (node_member(n, "arguments")) {
            load_arguments(r, job, n, &job->reference.stage);
            check_views(r, job, n, &job->reference.stage, 1);
        } else if (job->stage_count != 1) {
            reader_mistake(r, n, "'reference' needs 'arguments', because the job has several stages");
        } // otherwise the job's own arguments: job_reference_stage
    } else if (node_member(n, "library")) {
        load_reference_library(r, job, n);
    } else if (node_member(n, "command")) {
        load_reference_command(r, job, n);
    } else {
        reader_check_group(r, n, "'reference'", "reference", "files");
        load_files(r, job, n);
    }
}
