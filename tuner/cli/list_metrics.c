// `sweetspot list metrics [NAME]`: the program's own metric sets, from tables; needs neither CUPTI nor a GPU.
// `sweetspot list counters` lists a chip's own counters. See list.h.
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"
#include "tuner/trial/metrics.h"

struct metric_rows {
    struct table *table;
    json_t *list;
    const char *key; // only this one; NULL: all
};

static bool has(const json_t *list, const char *metric)
{
    size_t i;
    json_t *row;
    json_array_foreach(list, i, row) if (!strcmp(json_get_string(row, "metric", ""), metric)) return true;
    return false;
}

// A set counts a metric once, also where sets that it includes share it.
static void add_metrics(struct metric_rows *rows, const struct metric_set *set)
{
    for (const struct metric *m = set->metrics; m->key; m++) {
        if (rows->key ? strcmp(m->key, rows->key) != 0 : has(rows->list, m->name)) continue;
        table_cell(rows->table, "%s", set->name);
        table_cell(rows->table, "%s", m->key);
        table_cell(rows->table, "%s", m->name);
        table_cell(rows->table, "%s", m->unit);
        table_cell(rows->table, "%s", m->chips ? m->chips : "");
        table_cell(rows->table, "%s", m->description);
        json_array_append_new(rows->list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s?, s:s}", "set", set->name, "key", m->key, "metric",
                                        m->name, "unit", m->unit, "chips", m->chips, "description", m->description));
    }
}

// The set's own metrics, after those of the sets that it includes.
static void add_set(struct metric_rows *rows, const struct metric_set *set)
{
    for (const char *at = set->includes ? set->includes : ""; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        char *name = text_format("%.*s", (int)length, at);
        add_set(rows, metrics_find(name));
        free(name);
        at += length;
    }
    add_metrics(rows, set);
}

static struct metric_rows new_rows(const char *key)
{
    return (struct metric_rows){
        table_new((const char *[]){"set", "key", "hardware metric", "unit", "chips", "meaning", NULL}), json_array(),
        key};
}

static void list_all(int format)
{
    struct table *table = table_new((const char *[]){"set", ">metrics", "includes", "what it has", NULL});
    json_t *document = json_array();
    for (size_t i = 0; metric_sets[i]; i++) {
        const struct metric_set *set = metric_sets[i];
        struct metric_rows rows = new_rows(NULL);
        add_set(&rows, set);
        table_cell(table, "%s", set->name);
        table_cell(table, "%zu", json_array_size(rows.list));
        table_cell(table, "%s", set->includes ? set->includes : "");
        table_cell(table, "%s", set->summary);
        json_array_append_new(document, json_pack("{s:s, s:s, s:s?, s:o}", "name", set->name, "summary", set->summary,
                                                  "includes", set->includes, "metrics", rows.list));
        table_free(rows.table);
    }
    list_print(table, document, format);
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
    const struct metric_set *set = metrics_find(name);
    struct metric_rows rows = new_rows(set ? NULL : name);
    if (set) add_set(&rows, set);
    for (size_t i = 0; !set && metric_sets[i]; i++) add_metrics(&rows, metric_sets[i]);
    if (json_array_size(rows.list)) {
        if (set && format == FORMAT_TABLE) printf("%s: %s\n\n", set->name, set->summary);
        list_print(rows.table, rows.list, format);
        return EXIT_DONE;
    }
    table_free(rows.table);
    json_decref(rows.list);
    return unknown(name);
}
