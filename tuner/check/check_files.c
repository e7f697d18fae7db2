// Checks the files that a job names: .npy files with inputs or expected values, libraries, and binaries. See check.h.
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/npy.h"
#include "tuner/base/elf_file.h"
#include "tuner/base/gpu_binary.h"
#include "tuner/base/input_file.h"
#include "tuner/check/check.h"

// Checks that a file with a buffer's values matches the buffer in every problem.
static void check_values(struct check *c, struct location at, const char *path, const struct buffer *b)
{
    const struct job *job = c->job;
    autorelease(npy_release) struct npy npy;
    struct error err;
    if (npy_read_head(&npy, path, &err)) {
        check_add(&c->mistakes, at, "%s", err.message);
        return;
    }
    autorelease(text_release) struct text shape = {0};
    for (size_t i = 0; i < npy.dimensions; i++) text_add(&shape, "%s%zu", i ? " x " : "", npy.shape[i]);
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    if (npy.kind == 'f' && !element_is_float(b->type))
        check_add(&c->doubts, at, "'%s' has floating-point numbers, which lose their fraction in buffer '%s' of %s",
                  path, b->name, element_name(b->type));
    if (npy.kind == 'V' && !npy_is_bits(&npy, b->type))
        check_add(&c->mistakes, at,
                  "'%s' has bytes without a type, which can only be read as FP8, but buffer '%s' is %s", path, b->name,
                  element_name(b->type));
    for (size_t p = 0; p < job->problem_count; p++) {
        struct operand o;
        if (job_problem_values(job, NULL, p, values, &err) || job_buffer_shape(b, values, &o, &err))
            break; // reported elsewhere
        if (npy.count != (size_t)(o.rows * o.cols)) {
            check_add(&c->mistakes, at,
                      "'%s' has %zu elements (%s), but buffer '%s' of problem %s has %" PRId64 " x %" PRId64, path,
                      npy.count, shape.text ? shape.text : "", b->name, job->problems[p].name, o.rows, o.cols);
            break;
        }
        if (npy.dimensions > 1 && o.rows > 1 && npy.shape[npy.dimensions - 1] != (size_t)o.cols) {
            check_add(&c->doubts, at,
                      "'%s' is %s, but buffer '%s' of problem %s is %" PRId64 " x %" PRId64
                      ": is it a transposed array?",
                      path, shape.text, b->name, job->problems[p].name, o.rows, o.cols);
            break;
        }
    }
}

static void check_fills(struct check *c, size_t stage, const struct stage *s)
{
    for (size_t i = 0; i < s->argument_count; i++) {
        struct location at = check_stage_location(c->job, stage, "arguments", (int)i, "fill");
        const struct argument *a = &s->arguments[i];
        const struct buffer *b = a->buffer >= 0 ? &c->job->buffers[a->buffer] : NULL;
        const char *member = at.path ? strrchr(at.path, '.') : NULL;
        bool here = member && !strcmp(member, ".fill"); // a buffer is declared once
        if (b && here && b->fill.kind == FILL_NPY && b->fill.path) check_values(c, at, b->fill.path, b);
    }
}

// Checks that a library contains the functions that the job names. If the library is given as a source, it is built
// later, and that build reports missing functions.
static void check_library(struct check *c, const struct implementation *m)
{
    if (implementation_is_built(m)) return;
    autorelease(shared_library_release) struct shared_library l;
    const char *wrong = shared_library_read(&l, m->path);
    if (wrong) check_add(&c->mistakes, job_location(c->job, "%s.library", m->setting), "'%s' %s", m->path, wrong);
    for (size_t i = 0; i < IMPLEMENTATION_FUNCTIONS && !wrong; i++) {
        autofree char *lack = m->functions[i] ? shared_library_lacks(&l, m->path, m->functions[i]) : NULL;
        if (lack)
            check_add(&c->mistakes, job_location(c->job, "%s.%s", m->setting, implementation_functions[i]), "%s", lack);
    }
}

// Checks that a cubin or PTX contains a kernel with the given symbol.
static void check_binary(struct check *c, const struct implementation *m)
{
    size_t size = 0;
    struct error err;
    autofree char *image = input_file_read(m->path, 0, &size, &err);
    autorelease(text_list_release) struct text_list names = {0};
    if (image) names = gpu_binary_kernels(image, size);
    if (!image) check_add(&c->mistakes, job_location(c->job, "%s.binary", m->setting), "%s", err.message);
    if (image && !names.count) {
        check_add(&c->mistakes, job_location(c->job, "%s.binary", m->setting),
                  "'%s' has no kernel: it must be a cubin or PTX", m->path);
    } else if (image && word_find((const char *const *)names.list, m->stage.entry) < 0) {
        autofree char *text = text_unknown("kernel", m->stage.entry, (const char *const *)names.list);
        check_add(&c->mistakes, job_location(c->job, "%s.kernel", m->setting), "%s", text);
    }
}

static void check_constant_fills(struct check *c)
{
    for (size_t i = 0; i < c->job->buffer_count && c->job->buffers[i].symbol; i++) {
        const struct buffer *b = &c->job->buffers[i];
        if (b->fill.kind == FILL_NPY && b->fill.path)
            check_values(c, job_location(c->job, "constants[%zu].fill", i), b->fill.path, b);
    }
}

// Checks .npy files with the expected values of the outputs.
static void check_expected(struct check *c, const struct implementation *m)
{
    const struct job *job = c->job;
    for (size_t b = 0; b < job->buffer_count; b++) {
        const struct buffer *buffer = &job->buffers[b];
        bool output = direction_writes(buffer->direction), given = false;
        for (size_t i = 0; i < m->binding_count; i++) {
            if (strcmp(buffer->name, m->bindings[i].role) != 0) continue;
            given = true;
            check_values(c, job_location(job, "%s.files.%s", m->setting, buffer->name), m->bindings[i].name, buffer);
        }
        if (output && !given)
            check_add(&c->mistakes, job_location(job, "%s.files", m->setting),
                      "no file has the expected values of buffer '%s'", buffer->name);
    }
}

// Warns if a script or a program in a command does not exist. Words with shell metacharacters are not checked.
static void check_command(struct check *c, const struct implementation *m)
{
    autofree char *words = text_copy(m->command);
    char *rest;
    for (char *word = strtok_r(words, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        bool program = word == words && strchr(word, '/'),
             script = text_before(word, ".py") || text_before(word, ".sh");
        autofree char *path = text_join_path(c->job->file.directory, word);
        if ((program || script) && !strpbrk(word, "$`\"'*?~\\&|;<>=(") && access(path, F_OK))
            check_add(&c->doubts, job_location(c->job, "%s.command", m->setting), "there is no file '%s'", path);
    }
}

void check_files(struct check *c)
{
    const struct implementation *m;
    check_constant_fills(c);
    for (size_t i = 0; i < c->job->code.include_count; i++) {
        struct stat folder;
        if (stat(c->job->code.includes[i], &folder) || !S_ISDIR(folder.st_mode))
            check_add(&c->doubts, job_location(c->job, "kernel.include[%zu]", i), "there is no folder '%s'",
                      c->job->code.includes[i]);
    }
    for (size_t s = 0; s < c->job->stage_count; s++) check_fills(c, s, &c->job->stages[s]);
    for (size_t i = 0; (m = job_implementation(c->job, i)); i++) {
        if (m->kind == IMPLEMENTATION_FILES) check_expected(c, m);
        if (m->kind == IMPLEMENTATION_LIBRARY) check_library(c, m);
        if (m->kind == IMPLEMENTATION_BINARY) check_binary(c, m);
        if (m->kind == IMPLEMENTATION_COMMAND) check_command(c, m);
    }
}
