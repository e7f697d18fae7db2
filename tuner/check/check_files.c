// Files that a job names: .npy files of inputs and of expected values, and a reference's library. See check.h.
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/check/check.h"
#include "tuner/gpu/npy.h"

static char *shape_text(const struct npy *npy)
{
    char *text = text_copy("");
    for (size_t i = 0; i < npy->dimensions; i++) {
        char *longer = text_format("%s%s%zu", text, i ? " x " : "", npy->shape[i]);
        free(text);
        text = longer;
    }
    return text;
}

// Values of a buffer from a file, for every problem.
static void check_values(struct check *c, struct place at, const char *path, const struct buffer *b)
{
    const struct job *job = c->job;
    struct npy npy;
    struct error err;
    if (npy_read_head(&npy, path, &err)) {
        check_add(&c->mistakes, at, "%s", err.message);
        npy_release(&npy);
        return;
    }
    char *shape = shape_text(&npy);
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
                      npy.count, shape, b->name, job->problems[p].name, rows, cols);
            break;
        }
        if (npy.dimensions > 1 && rows > 1 && npy.shape[npy.dimensions - 1] != (size_t)cols) {
            check_add(&c->doubts, at,
                      "'%s' is %s, but buffer '%s' of problem %s is %" PRId64 " x %" PRId64
                      ": is it a transposed array?",
                      path, shape, b->name, job->problems[p].name, rows, cols);
            break;
        }
    }
    free(values);
    free(shape);
    npy_release(&npy);
}

static void check_fills(struct check *c, size_t stage, const struct stage *s)
{
    char *list = check_stage_path(c->job, stage, "arguments");
    for (size_t i = 0; i < s->argument_count; i++) {
        struct place at = job_place(c->job, "%s[%zu].fill", list, i);
        const struct argument *a = &s->arguments[i];
        const struct buffer *b = a->buffer >= 0 ? &c->job->buffers[a->buffer] : NULL;
        char *path = text_format("%s[%zu].fill", list, i);
        bool here = false; // a buffer is declared once
        for (size_t k = 0; k < c->job->place_count && !here; k++) here = !strcmp(c->job->places[k].path, path);
        if (b && here && b->fill.kind == FILL_NPY && b->fill.path) check_values(c, at, b->fill.path, b);
        free(path);
    }
    free(list);
}

// What is read of a shared library.
struct library {
    unsigned char *bytes;
    size_t size, function_count;
    const char **functions; // that it defines; ends with NULL
};

// Why it is no shared library of this machine, static text; NULL: it is one.
static const char *read_library(struct library *l)
{
    Elf64_Ehdr head, own;
    if (l->size < sizeof head) return "is not a shared library";
    memcpy(&head, l->bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return "is not a shared library";
    size_t own_size;
    char *program = text_read_file("/proc/self/exe", &own_size);
    bool same = !program || own_size < sizeof own;
    if (!same) {
        memcpy(&own, program, sizeof own);
        same = own.e_machine == head.e_machine && own.e_ident[EI_CLASS] == head.e_ident[EI_CLASS];
    }
    free(program);
    if (!same) return "is a library for another kind of machine";
    if (head.e_type != ET_DYN) return "is not a shared library: link it with -shared";
    if (head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > l->size ||
        head.e_shnum > (l->size - head.e_shoff) / sizeof(Elf64_Shdr))
        return "is cut off";
    for (size_t i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr table, names;
        memcpy(&table, l->bytes + head.e_shoff + i * sizeof table, sizeof table);
        if (table.sh_type != SHT_DYNSYM || table.sh_link >= head.e_shnum) continue;
        memcpy(&names, l->bytes + head.e_shoff + table.sh_link * sizeof names, sizeof names);
        if (table.sh_offset > l->size || table.sh_size > l->size - table.sh_offset || names.sh_offset > l->size ||
            names.sh_size > l->size - names.sh_offset)
            return "is cut off";
        const char *text = (const char *)l->bytes + names.sh_offset;
        for (size_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); k++) {
            Elf64_Sym symbol;
            memcpy(&symbol, l->bytes + table.sh_offset + k * sizeof symbol, sizeof symbol);
            unsigned type = ELF64_ST_TYPE(symbol.st_info);
            if (symbol.st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC) ||
                symbol.st_name >= names.sh_size || !memchr(text + symbol.st_name, 0, names.sh_size - symbol.st_name))
                continue;
            l->functions = memory_grow(l->functions, l->function_count + 2, sizeof *l->functions);
            l->functions[l->function_count++] = text + symbol.st_name;
            l->functions[l->function_count] = NULL;
        }
    }
    return NULL;
}

static void check_library(struct check *c)
{
    const struct reference *r = &c->job->reference;
    struct place at = job_place(c->job, "reference.library"), function = job_place(c->job, "reference.function");
    struct library l = {0};
    l.bytes = (unsigned char *)text_read_file(r->library, &l.size);
    if (!l.bytes) return; // said by the reader
    const char *wrong = read_library(&l), *mangled = NULL;
    bool found = false;
    char *part = text_format("%zu%s", strlen(r->function), r->function);
    for (size_t i = 0; i < l.function_count; i++) {
        found |= !strcmp(l.functions[i], r->function);
        if (!strncmp(l.functions[i], "_Z", 2) && strstr(l.functions[i], part)) mangled = l.functions[i];
    }
    const char *nearest = l.functions ? text_nearest(r->function, l.functions) : NULL;
    if (wrong)
        check_add(&c->mistakes, at, "'%s' %s", r->library, wrong);
    else if (!found && mangled)
        check_add(&c->mistakes, function,
                  "library '%s' has the function '%s' only under C++'s name '%s': declare it extern \"C\"", r->library,
                  r->function, mangled);
    else if (!found)
        check_add(&c->mistakes, function, "library '%s' has no function '%s'%s%s%s", r->library, r->function,
                  nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(part);
    free(l.functions);
    free(l.bytes);
}

static void check_constant_fills(struct check *c)
{
    for (size_t i = 0; i < c->job->buffer_count && c->job->buffers[i].symbol; i++) {
        const struct buffer *b = &c->job->buffers[i];
        if (b->fill.kind == FILL_NPY && b->fill.path)
            check_values(c, job_place(c->job, "constants[%zu].fill", i), b->fill.path, b);
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
                check_values(c, job_place(job, "reference.files.%s", r->files[i].buffer), r->files[i].path,
                             &job->buffers[b]);
    for (size_t b = 0; b < job->buffer_count && r->kind == REFERENCE_NPY; b++) {
        const struct buffer *buffer = &job->buffers[b];
        bool output = buffer->direction == DIRECTION_OUT || buffer->direction == DIRECTION_INOUT, given = false;
        for (size_t i = 0; i < r->file_count; i++) given |= !strcmp(buffer->name, r->files[i].buffer);
        if (output && !given)
            check_add(&c->mistakes, job_place(job, "reference.files"), "no file has the expected values of buffer '%s'",
                      buffer->name);
    }
    if (r->kind == REFERENCE_LIBRARY) check_library(c);
}
