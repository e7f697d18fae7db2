// sweetspot completion: what a shell needs to complete sweetspot's command lines (completion.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/completion.h"

static const struct completion_shell *const shells[] = {&completion_bash, &completion_zsh, &completion_fish};
enum { SHELLS = sizeof shells / sizeof *shells };

struct completion_writer {
    const struct completion_shell *shell;
    const char *command;
};

static void write_command(void *user, const struct option_spec *specs, const char *description)
{
    const struct completion_writer *w = user;
    (void)description;
    w->shell->command(stdout, w->command, specs);
}

int cmd_completion(int argc, char **argv)
{
    const char *name = NULL, *names[SHELLS + 1] = {NULL};
    for (size_t i = 0; i < SHELLS; i++) names[i] = shells[i]->name;
    const struct option_spec specs[] = {
        {.name = "SHELL", .positional = true, .string = &name, .choices = names, .help = "bash, zsh or fish"},
        OPTION_END,
    };
    int status =
        options_parse(specs,
                      "Prints the completion script of a shell for sweetspot's command lines; `make install` puts it "
                      "where the shells look. For one session of bash: source <(sweetspot completion bash)",
                      argc, argv);
    if (status >= 0) return status;
    size_t i = 0;
    while (i < SHELLS && strcmp(shells[i]->name, name) != 0) i++;
    if (i == SHELLS) {
        char *text = text_unknown("shell", name, names);
        fprintf(stderr, "sweetspot completion: %s\n", text);
        free(text);
        return EXIT_USAGE;
    }
    shells[i]->begin(stdout, completion_commands());
    for (const struct command *command = completion_commands(); command->name; command++)
        options_visit(command->run, command->name, write_command,
                      &(struct completion_writer){shells[i], command->name});
    shells[i]->end(stdout);
    return EXIT_DONE;
}
