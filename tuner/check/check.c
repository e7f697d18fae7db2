// See check.h.
#include "tuner/check/check.h"

#include "tuner/setup/request.h"

void check_add(struct mistakes *m, struct location at, const char *format, ...)
{
    TEXT_FROM(format, text);
    size_t i = 0;
    while (i < m->count && (m->list[i].line != at.line || strcmp(m->list[i].text, text) != 0)) i++;
    if (i == m->count) mistakes_add_in(m, at.file, at.line, "%s", text);
}

struct location check_stage_location(const struct job *job, size_t stage, const char *setting, int number,
                                     const char *member)
{
    autorelease(text_release) struct text path = {0};
    if (stage >= job->stage_count)
        text_add(&path, "reference.");
    else if (job_location(job, "stages").line)
        text_add(&path, "stages[%zu].", stage);
    text_add(&path, "%s", setting);
    if (number >= 0) text_add(&path, "[%d]%s%s", number, *member ? "." : "", member);
    return job_location(job, "%s", path.text);
}

static void add_kernels(struct source_scan *scan, struct scanned_file *f)
{
    const struct cuda_token *name;
    bool is_template;
    for (size_t from = 0; (name = cuda_file_next_kernel(&f->file, &from, &is_template));)
        memory_add(scan->kernels, scan->kernel_count) =
            (struct scanned_kernel){cuda_token_copy(&f->file.memory, name), f->path, name->line, is_template};
}

// Takes a file's path and text, and follows its #includes, except in comments and strings.
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
        if (found && s->files[from->target[i]].text && s->files[from->target[i]].inode) // not a stand-in for a header
            scan_file(scan, s, from->target[i]);
        else if (!found && !scan->missing && (include->computed || *include->name == '"'))
            scan->missing = text_format("%.*s", (int)strcspn(include->name + !include->computed, "\""),
                                        include->name + !include->computed);
    }
}

// -1 if a file cannot be read; the reason is then in scan->missing.
static int open_scan(struct source_scan *scan, const struct job *job, const char *path)
{
    autorelease(source_release) struct source source;
    struct error err;
    *scan = (struct source_scan){0};
    int failed = request_source_open(job, path, &source, &err);
    if (failed) scan->missing = text_copy(err.message);
    if (source.file_count) scan_file(scan, &source, 0);
    return failed;
}

static void release_scan(struct source_scan *scan)
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

void check_open(struct check *c, const struct job *job, const struct device_limits *limits, const char *arch)
{
    *c = (struct check){.job = job, .limits = limits, .arch = arch};
    const struct implementation *r = &job->others.reference;
    bool own = r->kind == IMPLEMENTATION_KERNEL && (!job->code.source || strcmp(r->path, job->code.source) != 0);
    if (job->code.source && open_scan(&c->template, job, job->code.source))
        check_add(&c->mistakes, job_location(job, "kernel.template"), "%s", c->template.missing);
    if (own) open_scan(&c->reference, job, r->path);
    char hash[HASH_TEXT_SIZE];
    struct error err;
    if (job->code.edit_count && request_source_hash(job, hash, &err))
        check_add(&c->mistakes, job_location(job, "kernel.edits"), "%s", err.message);
}

void check_release(struct check *c)
{
    release_scan(&c->template);
    release_scan(&c->reference);
    mistakes_release(&c->mistakes);
    mistakes_release(&c->doubts);
}
