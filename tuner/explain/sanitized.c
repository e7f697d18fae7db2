// See sanitized.h.
#include "tuner/explain/sanitized.h"

#include "tuner/base/base.h"

// "clean", "failed", "skipped" or "1 error, 2 warnings"; `whole`: also why, or the first of them.
static char *result_text(const json_t *tool, bool whole)
{
    static const char *const kinds[][2] = {{"errors", "error"}, {"warnings", "warning"}};
    const char *status = json_get_string(tool, "status", "");
    bool undone = !strcmp(status, "failed") || !strcmp(status, "skipped");
    struct text out = {0};
    if (!strcmp(status, "clean")) return text_copy(status);
    text_add(&out, "%s", undone ? status : "");
    for (size_t i = 0; i < 2 && !undone; i++) {
        int64_t n = json_get_integer(tool, kinds[i][0], 0);
        if (n) text_add(&out, "%s%" PRId64 " %s%s", out.length ? ", " : "", n, kinds[i][1], n == 1 ? "" : "s");
    }
    if (whole) text_add(&out, ": %s", json_get_string(tool, undone ? "reason" : "first", ""));
    return out.text;
}

char *sanitized_tool_text(const json_t *tool)
{
    return result_text(tool, true);
}

char *sanitized_tool_name(const json_t *tool)
{
    const char *status = json_get_string(tool, "status", "");
    bool found = !strcmp(status, "errors") || !strcmp(status, "warnings");
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
    json_array_foreach(tools, i, tool) {
        char *name = sanitized_tool_name(tool), *result = result_text(tool, false);
        if (!strcmp(result, "clean"))
            text_add(&clean, "%s%s", clean.length ? ", " : "", name);
        else
            text_add(&all, "%s%s: %s", all.length ? "; " : "", name, result);
        free(name);
        free(result);
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
