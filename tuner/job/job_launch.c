// Reads the launches and arguments in a job file; see job_load.c.
#include "kernels/operation.h"
#include "tuner/job/job_parts.h"

static void load_scalar(struct reader *r, struct job *job, const struct node *n, struct argument *a)
{
    reader_check_group(r, n, "a scalar argument", "arguments[]", "scalar");
    const char *name = node_string(node_member(n, "scalar"));
    a->name = job_copy(job, name);
    if (is_address(node_member(n, "value"))) {
        reader_mistake(r, n,
                       "an address is the value of a member of a struct, or the fill of a buffer; to pass '%s' "
                       "itself write { buffer = \"%s\"; }",
                       node_string(node_member(n, "value")) + 1, node_string(node_member(n, "value")) + 1);
        return;
    }
    if (load_value_argument(r, job, n, a)) return;
    a->type = (enum element)reader_word(r, n, "arguments[].type");
    if (!node_member(n, "type")) reader_mistake(r, n, "scalar '%s' lacks 'type'", name);
    load_number(r, job, n, node_member(n, "value"), "scalar", name, a->type, &a->value, &a->real);
}

// The group that describes the object through which the kernel sees a buffer; NULL: a pointer.
static const struct node *load_object(struct reader *r, const struct node *n)
{
    static const char *const groups[] = {"tma", "texture", "surface"};
    const struct node *found = NULL;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        autofree char *path = text_format("arguments[].%s", groups[i]), *what = text_format("'%s'", groups[i]);
        const struct node *group = reader_member(r, n, path);
        if (!group) continue;
        reader_check_group(r, group, what, i ? "arguments[].texture" : path, groups[i]);
        if (found) reader_mistake(r, group, "an argument has only one of 'tma', 'texture' and 'surface'");
        found = group;
    }
    return found;
}

void load_arguments(struct reader *r, struct job *job, const struct node *owner, struct stage *stage)
{
    const struct node *list = reader_member(r, owner, "arguments");
    if (!node_member(owner, "arguments"))
        reader_mistake(r, node_line(owner) ? owner : NULL, "the kernel has no 'arguments': add 'arguments = ( ... );'");
    stage->arguments = job_new(job, list ? node_count(list) : 0, sizeof *stage->arguments);
    int maps = 0;
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *n = node_at(list, i), *buffer = node_member(n, "buffer"), *scalar = node_member(n, "scalar");
        struct argument a = {.buffer = -1};
        if (!node_is_group(n) || !buffer == !scalar) {
            static const char *const words[] = {"buffer", "scalar", NULL};
            if (!node_is_group(n) || buffer || !reader_suggest(r, n, "an argument", words))
                reader_mistake(r, n,
                               "an argument must be { scalar = \"M\"; type = \"i32\"; } or { buffer = \"A\"; type = "
                               "\"f32\"; shape = [...]; }, where a buffer may also have 'tma = { box = [...]; };', "
                               "'texture = { };' or 'surface = { };'");
            reader_explains(r, n, "direction");
            continue;
        }
        if (!node_is_string(buffer ? buffer : scalar)) {
            reader_mistake(r, n, "an argument's name must be a string");
            reader_explains(r, n, "direction");
            continue;
        }
        if (stage->argument_count == JOB_MAX_ARGUMENTS) {
            reader_mistake(r, n, "more than %d arguments", JOB_MAX_ARGUMENTS);
            return;
        }
        const struct node *object = buffer ? load_object(r, n) : NULL;
        const bool map = object && !strcmp(node_name(object), "tma");
        maps += map;
        if (map && maps > JOB_MAX_TENSOR_MAPS) {
            reader_mistake(r, n, "more than %d tensor maps", JOB_MAX_TENSOR_MAPS);
            return;
        }
        if (buffer) {
            a.buffer = load_buffer(r, job, n, node_string(buffer), "argument.buffer", map ? NULL : object);
            if (a.buffer < 0) {
                reader_explains(r, n, "direction");
                continue;
            }
            if (object && !map) a.view = !strcmp(node_name(object), "texture") ? VIEW_TEXTURE : VIEW_SURFACE;
            a.type = job->buffers[a.buffer].type;
            a.name = job_copy(job, job->buffers[a.buffer].name);
            if (map) a.map = load_tensor_map(r, job, object, &job->buffers[a.buffer]);
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
        out[0] = reader_expression(r, list, job);
        return;
    }
    if (node_count(list) < 1 || node_count(list) > 3)
        reader_mistake(r, list, "'%s' must have one to three dimensions", name);
    for (size_t i = 0; i < node_count(list) && i < 3; i++) out[i] = reader_expression(r, node_at(list, i), job);
}

void load_launch(struct reader *r, struct job *job, const struct node *owner, struct stage *stage)
{
    const struct node *launch = reader_member(r, owner, "launch");
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
    stage->shared = reader_expression(r, node_member(launch, "shared"), job);
    stage->cooperative = reader_bool(r, launch, "launch.cooperative");
    const struct node *overlap = node_member(launch, "overlap");
    if (!overlap) return;
    stage->overlap = reader_expression(r, overlap, job);
    if (stage == job->stages && !stage->repeat.loop_count)
        reader_mistake(r, overlap, "the first launch cannot overlap: no launch comes before it");
}

// Reads a stage except for `when`, `repeat`, `swap` and `timed`.
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
    const struct node *named = n ? n : kernel;
    if (!entry && named && node_is_group(named) && !node_member(named, "entry"))
        reader_mistake(r, named, "'entry', the kernel's name, is missing");
    load_launch(r, job, owner, stage);
    load_arguments(r, job, owner, stage);
    const struct node *defines = n ? reader_member(r, n, "stages[].defines") : NULL;
    for (size_t i = 0; defines && i < node_count(defines); i++)
        load_define(r, job, node_at(defines, i), &stage->defines, &stage->define_count);
    const char *shown = n ? reader_string(r, n, "stages[].name") : NULL;
    stage->entry = job_copy(job, entry ? entry : "");
    stage->name = job_copy(job, shown ? shown : stage->entry);
}

static void load_stage(struct reader *r, struct job *job, const struct node *root, const struct node *n,
                       struct stage *stage)
{
    stage->when = reader_expression(r, node_member(n, "when"), job);
    if (n) load_repeat(r, job, n, &stage->repeat);
    load_stage_parts(r, job, root, n, stage);
    hide_loops(job, &stage->repeat);
    if (n) load_swaps(r, job, n, &stage->repeat);
    stage->untimed = n && !reader_bool(r, n, "stages[].timed");
    if (!stage->untimed) return;
    if (stage > job->stages && !stage[-1].untimed)
        reader_mistake(r, n, "stage '%s' is not timed, so it cannot come after one that is", stage->name);
    if (stage + 1 == job->stages + job->stage_count)
        reader_mistake(r, n, "the last stage, '%s', must be timed", stage->name);
    if (stage->repeat.swap_count)
        reader_mistake(r, n, "stage '%s' is not timed, so it cannot exchange buffers", stage->name);
}

// Whether an expression reads the name of one of its stage's loops.
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

// Numbers the units. Library stages do not belong to a unit.
static void number_units(struct job *job)
{
    for (size_t s = 0; s < job->stage_count; s++) {
        size_t same = 0;
        if (job->stages[s].operation) continue;
        while (same < s && (job->stages[same].operation || !same_macros(&job->stages[same], &job->stages[s]))) same++;
        job->stages[s].unit = same < s ? job->stages[same].unit : job->code.unit_count++;
    }
}

void load_launches(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *stages = reader_member(r, root, "stages");
    static const char *const kernel_only[] = {"launch", "arguments", NULL};
    if (!stages && node_member(root, "stages")) return;
    job->stage_count = stages ? node_count(stages) : 1;
    if (stages && (!job->stage_count || job->stage_count > JOB_MAX_STAGES)) {
        reader_mistake(r, stages, "'stages' must hold one to %d launches", JOB_MAX_STAGES);
        job->stage_count = job->stage_count ? JOB_MAX_STAGES : 0;
    }
    job->stages = job_new(job, job->stage_count, sizeof *job->stages);
    for (size_t i = 0; i < job->stage_count; i++) {
        const struct node *n = stages ? node_at(stages, i) : NULL;
        if (!n || reader_is_group(r, n, "a stage must be a group { entry = ...; launch = ...; arguments = ...; }"))
            load_stage(r, job, root, n, &job->stages[i]);
    }
    number_units(job);
    for (int i = 0; stages && kernel_only[i]; i++)
        if (node_member(root, kernel_only[i]))
            reader_mistake(r, node_member(root, kernel_only[i]), "with 'stages', '%s' belongs in each stage",
                           kernel_only[i]);
    // With a single launch, constraints can use the name of its dynamic shared memory.
    const struct expr *shared = job->stage_count == 1 ? job->stages[0].shared : NULL;
    if (job->stage_count == 1 && !(shared && reads_loop(&job->stages[0], shared)) &&
        symbols_find(job->symbols, "shared_bytes") < 0) {
        struct error err;
        if (job_add_derived(job, "shared_bytes", shared ? expr_text(shared) : "0", &err))
            reader_mistake(r, node_member(node_member(root, "launch"), "shared"), "%s", err.message);
    }
    check_views(r, job, node_member(root, stages ? "stages" : "arguments"), job->stages, job->stage_count, true);
    bool output = false;
    for (size_t i = 0; i < job->buffer_count; i++) output |= direction_writes(job->buffers[i].direction);
    if (!output && job->buffer_count)
        reader_mistake(
            r, node_member(root, "arguments"),
            "no buffer has the 'direction' \"out\" or \"inout\", so nothing could be verified: give the result one");
}
