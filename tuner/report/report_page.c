// See report_page.h.
#include "tuner/report/report_page.h"

#include <errno.h>
#include <strings.h>

#include "tuner/base/embedded.h"
#include "tuner/base/installation.h"

enum { PARTS = 2 };

int report_charts_read(struct report_charts *charts, struct error *err)
{
    static const char missing[] = "`make` in the source tree fetches them with npm into out/npm; --format json works "
                                  "without them";
    static const char *const names[PARTS] = {"libraries.js", "LICENSES"};
    const char *given = getenv("SWEETSPOT_CHARTS");
    char **to[] = {&charts->script, &charts->licence};
    autofree char *folder = given ? text_copy(given) : installation_data("report");
    *charts = (struct report_charts){0};
    if (!folder) folder = installation_data("out/npm/report");
    if (!folder)
        return error_set(err, "the page needs the libraries of its charts and tables, which are missing: %s", missing);
    int status = 0;
    for (size_t i = 0; i < PARTS && !status; i++) {
        autofree char *path = text_format("%s/%s", folder, names[i]);
        *to[i] = text_read_file(path, NULL);
        if (!*to[i])
            status =
                error_set(err, "the page needs the libraries of its charts and tables, and '%s' cannot be read: %s; %s",
                          path, strerror(errno), missing);
    }
    if (status) report_charts_release(charts);
    return status;
}

void report_charts_release(struct report_charts *charts)
{
    free(charts->script);
    free(charts->licence);
    *charts = (struct report_charts){0};
}

// Each member down to the members of a RESULT is on a separate line, so that people can read the document and tests can
// compare it. Deeper levels are compact.
enum { DEEPEST_LINES = 5, TEXT_FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) };

static void write_json(FILE *out, const json_t *value, int depth)
{
    const char *separator = "\n";
    bool object = json_is_object(value), many = object ? json_object_size(value) > 0 : json_array_size(value) > 0;
    if (depth == DEEPEST_LINES || !many) {
        json_dumpf(value, out, TEXT_FLAGS);
        return;
    }
    fputc(object ? '{' : '[', out);
    json_object_each((json_t *)value, key, member) {
        autojson json_t *name = json_string(key);
        fputs(separator, out);
        json_dumpf(name, out, TEXT_FLAGS);
        fputc(':', out);
        write_json(out, member, depth + 1);
        separator = ",\n";
    }
    json_array_each(value, i, member) {
        fputs(separator, out);
        write_json(out, member, depth + 1);
        separator = ",\n";
    }
    fprintf(out, "\n%c", object ? '}' : ']');
}

static char *plain_text(const json_t *report)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return text_copy("null");
    write_json(out, report, 0);
    fclose(out);
    return text;
}

// In JSON, "<" occurs only in strings, where "\u003c" means the same. HTML ends a script element at "</script".
char *report_text(const json_t *report, bool in_page)
{
    if (!in_page) return plain_text(report);
    autofree char *text = plain_text(report);
    struct text safe = {0};
    for (const char *p = text, *next; *p; p = next) {
        size_t length = strcspn(p, "<");
        next = p + length + (p[length] == '<');
        text_add(&safe, "%.*s%s", (int)length, p, p[length] == '<' ? "\\u003c" : "");
    }
    return safe.text;
}

// Writes JavaScript into the page. A backslash in "<\/script" does not change the meaning of a string.
static void write_script(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        fputc(*p, out);
        if (*p == '<' && !strncasecmp(p, "</script", 8)) fputc('\\', out);
    }
}

static void write_escaped(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '&')
            fputs("&amp;", out);
        else if (*p == '<')
            fputs("&lt;", out);
        else if (*p == '>')
            fputs("&gt;", out);
        else
            fputc(*p, out);
    }
}

static void write_plain(FILE *out, const char *text)
{
    fputs(text, out);
}

void report_page_write(FILE *out, const json_t *report, const struct report_charts *charts)
{
    autofree char *data = report_text(report, true);
    const struct {
        const char *placeholder, *text;
        void (*write)(FILE *, const char *);
    } parts[] = {
        {"@STYLE@", embedded_report_style(), write_plain},
        {"@CHARTS@", charts->script, write_script},
        {"@CHARTS_LICENCE@", charts->licence, write_escaped},
        {"@SCRIPT@", embedded_report_script(), write_script},
        {"@DATA@", data, write_plain},
    };
    for (const char *line = embedded_report_frame(), *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), i = 0, count = sizeof parts / sizeof *parts;
        next = line + length + (line[length] == '\n');
        while (i < count && (strlen(parts[i].placeholder) != length || strncmp(line, parts[i].placeholder, length)))
            i++;
        if (i < count) {
            parts[i].write(out, parts[i].text);
            fputc('\n', out);
        } else {
            fprintf(out, "%.*s\n", (int)length, line);
        }
    }
}
