// See sanitized.h.
#include "tuner/explain/sanitized.h"

#include "tuner/base/base.h"

static void append(char **text, const char *separator, const char *more)
{
    char *longer = text_format("%s%s%s", *text, **text ? separator : "", more);
    free(*text);
    *text = longer;
}

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
    char *out = text_copy("");
    static const char *const kinds[][2] = {{"errors", "error"}, {"warnings", "warning"}};
    for (size_t i = 0; i < 2; i++) {
        int64_t n = json_get_integer(tool, kinds[i][0], 0);
        if (!n) continue;
        char *one = text_format("%" PRId64 " %s%s", n, kinds[i][1], n == 1 ? "" : "s");
        append(&out, ", ", one);
        free(one);
    }
    return out;
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
    char *clean = text_copy(""), *all = text_copy("");
    json_array_foreach(tools, i, tool)
    {
        char *name = sanitized_tool_name(tool);
        if (status_is(tool, "clean")) {
            append(&clean, ", ", name);
            free(name);
            continue;
        }
        char *counts = NULL;
        for (size_t k = 0; k < UNDONE; k++)
            if (status_is(tool, undone[k])) counts = text_copy(undone[k]);
        if (!counts) counts = count_text(tool);
        char *one = text_format("%s: %s", name, counts);
        append(&all, "; ", one);
        free(name);
        free(one);
        free(counts);
    }
    if (*clean) {
        char *first = text_format("%s clean%s%s", clean, *all ? "; " : "", all);
        free(all);
        all = first;
    }
    char *out = *note ? text_format("compute-sanitizer %s: %s", json_get_string(document, "version", "?"), note)
                      : text_format("compute-sanitizer %s on %s: %s", json_get_string(document, "version", "?"),
                                    json_get_string(document, "problem", "?"), all);
    free(clean);
    free(all);
    return out;
}
