// See pipeline.h.
#include "tuner/gpu/pipeline.h"

#include <errno.h>

#include "tuner/gpu/addresses.h"

// The arguments of one launch in cuLaunchKernel's form, with buffers shifted by `shift`.
struct launch_arguments {
    uint64_t value[PIPELINE_ARGUMENTS_MAX];
    struct cuda_tensor_map maps[PIPELINE_MAPS_MAX];
    void *list[PIPELINE_ARGUMENTS_MAX];
};

// The address at which a launch finds the buffer that has `address` in the first copy.
static uint64_t moved(const struct pipeline_part *part, uint64_t address, int64_t shift)
{
    const struct buffers *home = part->home, *now = part->symbol_bindings.buffers;
    for (size_t i = 0; now && now != home && i < home->count; i++)
        if (home->list[i].view.device == address) return now->list[i].view.device + (uint64_t)shift;
    return address + (uint64_t)shift;
}

static int set_arguments(struct launch_arguments *a, struct pipeline_part *part, const struct pipeline_launch *s,
                         int64_t shift, struct error *err)
{
    const struct buffers *now = part->symbol_bindings.buffers ? part->symbol_bindings.buffers : part->home;
    memcpy(a->maps, s->maps, s->map_count * sizeof *a->maps);
    for (unsigned i = 0; i < s->count; i++) {
        const struct pipeline_argument *from = &s->argument[i];
        struct cuda_tensor_map *map = from->map ? &a->maps[from->map - 1] : NULL;
        a->value[i] = from->pointer || map ? moved(part, from->value, shift) : from->value;
        if (from->address_count) addresses_write(now, from->addresses, from->address_count, shift, from->bytes);
        a->list[i] = map ? (void *)map : from->bytes ? (void *)from->bytes : &a->value[i];
        int failed = map && a->value[i] != from->value ? cuda_tensor_map_move(map, a->value[i], err) : 0;
        if (from->object)
            failed = symbol_bindings_object(&part->symbol_bindings, (unsigned)from->value,
                                            from->object == BINDING_SURFACE, shift, &a->value[i], err);
        if (failed) return failed;
    }
    return 0;
}

static int open_units(struct pipeline *p, const char *image, size_t bytes, struct error *err)
{
    int count = units_count(image, bytes, err), failed = 0;
    if (count < 0) return -1;
    p->unit_count = (size_t)count;
    for (size_t u = 0; u < p->unit_count && !failed; u++) {
        size_t size;
        const char *cubin = image + units_offset(image, bytes, u, &size);
        if (!size && count > 1) continue; // this configuration does not use it
        failed = cuda_module_load(cubin, &p->units[u].module, err);
        if (!failed) failed = module_state_open(&p->units[u].state, p->cuda, p->units[u].module, cubin, size, err);
    }
    return failed;
}

static int load_units(struct pipeline *p, const char *path, struct error *err)
{
    size_t bytes;
    autofree char *image = text_read_file(path, &bytes);
    if (!image) return error_set(err, "cannot read '%s': %s", path, strerror(errno));
    hash_content(image, bytes, p->image_hash);
    int failed = 0;
    if (strlen(image) == bytes && strstr(image, ".entry")) { // PTX
        char *cubin;
        failed = cuda_link(image, &cubin, &bytes, err);
        free(image);
        image = cubin;
    }
    return failed ? failed : open_units(p, image, bytes, err);
}

int pipeline_restore(const struct pipeline *p, struct error *err)
{
    int failed = 0;
    for (size_t u = 0; u < p->unit_count && !failed; u++)
        failed = module_state_restore(&p->units[u].state, p->cuda, err);
    return failed;
}

int pipeline_scan(struct pipeline *p, bool *late, struct error *err)
{
    int failed = 0;
    *late = false;
    for (size_t u = 0; u < p->unit_count && !failed; u++) {
        bool one = false;
        failed = module_state_inspect(&p->units[u].state, p->cuda, &one, err);
        *late |= one;
    }
    return failed;
}

bool pipeline_leaves_traces(const struct pipeline *p)
{
    bool any = false;
    for (size_t u = 0; u < p->unit_count; u++) any |= p->units[u].state.heap || p->units[u].state.prints;
    return any;
}

static int make_room(struct pipeline_part *part, size_t count, struct error *err)
{
    if (part->launch) return error_set(err, "its launches are given twice");
    if (count > PIPELINE_LAUNCHES_MAX) return error_set(err, "more than %d launches", PIPELINE_LAUNCHES_MAX);
    part->launch = memory_try(count + 1, sizeof *part->launch, err);
    return part->launch ? 0 : -1;
}

// Whether a candidate's first stage is a user function. If so, there is no cubin.
static bool is_program(const struct candidate *c)
{
    return c->problem_count && c->problems[0].stage_count && *c->problems[0].stages[0].host.function;
}

// How the stages of a problem see its buffers, and whether any stage is a kernel.
static bool look_at_views(const struct pipeline_part *part, const struct buffers *buffers,
                          unsigned char views[BUFFERS_MAX])
{
    bool kernels = false;
    for (unsigned k = 0; k < part->count; k++) {
        const struct pipeline_launch *s = &part->launch[k];
        kernels |= !s->library && !s->program;
        for (unsigned i = 0; i < s->count; i++) {
            const struct pipeline_argument *a = &s->argument[i];
            if (a->object) views[a->value] |= a->object;
            for (size_t b = 0; b < buffers->count && (a->pointer || a->map); b++)
                if (buffers->list[b].view.device == a->value) views[b] |= BINDING_POINTER;
        }
        for (int i = 0; i < OPERATION_ROLES_MAX && s->library; i++)
            for (size_t b = 0; b < buffers->count; b++)
                if (buffers->list[b].view.device == s->operation.operand[i].device) views[b] |= BINDING_POINTER;
    }
    return kernels;
}

static int open_places(struct pipeline *p, const struct workload *w, struct error *err)
{
    int failed = 0;
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        struct pipeline_part *part = &p->parts[k];
        struct buffers *buffers = &w->problems[k].buffers;
        unsigned char views[BUFFERS_MAX] = {0};
        bool kernels = look_at_views(part, buffers, views);
        if (!part->count) continue;
        failed = symbol_bindings_open(&part->symbol_bindings, p->cuda, buffers, p->units, p->unit_count, views, kernels,
                                      err);
    }
    return failed;
}

// Finds a problem by its number in requests; w->problem_count: there is none.
static size_t find_problem(const struct workload *w, int number)
{
    size_t k = 0;
    while (k < w->problem_count && w->problems[k].number != number) k++;
    return k;
}

static int read_problems(struct pipeline *p, const struct workload *w, const struct candidate *c, struct error *err)
{
    for (size_t i = 0; i < c->problem_count; i++) {
        const struct candidate_problem *from = &c->problems[i];
        if (from->drawn != w->drawn) continue;
        size_t number = find_problem(w, from->problem == -1 ? (int)i : from->problem);
        if (number == w->problem_count && w->drawn) continue; // the reference cannot compute it
        if (number == w->problem_count) return error_set(err, "no problem %d", from->problem);
        int failed = make_room(&p->parts[number], from->stage_count, err);
        if (failed) return error_prefix(err, "problem %s", w->problems[number].name), failed;
        for (size_t k = 0; k < from->stage_count; k++) {
            failed = pipeline_read_stage(p, &p->parts[number], &w->problems[number], c, &from->stages[k], err);
            if (failed) return error_prefix(err, "problem %s, stage %zu", w->problems[number].name, k), failed;
        }
    }
    return 0;
}

// User functions are initialized once everything that may be passed to them exists.
static int ready_programs(struct pipeline *p, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->problem_count; i++)
        for (unsigned k = 0; k < p->parts[i].count && !failed; k++) {
            struct pipeline_launch *s = &p->parts[i].launch[k];
            struct launch_arguments a;
            if (!s->program) continue;
            failed = set_arguments(&a, &p->parts[i], s, 0, err);
            if (!failed) failed = program_call_init(s->program, p->cuda, a.list, err);
        }
    return failed;
}

static int open_parts(struct pipeline *p, const struct workload *w, struct error *err)
{
    memset(p, 0, sizeof *p);
    p->cuda = w->cuda;
    p->problem_count = w->problem_count;
    p->parts = memory_try(w->problem_count, sizeof *p->parts, err);
    if (!p->parts) return -1;
    for (size_t i = 0; i < w->problem_count; i++)
        p->parts[i] = (struct pipeline_part){
            .cuda = w->cuda, .pipeline = p, .operations = &w->device.operations, .home = &w->problems[i].buffers};
    return 0;
}

int pipeline_open(struct pipeline *p, const struct workload *w, const struct candidate *candidate, struct error *err)
{
    int failed = open_parts(p, w, err);
    if (!failed && !is_program(candidate)) failed = load_units(p, candidate->cubin, err);
    if (!failed) failed = read_problems(p, w, candidate, err);
    if (!failed) failed = open_places(p, w, err);
    return failed ? failed : ready_programs(p, err);
}

bool pipeline_blameless(const struct workload *w, int failed)
{
    // This much of the device's memory suffices for a candidate's code.
    const size_t enough = (size_t)cuda_info(w->cuda)->memory_bytes / 64;
    return failed == CUDA_FAILED || (failed == CUDA_MEMORY && cuda_memory_left() < enough);
}

int pipeline_open_operation(struct pipeline *p, struct workload *w, const struct operation_baseline *library,
                            const char *const *ways, struct error *err)
{
    int failed = open_parts(p, w, err);
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        struct pipeline_part *part = &p->parts[k];
        if (!w->problems[k].tune || (ways && !ways[k])) continue;
        if ((failed = make_room(part, 1, err))) break;
        struct pipeline_launch *s = part->launch;
        s->library = library;
        s->operation = w->problems[k].operation;
        part->count = part->stage_count = 1;
        if (library->prepare)
            failed = library->prepare(&w->device.operations, &s->operation, ways ? ways[k] : NULL, &s->state, err);
        if (!failed) failed = pipeline_enqueue(part, 0, err);
        if (!failed) failed = cuda_sync(w->cuda, err);
    }
    return failed;
}

void pipeline_release(struct pipeline *p)
{
    for (size_t i = 0; p->parts && i < p->problem_count; i++)
        for (unsigned k = 0; k < p->parts[i].count; k++) {
            struct pipeline_launch *s = &p->parts[i].launch[k];
            free(s->program);
            if (s->library && s->library->release && s->state) s->library->release(p->parts[i].operations, s->state);
        }
    for (size_t i = 0; p->parts && i < p->problem_count; i++) {
        struct pipeline_part *part = &p->parts[i];
        symbol_bindings_release(&part->symbol_bindings);
        for (unsigned k = 0; part->launch && k <= part->count; k++) // also of a launch that was not read to its end
            for (unsigned a = 0; a < PIPELINE_ARGUMENTS_MAX; a++) {
                free(part->launch[k].argument[a].bytes);
                free(part->launch[k].argument[a].addresses);
            }
        free(part->launch);
    }
    for (size_t u = 0; p->cuda && u < p->unit_count; u++) {
        module_state_release(&p->units[u].state);
        cuda_module_unload(p->units[u].module);
    }
    free(p->parts);
    memset(p, 0, sizeof *p);
}

static int enqueue_launch(struct pipeline_part *part, unsigned launch, int64_t shift, bool overlap, struct error *err)
{
    struct pipeline_launch *s = &part->launch[launch];
    if (s->library) {
        struct operation_problem there = s->operation;
        for (int i = 0; i < OPERATION_ROLES_MAX; i++)
            if (there.operand[i].device) there.operand[i].device = moved(part, there.operand[i].device, shift);
        return s->library->run(part->operations, &there, s->state, err);
    }
    struct launch_arguments a;
    int failed = set_arguments(&a, part, s, shift, err);
    if (failed) return failed;
    if (s->program) return program_call_run(s->program, part->cuda, a.list, err);
    struct cuda_geometry geometry = s->geometry;
    geometry.overlap = overlap;
    return cuda_launch(part->cuda, s->kernel, &geometry, a.list, err);
}

int pipeline_enqueue_stage(struct pipeline_part *part, unsigned stage, int64_t shift, struct error *err)
{
    int failed = 0;
    for (unsigned i = 0; i < part->count && !failed; i++)
        if (part->launch[i].stage == stage) failed = enqueue_launch(part, i, shift, false, err);
    return failed;
}

static int enqueue_some(struct pipeline_part *part, bool untimed, int64_t shift, struct error *err)
{
    int failed = 0;
    for (unsigned i = 0; i < part->count && !failed; i++)
        if (part->launch[i].untimed == untimed) failed = enqueue_launch(part, i, shift, part->launch[i].overlap, err);
    return failed;
}

static int prepare(void *self, int64_t shift, struct error *err)
{
    return enqueue_some(self, true, shift, err);
}

static int enqueue(void *self, int64_t shift, struct error *err)
{
    return enqueue_some(self, false, shift, err);
}

int pipeline_enqueue(struct pipeline_part *part, int64_t shift, struct error *err)
{
    int failed = prepare(part, shift, err);
    return failed ? failed : enqueue(part, shift, err);
}

int pipeline_reach(struct workload *w, struct pipeline_part *part, unsigned stage, struct error *err)
{
    const unsigned first = 0;
    int failed = buffers_restore(part->home, &first, 1, buffers_key(0), err);
    if (!failed) failed = pipeline_prepare(part, 0, err);
    for (unsigned i = 0; i < stage && !failed; i++) failed = pipeline_enqueue_stage(part, i, 0, err);
    if (!failed && w->settings.measure.cold) failed = support_flush(w->support, err);
    return failed ? failed : cuda_sync(w->cuda, err);
}

const struct pipeline_launch *pipeline_stage(const struct pipeline_part *part, unsigned stage)
{
    unsigned i = 0;
    while (i + 1 < part->count && part->launch[i].stage != stage) i++;
    return &part->launch[i];
}

void pipeline_place(struct pipeline *p, size_t problem, struct buffers *buffers)
{
    p->parts[problem].symbol_bindings.buffers = buffers ? buffers : p->parts[problem].home;
}

bool pipeline_moves(const struct pipeline *p, size_t problem)
{
    const struct pipeline_part *part = &p->parts[problem];
    for (unsigned i = 0; i < part->count; i++)
        if (part->launch[i].library || part->launch[i].program) return false;
    return true;
}

bool pipeline_does(const struct pipeline *p, size_t problem)
{
    return p->parts && p->parts[problem].count > 0;
}

bool pipeline_prepares(const struct pipeline *p, size_t problem)
{
    return p->parts[problem].count && p->parts[problem].launch->untimed; // untimed stages come first
}

static int restore_variables(void *self, struct error *err)
{
    const struct pipeline_part *part = self;
    return pipeline_restore(part->pipeline, err);
}

int pipeline_prepare(struct pipeline_part *part, int64_t shift, struct error *err)
{
    int failed = pipeline_restore(part->pipeline, err);
    return failed ? failed : symbol_bindings_copy(&part->symbol_bindings, shift, false, err);
}

static int copy(void *self, int64_t shift, bool back, struct error *err)
{
    return symbol_bindings_copy(&((struct pipeline_part *)self)->symbol_bindings, shift, back, err);
}

struct work pipeline_work(struct pipeline *p, size_t problem)
{
    bool placed = p->parts[problem].symbol_bindings.count > 0, changes = false;
    for (size_t u = 0; u < p->unit_count; u++) changes |= p->units[u].state.changes;
    return (struct work){.enqueue = enqueue,
                         .prepare = pipeline_prepares(p, problem) ? prepare : NULL,
                         .restore = changes ? restore_variables : NULL,
                         .copy = placed ? copy : NULL,
                         .self = &p->parts[problem]};
}
