// The index of a report as a table or as CSV: the contents of the page's first table.
#include "tuner/base/base.h"
#include "tuner/base/stats.h"
#include "tuner/base/table.h"
#include "tuner/final/finals.h"
#include "tuner/report/report.h"

// A row has a job and one of its results, which is null where there is none.
static const json_t *result_of(const json_t *row)
{
    return json_object_get(row, "result");
}

// The statuses that are not failures; the others are counted under their own names.
static bool is_failure(const char *status)
{
    return strcmp(status, "ok") != 0 && strcmp(status, "slow") != 0;
}

static char *failures_text(const json_t *row)
{
    const char *status;
    json_t *count;
    struct text text = {0};
    json_object_foreach(json_object_get(result_of(row), "counts"), status, count)
    {
        if (is_failure(status))
            text_add(&text, "%s%s %" PRId64, text.text ? ", " : "", status, (int64_t)json_integer_value(count));
    }
    return text.text;
}

static char *ratio_text(const json_t *row)
{
    const json_t *ratio = json_object_get(result_of(row), "ratio");
    struct interval i = {json_get_number(ratio, "value", NAN), json_get_number(ratio, "low", NAN),
                         json_get_number(ratio, "high", NAN)};
    char text[96];
    return text_copy(show_ratio(&i, text, sizeof text));
}

// SQLite's messages may have several lines.
static char *error_text(const json_t *row)
{
    char *line = text_copy(json_get_string(json_object_get(row, "job"), "error", ""));
    for (char *p = line; *p; p++)
        if (*p == '\n') *p = ' ';
    return line;
}

static double best_time(const json_t *row)
{
    const json_t *result = result_of(row), *time = json_object_get(json_object_get(result, "winner"), "time");
    return json_get_number(time, "value", json_get_number(json_object_get(result, "best"), "time", NAN));
}

static char *time_text(const json_t *row)
{
    char text[64];
    return json_is_object(result_of(row)) ? text_copy(show_time(best_time(row), text, sizeof text)) : NULL;
}

static char *time_number(const json_t *row)
{
    return isfinite(best_time(row)) ? text_format("%.9g", best_time(row)) : NULL;
}

static char *ended_text(const json_t *row)
{
    char text[64];
    return text_copy(show_moment(json_get_number(result_of(row), "ended", NAN), text, sizeof text));
}

static const struct row_column columns[] = {COLUMN_OF("job", "job.name"),
                                            COLUMN_TEXT(">ratio", ratio_text),
                                            COLUMN_OF("against", "result.ratio.against"),
                                            COLUMN_OF("verdict", "result.verdict"),
                                            COLUMN_TEXT(">time", time_text),
                                            COLUMN_NUMBER(">evaluations", "result.evaluations", "%.0f"),
                                            COLUMN_TEXT("failures", failures_text),
                                            COLUMN_TEXT("when", ended_text),
                                            COLUMN_OF("device", "result.device"),
                                            COLUMN_TEXT("error", error_text),
                                            {0}};

static const struct row_column csv_columns[] = {COLUMN_OF("job", "job.name"),
                                                COLUMN_NUMBER("ratio", "result.ratio.value", "%.9g"),
                                                COLUMN_NUMBER("ratio_low", "result.ratio.low", "%.9g"),
                                                COLUMN_NUMBER("ratio_high", "result.ratio.high", "%.9g"),
                                                COLUMN_OF("against", "result.ratio.against"),
                                                COLUMN_OF("verdict", "result.verdict"),
                                                COLUMN_TEXT("time", time_number),
                                                COLUMN_NUMBER("evaluations", "result.evaluations", "%.0f"),
                                                COLUMN_TEXT("failures", failures_text),
                                                COLUMN_NUMBER("ended", "result.ended", "%.3f"),
                                                COLUMN_OF("device", "result.device"),
                                                COLUMN_TEXT("error", error_text),
                                                {0}};

void report_print(const json_t *report, bool csv, FILE *file)
{
    json_t *rows = json_array(), *job, *result;
    size_t i, k;
    json_array_foreach(json_object_get(report, "jobs"), i, job)
    {
        json_t *results = json_object_get(job, "results");
        json_array_foreach(results, k, result)
            json_array_append_new(rows, json_pack("{s:O, s:O}", "job", job, "result", result));
        if (!json_array_size(results)) json_array_append_new(rows, json_pack("{s:O}", "job", job));
    }
    struct table *table = rows_table(rows, csv ? csv_columns : columns);
    if (csv)
        table_print_csv(table, file);
    else
        table_print(table, file);
    table_free(table);
    json_decref(rows);
}
