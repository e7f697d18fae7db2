// Completion of command lines, for a shell: written from the tables that the program parses by, so that it is never
// out of date. One file per shell; cmd_completion.c has the list.
#ifndef SWEETSPOT_COMPLETION_H
#define SWEETSPOT_COMPLETION_H

#include <stdio.h>

#include "tuner/cli/commands.h"
#include "tuner/cli/options.h"

struct completion_shell {
    const char *name;
    void (*begin)(FILE *, const struct command *const *all);                  // before the commands
    void (*command)(FILE *, const char *command, const struct option_spec *); // one command
    void (*end)(FILE *);
};

extern const struct completion_shell completion_bash, completion_zsh, completion_fish;

// The options that all commands have, besides those of their tables.
#define COMPLETION_HELP                                                            \
    {                                                                              \
        .name = "help", .letter = 'h', .flag = NULL, .help = "print this and exit" \
    }

// What can stand for the value of an option or a positional argument.
enum completion_value { COMPLETION_NONE, COMPLETION_ANY, COMPLETION_FILE, COMPLETION_FOLDER, COMPLETION_CHOICES };
enum completion_value completion_value(const struct option_spec *);

// Writes text inside single quotes, with `escaped` characters preceded by a backslash.
void completion_put_quoted(FILE *, const char *text, const char *escaped);

#endif
