// See draft_job.h.
#include "tuner/cli/draft_job.h"

#include <unistd.h>

#include "tuner/base/input_file.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/init/draft.h"

static const struct cuda_kernel *find_kernel(const struct cuda_file *file, const char *path, const char *name)
{
    if (!file->kernel_count) {
        complain(EXIT_USAGE, "'%s' defines no kernel (__global__ function); name the file that defines it", path);
        return NULL;
    }
    bool one = true; // kernels with the same name are alternatives under #if
    for (size_t i = 1; i < file->kernel_count; i++) one &= !strcmp(file->kernels[i].name, file->kernels[0].name);
    if (!name && one) return &file->kernels[0];
    const struct cuda_kernel *kernel = name ? cuda_file_find_kernel(file, name) : NULL;
    if (kernel) return kernel;
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

// The path of a file relative to a folder. malloc'ed.
static char *path_from(const char *folder, const char *path)
{
    autofree char *here = getcwd(NULL, 0);
    if (!here) return text_copy(path);
    autofree char *from = text_join_path(here, folder), *to = text_join_path(here, path);
    autorelease(text_release) struct text up = {0};
    text_add(&up, "%s", "");
    size_t same = 0;
    for (size_t i = 0; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/') same = i + 1;
    if (!strncmp(from, to, strlen(from)) && to[strlen(from)] == '/') same = strlen(from) + 1;
    for (const char *rest = same > strlen(from) ? "" : from + same; *rest; rest++)
        if (rest == from + same || *rest == '/') text_add(&up, "../");
    return same > 1 ? text_format("%s%s", up.text, to + same) : text_copy(to);
}

// The file's name without its folder and extension, as a valid name for a job. malloc'ed.
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

// Asks the compiler for the kernel's signature. Without a compiler, the draft has more blanks.
static void ask(struct job_draft *d, const char *path)
{
    struct error err;
    autofree char *program = installation_worker("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile"),
                  *source = text_join_path(".", path);
    char *argv[] = {program, NULL};
    if (job_draft_ask(d, source, argv, &err))
        fprintf(stderr, "sweetspot: no compiler can report the kernel's arguments: %s\n", err.message);
}

// Reads "n=16777216" from --size or --parameter. -1 after a message.
static int answer_pairs(struct job_draft *d, const char *what, const struct option_list *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        const char *equals = strchr(pairs->items[i], '=');
        if (!equals) return command_refuse("--%s: '%s' is not NAME=VALUE", what, pairs->items[i]), -1;
        autofree char *name = text_format("%.*s", (int)(equals - pairs->items[i]), pairs->items[i]);
        job_draft_answer(d, what, name, equals + 1);
    }
    return 0;
}

static int answer(struct job_draft *d, const struct draft_request *r)
{
    const char *semicolon = r->launch ? strchr(r->launch, ';') : NULL;
    if (answer_pairs(d, "parameter", &r->parameters) || answer_pairs(d, "size", &r->sizes)) return -1;
    if (r->reference) job_draft_answer(d, "reference", "", r->reference);
    if (!r->launch) return 0;
    if (!semicolon) return command_refuse("--launch needs 'GRID; BLOCK', such as 'ceil_div(n, BLOCK); BLOCK'"), -1;
    autofree char *grid = text_format("%.*s", (int)(semicolon - r->launch), r->launch);
    job_draft_answer(d, "launch", "grid", grid);
    const char *block = semicolon + 1, *shared = strchr(block, ';');
    autofree char *only = text_format("%.*s", (int)(shared ? (size_t)(shared - block) : strlen(block)), block);
    job_draft_answer(d, "launch", "block", only);
    if (shared && shared[1 + strspn(shared + 1, " ")]) job_draft_answer(d, "launch", "shared", shared + 1);
    return 0;
}

// The next setting that is still unknown, or NULL.
static const struct draft_question *next_question(const struct job_draft *d)
{
    for (size_t i = 0; i < d->dialog.question_count; i++)
        if (!d->dialog.questions[i].value) return &d->dialog.questions[i];
    return NULL;
}

// Asks the user a question. False at the end of the input.
static bool ask_user(struct job_draft *d, const struct draft_question *q)
{
    char line[4096];
    fprintf(stderr, "%s%s%s, %s: ", q->what, *q->name ? " " : "", q->name, q->hint);
    if (!fgets(line, sizeof line, stdin)) return false;
    line[strcspn(line, "\n")] = 0;
    if (*line) job_draft_answer(d, q->what, q->name, line);
    return true;
}

// The option that answers a question, or NULL.
static const char *option_for(const char *what)
{
    static const char *const options[] = {"size NAME=NUMBER", "parameter NAME=VALUES", "reference NAME",
                                          "launch 'GRID; BLOCK'", NULL};
    for (size_t i = 0; options[i]; i++)
        if (!strncmp(options[i], what, strlen(what)) && options[i][strlen(what)] == ' ') return options[i];
    return NULL;
}

static void list_questions(const struct job_draft *d, const char *path)
{
    bool others = false;
    fprintf(stderr, "sweetspot: %s does not specify the following:\n", path);
    for (size_t i = 0; i < d->dialog.question_count; i++) {
        const struct draft_question *q = &d->dialog.questions[i];
        if (q->value) continue;
        const char *option = option_for(q->what);
        others |= !option;
        fprintf(stderr, "  %s%s%s: %s%s%s\n", q->what, *q->name ? " " : "", q->name, q->hint, option ? "; give --" : "",
                option ? option : "");
    }
    if (others)
        fprintf(stderr, "If an option is not enough, `sweetspot init %s` writes a job file to fill in.\n", path);
}

static void print_assumptions(const struct job_draft *d, const char *path, const char *output)
{
    fprintf(stderr, "sweetspot: wrote %s; assumed, because %s does not specify it:\n", output, path);
    for (size_t i = 0; i < d->dialog.question_count; i++) {
        const struct draft_question *q = &d->dialog.questions[i];
        if (!q->assumed) continue;
        autofree char *what = text_format("%s%s%s", q->what, *q->name ? " " : "", q->name);
        fprintf(stderr, "  %-24s %s\n", what, q->value);
    }
    fprintf(stderr, "  %-24s %s\n", "errors", "the default bound; `verification` sets another");
}

static char *draft_text(struct job_draft *d, const char *name, const char *template)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    job_draft_write(f, d, name, template);
    fclose(f);
    return text;
}

static int write_text(FILE *f, void *user, struct error *err)
{
    (void)err;
    fputs(user, f);
    return 0;
}

// Writes the job file once all questions are answered.
static int write_job(const struct draft_request *r, struct job_draft *d, const char *output)
{
    autofree char *folder = output_is_stdout(output) ? text_copy(".") : text_directory(output),
                  *name = job_name(output_is_stdout(output) ? r->path : output), *template = path_from(folder, r->path);
    bool asks = r->assumes && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    autofree char *text = draft_text(d, name, template);
    struct error err;
    for (const struct draft_question *q; asks && !d->dialog.mistake && (q = next_question(d));) {
        size_t known = d->dialog.answer_count;
        if (!*q->what || !ask_user(d, q)) break;
        free(text);
        text = draft_text(d, name, template);
        if (!d->dialog.mistake) continue;
        fprintf(stderr, "%s\n", d->dialog.mistake); // then ask again
        d->dialog.mistake = NULL;
        d->dialog.answer_count = known;
        free(text);
        text = draft_text(d, name, template);
    }
    if (d->dialog.mistake) return complain(EXIT_USAGE, "%s", d->dialog.mistake);
    if (r->assumes && next_question(d)) return list_questions(d, r->path), EXIT_USAGE;
    if (output_file_write(output, write_text, text, &err)) return complain(EXIT_ENVIRONMENT, "%s", err.message);
    if (r->assumes)
        print_assumptions(d, r->path, output);
    else if (!output_is_stdout(output))
        fprintf(stderr,
                "sweetspot: written to %s; fill in its blanks, the strings that begin with ?, which this lists: "
                "sweetspot check %s --compile 10\n",
                output, output);
    return EXIT_DONE;
}

int draft_job(const struct draft_request *r, char **output)
{
    struct error err = {""};
    size_t size;
    char *text = input_file_read(r->path, INPUT_FILE_TEXT_MOST, &size, &err);
    if (!text) return complain(EXIT_USAGE, "%s", err.message);
    const char *dot = strrchr(text_file_name(r->path), '.');
    autorelease(cuda_file_release) struct cuda_file file;
    int status = EXIT_USAGE;
    if (!*output) *output = text_format("%.*s.cfg", (int)(dot ? (size_t)(dot - r->path) : strlen(r->path)), r->path);
    cuda_file_init(&file, text);
    const struct cuda_kernel *kernel = strlen(text) == size ? find_kernel(&file, r->path, r->kernel) : NULL;
    if (strlen(text) != size)
        complain(EXIT_USAGE, "'%s' has a NUL byte: it is not text, or not in UTF-8", r->path);
    else if (kernel && input_file_is_same(r->path, *output)) {
        complain(EXIT_USAGE, "--output is the source itself");
    } else if (kernel && !output_is_stream(*output) && !access(*output, F_OK)) {
        fprintf(stderr,
                r->assumes ? "sweetspot: '%1$s' already exists; to continue with it: sweetspot tune %1$s\n"
                           : "sweetspot: '%1$s' already exists; remove it first, or name another file with --output\n",
                *output);
    } else if (kernel) {
        autorelease(job_draft_release) struct job_draft draft;
        job_draft_open(&draft, &file, kernel, r->path);
        draft.dialog.assumes = r->assumes;
        status = answer(&draft, r) ? EXIT_USAGE : EXIT_DONE;
        if (!status && draft.dialog.mistake) status = complain(EXIT_USAGE, "%s", draft.dialog.mistake);
        if (!status) ask(&draft, r->path);
        if (!status) status = write_job(r, &draft, *output);
    }
    return status;
}
