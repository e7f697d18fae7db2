// The commands of `sweetspot`: one file cmd_<name>.c each, one line each in the table of commands.c.
#ifndef SWEETSPOT_COMMANDS_H
#define SWEETSPOT_COMMANDS_H

#include <stddef.h>

#ifndef SWEETSPOT_VERSION
#define SWEETSPOT_VERSION "0.1"
#endif
#define SWEETSPOT_DATE "2026-11-22" // of the version, in manual pages

struct command {
    const char *name;
    int (*run)(int argc, char **argv); // argv[0] is the command's name; returns an exit status (protocol.h)
    const char *summary;               // one line for --help
};

extern const struct command commands[]; // ends with a NULL name, in the order of --help
extern const size_t command_count;

const struct command *command_find(const char *name); // or NULL
const char *command_nearest(const char *name);        // for "did you mean", or NULL

// The same table, once main has handed it over (empty before), for commands that speak of all (commands_known.c).
void commands_hand_over(const struct command *);
const struct command *commands_known(void);

int cmd_tune(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_header(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_judge(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_limiter(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_space(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_completion(int argc, char **argv);

#endif
