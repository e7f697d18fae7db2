// See source_scan.h.
#include "tuner/check/source_scan.h"

#include "tuner/setup/request.h"

static void add_kernels(struct source_scan *scan, struct scanned_file *f)
{
    const struct cuda_token *name;
    bool is_template;
    for (size_t from = 0; (name = cuda_file_next_kernel(&f->file, &from, &is_template));)
        memory_add(scan->kernels, scan->kernel_count) =
            (struct scanned_kernel){cuda_token_copy(&f->file.memory, name), f->path, name->line, is_template};
}

// Takes a file's path and text, and follows its includes, but those in comments and strings.
static void scan_file(struct source_scan *scan, struct source *s, size_t file)
{
    struct source_file *from = &s->files[file];
    struct scanned_file *to = &memory_add(scan->files, scan->file_count);
    to->path = from->path;
    cuda_file_init(&to->file, from->text);
    from->path = from->text = NULL;
    scan->pastes |= to->file.pastes;
    add_kernels(scan, to);
    for (size_t i = 0; i < from->includes.count; i++) {
        const struct include *include = &from->includes.list[i];
        bool found = from->target[i] < s->file_count;
        if (!include->real || include->kind != INCLUDE_DIRECTIVE) continue;
        if (found && s->files[from->target[i]].text && s->files[from->target[i]].inode) // not a stand-in
            scan_file(scan, s, from->target[i]);
        else if (!found && !scan->missing && (include->computed || *include->name == '"'))
            scan->missing = text_format("%.*s", (int)strcspn(include->name + !include->computed, "\""),
                                        include->name + !include->computed);
    }
}

void source_scan_open(struct source_scan *scan, const struct job *job, const char *path)
{
    struct source source;
    struct error err;
    *scan = (struct source_scan){0};
    if (request_source_open(job, path, &source, &err)) scan->missing = text_copy(err.message);
    if (source.file_count) scan_file(scan, &source, 0);
    source_release(&source);
}

void source_scan_release(struct source_scan *scan)
{
    for (size_t i = 0; i < scan->file_count; i++) {
        free(scan->files[i].path);
        cuda_file_release(&scan->files[i].file);
    }
    free(scan->files);
    free(scan->kernels);
    free(scan->missing);
    *scan = (struct source_scan){0};
}

bool source_scan_uses(const struct source_scan *scan, const char *name)
{
    for (size_t i = 0; i < scan->file_count; i++) {
        const struct cuda_file *f = &scan->files[i].file;
        for (size_t k = 0; k < f->line_name_count; k++)
            if (!strcmp(f->line_names[k].name, name)) return true;
        for (size_t k = 0; k < f->tokens.count; k++)
            if (f->tokens.items[k].kind == CUDA_NAME && cuda_token_is(&f->tokens.items[k], name)) return true;
    }
    return false;
}
