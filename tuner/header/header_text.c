// See header_text.h.
#include "tuner/header/header_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

char *header_prefix(const char *job)
{
    char *name = header_identifier(job), *prefix = text_format("%s_fn_", name);
    free(name);
    return prefix;
}

const char *header_hash_number(const char *source_hash, char out[32])
{
    size_t digits = strspn(source_hash, "0123456789abcdef");
    if (digits > 16) digits = 16;
    snprintf(out, 32, "0x%.*s", digits ? (int)digits : 1, digits ? source_hash : "0");
    return out;
}

void header_put_comment(FILE *file, const char *text)
{
    for (; *text; text++) {
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
        if ((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*')) fputc(' ', file);
    }
}

char *header_literal(const char *text)
{
    char *out = memory_new(4 * strlen(text) + 3, 1), *p = out;
    *p++ = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '?')
            p += sprintf(p, "\\%c", c); // "\?" keeps trigraphs away
        else if (c < ' ')
            p += sprintf(p, "\\%03o", c);
        else
            *p++ = (char)c;
    }
    *p++ = '"';
    return out;
}

void header_put_arguments(struct renderer *r, const char *first)
{
    const json_t *size;
    size_t i;
    bool any = *first != 0;
    fputs(first, r->file);
    json_array_foreach(r->sizes, i, size)
    {
        fprintf(r->file, "%slong long size_%s", any ? ", " : "", json_string_value(size));
        any = true;
    }
    if (r->repeated) fprintf(r->file, "%slong long run", any ? ", " : "");
    if (!any && !r->repeated) fputs("void", r->file);
}

void header_put_sizes(struct renderer *r, const char *first)
{
    const json_t *size;
    size_t i;
    json_array_foreach(r->sizes, i, size) fprintf(r->file, "%ssize_%s", i ? ", " : first, json_string_value(size));
    if (r->repeated) fprintf(r->file, "%srun", json_array_size(r->sizes) ? ", " : first);
}

void header_put_loops(struct renderer *r)
{
    const char *name;
    json_t *value;
    if (!r->repeated) return;
    json_object_foreach((json_t *)r->loops, name, value) fprintf(r->file, "    long long loop_%s = 0;\n", name);
    fprintf(r->file, "    const int there = %srun_on(section", r->repeated);
    header_put_sizes(r, ", ");
    json_object_foreach((json_t *)r->loops, name, value) fprintf(r->file, ", &loop_%s", name);
    fputs(");\n    (void)there;\n", r->file);
    json_object_foreach((json_t *)r->loops, name, value) fprintf(r->file, "    (void)loop_%s;\n", name);
}

void header_put_shared(struct renderer *r, const char *text)
{
    const char *first = strstr(text, "\n\n"), *p = first ? first + 2 : text;
    while (*p) {
        size_t plain = strcspn(p, "F"); // all placeholders begin with it
        fwrite(p, 1, plain, r->file);
        p += plain;
        if (!strncmp(p, "FN_FUNCTION", 11)) {
            fprintf(r->file, "%s_FUNCTION", r->upper);
            p += 11;
        } else if (!strncmp(p, "FN_INTEGER", 10)) {
            fputs("long long", r->file);
            p += 10;
        } else if (!strncmp(p, "FN(", 3)) {
            size_t length = strcspn(p + 3, ")");
            fprintf(r->file, "%s_fn_%.*s", r->lower, (int)length, p + 3);
            p += 3 + length + (p[3 + length] == ')');
        } else if (*p) {
            fputc(*p++, r->file);
        }
    }
    fputc('\n', r->file);
}

// Words of a template that stand for lists, which begin with a comma, and for the fallback's section.
static const char *const list_words[] = {"declared_sizes", "given_sizes", "timed_sizes", "fallback_section"};
enum { DECLARED, GIVEN, TIMED, FALLBACK, WORDS };

static void put_list(struct renderer *r, int word)
{
    const json_t *size;
    size_t i;
    if (word == FALLBACK) fprintf(r->file, "%d", r->fallback);
    json_array_foreach(r->sizes, i, size)
    {
        if (word == DECLARED) fprintf(r->file, ", long long size_%s", json_string_value(size));
        if (word == GIVEN) fprintf(r->file, ", size_%s", json_string_value(size));
        if (word == TIMED) fprintf(r->file, ", times[i].size[%zu]", i);
    }
}

void header_put_template(struct renderer *r, const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const char *first = strstr(text, "\n\n");
    for (const char *p = first ? first + 2 : text; *p;) {
        size_t plain = strcspn(p, letters), length = strspn(p + plain, letters);
        const char *word = p + plain;
        bool lower = !strncmp(word, "name_", 5), upper = !strncmp(word, "NAME_", 5);
        int list = 0;
        while (list < WORDS &&
               !(lower && strlen(list_words[list]) == length - 5 && !strncmp(word + 5, list_words[list], length - 5)))
            list++;
        fwrite(p, 1, plain - (list < FALLBACK), r->file); // without the space before a comma
        p = word + length;
        if (list < WORDS) {
            put_list(r, list);
            continue;
        }
        if (lower || upper) {
            fputs(lower ? r->lower : r->upper, r->file);
            word += 4;
        }
        fwrite(word, 1, (size_t)(p - word), r->file);
    }
    fputc('\n', r->file);
}

static void define(struct renderer *r, const char *name, const char *parameters, const char *value)
{
    char *upper = header_upper(name);
    if (json_object_get(r->macros, upper)) {
        if (!r->collided)
            error_set(r->err, "the macro %s_%s would be defined twice: rename the parameter '%s'", r->upper, upper,
                      name);
        r->collided = true;
    }
    json_object_set_new(r->macros, upper, json_true());
    fprintf(r->file, "#define %s_%s%s%s%s\n", r->upper, upper, parameters, *value ? " " : "", value);
    free(upper);
}

void header_define(struct renderer *r, const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *value = text_format_list(format, args);
    va_end(args);
    define(r, name, "", value);
    free(value);
}

void header_define_text(struct renderer *r, const char *name, const char *text)
{
    char *quoted = header_literal(text);
    define(r, name, "", quoted);
    free(quoted);
}

void header_define_function(struct renderer *r, const char *name, const char *parameters, const char *value)
{
    define(r, name, parameters, value);
}
