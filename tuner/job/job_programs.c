// Programs of the user's that a job names: the library or the command of its reference, and baselines. A library may be
// given by its source, which the compile worker builds.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

static char *copy_or_null(const char *text)
{
    return text ? text_copy(text) : NULL;
}

// The path of a library that the group names, absolute.
static char *load_library(struct reader *r, const struct job *job, const struct node *group, const char *setting)
{
    const char *given = reader_string(r, group, setting);
    char *path = text_join_path(job->directory, given ? given : "");
    if (given && access(path, R_OK)) reader_mistake(r, node_member(group, "library"), "cannot read library '%s'", given);
    return path;
}

static void load_options(struct reader *r, const struct node *group, const char *setting, char ***options,
                         size_t *count)
{
    const struct node *list = reader_sequence(r, group, setting);
    *options = memory_new(list ? node_count(list) : 0, sizeof **options);
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *option = node_at(list, i);
        if (!node_is_string(option) || node_string(option)[0] != '-')
            reader_mistake(r, option, "an option must be a string that begins with '-'");
        else
            (*options)[(*count)++] = text_copy(node_string(option));
    }
}

void load_reference_library(struct reader *r, struct job *job, const struct node *n)
{
    struct reference *to = &job->reference;
    reader_check_group(r, n, "'reference'", "reference", "library");
    to->kind = REFERENCE_LIBRARY;
    to->library = load_library(r, job, n, "reference.library");
    to->function = copy_or_null(reader_string(r, n, "reference.function"));
    to->generate = copy_or_null(reader_string(r, n, "reference.generate"));
    to->verify = copy_or_null(reader_string(r, n, "reference.verify"));
    to->timeout = reader_duration(r, n, "reference.timeout");
    load_options(r, n, "reference.options", &to->options, &to->option_count);
    if (!to->function && !to->verify)
        reader_mistake(r, n, "'reference' needs the library's 'function', or 'verify' in its place");
}

void load_reference_command(struct reader *r, struct job *job, const struct node *n)
{
    struct reference *to = &job->reference;
    const char *command = reader_string(r, n, "reference.command");
    reader_check_group(r, n, "'reference'", "reference", "command");
    to->kind = REFERENCE_COMMAND;
    to->command = text_copy(command ? command : "");
    to->timeout = reader_duration(r, n, "reference.timeout");
    if (command && !command[strspn(command, " \t\n")])
        reader_mistake(r, node_member(n, "command"), "'command' is empty");
}

// Names that other entries of a final have, or may have.
static bool is_taken(const struct job *job, const char *name)
{
    const struct operation *op = job->reference.operation ? operation_find(job->reference.operation, NULL) : NULL;
    bool taken = !strcmp(name, CURRENT_KERNEL) || (op && operation_baseline(op, name));
    static const char *const words[] = {"best", "runner-up", "tuned", NULL};
    for (int i = 0; words[i]; i++) taken |= !strcmp(name, words[i]);
    for (size_t i = 0; i < job->baseline_count; i++) taken |= !strcmp(name, job->baselines[i].name);
    return taken;
}

static bool is_name(const char *name)
{
    bool good = isalpha((unsigned char)*name);
    for (const char *c = name; *c; c++) good &= isalnum((unsigned char)*c) || strchr("_-.+", *c);
    return good && strlen(name) <= JOB_MAX_NAME;
}

struct stage job_baseline_stage(const struct job *job, size_t baseline)
{
    struct stage stage = job->baselines[baseline].stage;
    if (!stage.argument_count && job->stage_count == 1) {
        stage.arguments = job->stages[0].arguments;
        stage.argument_count = job->stages[0].argument_count;
    }
    return stage;
}

static void load_baseline(struct reader *r, struct job *job, const struct node *n)
{
    struct job_baseline b = {0};
    const char *name = reader_string(r, n, "baselines[].name"), *function = reader_string(r, n, "baselines[].function");
    static const char *const required[] = {"name", "library", "function"};
    size_t known = job->buffer_count;
    reader_check_group(r, n, "a baseline", "baselines[]", NULL);
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!node_member(n, required[i])) reader_mistake(r, n, "a baseline lacks '%s'", required[i]);
    if (name && !is_name(name))
        reader_mistake(r, node_member(n, "name"),
                       "a baseline's name begins with a letter and has letters, digits, '_', '-', '.' and '+'");
    else if (name && is_taken(job, name))
        reader_mistake(r, node_member(n, "name"), "there is another baseline '%s'", name);
    b.name = text_copy(name ? name : "");
    b.library = load_library(r, job, n, "baselines[].library");
    b.function = text_copy(function ? function : "");
    b.init = copy_or_null(reader_string(r, n, "baselines[].init"));
    b.timeout = reader_duration(r, n, "baselines[].timeout");
    load_options(r, n, "baselines[].options", &b.options, &b.option_count);
    b.stage.name = text_copy(b.name);
    b.stage.entry = text_copy(b.function);
    if (node_member(n, "arguments"))
        load_arguments(r, job, n, &b.stage);
    else if (job->stage_count != 1)
        reader_mistake(r, n, "a baseline needs 'arguments', because the job has several stages");
    job->baselines = memory_grow(job->baselines, job->baseline_count + 1, sizeof *job->baselines);
    job->baselines[job->baseline_count++] = b;
    check_own_outputs(r, job, n, b.name, known);
    struct stage stage = job_baseline_stage(job, job->baseline_count - 1);
    check_own_stage(r, job, n, b.name, &stage);
}

void load_baselines(struct reader *r, struct job *job, const struct node *root)
{
    const struct node *list = reader_sequence(r, root, "baselines");
    if (list && node_count(list) > JOB_MAX_BASELINES) {
        reader_mistake(r, list, "'baselines' has %zu programs; at most %d are possible", node_count(list),
                       JOB_MAX_BASELINES);
        return;
    }
    for (size_t i = 0; list && i < node_count(list); i++) {
        const struct node *n = node_at(list, i);
        if (node_is_group(n))
            load_baseline(r, job, n);
        else
            reader_mistake(r, n, "a baseline must be a group { name = ...; library = ...; function = ...; }");
    }
}
