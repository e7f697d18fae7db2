// `sweetspot list metrics [NAME]`: the program's own metric sets, from tables; needs neither CUPTI nor a GPU.
// `sweetspot list counters` lists a chip's own counters. See list.h.

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"
#include "tuner/trial/metrics.h"

static bool has(const json_t *list, const char *metric)
{
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) if (!strcmp(json_get_string(row, "metric", ""), metric)) return true;
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

static void list_all(int format)
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
    list_print(document, document, columns, format);
    if (format == FORMAT_TABLE)
        printf(
            "\n`basic` is always counted; counters = { metrics = [\"stalls\"]; }; in a job file adds sets or single\n"
            "hardware metrics. `sweetspot list metrics NAME` shows the metrics of a set, or one by its key;\n"
            "`sweetspot list counters` shows all counters of a chip.\n");
}

// Suggests the nearest set or key; lists only the sets, because there are about a hundred keys.
static int unknown(const char *name)
{
    const char **sets = metrics_set_names(), **names = NULL;
    size_t count = 0;
    for (size_t i = 0; metric_sets[i]; i++) {
        for (const struct metric *m = metric_sets[i]->metrics; m->key; m++) {
            names = memory_grow(names, count + 2, sizeof *names);
            names[count++] = m->key;
            names[count] = NULL;
        }
    }
    const char *key = text_nearest(name, names);
    if (key && !text_nearest(name, sets)) {
        fprintf(stderr, "sweetspot list: unknown metric set or key '%s'; did you mean '%s'?\n", name, key);
    } else {
        list_unknown("metric set or key", name, sets);
    }
    free(names);
    free(sets);
    return EXIT_USAGE;
}

int list_metrics(const char *name, int format)
{
    if (!name) {
        list_all(format);
        return EXIT_DONE;
    }
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
