// sweetspot init: a job file for a kernel, guessed from its source (tuner/init).
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/init/job_draft.h"

static struct {
    const char *path, *kernel, *output;
    bool force;
} given;

static const struct option_spec specs[] = {
    {.name = "SOURCE", .positional = true, .string = &given.path, .help = "CUDA C++ source with the kernel"},
    {.name = "kernel",
     .letter = 'k',
     .string = &given.kernel,
     .shown = "NAME",
     .help = "the kernel to tune (the only one of the source)"},
    {.name = "output",
     .letter = 'o',
     .string = &given.output,
     .shown = "FILE",
     .help = "the job file to write; -: standard output (SOURCE with .cfg for its ending)"},
    {.name = "force", .flag = &given.force, .help = "replace a job file that is there"},
    OPTION_END,
};

enum { MOST_INCLUDED = 64 };

// The files that a source includes, and what they include, as far as they lie beside each other.
struct included {
    size_t count;
    char *paths[MOST_INCLUDED];
    struct cuda_file files[MOST_INCLUDED];
};

static void read_included(struct included *all, const struct cuda_file *file, const char *path)
{
    char *folder = text_directory(path);
    for (size_t i = 0; i < file->include_count && all->count < MOST_INCLUDED; i++) {
        char *wanted = text_join_path(folder, file->includes[i]), *text = NULL;
        bool known = false;
        for (size_t k = 0; k < all->count; k++) known |= !strcmp(all->paths[k], wanted);
        if (!known) text = text_read_file(wanted, NULL);
        if (!text) {
            free(wanted);
            continue;
        }
        size_t mine = all->count++;
        all->paths[mine] = wanted;
        cuda_file_init(&all->files[mine], text);
        read_included(all, &all->files[mine], wanted);
    }
    free(folder);
}

static void release_included(struct included *all)
{
    for (size_t i = 0; i < all->count; i++) {
        cuda_file_release(&all->files[i]);
        free(all->paths[i]);
    }
    free(all);
}

static const char *last_part(const char *name)
{
    const char *part = strrchr(name, ':');
    return part ? part + 1 : name;
}

static const struct cuda_kernel *find_kernel(const struct cuda_file *file, const char *path, const char *name)
{
    if (!file->kernel_count) {
        fprintf(stderr, "sweetspot: '%s' defines no kernel (__global__ function)\n", path);
        return NULL;
    }
    bool one = true; // several of one name are alternatives under #if
    for (size_t i = 1; i < file->kernel_count; i++) one &= !strcmp(file->kernels[i].name, file->kernels[0].name);
    if (!name && one) return &file->kernels[0];
    for (size_t i = 0; name && i < file->kernel_count; i++)
        if (!strcmp(file->kernels[i].name, name) || !strcmp(last_part(file->kernels[i].name), name))
            return &file->kernels[i];
    if (!name) {
        fprintf(stderr, "sweetspot: '%s' has several kernels; choose one with --kernel:\n", path);
        for (size_t i = 0; i < file->kernel_count; i++)
            fprintf(stderr, "  %s (line %d)\n", file->kernels[i].name, file->kernels[i].line);
        return NULL;
    }
    const char **names = memory_new(file->kernel_count + 1, sizeof *names);
    for (size_t i = 0; i < file->kernel_count; i++) names[i] = file->kernels[i].name;
    char *message = text_unknown("kernel", name, names);
    fprintf(stderr, "sweetspot: %s: %s\n", path, message);
    free(message);
    free(names);
    return NULL;
}

static bool same_arguments(const struct cuda_kernel *a, const struct cuda_kernel *b)
{
    if (a->argument_count != b->argument_count) return false;
    for (size_t i = 0; i < a->argument_count; i++) {
        const struct cuda_argument *x = &a->arguments[i], *y = &b->arguments[i];
        if (strcmp(x->type, y->type) != 0 || x->stars != y->stars || x->reference != y->reference) return false;
    }
    return true;
}

// A kernel with the same arguments that the tuned one can be held against: one that is called simple, else the only
// one.
static const struct cuda_kernel *find_reference(const struct cuda_file *file, const struct cuda_kernel *tuned)
{
    static const char *const simple[] = {"naive", "reference", "simple", "baseline", "_ref", "slow", "kernel1"};
    const struct cuda_kernel *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct cuda_kernel *k = &file->kernels[i];
        if (k == tuned || !strcmp(k->name, tuned->name) || !same_arguments(k, tuned)) continue;
        for (size_t s = 0; s < sizeof simple / sizeof *simple; s++)
            if (strcasestr(k->name, simple[s])) return k;
        found = k;
        count++;
    }
    return count == 1 ? found : NULL;
}

// The path of a file as seen from a folder. malloc'ed.
static char *path_from(const char *folder, const char *path)
{
    char *here = getcwd(NULL, 0);
    if (!here) return text_copy(path);
    char *from = text_join_path(here, folder), *to = text_join_path(here, path), *up = text_copy("");
    size_t same = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/') same = i + 1;
    if (!strncmp(from, to, strlen(from)) && to[strlen(from)] == '/') same = strlen(from) + 1;
    for (const char *rest = same > strlen(from) ? "" : from + same; *rest; rest++) {
        if (rest != from + same && *rest != '/') continue;
        char *longer = text_format("%s../", up);
        free(up);
        up = longer;
    }
    char *result = same > 1 ? text_format("%s%s", up, to + same) : text_copy(to);
    free(from);
    free(to);
    free(up);
    free(here);
    return result;
}

// The file's name without folder and ending, as a job may be called. malloc'ed.
static char *job_name(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    const char *dot = strrchr(base, '.');
    int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    char *name = text_format("%.*s", length > 100 ? 100 : length, base);
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (char *c = name; *c; c++)
        if (!strchr(known, *c)) *c = '_';
    return name;
}

static int write_draft(FILE *f, void *draft, struct error *err)
{
    (void)err;
    job_draft_write(f, draft);
    return 0;
}

static int write_job(const struct cuda_file *file, const char *path, const struct cuda_kernel *kernel,
                     const char *output)
{
    struct included *included = memory_new(1, sizeof *included);
    read_included(included, file, path);
    const struct cuda_kernel *simple = find_reference(file, kernel);
    struct guess guess, reference;
    guess_kernel(&guess, file, kernel, included->files, included->count);
    if (simple) guess_kernel(&reference, file, simple, included->files, included->count);
    char *folder = output_is_stdout(output) ? text_copy(".") : text_directory(output);
    char *name = job_name(output_is_stdout(output) ? path : output), *template = path_from(folder, path);
    struct job_draft draft = {name, template, &guess, simple ? &reference : NULL};
    struct error err;
    int status = output_file_write(output, write_draft, &draft, &err);
    if (status)
        fprintf(stderr, "sweetspot: %s\n", err.message);
    else if (!output_is_stdout(output))
        fprintf(stderr,
                "sweetspot: written to %s; look at what it marks `guess:` and `fill in:`, then run: sweetspot "
                "check %s --compile 10\n",
                output, output);
    free(name);
    free(template);
    free(folder);
    guess_release(&guess);
    if (simple) guess_release(&reference);
    release_included(included);
    return status ? EXIT_ENVIRONMENT : EXIT_DONE;
}

static int run(void)
{
    char *text = text_read_file(given.path, NULL);
    if (!text) {
        fprintf(stderr, "sweetspot: cannot read '%s': %s\n", given.path, strerror(errno));
        return EXIT_USAGE;
    }
    const char *base = strrchr(given.path, '/'), *dot = strrchr(base ? base : given.path, '.');
    char *beside = text_format("%.*s.cfg", (int)(dot ? (size_t)(dot - given.path) : strlen(given.path)), given.path);
    if (!given.output) given.output = beside;
    struct cuda_file file;
    cuda_file_init(&file, text);
    const struct cuda_kernel *kernel = find_kernel(&file, given.path, given.kernel);
    int status = EXIT_USAGE;
    if (kernel && !given.force && !output_is_stream(given.output) && !access(given.output, F_OK))
        fprintf(stderr, "sweetspot: '%s' is there already; --output names another file, --force replaces it\n",
                given.output);
    else if (kernel)
        status = write_job(&file, given.path, kernel, given.output);
    cuda_file_release(&file);
    free(beside);
    return status;
}

const struct command cmd_init = {
    .name = "init",
    .summary = "write a job file for a kernel, guessed from its source",
    .description = "Writes a job file for a kernel, as far as its source tells.",
    .options = specs,
    .run = run,
    .more = "What the program cannot know is marked in the file: `guess:` may be wrong (sizes, shapes, values, the "
            "launch), `fill in:` is left to do. Tuned are macros that the source does not define, macros with a "
            "default behind an `#ifndef`, the values of a template's parameters, and the block of a kernel that uses "
            "blockDim. A kernel of the same arguments that is called naive or the like becomes the reference. No "
            "compiler is run: conditional parts of the source are read as if all of them were there.",
    .see = "check tune",
};
