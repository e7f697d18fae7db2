// `sweetspot list metrics [NAME]`: the program's own metric sets, from tables; needs neither CUPTI nor a GPU.
// `sweetspot list counters [PATTERN]`: a chip's own counters. See list.h.
#include <fnmatch.h>

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"
#include "tuner/setup/probe.h"
#include "tuner/trial/metrics.h"

static bool has(const json_t *list, const char *metric)
{
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row)
        if (!strcmp(json_get_string(row, "metric", ""), metric)) return true;
    return false;
}

// Those of the set itself; with `key`, only that one. A set counts a metric once, also where sets that it includes
// share it.
static void add_metrics(json_t *list, const struct metric_set *set, const char *key)
{
    for (const struct metric *m = set->metrics; m->key; m++) {
        if (key ? strcmp(m->key, key) != 0 : has(list, m->name)) continue;
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s}", "set", set->name, "key", m->key, "metric",
                                        m->name, "unit", m->unit, "chips", m->chips, "description", m->description));
    }
}

// The set's own metrics, after those of the sets that it includes.
static void add_set(json_t *list, const struct metric_set *set)
{
    for (const char *at = set->includes ? set->includes : ""; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        char *name = text_format("%.*s", (int)length, at);
        add_set(list, metrics_find(name));
        free(name);
        at += length;
    }
    add_metrics(list, set, NULL);
}

static char *count_metrics(const json_t *set)
{
    return text_format("%zu", json_array_size(json_object_get(set, "metrics")));
}

static int list_all(int format)
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
        "metric set", document, columns, NULL, format,
        "\n`basic` is always counted; counters = { metrics = [\"stalls\"]; }; in a job file adds sets or single\n"
        "hardware metrics. `sweetspot list metrics NAME` shows the metrics of a set, or one by its key;\n"
        "`sweetspot list counters` shows all counters of a chip.\n");
}

static int unknown(const char *name)
{
    const char **names = NULL;
    size_t count = 0;
    for (size_t i = 0; metric_sets[i]; i++) {
        memory_add(names, count) = metric_sets[i]->name;
        for (const struct metric *m = metric_sets[i]->metrics; m->key; m++) memory_add(names, count) = m->key;
    }
    memory_add(names, count) = NULL;
    int status = list_unknown_of_many("metric set or key", name, names, "sweetspot list metrics shows the sets");
    free(names);
    return status;
}

int list_metrics(const char *name, int format)
{
    if (!name) return list_all(format);
    static const struct row_column columns[] = {COLUMN("set"),
                                                COLUMN("key"),
                                                COLUMN_OF("hardware metric", "metric"),
                                                COLUMN("unit"),
                                                COLUMN("chips"),
                                                COLUMN_OF("meaning", "description"),
                                                {0}};
    const struct metric_set *set = metrics_find(name);
    json_t *metrics = json_array();
    if (set) add_set(metrics, set);
    for (size_t i = 0; !set && metric_sets[i]; i++) add_metrics(metrics, metric_sets[i], name);
    if (json_array_size(metrics)) {
        if (set && format == FORMAT_TABLE) printf("%s: %s\n\n", set->name, set->summary);
        list_print(metrics, metrics, columns, format);
        return EXIT_DONE;
    }
    json_decref(metrics);
    return unknown(name);
}

static bool matches(const char *pattern, const char *name, const char *keys)
{
    if (!pattern) return true;
    if (strpbrk(pattern, "*?[")) return !fnmatch(pattern, name, 0);
    return strstr(name, pattern) || strstr(keys, pattern);
}

// A metric's keys in the sets, with the roll-ups that they use: "icache_misses (.sum)". malloc'ed.
static char *keys_of(const json_t *sets, const char *name)
{
    size_t length = strlen(name), i, k;
    json_t *set, *metric, *seen = json_object();
    struct text keys = {0};
    text_add(&keys, "%s", "");
    json_array_foreach(json_object_get(sets, "sets"), i, set) {
        json_array_foreach(json_object_get(set, "metrics"), k, metric) {
            const char *full = json_get_string(metric, "metric", ""), *key = json_get_string(metric, "key", "");
            if (strncmp(full, name, length) || full[length] != '.') continue;
            char *one = text_format("%s (%s)", key, full + length);
            if (!json_object_get(seen, one)) text_add(&keys, "%s%s", keys.length ? " " : "", one);
            json_object_set_new(seen, one, json_true());
            free(one);
        }
    }
    json_decref(seen);
    return keys.text;
}

static int print_metrics(const json_t *answer, const char *pattern, int format)
{
    static const struct row_column columns[] = {COLUMN_OF("metric", "name"), COLUMN("kind"),        COLUMN("unit"),
                                                COLUMN_OF("key", "keys"),    COLUMN("description"), {0}};
    size_t i;
    json_t *metric, *kept = json_array();
    json_array_foreach(json_object_get(answer, "metrics"), i, metric) {
        const char *name = json_get_string(metric, "name", "");
        char *keys = keys_of(answer, name);
        json_object_set_new(metric, "keys", json_string(keys));
        if (matches(pattern, name, keys)) json_array_append(kept, metric);
        free(keys);
    }
    size_t count = json_array_size(kept);
    if (count || format != FORMAT_TABLE)
        list_print(kept, kept, columns, format);
    else
        json_decref(kept);
    if (!count)
        fprintf(stderr, "sweetspot: no metric of %s matches '%s'; patterns may have * and ?\n",
                json_get_string(answer, "chip", "?"), pattern ? pattern : "");
    return count ? EXIT_DONE : EXIT_NOTHING;
}

// The hardware counters of a chip, and the short keys that the program has for some of them. Needs CUPTI, but no GPU if
// a chip is named.
int list_counters(const char *pattern, const char *chip, int format)
{
    struct error err = {""};
    json_t *hello = chip ? NULL : probe_gpu(0, &err);
    if (!chip) chip = json_get_string(json_object_get(hello, "counters"), "chip", "");
    if (!*chip) {
        fprintf(stderr, "sweetspot: no GPU to ask for its chip (%s): name one with --chip, e.g. GH100\n",
                *err.message ? err.message : "no counters");
        json_decref(hello);
        return EXIT_ENVIRONMENT;
    }
    json_t *answer = probe_metrics(chip, &err);
    int status = answer ? print_metrics(answer, pattern, format) : EXIT_ENVIRONMENT;
    if (!answer) fprintf(stderr, "sweetspot: %s\n", err.message);
    json_decref(answer);
    json_decref(hello);
    return status;
}
