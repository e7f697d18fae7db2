// Files and programs that a job names: .npy files of inputs and of expected values, libraries, a reference's command.
// See check.h.
#include <unistd.h>

#include "kernels/npy.h"
#include "tuner/base/base.h"
#include "tuner/base/program_path.h"
#include "tuner/base/shared_library.h"
#include "tuner/check/check.h"

// Values of a buffer from a file, for every problem.
static void check_values(struct check *c, struct location at, const char *path, const struct buffer *b)
{
    const struct job *job = c->job;
    struct npy npy;
    struct error err;
    if (npy_read_head(&npy, path, &err)) {
        check_add(&c->mistakes, at, "%s", err.message);
        npy_release(&npy);
        return;
    }
    struct text shape = {0};
    for (size_t i = 0; i < npy.dimensions; i++) text_add(&shape, "%s%zu", i ? " x " : "", npy.shape[i]);
    int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    if (npy.kind == 'f' && !element_is_float(b->type))
        check_add(&c->doubts, at, "'%s' has floating-point numbers, which lose their fraction in buffer '%s' of %s",
                  path, b->name, element_name(b->type));
    if (npy.kind == 'V' && !npy_is_bits(&npy, b->type))
        check_add(&c->mistakes, at, "'%s' has bytes without a type, which are read as FP8 alone, and buffer '%s' is %s",
                  path, b->name, element_name(b->type));
    for (size_t p = 0; p < job->problem_count; p++) {
        int64_t rows = 1, cols = 0;
        if (job_problem_values(job, NULL, p, values, &err) || expr_eval(b->cols, values, &cols, &err) ||
            (b->rows && expr_eval(b->rows, values, &rows, &err)))
            break; // said elsewhere
        if (npy.count != (size_t)(rows * cols)) {
            check_add(&c->mistakes, at,
                      "'%s' has %zu elements (%s), but buffer '%s' of problem %s has %" PRId64 " x %" PRId64, path,
                      npy.count, shape.text ? shape.text : "", b->name, job->problems[p].name, rows, cols);
            break;
        }
        if (npy.dimensions > 1 && rows > 1 && npy.shape[npy.dimensions - 1] != (size_t)cols) {
            check_add(&c->doubts, at,
                      "'%s' is %s, but buffer '%s' of problem %s is %" PRId64 " x %" PRId64
                      ": is it a transposed array?",
                      path, shape.text, b->name, job->problems[p].name, rows, cols);
            break;
        }
    }
    free(values);
    free(shape.text);
    npy_release(&npy);
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

// The functions of one library that the job names. A source is built later, and the compiler names missing functions.
static void check_functions(struct check *c, const char *library, struct location at, size_t count,
                            const char *const *functions, const struct location *locations)
{
    struct shared_library l;
    if (shared_library_is_source(library)) return;
    const char *wrong = shared_library_read(&l, library);
    if (wrong) check_add(&c->mistakes, at, "'%s' %s", library, wrong);
    for (size_t i = 0; i < count && !wrong; i++) {
        char *lack = functions[i] ? shared_library_lacks(&l, library, functions[i]) : NULL;
        if (lack) check_add(&c->mistakes, locations[i], "%s", lack);
        free(lack);
    }
    shared_library_release(&l);
}

static void check_libraries(struct check *c)
{
    const struct job *job = c->job;
    const struct reference *r = &job->reference;
    const char *const functions[] = {r->function, r->generate, r->verify};
    const struct location locations[] = {job_location(job, "reference.function"),
                                         job_location(job, "reference.generate"),
                                         job_location(job, "reference.verify")};
    if (r->kind == REFERENCE_LIBRARY)
        check_functions(c, r->library, job_location(job, "reference.library"), 3, functions, locations);
    for (size_t i = 0; i < job->baseline_count; i++) {
        const struct job_baseline *b = &job->baselines[i];
        const struct location own[] = {job_location(job, "baselines[%zu].function", i),
                                       job_location(job, "baselines[%zu].init", i)};
        check_functions(c, b->library, job_location(job, "baselines[%zu].library", i), 2,
                        (const char *const[]){b->function, b->init}, own);
    }
}

// The command is not run. Its first word, where it is a plain one, must be a program.
static void check_command(struct check *c)
{
    const struct job *job = c->job;
    const char *command = job->reference.command;
    size_t length = strcspn(command, " \t\n'\"|&;<>()$`=");
    char *word = text_format("%.*s", (int)length, command), *path = text_join_path(job->directory, word), *found = NULL;
    static const char *const builtin[] = {"cd",     "exec", "export", "set",    "if",    "for",   "while",
                                          "{",      ".",    "test",   "[",      "true",  "false", "echo",
                                          "printf", "read", "trap",   "ulimit", "umask", "exit"};
    bool plain = length && (!command[length] || strchr(" \t\n", command[length]));
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++) plain &= strcmp(word, builtin[i]) != 0;
    if (plain && !strchr(word, '/')) found = program_on_path(word);
    if (plain && (strchr(word, '/') ? access(path, X_OK) != 0 : !found))
        check_add(&c->mistakes, job_location(job, "reference.command"), "there is no program '%s'%s", word,
                  strchr(word, '/') ? "" : " on the PATH");
    free(found);
    free(word);
    free(path);
}

static void check_constant_fills(struct check *c)
{
    for (size_t i = 0; i < c->job->buffer_count && c->job->buffers[i].symbol; i++) {
        const struct buffer *b = &c->job->buffers[i];
        if (b->fill.kind == FILL_NPY && b->fill.path)
            check_values(c, job_location(c->job, "constants[%zu].fill", i), b->fill.path, b);
    }
}

void check_files(struct check *c)
{
    const struct job *job = c->job;
    const struct reference *r = &job->reference;
    check_constant_fills(c);
    for (size_t s = 0; s < job->stage_count; s++) check_fills(c, s, &job->stages[s]);
    for (size_t i = 0; i < r->file_count; i++)
        for (size_t b = 0; b < job->buffer_count; b++)
            if (!strcmp(job->buffers[b].name, r->files[i].buffer))
                check_values(c, job_location(job, "reference.files.%s", r->files[i].buffer), r->files[i].path,
                             &job->buffers[b]);
    for (size_t b = 0; b < job->buffer_count && r->kind == REFERENCE_NPY; b++) {
        const struct buffer *buffer = &job->buffers[b];
        bool output = buffer->direction == DIRECTION_OUT || buffer->direction == DIRECTION_INOUT, given = false;
        for (size_t i = 0; i < r->file_count; i++) given |= !strcmp(buffer->name, r->files[i].buffer);
        if (output && !given)
            check_add(&c->mistakes, job_location(job, "reference.files"),
                      "no file has the expected values of buffer '%s'", buffer->name);
    }
    if (r->kind == REFERENCE_COMMAND) check_command(c);
    check_libraries(c);
}
