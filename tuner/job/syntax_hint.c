// See job_parts.h: the likely cause of a syntax error in a job file.
#include <ctype.h>

#include "tuner/job/job_parts.h"

enum { DEPTH_MAX = 64, DIGIT = '0', NAME = 'a' }; // the characters for any number, for any name

// Iterates over the characters of a job file, except those inside strings and comments.
struct signs {
    const char *at;
    int line, unclosed; // line of the first string that does not end on its own line; 0: none so far
};

// The next non-blank character, or 0 at the end. A string counts as one character, its opening quote.
static char next_sign(struct signs *s)
{
    for (;;) {
        while (isspace((unsigned char)*s->at)) s->line += *s->at++ == '\n';
        if (*s->at == '#' || (s->at[0] == '/' && s->at[1] == '/')) {
            s->at += strcspn(s->at, "\n");
        } else if (s->at[0] == '/' && s->at[1] == '*') {
            const char *end = strstr(s->at + 2, "*/");
            for (end = end ? end + 2 : s->at + strlen(s->at); s->at < end; s->at++) s->line += *s->at == '\n';
        } else {
            break;
        }
    }
    char sign = *s->at;
    if (sign) s->at++;
    if (sign != '"') return sign;
    int line = s->line;
    while (*s->at && *s->at != '"') {
        s->line += *s->at == '\n';
        s->at += s->at[0] == '\\' && s->at[1] ? 2 : 1;
    }
    if ((!*s->at || s->line > line) && !s->unclosed) s->unclosed = line;
    if (*s->at) s->at++;
    return sign;
}

// Whether the word that begins here is a value that needs quotes, such as `add` in `name = add;`, and not true, false
// or a setting's name.
static bool needs_quotes(const char *word, size_t length)
{
    const char *after = word + length + strspn(word + length, " \t");
    bool boolean = (length == 4 && !strncasecmp(word, "true", 4)) || (length == 5 && !strncasecmp(word, "false", 5));
    return !boolean && *after != '=' && *after != ':';
}

static bool is_number(const char *word, size_t length)
{
    char *end;
    strtod(word, &end);
    return end + strspn(end, "L") == word + length;
}

// Searches the line that libconfig names and the line before it. Brackets are matched in the whole file.
static char *search(const char *text, int line)
{
    struct signs s = {text, 1, 0};
    while (next_sign(&s)) {
    }
    if (s.unclosed) return text_format("a string that begins in line %d has no closing '\"'", s.unclosed);
    s = (struct signs){text, 1, 0};
    char before = 0, sign, open[DEPTH_MAX];
    int depth = 0, opened[DEPTH_MAX];
    while ((sign = next_sign(&s))) {
        const char *at = s.at - 1;
        const char shown = sign, *closes = strchr(")]}", sign), *opens = strchr("([{", sign);
        bool near = s.line >= line - 1 && s.line <= line;
        if (closes && before == ',' && near) return text_format("a list cannot end with a comma before '%c'", sign);
        if (sign == '@' && near) return text_copy("a file is included by a line such as @include \"other.inc\"");
        if (sign == '\'' && near) return text_copy("strings are written in double quotes");
        bool stray = (sign == '-' && !isdigit((unsigned char)at[1]) && at[1] != '.') || strchr("<>*/%&|^!~?`$\\", sign);
        if (near && stray)
            return text_format("'%c' must be in a string, such as an expression in double quotes, or in a comment (//)",
                               sign);
        int foreign = 0;
        while (at[foreign] & 0x80) foreign++;
        if (near && foreign)
            return text_format("'%.*s', which is not ASCII, is allowed only in strings and comments", foreign, at);
        if (near && sign == '[' && depth && open[depth - 1] == '[')
            return text_copy("a list of lists is written in parentheses: ( [1, 2], [3] )");
        if (isalnum((unsigned char)sign) || sign == '_') {
            size_t length = 1;
            while (isalnum((unsigned char)at[length]) || (at[length] && strchr("_-*.", at[length]))) length++;
            s.at = at + length;
            if (near && isdigit((unsigned char)sign) && !is_number(at, length))
                return text_format("'%.*s' is not a number; an expression is written in double quotes", (int)length,
                                   at);
            if (near && !isdigit((unsigned char)sign) && before && strchr("=:[(,", before) && needs_quotes(at, length))
                return text_format("names, strings and expressions are written in double quotes: \"%.*s\"", (int)length,
                                   at);
            sign = isdigit((unsigned char)sign) ? DIGIT : NAME;
        }
        bool value = sign == DIGIT || sign == '"' || opens, list = depth && open[depth - 1] != '{';
        if (near && value && before == NAME && !list) return text_format("a '=' is missing before '%c'", shown);
        if (near && value && before && strchr("0\")]}", before) && list && (sign != '"' || before != '"'))
            return text_format("a comma is missing before '%c'", shown);
        if (opens && depth < DEPTH_MAX) {
            opened[depth] = s.line;
            open[depth++] = sign;
        }
        if (closes && !depth) return text_format("'%c' in line %d closes nothing", sign, s.line);
        if (closes && strchr(")]}", sign) - ")]}" != strchr("([{", open[depth - 1]) - "([{")
            return text_format("'%c' in line %d does not close the '%c' of line %d", sign, s.line, open[depth - 1],
                               opened[depth - 1]);
        depth -= closes != NULL;
        before = sign;
    }
    if (!depth && before && strchr("a=:", before))
        return text_copy("the last setting has no value, as in name = \"add\";");
    return depth ? text_format("the '%c' of line %d is not closed", open[depth - 1], opened[depth - 1]) : NULL;
}

char *syntax_hint(const char *path, const char *text, int line)
{
    static const char *const sources[] = {".cu", ".cuh", ".ptx", ".c", ".cpp", ".h", NULL};
    if (word_find(sources, strrchr(path, '.')) >= 0)
        return text_format("this is a source, not a job file; `sweetspot init %s` writes a job file for it", path);
    struct signs s = {text, 1, 0};
    char first = next_sign(&s);
    if (first == '{' || (first == '[' && next_sign(&s) == '{'))
        return text_copy("this looks like JSON; a job file is written in libconfig's form: name = \"add\";");
    if (first == '[') return text_copy("sections are written as groups: kernel = { ... };");
    return search(text, line);
}
