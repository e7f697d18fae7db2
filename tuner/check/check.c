// See check.h.
#include "tuner/check/check.h"

#include <stdarg.h>

#include "tuner/base/base.h"

void check_add(struct mistakes *m, struct location at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = text_format_list(format, args);
    va_end(args);
    mistakes_add_in(m, at.file, at.line, "%s", text);
    free(text);
}

struct location check_stage_location(const struct job *job, size_t stage, const char *setting, int number,
                                     const char *member)
{
    struct text path = {0};
    if (stage >= job->stage_count)
        text_add(&path, "reference.");
    else if (job_location(job, "stages").line)
        text_add(&path, "stages[%zu].", stage);
    text_add(&path, "%s", setting);
    if (number >= 0) text_add(&path, "[%d]%s%s", number, *member ? "." : "", member);
    struct location at = job_location(job, "%s", path.text);
    free(path.text);
    return at;
}

static void scan(struct source_scan *to, const struct job *job, const char *path, const char *entry)
{
    // The folders that -I names come after the job's own.
    size_t count = job->include_count;
    char **include = memory_new(count + 2 * job->option_count, sizeof *include);
    for (size_t i = 0; i < count; i++) include[i] = text_copy(job->includes[i]);
    for (size_t i = 0; i < job->option_count; i++) {
        const char *option = job->options[i];
        if (!strncmp(option, "-I", 2) && option[2]) include[count++] = text_copy(option + 2);
        if (!strncmp(option, "--include-path=", 15)) include[count++] = text_copy(option + 15);
        if (!strcmp(option, "-I") && i + 1 < job->option_count) include[count++] = text_copy(job->options[i + 1]);
    }
    source_scan_file(to, path, include, count);
    for (size_t i = 0; i < count; i++) free(include[i]);
    free(include);
    for (size_t i = 0; i < job->option_count; i++) source_scan_text(to, job->options[i]);
    for (size_t i = 0; i < job->define_count; i++) source_scan_text(to, job->defines[i].value);
    for (size_t i = 0; i < space_parameter_count(job->space); i++) {
        const struct parameter *p = space_parameter(job->space, i);
        for (size_t v = 0; p->kind == PARAMETER_STRING && v < p->count; v++)
            source_scan_text(to, symbols_text(job->symbols, p->values[v]));
    }
    if (entry) source_scan_text(to, entry);
}

void check_open(struct check *c, const struct job *job, const struct device_limits *limits, const char *arch)
{
    *c = (struct check){.job = job, .limits = limits, .arch = arch};
    const struct implementation *r = &job->reference;
    bool own = r->kind == IMPLEMENTATION_KERNEL && (!job->source || strcmp(r->path, job->source) != 0);
    if (job->source) scan(&c->template, job, job->source, NULL);
    for (size_t s = 0; s < job->stage_count; s++) {
        source_scan_text(&c->template, job->stages[s].entry);
        for (size_t i = 0; i < job->stages[s].define_count; i++)
            source_scan_text(&c->template, job->stages[s].defines[i].value);
    }
    if (own) scan(&c->reference, job, r->path, r->stage.entry);
    source_scan_finish(&c->template);
    source_scan_finish(&c->reference);
}

void check_release(struct check *c)
{
    source_scan_release(&c->template);
    source_scan_release(&c->reference);
    mistakes_release(&c->mistakes);
    mistakes_release(&c->doubts);
}
