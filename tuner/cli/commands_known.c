// The table of commands for those commands that speak of all of them (commands.h). The table names their functions, so
// they cannot name the table; main hands it over.
#include "tuner/cli/commands.h"

static const struct command none[] = {{0}}, *known = none;

void commands_hand_over(const struct command *table)
{
    known = table;
}

const struct command *commands_known(void)
{
    return known;
}
