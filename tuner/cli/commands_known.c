// The table of commands, for commands whose output covers all of them (commands.h). The table refers to the commands'
// functions, so these functions cannot refer to the table; main hands it over.
#include "tuner/cli/commands.h"

#include <string.h>

static const struct command *const none[] = {NULL}, *const *known = none;

void commands_hand_over(const struct command *const *table)
{
    known = table;
}

const struct command *const *commands_known(void)
{
    return known;
}

const struct command *command_find(const struct command *const *table, const char *name)
{
    while (*table && strcmp((*table)->name, name) != 0) table++;
    return *table;
}
