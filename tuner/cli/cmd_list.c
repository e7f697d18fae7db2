// sweetspot list: what a job file or a command line can name, with every option, role, bound and unit. Everything comes
// from the tables that the program itself uses (list_*.c).

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"

static const char *kind, *name, *chip;
static int format = FORMAT_TABLE;

static int list_counters_of_chip(const char *pattern, int as)
{
    return list_counters(pattern, chip, as);
}

#define KINDS(x)                                                                           \
    x(strategies, list_strategies) x(operations, list_operations) x(metrics, list_metrics) \
        x(counters, list_counters_of_chip) x(fields, list_fields) x(units, list_units) x(settings, list_settings)
#define NAME(kind, list) #kind,
static const char *const names[] = {KINDS(NAME) NULL};
#define FUNCTION(kind, list) list,
static int (*const functions[])(const char *name, int format) = {KINDS(FUNCTION) NULL};

static char *all_names(void)
{
    return text_join(names, ", ");
}

static const struct option_spec specs[] = {
    ARGUMENT(string, &kind, "KIND", "what to list", .choices = names, .words = all_names),
    ARGUMENT(string, &name, "NAME",
             "show one of them in detail; for counters, those with this text in their name or key, or a pattern with "
             "* and ?",
             .optional = true),
    OPTION(string, &chip, "chip", 'c', "NAME", "the chip whose counters are listed, e.g. GH100 (the GPU here)"),
    OPTION_FORMAT(&format),
    OPTION_END,
};

static int run(void)
{
    size_t i = 0;
    while (names[i] && strcmp(names[i], kind) != 0) i++;
    if (!names[i]) return list_unknown("kind", kind, names);
    if (!chip || functions[i] == list_counters_of_chip) return functions[i](name, format);
    fprintf(stderr, "sweetspot list: --chip goes with counters\n");
    return EXIT_USAGE;
}

const struct command cmd_list = {
    .name = "list",
    .summary = "available strategies, operations, metric sets, counters, settings of a job file",
    .description = "Lists the available search strategies, operations with their roles, error bounds and baselines, "
                   "metric sets with their hardware counters, all counters of a chip, the fields of a trial, the "
                   "execution units that work is measured against, and the settings of a job file.",
    .options = specs,
    .run = run,
    .more = "`operations`: operations that a kernel can be verified against; each one's roles, error bound, compute "
            "classes and baselines.\n\n"
            "`metrics`: the program's metric sets; each metric's key, hardware metric, unit, meaning and the chips "
            "that it is restricted to. NAME is a set or a key.\n\n"
            "`counters`: the hardware counters of a chip, and the keys under which the metric sets have them. Needs "
            "CUPTI, but no GPU where `--chip` names the chip.\n\n"
            "`fields`: the fields of a trial; each one's unit and meaning.\n\n"
            "`units`: the execution units that a job's work can be measured against (`work.pipe`); each one's unit of "
            "work, architectures, data-sheet peak, and how its ceiling is measured.\n\n"
            "`settings`: the settings of a job file; each one's type, default, range and meaning. NAME is a setting, a "
            "group, or the last part of a name. `docs/job-file.md` has an example of each.",
    .see = "profile check",
};
