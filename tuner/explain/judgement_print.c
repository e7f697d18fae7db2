// A judgement for people: see judgement.h.
#include "tuner/base/base.h"
#include "tuner/base/colour.h"
#include "tuner/base/table.h"
#include "tuner/explain/judgement.h"
#include "tuner/explain/sanitized.h"

static const json_t *baselines_of(const json_t *document)
{
    return json_object_get(json_array_get(json_object_get(document, "problems"), 0), "baselines");
}

static void print_problems(FILE *to, const json_t *document)
{
    const json_t *problems = json_object_get(document, "problems"), *problem, *baselines = baselines_of(document), *b;
    size_t i, k, count = 0, made = 0, room = 2 * json_array_size(baselines);
    const char **titles = memory_new(room + 5, sizeof *titles);
    char **own = memory_new(room + 1, sizeof *own), text[96];
    titles[count++] = "problem";
    titles[count++] = "status";
    titles[count++] = ">error / bound";
    titles[count++] = ">time";
    json_array_foreach(baselines, k, b)
    {
        titles[count++] = own[made++] = text_format(">%s", json_get_string(b, "name", "?"));
        titles[count++] = own[made++] = text_format(">ratio to %s", json_get_string(b, "name", "?"));
    }
    struct table *table = table_new(titles);
    json_array_foreach(problems, i, problem)
    {
        struct interval time = json_get_interval(problem, "time");
        double error = json_get_number(problem, "error", NAN);
        table_cell(table, "%s%s", json_get_string(problem, "problem", "?"),
                   json_get_bool(problem, "tuned", true) ? "" : " (verified only)");
        table_cell(table, "%s", json_get_string(problem, "status", ""));
        if (isfinite(error))
            table_cell(table, "%.2g", error);
        else
            table_cell(table, "%s", "");
        table_cell(table, "%s", show_interval(&time, text, sizeof text));
        for (k = 0; k < json_array_size(baselines); k++) {
            b = json_array_get(json_object_get(problem, "baselines"), k);
            time = json_get_interval(b, "time");
            table_cell(table, "%s", isfinite(time.value) ? show_time(time.value, text, sizeof text) : "");
            time = json_get_interval(b, "ratio");
            table_cell(table, "%s", show_ratio(&time, text, sizeof text));
        }
    }
    fputc('\n', to);
    table_print(table, to);
    table_free(table);
    for (k = 0; k < made; k++) free(own[k]);
    free(own);
    free(titles);
    if (made) fprintf(to, "\nRatio: the baseline's time over the kernel's; above 1 the kernel is faster.\n");
}

static void print_sanitizers(FILE *to, const json_t *document)
{
    const json_t *tools = json_object_get(document, "sanitizers"), *tool,
                 *about = json_object_get(document, "sanitizer");
    size_t i;
    if (!json_array_size(tools)) return;
    fprintf(to, "\ncompute-sanitizer %s on %s\n", json_get_string(about, "version", "?"),
            json_get_string(about, "problem", "?"));
    json_array_foreach(tools, i, tool)
    {
        char *name = sanitized_tool_name(tool), *words = sanitized_tool_text(tool);
        fprintf(to, "  %s: %s\n", name, words);
        free(name);
        free(words);
    }
}

static void print_findings(FILE *to, const json_t *document)
{
    const json_t *findings = json_object_get(document, "findings"), *finding,
                 *notes = json_object_get(document, "notes"), *note;
    size_t i;
    if (json_array_size(findings)) fprintf(to, "\nFindings\n");
    json_array_foreach(findings, i, finding)
    {
        const char *advice = json_get_string(finding, "advice", "");
        fprintf(to, "  %zu. %s: %s\n", i + 1, json_get_string(finding, "rule", "?"),
                json_get_string(finding, "seen", ""));
        if (*advice) fprintf(to, "     %s\n", advice);
    }
    json_array_foreach(notes, i, note)
    {
        fprintf(to, "%snote: %s\n", i ? "" : "\n", json_string_value(note));
    }
}

void judgement_print(FILE *to, const json_t *document)
{
    const char *configuration = json_get_string(document, "configuration", ""),
               *reason = json_get_string(document, "reason", "");
    bool right = json_get_bool(document, "right", false);
    char risk[96];
    fprintf(to, "%s: %s%s%s\n", json_get_string(document, "job", "?"),
            colour_begin(to, right ? COLOUR_GOOD : COLOUR_BAD),
            right ? "right" : json_get_string(document, "status", "?"), colour_end(to));
    if (*reason) fprintf(to, "  %s\n", reason);
    fprintf(to, "%s%s%s\non %s, driver %s, %s\n", json_get_string(document, "template", "?"),
            *configuration ? "  " : "", configuration, json_get_string(document, "device", "?"),
            json_get_string(document, "driver", "?"), json_get_string(document, "compiler", "?"));
    print_problems(to, document);
    if (right && *show_remaining_risk(json_get_integer(document, "launches_judged", 0), risk, sizeof risk))
        fprintf(to, "\n%s\n", risk);
    print_sanitizers(to, document);
    print_findings(to, document);
}
