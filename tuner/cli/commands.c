// See commands.h.
#include "tuner/cli/commands.h"

#define ENTRY(name) &cmd_##name,
const struct command *const commands[] = {COMMANDS(ENTRY) NULL};
const size_t command_count = sizeof commands / sizeof *commands - 1;

int command_run(const struct command *command, int argc, char **argv)
{
    int status = options_parse(command->options, command->description, argc, argv);
    return status >= 0 ? status : command->run();
}

const char *command_renamed(const char *name)
{
    static const char *const renamed[][2] = {{"limiter", "profile --limits"},
                                             {"devices", "doctor"},
                                             {"metrics", "list counters"},
                                             {"space", "list space"},
                                             {"replay", "simulate"}};
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i][0], name)) return renamed[i][1];
    return NULL;
}

const char *command_nearest(const char *name)
{
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < command_count; i++) names[i] = commands[i]->name;
    names[command_count] = NULL;
    return text_nearest(name, names);
}
