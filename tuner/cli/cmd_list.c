// sweetspot list: what a job file or a command line can name, with every option, role, bound and unit. Everything comes
// from the tables that the program itself uses (list_*.c).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"

static const struct {
    const char *name;
    int (*list)(const char *name, int format); // NULL: list_counters, which also takes a chip
} kinds[] = {
    {"strategies", list_strategies}, {"operations", list_operations}, {"metrics", list_metrics},   {"counters", NULL},
    {"fields", list_fields},         {"pipes", list_pipes},           {"settings", list_settings},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

int cmd_list(int argc, char **argv)
{
    const char *kind = NULL, *name = NULL, *chip = NULL, *names[KINDS + 1] = {NULL};
    int format = FORMAT_TABLE;
    for (size_t i = 0; i < KINDS; i++) names[i] = kinds[i].name;
    char *all = text_join(names, ", "), *help = text_format("what to list: %s", all);
    const struct option_spec specs[] = {
        {.name = "KIND", .positional = true, .string = &kind, .choices = names, .help = help},
        {.name = "NAME",
         .positional = true,
         .optional = true,
         .string = &name,
         .help = "show one of them in detail; of counters, those with this in their name or key, or a pattern with * "
                 "and ?"},
        {.name = "chip",
         .letter = 'c',
         .string = &chip,
         .shown = "NAME",
         .help = "the chip whose counters are listed, e.g. GH100 (the GPU here)"},
        OPTION_FORMAT(&format),
        OPTION_END,
    };
    int status = options_parse(specs,
                               "Lists what can be chosen: search strategies with their options, operations with their "
                               "roles, error bounds and baselines, metric sets with their hardware counters, all "
                               "counters of a chip, the fields of a trial, the pipes that work is measured against, "
                               "and the settings of a job file.",
                               argc, argv);
    free(all);
    free(help);
    if (status >= 0) return status;
    size_t i = 0;
    while (i < KINDS && strcmp(kinds[i].name, kind) != 0) i++;
    if (i == KINDS) return list_unknown("kind", kind, names);
    if (!kinds[i].list) return list_counters(name, chip, format);
    if (!chip) return kinds[i].list(name, format);
    fprintf(stderr, "sweetspot list: --chip goes with counters\n");
    return EXIT_USAGE;
}
