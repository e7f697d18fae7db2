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

void check_open(struct check *c, const struct job *job, const struct device_limits *limits, const char *arch)
{
    *c = (struct check){.job = job, .limits = limits, .arch = arch};
    const struct implementation *r = &job->reference;
    bool own = r->kind == IMPLEMENTATION_KERNEL && (!job->source || strcmp(r->path, job->source) != 0);
    if (job->source) source_scan_open(&c->template, job, job->source);
    if (own) source_scan_open(&c->reference, job, r->path);
}

void check_release(struct check *c)
{
    source_scan_release(&c->template);
    source_scan_release(&c->reference);
    mistakes_release(&c->mistakes);
    mistakes_release(&c->doubts);
}
