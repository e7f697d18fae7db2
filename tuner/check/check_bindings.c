// Finds constants that are missing or declared differently in the source, and images beyond the limits of devices. See
// check.h.
#include "tuner/base/elf_file.h"
#include "tuner/check/check.h"

enum { CONSTANT_MEMORY = 64 << 10 };

// The largest size of a buffer in bytes for any problem; 0 if its shape cannot be computed.
static size_t most_bytes(const struct job *job, const struct buffer *b)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    int64_t count, most = 0;
    for (size_t p = 0; p < job->problem_count; p++) {
        struct operand o;
        if (job_problem_values(job, NULL, p, values, NULL) || job_buffer_shape(b, values, &o, NULL)) continue;
        if (__builtin_mul_overflow(o.rows, o.cols, &count)) count = INT64_MAX / 8;
        if (count > most) most = count;
    }
    return (size_t)most * element_size(b->type);
}

static bool takes_pointer(const struct stage *stages, size_t count, int buffer)
{
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < stages[s].argument_count; i++)
            if (stages[s].arguments[i].buffer == buffer) return true;
    return false;
}

static void check_missing(struct check *c, struct location at, const struct buffer *b, const char *source,
                          const struct signatures *all)
{
    autofree const char **names = memory_new(all->variable_count + 1, sizeof *names);
    autofree char(*texts)[SYMBOL_TEXT_SIZE] = memory_new(all->variable_count, sizeof *texts);
    for (size_t i = 0; i < all->variable_count; i++) names[i] = symbol_text(all->variables[i].symbol, texts[i]);
    const char *nearest = text_nearest(b->name, names);
    check_add(&c->mistakes, at, "there is no __constant__ or __device__ variable '%s' in %s%s%s%s", b->name,
              text_file_name(source), nearest ? "; did you mean '" : "", nearest ? nearest : "",
              nearest               ? "'?"
              : all->variable_count ? ""
                                    : ", which has none");
}

static void check_constant(struct check *c, struct location at, const struct buffer *b,
                           const struct source_variable *variable)
{
    size_t bytes = most_bytes(c->job, b);
    if (bytes > variable->bytes)
        check_add(&c->mistakes, at, "constant '%s' has %zu bytes, but the source's variable %zu", b->name, bytes,
                  variable->bytes);
    else if (bytes && bytes < variable->bytes)
        check_add(&c->doubts, at,
                  "constant '%s' has %zu bytes, but the source's variable %zu: the rest keeps its initial value from "
                  "the source",
                  b->name, bytes, variable->bytes);
    if (variable->constant && b->direction != DIRECTION_IN)
        check_add(&c->mistakes, at,
                  "constant '%s' has direction \"%s\", but kernels cannot write a __constant__ variable: make it a "
                  "__device__ one",
                  b->name, direction_text[b->direction]);
}

void check_constants(struct check *c, const uint16_t *config, const struct signatures *all)
{
    const struct job *job = c->job;
    const struct stage own = job_stage_of(job, &job->others.reference), *stages = config ? job->stages : &own;
    const char *source = config ? job->code.source : job->others.reference.path;
    size_t count = config ? job->stage_count : 1, total = 0;
    for (size_t i = 0; i < all->variable_count; i++) total += all->variables[i].constant ? all->variables[i].bytes : 0;
    if (total > CONSTANT_MEMORY)
        check_add(&c->mistakes, job_location(job, config ? "kernel.template" : "reference.template"),
                  "the __constant__ variables of the source take %zu bytes; a device has %d", total, CONSTANT_MEMORY);
    // The job's first buffers are the constants, in the same order.
    for (size_t i = 0; i < job->buffer_count && job->buffers[i].symbol; i++) {
        const struct buffer *b = &job->buffers[i];
        struct location at = job_location(job, "constants[%zu].name", i);
        const struct source_variable *found = NULL;
        for (size_t v = 0; v < all->variable_count && !found; v++)
            if (symbol_is(all->variables[v].symbol, b->name)) found = &all->variables[v];
        if (found)
            check_constant(c, at, b, found);
        else if (!b->optional && !takes_pointer(stages, count, (int)i))
            check_missing(c, at, b, source, all);
    }
}

// The location of an argument through which a kernel accesses a buffer as a texture or surface object.
static struct location place_of(const struct check *c, int buffer)
{
    for (size_t s = 0; s <= c->job->stage_count; s++) {
        const struct stage *stage = s < c->job->stage_count ? &c->job->stages[s] : &c->job->others.reference.stage;
        for (size_t i = 0; i < stage->argument_count; i++) {
            if (stage->arguments[i].buffer != buffer || stage->arguments[i].view == VIEW_POINTER) continue;
            return check_stage_location(c->job, s, "arguments", (int)i, "");
        }
    }
    return job_location(c->job, "arguments");
}

void check_images(struct check *c)
{
    const struct job *job = c->job;
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    for (size_t i = 0; i < job->buffer_count; i++) {
        const struct buffer *b = &job->buffers[i];
        for (size_t p = 0; p < job->problem_count && b->image; p++) {
            struct image_layout image;
            struct error err;
            if (job_problem_values(job, NULL, p, values, &err) || job_image_resolve(b, values, &image, &err)) continue;
            if (!image_check(&image, &image_limits_known, &err)) continue;
            check_add(&c->mistakes, place_of(c, (int)i), "problem %s, '%s': %s", job->problems[p].name, b->name,
                      err.message);
            break;
        }
    }
}
