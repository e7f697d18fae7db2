// The commands of `sweetspot`: one file cmd_<name>.c each, one line each in the table below.
#ifndef SWEETSPOT_COMMANDS_H
#define SWEETSPOT_COMMANDS_H

#include <stddef.h>

#include "tuner/base/installation.h"

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

// Every command, with the line that --help prints of it, in that order: those that do the work, then those that help
// with it. The function is cmd_<name>.
// clang-format off
#define COMMANDS(x) \
    x(tune, "search for the fastest configuration; goes on where it stopped") \
    x(header, "write the winner as a C header") \
    x(compare, "the winner against the baselines, with confidence intervals") \
    x(report, "write one page with all results: times, parameters, failures, counters") \
    x(judge, "check one kernel: right or wrong, and how fast") \
    x(profile, "why a candidate is fast or slow: counters, source lines, findings") \
    x(limiter, "whether memory, arithmetic or latency limits a candidate") \
    x(status, "how far a job is, and its best so far") \
    x(init, "draft a job file for a kernel, as far as its source tells") \
    x(check, "report every mistake of a job file") \
    x(space, "size of the search space, and what each constraint removes") \
    x(replay, "run search strategies against recorded spaces") \
    x(export, "write all trials of a job as a recorded space") \
    x(import, "convert a recorded space of another tuner") \
    x(list, "what can be chosen: strategies, operations, metric sets, settings of a job file") \
    x(metrics, "list the hardware counters of a chip") \
    x(devices, "list the GPUs that can be tuned for") \
    x(doctor, "what works on this machine, and how to fix the rest") \
    x(man, "print manual pages") \
    x(completion, "print the completion script for bash, zsh or fish")
// clang-format on

#define DECLARE(name, summary) int cmd_##name(int argc, char **argv);
COMMANDS(DECLARE)
#undef DECLARE

#endif
