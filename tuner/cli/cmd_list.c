// sweetspot list: lists everything that a job file or a command line can name, with options, roles, bounds and units.
// The lists come from the tables that the program itself uses.
//
// There is one function for each kind. It prints all entries (if `name` is NULL), or one entry with its details, on
// stdout, and returns an exit status. An unknown name is a usage error, and the nearest name is suggested.

#include <fnmatch.h>

#include "kernels/operation.h"
#include "search/strategies/strategy.h"
#include "tuner/base/execution_unit.h"
#include "tuner/base/protocol.h"
#include "tuner/base/table.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/list_space.h"
#include "tuner/job/job_settings.h"
#include "tuner/setup/probe.h"
#include "tuner/trial/metrics.h"
#include "tuner/trial/trial_field.h"

static struct {
    const char *kind, *name, *chip;
    int format;
} given;

// Prints the whole document as JSON, or prints only its objects in `rows` as a table or CSV.
static void print_rows(const json_t *document, const json_t *rows, const struct row_column *columns)
{
    if (given.format == FORMAT_JSON)
        json_print(document, stdout);
    else
        rows_print(rows, columns, given.format == FORMAT_CSV, stdout);
}

// Prints all entries, or those with the name `wanted`. If there are none, the error says "unknown `what`". Takes the
// entries. `note` is printed after a table.
static int list_entries(const char *what, json_t *all, const struct row_column *columns, const char *wanted,
                        const char *note)
{
    autojson json_t *chosen = json_array();
    autofree const char **known = memory_new(json_array_size(all) + 1, sizeof *known);
    size_t k, count = 0;
    json_array_each(all, i, entry) {
        const char *own = json_get_string(entry, "name", "");
        if (!wanted || !strcmp(own, wanted)) json_array_append(chosen, entry);
        for (k = 0; k < count && strcmp(known[k], own) != 0; k++) continue;
        if (k == count) known[count++] = own;
    }
    int status = json_array_size(chosen) ? EXIT_DONE : command_refuse_unknown(what, wanted, known);
    if (status == EXIT_DONE) print_rows(chosen, chosen, columns);
    if (status == EXIT_DONE && given.format == FORMAT_TABLE) fputs(note, stdout);
    json_decref(all);
    return status;
}

// Like command_refuse_unknown, for when there are too many names to list. `how` is the command that lists them.
static int refuse_unknown_of_many(const char *what, const char *name, const char *const *names, const char *how)
{
    const char *nearest = text_nearest(name, names);
    return command_refuse("unknown %s '%s'%s%s%s", what, name, nearest ? "; did you mean '" : " (",
                          nearest ? nearest : how, nearest ? "'?" : ")");
}

static int list_strategies(const char *wanted)
{
    static const struct row_column columns[] = {
        COLUMN_OF("strategy", "name"), COLUMN_OF("what it does", "summary"), {0}};
    struct error err;
    if (wanted && !strategy_choose(wanted, &err)) // reports removed strategies
        return command_refuse("%s", err.message);
    json_t *all = json_array();
    for (const struct strategy_class *const *s = strategy_classes; *s; s++)
        json_array_append_new(all, json_pack("{s:s, s:s}", "name", (*s)->name, "summary", (*s)->summary));
    return list_entries("strategy", all, columns, wanted, "");
}

// Where a field's value comes from; "" if the driver itself knows the value.
static const char *source_name(const struct trial_field *f)
{
    if (f->flags & FIELD_DERIVED) return "derived";
    return f->flags & FIELD_COMPILER ? "compiler" : f->flags & FIELD_GPU ? "GPU" : "";
}

// Lists fields. A name may exist at several levels.
static int list_fields(const char *wanted)
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
    return list_entries("field", all, columns, wanted, "");
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

static int list_units(const char *wanted)
{
    static const struct row_column columns[] = {COLUMN_OF("pipe", "name"), COLUMN_TEXT("unit", unit_text),
                                                COLUMN("architectures"),   COLUMN("meaning"),
                                                COLUMN("measured"),        {0}};
    json_t *all = json_array();
    for (int i = 0; i < UNIT_COUNT; i++) json_array_append_new(all, unit_json(&execution_units[i]));
    return list_entries("pipe", all, columns, wanted,
                        "\nwork = { flops = \"..\"; pipe = \"NAME\"; }; in a job file names the one that its "
                        "arithmetic is measured against.\n");
}

static json_t *setting_json(const struct job_setting *s)
{
    autofree char *type = job_setting_type(s), *value = job_setting_default(s), *range = job_setting_range(s);
    json_t *words = s->words ? json_array() : json_null();
    for (size_t i = 0; s->words && s->words[i]; i++) json_array_append_new(words, json_string(s->words[i]));
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:s}", "name", s->path, "type", type, "default", value,
                     "has_default", s->fallback != NULL, "range", range, "words", words, "meaning", s->meaning);
}

// Whether `name` selects the setting: `name` must be the setting's path or consist of whole parts of it. A group's name
// selects all settings in the group.
static bool is_meant(const struct job_setting *s, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = s->path; at; at = strchr(at, '.'), at = at ? at + 1 : NULL)
        if (!strncmp(at, name, length) && (!at[length] || at[length] == '.' || at[length] == '[')) return true;
    return false;
}

static int list_settings(const char *name)
{
    static const struct row_column columns[] = {
        COLUMN_OF("setting", "name"), COLUMN("type"), COLUMN("default"), COLUMN("range"), COLUMN("meaning"), {0}};
    size_t count, known = 0;
    const struct job_setting *settings = job_settings(&count);
    autojson json_t *document = json_array();
    for (size_t i = 0; i < count; i++)
        if (!name || is_meant(&settings[i], name)) json_array_append_new(document, setting_json(&settings[i]));
    if (json_array_size(document))
        return list_entries("setting", json_incref(document), columns, NULL,
                            name ? ""
                                 : "\nNames in capitals are the job's own; [] stands for each element of a list. "
                                   "docs/job-file.md has an\n"
                                   "example for each setting; `sweetspot list settings NAME` shows one, or a group.\n");
    autofree const char **names = memory_new(2 * count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[known++] = settings[i].path;
    for (size_t i = 0; i < count; i++) names[known++] = job_setting_name(&settings[i]);
    return refuse_unknown_of_many("setting", name, names, "sweetspot list settings shows all");
}

static const char *const kind_names[] = {"input", "output", "size", "scalar"}; // indexed by enum role_kind

static const char *reference_name(const struct operation *op)
{
    return op->reference ? "on the GPU (by = \"cublas\") or on all CPU cores (by = \"cpu\")"
                         : "on all CPU cores (by = \"cpu\")";
}

// A scalar's default, or the default compute class as a word. Null for other roles.
static json_t *default_of(const struct operation *op, const struct operation_role *role)
{
    if (op->classes && !strcmp(role->name, "compute")) return json_string(op->classes[(size_t)role->fallback]);
    return role->kind == ROLE_SCALAR ? json_real(role->fallback) : json_null();
}

static json_t *operation_json(const struct operation *op)
{
    json_t *roles = json_array(), *classes = json_array(), *baselines = json_array();
    for (const struct operation_role *role = op->roles; role->name; role++)
        json_array_append_new(roles,
                              json_pack("{s:s, s:s, s:o, s:s}", "name", role->name, "kind", kind_names[role->kind],
                                        "default", default_of(op, role), "summary", role->summary));
    for (size_t i = 0; op->classes && op->classes[i]; i++) json_array_append_new(classes, json_string(op->classes[i]));
    for (const struct operation_baseline *b = op->baselines; b && b->name; b++)
        json_array_append_new(baselines, json_pack("{s:s, s:s, s:b}", "name", b->name, "summary", b->summary,
                                                   "same_result", (int)b->same_result));
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:o}", "name", op->name, "summary", op->summary, "bound",
                     op->bound, "deterministic", (int)op->deterministic, "reference", reference_name(op), "roles",
                     roles, "classes", classes, "baselines", baselines);
}

static int list_all_operations(void)
{
    static const struct row_column columns[] = {COLUMN_OF("operation", "name"),
                                                COLUMN("classes"),
                                                COLUMN("baselines"),
                                                COLUMN_OF("what it computes", "summary"),
                                                {0}};
    json_t *document = json_array();
    for (size_t i = 0; operations[i]; i++) json_array_append_new(document, operation_json(operations[i]));
    return list_entries("operation", document, columns, NULL,
                        "\n`sweetspot list operations NAME` shows an operation's roles, error bound and baselines.\n");
}

static void add_part(json_t *rows, const char *part, const char *name, const char *kind, json_t *fallback,
                     const char *meaning)
{
    json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:o, s:s}", "part", part, "name", name, "kind", kind,
                                          "default", fallback, "meaning", meaning));
}

static void list_operation(const struct operation *op)
{
    static const struct row_column columns[] = {
        COLUMN("part"), COLUMN("name"), COLUMN("kind"), COLUMN_NUMBER(">default", NULL, "%g"), COLUMN("meaning"), {0}};
    const char *repeated = op->deterministic ? "bit-identical across runs" : "bits may differ between runs";
    autojson json_t *rows = json_array(), *document = operation_json(op);
    if (given.format == FORMAT_TABLE) {
        printf("%s: %s\nerror bound: %s\nreference: %s\nresults: %s\n\n", op->name, op->summary, op->bound,
               reference_name(op), repeated);
    } else {
        add_part(rows, "bound", "", "", NULL, op->bound);
        add_part(rows, "reference", "", "", NULL, reference_name(op));
        add_part(rows, "results", "", "", NULL, repeated);
    }
    for (const struct operation_role *role = op->roles; role->name; role++)
        add_part(rows, "role", role->name, kind_names[role->kind], default_of(op, role), role->summary);
    for (size_t i = 0; op->classes && op->classes[i]; i++)
        add_part(rows, "class", op->classes[i], "", NULL, "a value of `compute`, which sets bound and baselines");
    for (const struct operation_baseline *b = op->baselines; b && b->name; b++)
        add_part(rows, "baseline", b->name, b->same_result ? "verified" : "not verified", NULL, b->summary);
    print_rows(document, rows, columns);
}

static int list_operations(const char *name)
{
    const struct operation *op = name ? operation_find(name, NULL) : NULL;
    if (!name) return list_all_operations();
    if (!op) return command_refuse_unknown("operation", name, operation_names());
    list_operation(op);
    return EXIT_DONE;
}

static bool has_metric(const json_t *list, const char *metric)
{
    json_array_each(list, i, row)
        if (!strcmp(json_get_string(row, "metric", ""), metric)) return true;
    return false;
}

// Adds the set's own metrics, or only the metric `key` if `key` is given. A metric counts once even if several included
// sets contain it.
static void add_metrics(json_t *list, const struct metric_set *set, const char *key)
{
    for (const struct metric *m = set->metrics; m->key; m++) {
        if (key ? strcmp(m->key, key) != 0 : has_metric(list, m->name)) continue;
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s}", "set", set->name, "key", m->key, "metric",
                                        m->name, "unit", m->unit, "chips", m->chips, "description", m->description));
    }
}

// Adds the metrics of the included sets, then the set's own metrics.
static void add_set(json_t *list, const struct metric_set *set)
{
    for (const char *at = set->includes ? set->includes : ""; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        autofree char *name = text_format("%.*s", (int)length, at);
        add_set(list, metrics_find(name));
        at += length;
    }
    add_metrics(list, set, NULL);
}

static char *count_metrics(const json_t *set)
{
    return text_format("%zu", json_array_size(json_object_get(set, "metrics")));
}

static int list_metric_sets(void)
{
    static const struct row_column columns[] = {COLUMN_OF("set", "name"),
                                                COLUMN_TEXT(">metrics", count_metrics),
                                                COLUMN("includes"),
                                                COLUMN_OF("what it has", "summary"),
                                                {0}};
    json_t *document = json_array();
    for (size_t i = 0; metric_sets[i]; i++) {
        json_t *metrics = json_array();
        add_set(metrics, metric_sets[i]);
        json_array_append_new(document, json_pack("{s:s, s:s, s:s?, s:o}", "name", metric_sets[i]->name, "summary",
                                                  metric_sets[i]->summary, "includes", metric_sets[i]->includes,
                                                  "metrics", metrics));
    }
    return list_entries(
        "metric set", document, columns, NULL,
        "\n`basic` is always counted; metrics = [\"stalls\"]; in a job file adds sets or single\n"
        "hardware metrics. `sweetspot list metrics NAME` shows the metrics of a set, or one by its key;\n"
        "`sweetspot list counters` shows all counters of a chip.\n");
}

static int unknown_metric(const char *name)
{
    autofree const char **names = NULL;
    size_t count = 0;
    for (size_t i = 0; metric_sets[i]; i++) {
        memory_add(names, count) = metric_sets[i]->name;
        for (const struct metric *m = metric_sets[i]->metrics; m->key; m++) memory_add(names, count) = m->key;
    }
    memory_add(names, count) = NULL;
    return refuse_unknown_of_many("metric set or key", name, names, "sweetspot list metrics shows the sets");
}

static int list_metrics(const char *name)
{
    if (!name) return list_metric_sets();
    static const struct row_column columns[] = {COLUMN("set"),
                                                COLUMN("key"),
                                                COLUMN_OF("hardware metric", "metric"),
                                                COLUMN("unit"),
                                                COLUMN("chips"),
                                                COLUMN_OF("meaning", "description"),
                                                {0}};
    const struct metric_set *set = metrics_find(name);
    autojson json_t *metrics = json_array();
    if (set) add_set(metrics, set);
    for (size_t i = 0; !set && metric_sets[i]; i++) add_metrics(metrics, metric_sets[i], name);
    if (!json_array_size(metrics)) return unknown_metric(name);
    if (set && given.format == FORMAT_TABLE) printf("%s: %s\n\n", set->name, set->summary);
    print_rows(metrics, metrics, columns);
    return EXIT_DONE;
}

static bool matches(const char *pattern, const char *name, const char *keys)
{
    if (!pattern) return true;
    if (strpbrk(pattern, "*?[")) return !fnmatch(pattern, name, 0);
    return strstr(name, pattern) || strstr(keys, pattern);
}

// A metric's keys in the sets, each with the roll-up that it uses: "icache_misses (.sum)". malloc'ed.
static char *keys_of(const json_t *sets, const char *name)
{
    size_t length = strlen(name);
    autojson json_t *seen = json_object();
    struct text keys = {0};
    text_add(&keys, "%s", "");
    json_array_each(json_object_get(sets, "sets"), i, set) {
        json_array_each(json_object_get(set, "metrics"), k, metric) {
            const char *full = json_get_string(metric, "metric", ""), *key = json_get_string(metric, "key", "");
            if (strncmp(full, name, length) || full[length] != '.') continue;
            autofree char *one = text_format("%s (%s)", key, full + length);
            if (!json_object_get(seen, one)) text_add(&keys, "%s%s", keys.length ? " " : "", one);
            json_object_set_new(seen, one, json_true());
        }
    }
    return keys.text;
}

static int print_metrics(const json_t *answer, const char *pattern)
{
    static const struct row_column columns[] = {COLUMN_OF("metric", "name"), COLUMN("kind"),        COLUMN("unit"),
                                                COLUMN_OF("key", "keys"),    COLUMN("description"), {0}};
    autojson json_t *kept = json_array();
    json_array_each(json_object_get(answer, "metrics"), i, metric) {
        const char *name = json_get_string(metric, "name", "");
        autofree char *keys = keys_of(answer, name);
        json_object_set_new(metric, "keys", json_string(keys));
        if (matches(pattern, name, keys)) json_array_append(kept, metric);
    }
    size_t count = json_array_size(kept);
    if (count || given.format != FORMAT_TABLE) print_rows(kept, kept, columns);
    if (!count)
        fprintf(stderr, "sweetspot: no metric of %s matches '%s'; patterns may have * and ?\n",
                json_get_string(answer, "chip", "?"), pattern ? pattern : "");
    return count ? EXIT_DONE : EXIT_NOTHING;
}

// Lists the hardware counters of a chip, with the program's short keys for some of them. Needs CUPTI, and also a GPU
// unless a chip is named.
static int list_counters(const char *pattern)
{
    struct error err = {""};
    autojson json_t *hello = given.chip ? NULL : probe_gpu(0, &err);
    const char *chip = given.chip ? given.chip : json_get_string(json_object_get(hello, "counters"), "chip", "");
    if (!*chip) {
        fprintf(stderr, "sweetspot: no GPU whose chip could be used (%s): name a chip with --chip, e.g. GH100\n",
                *err.message ? err.message : "no counters");
        return EXIT_ENVIRONMENT;
    }
    autojson json_t *answer = probe_metrics(chip, &err);
    int status = answer ? print_metrics(answer, pattern) : EXIT_ENVIRONMENT;
    if (!answer) fprintf(stderr, "sweetspot: %s\n", err.message);
    return status;
}

static int list_space(const char *path)
{
    if (!path) return command_refuse("space needs a job file: sweetspot list space JOB");
    if (given.format == FORMAT_CSV) return command_refuse("a space is printed as table or json");
    return list_space_of(path, given.format == FORMAT_TABLE);
}

#define KINDS(x) x(strategies) x(operations) x(metrics) x(counters) x(fields) x(units) x(settings) x(space)
#define NAME(kind) #kind,
static const char *const names[] = {KINDS(NAME) NULL};
#define FUNCTION(kind) list_##kind,
static int (*const functions[])(const char *name) = {KINDS(FUNCTION) NULL};

static char *all_names(void)
{
    return text_join(names, ", ");
}

static const struct option_spec specs[] = {
    ARGUMENT(string, &given.kind, "KIND", "what to list", .choices = names, .words = all_names),
    ARGUMENT(string, &given.name, "NAME",
             "show one of them in detail; for space, the job file; for counters, those with this text in their name "
             "or key, or a pattern with * and ?",
             .optional = true),
    OPTION(string, &given.chip, "chip", 0, "NAME", "the chip whose counters are listed, e.g. GH100 (the GPU here)"),
    OPTION_FORMAT(&given.format),
    OPTION_END,
};

static int run(void)
{
    size_t i = 0;
    while (names[i] && strcmp(names[i], given.kind) != 0) i++;
    if (!names[i]) return command_refuse_unknown("kind", given.kind, names);
    if (!given.chip || functions[i] == list_counters) return functions[i](given.name);
    return command_refuse("--chip is only for counters");
}

const struct command cmd_list = {
    .name = "list",
    .summary = "the search space of a job; available strategies, operations, metrics, counters, settings",
    .description = "Lists a job's search space, the available search strategies, operations with their roles, error "
                   "bounds and baselines, "
                   "metric sets with their hardware counters, all counters of a chip, the fields of a trial, the "
                   "execution units that work is measured against, and the settings of a job file.",
    .options = specs,
    .run = run,
    .more = "`space`: a job's parameters, the raw and the valid size of its space, and how many configurations each "
            "constraint removes. NAME is the job file.\n\n"
            "`operations`: operations that a kernel can be verified against; each one's roles, error bound, compute "
            "classes and baselines.\n\n"
            "`metrics`: the program's metric sets; each metric's key, hardware metric, unit, meaning and the chips "
            "that it is restricted to. NAME is a set or a key.\n\n"
            "`counters`: the hardware counters of a chip, and the keys that the metric sets use for them. Needs CUPTI, "
            "but no GPU where `--chip` names the chip.\n\n"
            "`fields`: the fields of a trial; each one's unit and meaning.\n\n"
            "`units`: the execution units that a job's work can be measured against (`work.pipe`); each one's unit of "
            "work, architectures, and how its ceiling is measured.\n\n"
            "`settings`: the settings of a job file; each one's type, default, range and meaning. NAME is a setting, a "
            "group, or the last part of a name. `docs/job-file.md` has an example of each.",
    .see = "profile check",
};
