// See sanitized.h.
#include "tuner/explain/sanitized.h"

#include "tuner/base/base.h"

static bool status_is(const json_t *tool, const char *status)
{
    return !strcmp(json_get_string(tool, "status", ""), status);
}

// Statuses of a tool without a result for the kernel.
static const char *const undone[] = {"failed", "skipped"};
enum { UNDONE = sizeof undone / sizeof *undone };

// "1 error, 2 warnings"
static char *count_text(const json_t *tool)
{
    struct text out = {0};
    static const char *const kinds[][2] = {{"errors", "error"}, {"warnings", "warning"}};
    text_add(&out, "%s", "");
    for (size_t i = 0; i < 2; i++) {
        int64_t n = json_get_integer(tool, kinds[i][0], 0);
        if (n) text_add(&out, "%s%" PRId64 " %s%s", out.length ? ", " : "", n, kinds[i][1], n == 1 ? "" : "s");
    }
    return out.text;
}

char *sanitized_tool_text(const json_t *tool)
{
    if (status_is(tool, "clean")) return text_copy("clean");
    for (size_t i = 0; i < UNDONE; i++)
        if (status_is(tool, undone[i])) return text_format("%s: %s", undone[i], json_get_string(tool, "reason", ""));
    char *counts = count_text(tool), *out = text_format("%s: %s", counts, json_get_string(tool, "first", ""));
    free(counts);
    return out;
}

char *sanitized_tool_name(const json_t *tool)
{
    bool found = status_is(tool, "errors") || status_is(tool, "warnings");
    return text_format("%s%s", json_get_string(tool, "tool", "?"),
                       found && json_get_bool(tool, "advice", false) ? " (warning)" : "");
}

char *sanitized_text(const json_t *document)
{
    const json_t *tools = json_object_get(document, "tools"), *tool;
    const char *note = json_get_string(document, "note", "");
    size_t i;
    if (!document) return NULL;
    struct text clean = {0}, all = {0};
    json_array_foreach(tools, i, tool)
    {
        char *name = sanitized_tool_name(tool);
        if (status_is(tool, "clean")) {
            text_add(&clean, "%s%s", clean.length ? ", " : "", name);
            free(name);
            continue;
        }
        char *counts = NULL;
        for (size_t k = 0; k < UNDONE; k++)
            if (status_is(tool, undone[k])) counts = text_copy(undone[k]);
        if (!counts) counts = count_text(tool);
        text_add(&all, "%s%s: %s", all.length ? "; " : "", name, counts);
        free(name);
        free(counts);
    }
    if (clean.length) text_add(&clean, " clean%s", all.length ? "; " : "");
    char *out = *note ? text_format("compute-sanitizer %s: %s", json_get_string(document, "version", "?"), note)
                      : text_format("compute-sanitizer %s on %s: %s%s", json_get_string(document, "version", "?"),
                                    json_get_string(document, "problem", "?"), clean.length ? clean.text : "",
                                    all.length ? all.text : "");
    free(clean.text);
    free(all.text);
    return out;
}
