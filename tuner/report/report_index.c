// The index of a report as a table or as CSV: the contents of the page's first table.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/stats.h"
#include "tuner/base/table.h"
#include "tuner/base/text.h"
#include "tuner/final/finals.h"
#include "tuner/report/report.h"

// The statuses that are not failures; the others are counted under their own names.
static bool is_failure(const char *status)
{
    static const char *const others[] = {"ok", "slow", NULL};
    for (size_t i = 0; others[i]; i++)
        if (!strcmp(status, others[i])) return false;
    return true;
}

static void add_failures(struct table *table, const json_t *counts)
{
    const char *status;
    json_t *count;
    char *text = text_copy("");
    json_object_foreach((json_t *)counts, status, count)
    {
        if (!is_failure(status)) continue;
        char *longer =
            text_format("%s%s%s %" PRId64, text, *text ? ", " : "", status, (int64_t)json_integer_value(count));
        free(text);
        text = longer;
    }
    table_cell(table, "%s", text);
    free(text);
}

static void add_number(struct table *table, double value, const char *format)
{
    char text[32] = "";
    if (isfinite(value)) snprintf(text, sizeof text, format, value);
    table_cell(table, "%s", text);
}

// Ratio, library and verdict; CSV has three columns for the ratio.
static void add_ratio(struct table *table, const json_t *result, bool csv)
{
    const json_t *ratio = json_object_get(result, "ratio");
    struct interval i = {json_get_number(ratio, "value", NAN), json_get_number(ratio, "low", NAN),
                         json_get_number(ratio, "high", NAN)};
    char text[96];
    if (csv) {
        add_number(table, i.value, "%.9g");
        add_number(table, i.low, "%.9g");
        add_number(table, i.high, "%.9g");
    } else {
        table_cell(table, "%s", show_ratio(&i, text, sizeof text));
    }
    table_cell(table, "%s", json_get_string(ratio, "against", ""));
    table_cell(table, "%s", json_get_string(result, "verdict", ""));
}

// SQLite's messages may have several lines.
static void add_error(struct table *table, const char *error)
{
    char *line = text_copy(error);
    for (char *p = line; *p; p++)
        if (*p == '\n') *p = ' ';
    table_cell(table, "%s", line);
    free(line);
}

static double best_time(const json_t *result)
{
    const json_t *time = json_object_get(json_object_get(result, "winner"), "time");
    return json_get_number(time, "value", json_get_number(json_object_get(result, "best"), "time", NAN));
}

static void add_row(struct table *table, const json_t *job, const json_t *result, bool csv)
{
    char text[64];
    double gain = json_get_number(result, "gain_last_hour", NAN), ended = json_get_number(result, "ended", NAN);
    table_cell(table, "%s", json_get_string(job, "name", "?"));
    add_ratio(table, result, csv);
    if (csv)
        add_number(table, best_time(result), "%.9g");
    else
        table_cell(table, "%s", result ? show_time(best_time(result), text, sizeof text) : "");
    if (csv)
        add_number(table, gain, "%.9g");
    else
        add_number(table, 100 * gain, "%.2f%%");
    add_number(table, json_get_number(result, "evaluations", NAN), "%.0f");
    add_failures(table, json_object_get(result, "counts"));
    if (csv)
        add_number(table, ended, "%.3f");
    else
        table_cell(table, "%s", show_moment(ended, text, sizeof text));
    table_cell(table, "%s", json_get_string(result, "device", ""));
    add_error(table, json_get_string(job, "error", ""));
}

void report_print(const json_t *report, bool csv, FILE *file)
{
    static const char *const titles[] = {
        "job",          ">ratio",   "against", "verdict", ">time", ">gain in the last hour",
        ">evaluations", "failures", "when",    "device",  "error", NULL};
    static const char *const columns[] = {"job",     "ratio",  "ratio_low",      "ratio_high",  "against",
                                          "verdict", "time",   "gain_last_hour", "evaluations", "failures",
                                          "ended",   "device", "error",          NULL};
    struct table *table = table_new(csv ? columns : titles);
    const json_t *job, *result;
    size_t i, k;
    json_array_foreach(json_object_get(report, "jobs"), i, job)
    {
        const json_t *results = json_object_get(job, "results");
        json_array_foreach(results, k, result) add_row(table, job, result, csv);
        if (!json_array_size(results)) add_row(table, job, NULL, csv);
    }
    if (csv)
        table_print_csv(table, file);
    else
        table_print(table, file);
    table_free(table);
}
