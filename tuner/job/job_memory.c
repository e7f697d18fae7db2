// The memory of a job: everything that the job points to lies in its arena and is freed with the job, except for
// expressions, which are kept in a list. Also determines which names have the same value in all configurations.
#include "tuner/job/job_parts.h"

void *job_new(struct job *job, size_t count, size_t size)
{
    return arena_new(&job->file.memory, count * size);
}

void *job_room(struct job *job, void *list, size_t count, size_t size)
{
    if (count & (count - 1)) return list; // the capacity is a power of two
    void *longer = job_new(job, count ? 2 * count : 1, size);
    return count ? memcpy(longer, list, count * size) : longer;
}

char *job_copy(struct job *job, const char *text)
{
    size_t length = text ? strlen(text) + 1 : 0;
    return text ? memcpy(job_new(job, length, 1), text, length) : NULL;
}

char *job_keep(struct job *job, char *text)
{
    char *copy = job_copy(job, text);
    free(text);
    return copy;
}

struct expr *job_parse(struct job *job, const char *text, struct error *err)
{
    struct expr *e = expr_parse(text, job->symbols, err);
    if (!e) return NULL;
    job->file.expressions =
        job_room(job, job->file.expressions, job->file.expression_count, sizeof *job->file.expressions);
    return job->file.expressions[job->file.expression_count++] = e;
}

bool job_name_is_fixed(const struct job *job, int slot)
{
    const char *name = symbols_name(job->symbols, slot);
    bool fixed = !strncmp(name, "device.", 7);
    for (size_t k = 0; k < job->names.size_count; k++) fixed |= !strcmp(name, job->names.size_names[k]);
    for (size_t k = 0; k < job->code.define_count; k++) fixed |= !strcmp(name, job->code.defines[k].name);
    return fixed;
}
