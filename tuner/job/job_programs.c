// A reference that is a program of the user's: a library or a command. A library may be given by its source, which the
// compile worker builds.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/job/job_parts.h"

static char *copy_or_null(const char *text)
{
    return text ? text_copy(text) : NULL;
}

char *load_library(struct reader *r, const struct job *job, const struct node *group, const char *setting)
{
    const char *given = reader_string(r, group, setting);
    char *path = text_join_path(job->directory, given ? given : "");
    if (given && access(path, R_OK))
        reader_mistake(r, node_member(group, "library"), "cannot read library '%s'", given);
    return path;
}

void load_library_options(struct reader *r, const struct node *group, const char *setting, char ***options,
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
    load_library_options(r, n, "reference.options", &to->options, &to->option_count);
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
