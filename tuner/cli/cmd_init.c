// sweetspot init: a job file for a kernel, as far as its source and the compiler tell (tuner/init).
#include <errno.h>
#include <unistd.h>

#include "tuner/base/base.h"
#include "tuner/base/installation.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"
#include "tuner/init/draft.h"

static struct {
    const char *path, *kernel, *output;
    bool force;
} given;

static const struct option_spec specs[] = {
    ARGUMENT(string, &given.path, "SOURCE", "CUDA C++ source with the kernel"),
    OPTION(string, &given.kernel, "kernel", 'k', "NAME", "the kernel to tune (the only one of the source)"),
    OPTION(string, &given.output, "output", 'o', "FILE",
           "the job file to write; -: standard output (SOURCE with .cfg for its ending)"),
    FLAG(&given.force, "force", 0, "replace a job file that is there"),
    OPTION_END,
};

static const char *last_part(const char *name)
{
    const char *part = strrchr(name, ':');
    return part ? part + 1 : name;
}

static const struct cuda_kernel *find_kernel(const struct cuda_file *file, const char *path, const char *name)
{
    if (!file->kernel_count) {
        complain(EXIT_USAGE, "'%s' defines no kernel (__global__ function)", path);
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
    autofree const char **names = memory_new(file->kernel_count + 1, sizeof *names);
    for (size_t i = 0; i < file->kernel_count; i++) names[i] = file->kernels[i].name;
    autofree char *message = text_unknown("kernel", name, names);
    fprintf(stderr, "sweetspot: %s: %s\n", path, message);
    return NULL;
}

// The path of a file as seen from a folder. malloc'ed.
static char *path_from(const char *folder, const char *path)
{
    autofree char *here = getcwd(NULL, 0);
    if (!here) return text_copy(path);
    autofree char *from = text_join_path(here, folder), *to = text_join_path(here, path);
    struct text up = {0};
    text_add(&up, "%s", "");
    size_t same = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/') same = i + 1;
    if (!strncmp(from, to, strlen(from)) && to[strlen(from)] == '/') same = strlen(from) + 1;
    for (const char *rest = same > strlen(from) ? "" : from + same; *rest; rest++)
        if (rest == from + same || *rest == '/') text_add(&up, "../");
    char *result = same > 1 ? text_format("%s%s", up.text, to + same) : text_copy(to);
    free(up.text);
    return result;
}

// The file's name without folder and ending, as a job may be called. malloc'ed.
static char *job_name(const char *path)
{
    const char *base = text_file_name(path), *dot = strrchr(base, '.');
    int length = (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base));
    char *name = text_format("%.*s", length > 100 ? 100 : length, base);
    static const char known[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    for (char *c = name; *c; c++)
        if (!strchr(known, *c)) *c = '_';
    return name;
}

struct written {
    const struct job_draft *draft;
    const char *name, *template;
};

static int write_draft(FILE *f, void *user, struct error *err)
{
    const struct written *w = user;
    (void)err;
    job_draft_write(f, w->draft, w->name, w->template);
    return 0;
}

// Asks the compiler. Without one, the draft has more blanks.
static void ask(struct job_draft *d, const char *path)
{
    struct error err;
    autofree char *program = installation_worker("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile"),
                  *source = text_join_path(".", path);
    char *argv[] = {program, NULL};
    if (job_draft_ask(d, source, argv, &err))
        fprintf(stderr, "sweetspot: no compiler says what the kernel takes: %s\n", err.message);
}

static int write_job(const struct cuda_file *file, const char *path, const struct cuda_kernel *kernel,
                     const char *output)
{
    struct job_draft draft;
    job_draft_open(&draft, file, kernel, path);
    ask(&draft, path);
    autofree char *folder = output_is_stdout(output) ? text_copy(".") : text_directory(output);
    autofree char *name = job_name(output_is_stdout(output) ? path : output), *template = path_from(folder, path);
    struct written written = {&draft, name, template};
    struct error err;
    int status = output_file_write(output, write_draft, &written, &err);
    if (status)
        fprintf(stderr, "sweetspot: %s\n", err.message);
    else if (!output_is_stdout(output))
        fprintf(stderr,
                "sweetspot: written to %s; fill in its blanks, the strings that begin with ?, which this lists: "
                "sweetspot check %s --compile 10\n",
                output, output);
    job_draft_release(&draft);
    return status ? EXIT_ENVIRONMENT : EXIT_DONE;
}

static int run(void)
{
    char *text = text_read_file(given.path, NULL);
    if (!text) return complain(EXIT_USAGE, "cannot read '%s': %s", given.path, strerror(errno));
    const char *base = strrchr(given.path, '/'), *dot = strrchr(base ? base : given.path, '.');
    autofree char *next_to_it =
        text_format("%.*s.cfg", (int)(dot ? (size_t)(dot - given.path) : strlen(given.path)), given.path);
    if (!given.output) given.output = next_to_it;
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
    return status;
}

const struct command cmd_init = {
    .name = "init",
    .summary = "draft a job file for a kernel from its source",
    .description = "Writes a draft of a job file for a kernel from its source.",
    .options = specs,
    .run = run,
    .more =
        "Parameters are macros that the source does not define, macros with a default after an `#ifndef`, and "
        "parameters of a C++ template. The compiler reports the kernel's arguments. The launch is taken from a "
        "`<<<...>>>` in the source if all of it can be determined. Unknown values become blanks: strings that begin "
        "with `?` and describe the missing value. `check` lists the blanks, and all commands refuse the job until "
        "they are filled in. Without a compiler there are more blanks. All conditional parts of the source are "
        "read.",
    .see = "check tune",
};
