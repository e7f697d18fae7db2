// sweetspot completion: what a shell needs to complete sweetspot's command lines (completion.h).

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/completion.h"

static const char *name;

#define SHELLS(x) x(bash) x(zsh) x(fish)
#define NAME(shell) #shell,
static const char *const names[] = {SHELLS(NAME) NULL};
#define SHELL(shell) &completion_##shell,
static const struct completion_shell *const shells[] = {SHELLS(SHELL) NULL};

static const struct option_spec specs[] = {
    ARGUMENT(string, &name, "SHELL", "bash, zsh or fish", .choices = names),
    OPTION_END,
};

static int run(void)
{
    const struct completion_shell *const *shell = shells;
    while (*shell && strcmp((*shell)->name, name) != 0) shell++;
    if (!*shell) {
        char *text = text_unknown("shell", name, names);
        fprintf(stderr, "sweetspot completion: %s\n", text);
        free(text);
        return EXIT_USAGE;
    }
    (*shell)->begin(stdout, commands_known());
    for (const struct command *const *command = commands_known(); *command; command++)
        (*shell)->command(stdout, (*command)->name, (*command)->options);
    (*shell)->end(stdout);
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print the completion script for bash, zsh or fish",
    .description = "Prints the completion script of a shell for sweetspot's command lines; `make install` puts it "
                   "where the shells look. For one session of bash: source <(sweetspot completion bash)",
    .options = specs,
    .run = run,
    .more = "It is made from the same tables as `--help`.",
    .see = "man",
};
