// Finds entries that are missing from the source, and arguments that do not match the kernel's parameters. See check.h.

#include "tuner/base/elf_file.h"
#include "tuner/check/check.h"

enum { TENSOR_MAP_BYTES = 128 };

// A launch in the job file: its stage, and the locations of its entry and arguments.
struct launch {
    struct stage stage;
    struct location entry;
    size_t owner; // the stage that the arguments belong to
};

// The word in job files for one of the compiler's types, or NULL.
static const char *element_for(const struct kernel_type *type)
{
    return type && type->element && element_find(type->element) >= 0 ? type->element : NULL;
}

static char *advice(const struct kernel_parameter *p)
{
    const char *word = p->vector ? p->vector->name : element_for(p->type);
    if (!word && !p->type && !p->pointer) return text_copy(": describe it with 'members'");
    return word ? text_format(": write type = \"%s\"", word) : text_copy("");
}

static bool same_class(const struct kernel_type *type, enum element element)
{
    return (type->kind == 'f') == element_is_float(element);
}

// An argument of a launch, and the kernel's parameter for it.
struct given_argument {
    struct check *check;
    struct location at;
    size_t number; // from 1
    const char *entry;
    char *takes; // the parameter's type
};

// Adds "argument 2: kernel 'scale' takes ..".
__attribute__((format(printf, 3, 4))) static void add(const struct given_argument *g, struct mistakes *m,
                                                      const char *format, ...)
{
    TEXT_FROM(format, text);
    check_add(m, g->at, "argument %zu: kernel '%s' takes %s", g->number, g->entry, text);
}

static void check_scalar(const struct given_argument *g, const struct argument *a, const struct kernel_parameter *p)
{
    struct mistakes *m = &g->check->mistakes;
    const char *word = element_name(a->type);
    size_t bytes = element_size(a->type);
    bool null = a->type == ELEMENT_U64 && a->value && !strcmp(expr_text(a->value), "0");
    autofree char *fix = advice(p);
    if (p->pointer && null) return;
    if (p->pointer)
        add(g, m, "a pointer, '%s', but the job gives the scalar '%s'; a null pointer is a u64 with the value 0",
            g->takes, a->name);
    else if (p->bytes != bytes)
        add(g, m, "%s of %zu bytes, but scalar '%s' of type %s has %zu%s", p->type || p->vector ? g->takes : "a type",
            p->bytes, a->name, word, bytes, fix);
    else if (p->type && (!same_class(p->type, a->type) ||
                         (p->type->kind == 'f' && p->type->element && strcmp(p->type->element, word) != 0)))
        add(g, m, "%s, but scalar '%s' is of type %s, whose bits would be read as another number%s", g->takes, a->name,
            word, fix);
}

// Whether the members are exactly the components of this vector type.
static bool same_lanes(const struct argument *a, const struct vector_type *v)
{
    bool same = a->member_count == (size_t)v->lanes;
    for (size_t i = 0; i < a->member_count; i++)
        same &= a->members[i].type == v->element && a->members[i].offset == i * element_size(v->element);
    return same;
}

// Checks a struct or a vector that is passed by value.
static void check_struct(const struct given_argument *g, const struct argument *a, const struct kernel_parameter *p)
{
    struct mistakes *m = &g->check->mistakes;
    autofree char *layout = job_argument_layout(a);
    if (p->pointer || p->type)
        add(g, m, "'%s', but the job gives the %s '%s' by value", g->takes, a->vector ? a->vector : "struct", a->name);
    else if (p->bytes != a->bytes)
        add(g, m, "%s of %zu bytes, but '%s' has %zu: %s", p->vector ? g->takes : "a type", p->bytes, a->name, a->bytes,
            layout);
    else if (p->vector && !same_lanes(a, p->vector))
        add(g, m, "%s, but the numbers of '%s' are of another type, %s: write type = \"%s\"", g->takes, a->name, layout,
            p->vector->name);
}

// Whether a kernel can reasonably access elements of this type through such a pointer. The pointer may also point to
// bytes, or to integers or vectors that hold one or several elements.
static bool pointee_fits(const struct kernel_parameter *p, enum element element)
{
    const struct kernel_type *type = p->type;
    size_t bytes = element_size(element);
    if (p->vector)
        return p->vector->element == element ||
               (!element_is_float(p->vector->element) && vector_type_size(p->vector) >= bytes);
    if (!type || !type->kind || type->bytes == 1) return true;
    if (type->element && !strcmp(type->element, element_name(element))) return true;
    if (type->kind != 'f') return type->bytes >= bytes;
    return false;
}

static void check_pointer(const struct given_argument *g, const struct argument *a, const struct kernel_parameter *p)
{
    struct check *c = g->check;
    const struct buffer *b = &c->job->buffers[a->buffer];
    bool address = !p->pointer && p->bytes == sizeof(void *) && (!p->type || p->type->kind != 'f');
    if (!p->pointer && !address)
        add(g, &c->mistakes, "%s, but the job gives the address of buffer '%s'", g->takes, b->name);
    else if (p->pointer && !pointee_fits(p, b->type))
        add(g, &c->doubts, "'%s', but the elements of buffer '%s' are %s", g->takes, b->name, element_name(b->type));
    else if (p->pointer && p->constant && b->direction == DIRECTION_OUT)
        add(g, &c->doubts, "'%s', so it cannot write buffer '%s', which is an output", g->takes, b->name);
}

static void check_object(const struct given_argument *g, const struct argument *a, const struct kernel_parameter *p)
{
    bool texture = a->view == VIEW_TEXTURE;
    if (p->pointer || p->bytes != sizeof(uint64_t) || (p->type && p->type->kind != 'u'))
        add(g, &g->check->mistakes, "%s, but the job gives a %s of '%s', which a kernel declares as %s", g->takes,
            texture ? "texture" : "surface", a->name, texture ? "cudaTextureObject_t" : "cudaSurfaceObject_t");
}

static void check_map(const struct given_argument *g, const struct argument *a, const struct kernel_parameter *p)
{
    if (p->pointer || p->type || p->bytes != TENSOR_MAP_BYTES)
        add(g, &g->check->mistakes,
            "%s, but the job gives the tensor map of '%s': write 'const __grid_constant__ CUtensorMap %s'", g->takes,
            a->name, a->name);
}

static void check_launch_arguments(struct check *c, const struct launch *l, const struct kernel_signature *s)
{
    if (s->parameter_count != l->stage.argument_count) {
        autofree char *takes = kernel_signature_text(s);
        check_add(&c->mistakes, check_stage_location(c->job, l->owner, "arguments", -1, ""),
                  "kernel '%s' takes %zu argument%s, %s, but the job gives %zu", s->entry, s->parameter_count,
                  s->parameter_count == 1 ? "" : "s", takes, l->stage.argument_count);
        return;
    }
    for (size_t i = 0; i < s->parameter_count; i++) {
        const struct argument *a = &l->stage.arguments[i];
        struct given_argument g = {.check = c,
                                   .at = check_stage_location(c->job, l->owner, "arguments", (int)i, ""),
                                   .number = i + 1,
                                   .entry = s->entry,
                                   .takes = kernel_parameter_text(&s->parameters[i])};
        (a->map                    ? check_map
         : a->view != VIEW_POINTER ? check_object
         : a->member_count         ? check_struct
         : a->buffer >= 0          ? check_pointer
                                   : check_scalar)(&g, a, &s->parameters[i]);
        free(g.takes);
    }
}

static const struct scanned_kernel *find_kernel(const struct source_scan *scan, const char *name, size_t *count)
{
    const struct scanned_kernel *found = NULL;
    *count = 0;
    for (size_t i = 0; i < scan->kernel_count; i++) {
        if (strcmp(scan->kernels[i].name, name) != 0) continue;
        found = &scan->kernels[i];
        ++*count;
    }
    return found;
}

// The name of an entry without namespaces and template arguments. malloc'ed.
static char *base_name(const char *entry)
{
    const char *name = entry;
    for (const char *p = entry; p < entry + strcspn(entry, "<( "); p++)
        if (p[0] == ':' && p[1] == ':') name = p + 2;
    return text_format("%.*s", (int)strcspn(name, "<( "), name);
}

// Whether a function that the compiler knows may be a kernel. It may be one if the source or the compiled code contains
// a kernel with this name, if the name is a macro, or if the source may build names with ##.
static bool is_kernel(const struct job *job, const struct source_scan *scan, const struct signatures *all,
                      const char *entry)
{
    autofree char *base = base_name(entry);
    size_t count;
    bool found = find_kernel(scan, base, &count) || scan->missing || scan->pastes || check_is_macro(job, base);
    for (size_t i = 0; i < scan->file_count && !found; i++) found = cuda_file_find_macro(&scan->files[i].file, base);
    for (size_t i = 0; i < all->kernel_count && !found; i++) found = strstr(all->kernels[i], base) != NULL;
    return found;
}

// Adds a mistake that explains why the compiler does not know an entry.
static void explain_entry(struct check *c, const struct launch *l, const struct source_scan *scan,
                          const struct signatures *all, const struct kernel_signature *s)
{
    struct mistakes *m = &c->mistakes;
    autofree char *base = base_name(s->entry);
    size_t count, listed = 0;
    const struct scanned_kernel *kernel = find_kernel(scan, base, &count);
    autofree const char **names = memory_new(scan->kernel_count + 1, sizeof *names);
    for (size_t i = 0; i < scan->kernel_count; i++) {
        size_t k = 0;
        while (k < listed && strcmp(names[k], scan->kernels[i].name) != 0) k++;
        if (k == listed) names[listed++] = scan->kernels[i].name;
    }
    const char *unmangled = NULL;
    for (size_t i = 0; i < listed && !unmangled; i++)
        if (symbol_mangles(s->entry, names[i])) unmangled = names[i];
    if (kernel && kernel->is_template && !strchr(s->entry, '<')) {
        check_add(m, l->entry, "kernel '%s' (%s:%d) is a template: name an instance, e.g. entry = \"%s<float>\"", base,
                  kernel->path, kernel->line, base);
    } else if (kernel && count > 1 && !strchr(s->entry, '<')) {
        check_add(m, l->entry,
                  "there are %zu kernels '%s' (%s:%d is the last one), and 'entry' does not say which one is meant: "
                  "give it a unique name",
                  count, base, kernel->path, kernel->line);
    } else if (kernel) {
        const char *why = strstr(s->problem, "error: ");
        check_add(m, l->entry, "the compiler does not know '%s' (%s:%d): %s", s->entry, kernel->path, kernel->line,
                  why ? why + strlen("error: ") : s->problem);
    } else if (unmangled) {
        check_add(m, l->entry, "'%s' is the name that kernel '%s' has in compiled code: write entry = \"%s\"", s->entry,
                  unmangled, unmangled);
    } else if (!listed) {
        check_add(m, l->entry, "there is no kernel '%s': the source has no __global__ function%s%s", s->entry,
                  all->kernel_count ? " with a literal name, but compiled code has " : "",
                  all->kernel_count ? all->kernels[0] : "");
    } else {
        autofree char *text = text_unknown("kernel", base, names);
        check_add(m, l->entry, "%s", text);
    }
}

static struct launch launch_of(const struct job *job, size_t stage)
{
    bool reference = stage >= job->stage_count;
    struct launch l = {reference ? job_stage_of(job, &job->others.reference) : job->stages[stage], .owner = stage};
    if (reference && !job->others.reference.stage.argument_count) l.owner = 0;
    l.entry = reference                          ? job_location(job, "reference.kernel")
              : job_location(job, "stages").line ? check_stage_location(job, stage, "entry", -1, "")
                                                 : job_location(job, "kernel.entry");
    return l;
}

void check_arguments(struct check *c, const uint16_t *config, size_t unit, const struct signatures *all)
{
    const struct job *job = c->job;
    const struct source_scan *scan = !config && c->reference.file_count ? &c->reference : &c->template;
    size_t first = config ? 0 : job->stage_count, end = config ? job->stage_count : job->stage_count + 1;
    for (size_t k = 0; k < all->count; k++)
        for (size_t s = first; s < end; s++) {
            struct launch l = launch_of(job, s);
            const struct kernel_signature *known = &all->list[k];
            if (!l.stage.operation && l.stage.unit == unit && !strcmp(l.stage.entry, known->entry)) {
                if (known->problem)
                    explain_entry(c, &l, scan, all, known);
                else if (!is_kernel(job, scan, all, known->entry))
                    check_add(&c->mistakes, l.entry, "'%s' is not a kernel: only a __global__ function can be launched",
                              known->entry);
                else
                    check_launch_arguments(c, &l, known);
            }
        }
}
