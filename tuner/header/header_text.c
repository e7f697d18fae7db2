// See header_text.h.
#include "tuner/header/header_text.h"

const char *header_hash_number(const char *source_hash, char out[32])
{
    size_t digits = strspn(source_hash, "0123456789abcdef");
    if (digits > 16) digits = 16;
    snprintf(out, 32, "0x%.*s", digits ? (int)digits : 1, digits ? source_hash : "0");
    return out;
}

bool header_is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

void header_put_comment(FILE *file, const char *text)
{
    for (; *text; text++) {
        fputc((unsigned char)*text < ' ' ? ' ' : *text, file);
        if ((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*') ||
            (text[0] == '?' && text[1] == '/')) // the end of a trigraph
            fputc(' ', file);
    }
}

char *header_literal(const char *text)
{
    char *out = memory_new(4 * strlen(text) + 3, 1), *p = out;
    *p++ = '"';
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\' || c == '?')
            p += sprintf(p, "\\%c", c); // "\?" avoids trigraphs
        else if (c < ' ')
            p += sprintf(p, "\\%03o", c);
        else
            *p++ = (char)c;
    }
    *p++ = '"';
    return out;
}

// The words of a template that are replaced by something other than the job's name.
enum { DECLARED, GIVEN, TIMED, PARAMETERS, SIZES, UNUSED, FALLBACK, FUNCTION, INTEGER, WORDS };
static const char *const words[] = {
    [DECLARED] = "name_declared_sizes",   [GIVEN] = "name_given_sizes", [TIMED] = "name_timed_sizes",
    [PARAMETERS] = "name_parameters",     [SIZES] = "name_sizes",       [UNUSED] = "name_unused_sizes",
    [FALLBACK] = "name_fallback_section", [FUNCTION] = "FN_FUNCTION",   [INTEGER] = "FN_INTEGER",
};

// `format`: the text is a printf format, so '%' is doubled. A header that is read back may contain any name for a size,
// even one with a '%'.
static void add_sizes(struct text *to, const struct renderer *r, int word, bool format)
{
    bool bare = word == PARAMETERS || word == SIZES;
    const char *type = word == DECLARED || word == PARAMETERS ? "long long " : "", *comma = bare ? "" : ", ";
    json_array_each(r->sizes, i, size) {
        if (word == UNUSED)
            text_add(to, "    (void)size_");
        else if (word == TIMED)
            text_add(to, ", times[i].size[%zu]", i);
        else
            text_add(to, "%s%ssize_", comma, type);
        for (const char *c = word == TIMED ? "" : json_string_value(size); c && *c; c++)
            text_add(to, *c == '%' && format ? "%c%%" : "%c", *c);
        if (word == UNUSED) text_add(to, ";\n");
        comma = ", ";
    }
    if (word == UNUSED || word == TIMED) return;
    if (r->repeated) text_add(to, "%s%srun", comma, type);
    if (word == PARAMETERS && !json_array_size(r->sizes) && !r->repeated) text_add(to, "void");
}

// Replaces the words of a template with the job's name and sizes. malloc'ed.
static char *expand(const struct renderer *r, const char *template, bool format)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    struct text t = {0};
    text_add(&t, "%s", "");
    for (const char *p = template; *p;) {
        size_t plain = strcspn(p, letters), length = strspn(p + plain, letters);
        const char *word = p + plain;
        int found = 0;
        while (found < WORDS && (strlen(words[found]) != length || strncmp(word, words[found], length) != 0)) found++;
        text_add(&t, "%.*s", (int)(plain - (found <= TIMED)), p); // without the space before a comma
        p = word + length;
        if (found == FUNCTION)
            text_add(&t, "%s_FUNCTION", r->upper);
        else if (found == INTEGER)
            text_add(&t, "long long");
        else if (found == FALLBACK)
            text_add(&t, "%d", r->fallback);
        else if (found < WORDS)
            add_sizes(&t, r, found, format);
        else if (!strncmp(word, "FN(", 3))
            text_add(&t, "%s_fn_%.*s", r->lower, (int)strcspn(word + 3, ")"), word + 3), p += strcspn(p, ")") + 1;
        else if (!strncmp(word, "name_", 5) || !strncmp(word, "NAME_", 5))
            text_add(&t, "%s%.*s", *word == 'n' ? r->lower : r->upper, (int)length - 4, word + 4);
        else
            text_add(&t, "%.*s", (int)length, word);
    }
    return t.text;
}

static void put_expanded(struct renderer *r, const char *template)
{
    autofree char *text = expand(r, template, false);
    fputs(text, r->file);
}

void header_put_template(struct renderer *r, const char *text)
{
    const char *first = strstr(text, "\n\n");
    put_expanded(r, first ? first + 2 : text);
    fputc('\n', r->file);
}

void header_put(struct renderer *r, const char *format, ...)
{
    va_list args;
    autofree char *expanded = expand(r, format, true);
    va_start(args, format);
    vfprintf(r->file, expanded, args);
    va_end(args);
}

void header_comment(struct renderer *r, const char *format, ...)
{
    va_list args;
    autofree char *expanded = expand(r, format, true);
    va_start(args, format);
    autofree char *line = text_format_list(expanded, args);
    va_end(args);
    fputs(" *", r->file);
    header_put_comment(r->file, line);
    fputc('\n', r->file);
}

void header_put_condition(struct renderer *r, size_t section)
{
    r->section = section;
    if (json_array_size(r->sections) > 1) header_put(r, "#%s NAME_SECTION == %zu\n", section ? "elif" : "if", section);
}

void header_end_conditions(struct renderer *r)
{
    if (json_array_size(r->sections) > 1) header_put(r, "#endif\n");
}

// In a function of a repeated stage, writes variables with the values of the stage's loops in this run, and the
// variable `there`, which says whether this run exists.
static void put_loops(struct renderer *r)
{
    if (!r->repeated) return;
    json_object_each((json_t *)r->loops, name, value) header_put(r, "    long long loop_%s = 0;\n", name);
    header_put(r, "    const int there = %srun_on(section name_given_sizes", r->repeated);
    json_object_each((json_t *)r->loops, name, value) header_put(r, ", &loop_%s", name);
    header_put(r, ");\n    (void)there;\n");
    json_object_each((json_t *)r->loops, name, value) header_put(r, "    (void)loop_%s;\n", name);
}

void header_begin(struct renderer *r, const char *type, const char *name, const char *variables)
{
    put_expanded(r, "NAME_FUNCTION ");
    put_expanded(r, type);
    header_put(r, " %s_on(int section name_declared_sizes)\n{\n", name);
    put_expanded(r, variables);
    put_loops(r);
    header_put(r, "name_unused_sizes");
}

// Writes the shorter function for the chosen section.
static void put_chosen(struct renderer *r, const char *type, const char *name)
{
    put_expanded(r, "NAME_FUNCTION ");
    put_expanded(r, type);
    header_put(r, " %s(name_parameters) { return %s_on(NAME_SECTION name_given_sizes); }\n", name, name);
}

void header_end(struct renderer *r, const char *type, const char *name, const char *result)
{
    header_put(r, "    return %s;\n}\n", result);
    put_chosen(r, type, name);
}

void header_put_values(struct renderer *r, const char *type, const char *name, const char *values)
{
    header_put(r, "NAME_FUNCTION %s %s_on(int section name_declared_sizes)%s", type, name,
               r->repeated ? "\n{\n" : " { ");
    put_loops(r);
    json_array_each(r->sizes, i, size) header_put(r, "(void)size_%s; ", json_string_value(size));
    header_put(r, "return %s0;%s}\n", values, r->repeated ? "\n" : " ");
    put_chosen(r, type, name);
}

void header_refuse(struct renderer *r, const char *format, ...)
{
    TEXT_FROM(format, text);
    if (!r->collided) error_set(r->err, "%s", text);
    r->collided = true;
}

bool header_take(struct renderer *r, const char *macro)
{
    autofree char *key = text_format("%zu %s", r->section, macro);
    bool taken = json_object_get(r->macros, key);
    json_object_set_new(r->macros, key, json_true());
    return taken;
}

void header_define_function(struct renderer *r, const char *name, const char *parameters, const char *value)
{
    autofree char *upper = header_upper(name);
    if (header_take(r, upper))
        header_refuse(r, "the macro %s_%s would be defined twice: rename the parameter '%s'", r->upper, upper, name);
    fprintf(r->file, "#define %s_%s%s%s%s\n", r->upper, upper, parameters, *value ? " " : "", value);
}

void header_define(struct renderer *r, const char *name, const char *format, ...)
{
    TEXT_FROM(format, value);
    header_define_function(r, name, "", value);
}

void header_define_text(struct renderer *r, const char *name, const char *text)
{
    autofree char *quoted = header_literal(text);
    header_define_function(r, name, "", quoted);
}
