// sweetspot list: what a job file or a command line can name, with every option, role, bound and unit. Everything comes
// from the tables that the program itself uses: strategies, fields and units here, the others in list_*.c.

#include "search/strategies/strategy.h"
#include "tuner/base/base.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"
#include "tuner/trial/trial_field.h"

static const char *kind, *name, *chip;
static int format = FORMAT_TABLE;

static int list_strategies(const char *wanted, int as)
{
    static const struct row_column columns[] = {
        COLUMN_OF("strategy", "name"), COLUMN_OF("what it does", "summary"), {0}};
    struct error err;
    if (wanted && !strategy_choose(wanted, &err)) // which knows those that were removed
        return command_refuse("%s", err.message);
    json_t *all = json_array();
    for (const struct strategy_class *const *s = strategy_classes; *s; s++)
        json_array_append_new(all, json_pack("{s:s, s:s}", "name", (*s)->name, "summary", (*s)->summary));
    return list_entries("strategy", all, columns, wanted, as, "");
}

// What measures a field; "" where the driver knows it by itself.
static const char *source_name(const struct trial_field *f)
{
    if (f->flags & FIELD_DERIVED) return "derived";
    return f->flags & FIELD_COMPILER ? "compiler" : f->flags & FIELD_GPU ? "GPU" : "";
}

// A name may exist at several levels.
static int list_fields(const char *wanted, int as)
{
    static const struct row_column columns[] = {
        COLUMN("level"),  COLUMN_OF("field", "name"), COLUMN("unit"),    COLUMN("kind"),
        COLUMN("source"), COLUMN("recorded"),         COLUMN("meaning"), {0}};
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    json_t *all = json_array();
    for (const struct trial_field *f = fields; f < fields + count; f++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "level", field_level_name(f->level),
                                             "name", f->name, "unit", f->unit, "kind", field_kind_name(f->kind),
                                             "source", source_name(f), "recorded", (int)(f->flags & FIELD_RECORDED),
                                             "meaning", f->meaning));
    return list_entries("field", all, columns, wanted, as, "");
}

static const char *architectures(const struct execution_unit *p)
{
    enum { EVERY_LATER = 1000 };
    static char text[32];
    if (!p->from) return "all";
    snprintf(text, sizeof text, p->to > EVERY_LATER ? "sm_%d and later" : "sm_%da", p->from);
    return text;
}

static json_t *unit_json(const struct execution_unit *p)
{
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:s?, s:s, s:s}", "name", p->name, "unit", p->unit, "architectures",
                     architectures(p), "arithmetic", (int)p->arithmetic, "lasting", (int)p->lasts, "ceiling", p->key,
                     "meaning", p->gloss, "measured", p->how);
}

static char *unit_text(const json_t *pipe)
{
    return text_format("%s/s", json_get_string(pipe, "unit", ""));
}

static int list_units(const char *wanted, int as)
{
    static const struct row_column columns[] = {COLUMN_OF("pipe", "name"), COLUMN_TEXT("unit", unit_text),
                                                COLUMN("architectures"),   COLUMN("meaning"),
                                                COLUMN("measured"),        {0}};
    json_t *all = json_array();
    for (int i = 0; i < UNIT_COUNT; i++) json_array_append_new(all, unit_json(&execution_units[i]));
    return list_entries("pipe", all, columns, wanted, as,
                        "\nwork = { flops = \"..\"; pipe = \"NAME\"; }; in a job file names the one that its "
                        "arithmetic is measured against.\n");
}

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
    if (!names[i]) return command_refuse_unknown("kind", kind, names);
    if (!chip || functions[i] == list_counters_of_chip) return functions[i](name, format);
    return command_refuse("--chip goes with counters");
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
            "work, architectures, and how its ceiling is measured.\n\n"
            "`settings`: the settings of a job file; each one's type, default, range and meaning. NAME is a setting, a "
            "group, or the last part of a name. `docs/job-file.md` has an example of each.",
    .see = "profile check",
};
