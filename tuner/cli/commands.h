// The commands of `sweetspot`. A command consists of a file cmd_<name>.c, which ends with the command's descriptor, and
// one line in the table below.
#pragma once

#include <stddef.h>

#include "tuner/base/installation.h"
#include "tuner/cli/options.h"

#define SWEETSPOT_DATE "2026-11-28" // of the version, shown in manual pages

struct command {
    const char *name;
    const char *summary;     // one line, for the overview
    const char *description; // the text of --help
    const struct option_spec *options;
    int (*run)(void); // called after options are parsed; returns an exit status (protocol.h)
    const char *more; // what the manual page adds to the description, or NULL; see manual.h
    const char *see;  // commands that the page refers to, separated by blanks
};

extern const struct command *const commands[]; // ends with NULL, in the order of --help
extern const size_t command_count;

// Parses a command line (argv[0] is the command's name) and runs the command. Returns its exit status.
int command_run(const struct command *, int argc, char **argv);

// The command with this name, or NULL.
const struct command *command_find(const struct command *const *table, const char *name);
const char *command_nearest(const char *name); // for "did you mean", or NULL
// Returns the replacement for a command of earlier versions ("profile --limits" for limiter), or NULL for other names.
const char *command_renamed(const char *name);

// The same table, for commands whose output covers all commands. It is empty until main hands it over.
// (commands_known.c)
void commands_hand_over(const struct command *const *);
const struct command *const *commands_known(void);

// Every command, in the order of --help: first the commands that do the work, then the commands that help with it. The
// descriptor is cmd_<name>.
// clang-format off
#define COMMANDS(x) \
    x(tune) \
    x(header) \
    x(compare) \
    x(report) \
    x(judge) \
    x(gate) \
    x(profile) \
    x(status) \
    x(init) \
    x(check) \
    x(simulate) \
    x(export) \
    x(import) \
    x(list) \
    x(doctor) \
    x(man) \
    x(completion)
// clang-format on

#define DECLARE(name) extern const struct command cmd_##name;
COMMANDS(DECLARE)
#undef DECLARE
