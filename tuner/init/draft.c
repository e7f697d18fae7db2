// See draft.h: opens and releases a draft, and names its arguments.
#include "tuner/init/draft.h"

#include "search/space/expr.h"
#include "tuner/init/draft_parts.h"
#include "tuner/source/source.h"

// Whether another argument already has the name. For a scalar, also whether the name is a setting of a problem or has a
// meaning in expressions.
static bool is_taken(const struct job_draft *d, const char *name, bool scalar)
{
    static const char *const settings[] = {"name", "weight", "holdout", "held", "shared_bytes", "device"};
    bool taken = false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && scalar; i++) taken |= !strcmp(settings[i], name);
    for (const struct expr_function *f = expr_functions; f->name && scalar; f++) taken |= !strcmp(f->name, name);
    for (size_t i = 0; i < d->argument_count; i++) taken |= !strcmp(d->arguments[i].name, name);
    return taken;
}

// The name of an argument in the job, where it becomes a setting, a size in expressions and part of the header.
static const char *argument_name(const struct job_draft *d, const char *source, bool scalar)
{
    size_t number = d->argument_count + 1;
    const char *name = source + strspn(source, "_");
    if (!draft_plain_name(name)) name = arena_format(d->memory, "argument_%zu", number);
    while (is_taken(d, name, scalar)) name = arena_format(d->memory, "argument_%zu", number++);
    return name;
}

static void add_argument(struct job_draft *d, const struct cuda_argument *a)
{
    struct draft_argument new = {.source = a, .name = argument_name(d, a->name, !a->stars)};
    const struct kernel_type *type = kernel_type_find(a->type);
    bool pointer = a->stars == 1;
    new.is_known = type && a->stars <= 1 && !a->reference;
    if (new.is_known)
        new.known = (struct kernel_parameter){pointer, pointer && a->constant, type, NULL, pointer ? 8 : type->bytes};
    memory_add(d->arguments, d->argument_count) = new;
}

static void read_included(struct job_draft *d, const char *path)
{
    const struct source_request request = {.path = path, .host_headers = true};
    autorelease(source_release) struct source source;
    struct error err; // files that cannot be included are left to the compiler to report
    source_open(&source, &request, &err);
    d->included_count = source.file_count ? source.file_count - 1 : 0;
    d->included = memory_new(d->included_count, sizeof *d->included);
    for (size_t i = 0; i < d->included_count; i++) cuda_file_init(&d->included[i], text_copy(source.files[i + 1].text));
}

void job_draft_open(struct job_draft *d, const struct cuda_file *file, const struct cuda_kernel *kernel,
                    const char *path)
{
    *d = (struct job_draft){.memory = memory_new(1, sizeof *d->memory), .file = file, .kernel = kernel};
    if (path) read_included(d, path);
    for (size_t i = 0; i < kernel->argument_count; i++) add_argument(d, &kernel->arguments[i]);
    draft_read(d);
}

void job_draft_release(struct job_draft *d)
{
    for (size_t i = 0; i < d->included_count; i++) cuda_file_release(&d->included[i]);
    arena_release(d->memory);
    free(d->memory);
    free(d->included);
    free(d->parameters);
    free(d->defines);
    free(d->arguments);
    free(d->dialog.answers);
    free(d->dialog.questions);
    free(d->constraints);
    free(d->notes);
    signatures_release(&d->signatures);
    *d = (struct job_draft){0};
}
