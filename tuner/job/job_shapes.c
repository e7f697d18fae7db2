// See job.h: writes a job for the sizes in a file, such as a file made by sweetspot_runtime.c.
#include <errno.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/job/job_parts.h"

static const char mark[] = "// Written by `sweetspot tune --shapes`";

struct shapes {
    const struct job *job;
    const char *path;
    int64_t *sizes; // one problem after the other
    size_t count;
};

// Reads a line such as "M=512,N=77".
static int read_shape(const struct job *job, char *text, int64_t *sizes, struct error *err)
{
    char *rest;
    for (char *part = strtok_r(text, ", \t\r", &rest); part; part = strtok_r(NULL, ", \t\r", &rest)) {
        char *equals = strchr(part, '='), *end;
        size_t i = 0;
        if (!equals) return error_set(err, "'%s' is not NAME=NUMBER", part);
        *equals = 0;
        while (i < job->names.size_count && strcmp(job->names.size_names[i], part) != 0) i++;
        if (i == job->names.size_count) return error_set(err, "the job has no size '%s'", part);
        if (sizes[i]) return error_set(err, "the size '%s' has two values", part);
        errno = 0;
        sizes[i] = strtoll(equals + 1, &end, 10);
        if (errno || *end || sizes[i] < 1)
            return error_set(err, "the size '%s' must be a positive integer, not '%s'", part, equals + 1);
    }
    for (size_t i = 0; i < job->names.size_count; i++)
        if (!sizes[i]) return error_set(err, "the size '%s' is missing", job->names.size_names[i]);
    return 0;
}

static int read_shapes(struct shapes *s, struct error *err)
{
    size_t width = s->job->names.size_count;
    int number = 1;
    autofree char *text = input_file_read(s->path, INPUT_FILE_TEXT_MOST, NULL, err);
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line[strcspn(line, "#")] = 0;
        if (!line[strspn(line, " \t\r")]) continue;
        s->sizes = memory_grow(s->sizes, (s->count + 1) * width, sizeof *s->sizes);
        int64_t *sizes = memset(s->sizes + s->count * width, 0, width * sizeof *s->sizes);
        if (read_shape(s->job, line, sizes, err)) return error_prefix(err, "%s:%d", s->path, number);
        size_t same = 0;
        while (memcmp(s->sizes + same * width, sizes, width * sizeof *sizes) != 0) same++;
        s->count += same == s->count;
        if (s->count > JOB_MAX_PROBLEMS)
            return error_set(err, "%s:%d: more than %d problems", s->path, number, JOB_MAX_PROBLEMS);
    }
    if (!text || s->count) return text ? 0 : -1;
    return error_set(err, "'%s' has no sizes; it needs lines such as %s", s->path, s->job->problems[0].name);
}

static int put_job(FILE *f, void *user, struct error *err)
{
    const struct shapes *s = user;
    autorelease(mistakes_release) struct mistakes mistakes = {0};
    autofree char *name = text_format("%s_shapes", s->job->name);
    struct reader *r = reader_open(s->job->path, &mistakes);
    if (!r) return error_set(err, "cannot read '%s' again", s->job->path);
    fprintf(f, "%s, which replaces it: %s with the problems of %s.\n", mark, text_file_name(s->job->path),
            text_file_name(s->path));
    reader_write_problems(r, f, name, s->job, s->sizes, s->count);
    reader_close(r);
    return 0;
}

char *job_write_shapes(const struct job *job, const char *path, struct error *err)
{
    struct shapes s = {.job = job, .path = path};
    size_t name = text_before(job->path, ".cfg");
    autofree char *output = text_format("%.*s_shapes.cfg", (int)(name ? name : strlen(job->path)), job->path),
                  *old = input_file_read(output, INPUT_FILE_TEXT_MOST, NULL, NULL);
    int failed = old && strncmp(old, mark, strlen(mark)) != 0
                     ? error_set(err, "'%s' was not written by --shapes and is not replaced", output)
                     : read_shapes(&s, err);
    if (!failed) failed = output_file_write(output, put_job, &s, err);
    free(s.sizes);
    return failed ? NULL : text_copy(output);
}
