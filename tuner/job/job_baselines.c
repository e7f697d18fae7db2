// Programs of the user's that candidates are compared with: functions in libraries.
#include <ctype.h>
#include <string.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

// Names that other entries of a final have, or may have; the header makes macros of them.
static bool is_taken(const struct job *job, const char *name)
{
    const struct operation *op = job->reference.operation ? operation_find(job->reference.operation, NULL) : NULL;
    bool taken = !strcmp(name, CURRENT_KERNEL) || (op && operation_baseline(op, name));
    static const char *const words[] = {"best", "runner-up", "tuned", NULL};
    for (int i = 0; words[i]; i++) taken |= !strcmp(name, words[i]);
    for (size_t i = 0; i < job->baseline_count; i++) taken |= !strcasecmp(name, job->baselines[i].name);
    return taken;
}

// Part of a macro in the header.
static bool is_name(const char *name)
{
    bool good = isalpha((unsigned char)*name);
    for (const char *c = name; *c; c++) good &= isalnum((unsigned char)*c) || *c == '_';
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

// A program has no variables of the module, and writes what it is given.
static void check_outputs_given(struct reader *r, const struct job *job, const struct node *n, const char *name,
                                const struct stage *stage)
{
    for (size_t i = 0; i < job->buffer_count && stage->argument_count; i++) {
        const struct buffer *b = &job->buffers[i];
        size_t k = 0;
        if (b->direction != DIRECTION_OUT && b->direction != DIRECTION_INOUT) continue;
        while (k < stage->argument_count && stage->arguments[k].buffer != (int)i) k++;
        if (k == stage->argument_count)
            reader_mistake(r, n,
                           "baseline '%s' is not given the output '%s': add { buffer = \"%s\"; } to its 'arguments'",
                           name, b->name, b->name);
    }
}

static void load_baseline(struct reader *r, struct job *job, const struct node *n)
{
    struct job_baseline b = {0};
    const char *name = reader_string(r, n, "baselines[].name"), *function = reader_string(r, n, "baselines[].function"),
               *init = reader_string(r, n, "baselines[].init");
    static const char *const required[] = {"name", "library", "function"};
    size_t known = job->buffer_count;
    reader_check_group(r, n, "a baseline", "baselines[]", NULL);
    for (size_t i = 0; i < sizeof required / sizeof *required; i++)
        if (!node_member(n, required[i])) reader_mistake(r, n, "a baseline lacks '%s'", required[i]);
    if (name && !is_name(name))
        reader_mistake(r, node_member(n, "name"),
                       "a baseline's name begins with a letter and has letters, digits and '_'");
    else if (name && is_taken(job, name))
        reader_mistake(r, node_member(n, "name"), "there is another baseline '%s'", name);
    b.name = text_copy(name ? name : "");
    b.library = load_library(r, job, n, "baselines[].library");
    b.function = text_copy(function ? function : "");
    if (init) b.init = text_copy(init);
    load_library_options(r, n, "baselines[].options", &b.options, &b.option_count);
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
    check_views(r, job, n, &stage, 1, false);
    check_outputs_given(r, job, n, b.name, &stage);
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
