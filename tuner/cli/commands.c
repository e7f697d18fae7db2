// See commands.h. The order is that of --help: the three that do the work, then those that help with it.
#include "tuner/cli/commands.h"

#include <string.h>

#include "tuner/base/text.h"

const struct command commands[] = {
    {"tune", cmd_tune, "search for the fastest configuration; goes on where it stopped"},
    {"header", cmd_header, "write the winner as a C header"},
    {"compare", cmd_compare, "the winner against the baselines, with confidence intervals"},
    {"report", cmd_report, "one page that shows all results: times, parameters, failures, counters"},
    {"judge", cmd_judge, "everything about one kernel: right or wrong, and how fast"},
    {"profile", cmd_profile, "why a candidate is fast or slow: counters, source lines, findings"},
    {"limiter", cmd_limiter, "whether memory, arithmetic or latency limits a candidate"},
    {"status", cmd_status, "how far a job is, and its best so far"},
    {"check", cmd_check, "report every mistake of a job file"},
    {"space", cmd_space, "size of the search space, and what each constraint removes"},
    {"replay", cmd_replay, "run search strategies against recorded spaces"},
    {"export", cmd_export, "write all trials of a job as a recorded space"},
    {"import", cmd_import, "convert a recorded space of another tuner"},
    {"list", cmd_list, "what can be chosen: strategies, operations, metric sets, settings of a job file"},
    {"metrics", cmd_metrics, "list the hardware counters of a chip"},
    {"devices", cmd_devices, "list the GPUs that can be tuned for"},
    {"doctor", cmd_doctor, "what works on this machine, and how to mend the rest"},
    {"man", cmd_man, "print manual pages"},
    {"completion", cmd_completion, "print what completes command lines in bash, zsh or fish"},
    {NULL, NULL, NULL},
};
const size_t command_count = sizeof commands / sizeof *commands - 1;

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (!strcmp(command->name, name)) return command;
    return NULL;
}

const char *command_nearest(const char *name)
{
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < command_count; i++) names[i] = commands[i].name;
    names[command_count] = NULL;
    return text_nearest(name, names);
}
