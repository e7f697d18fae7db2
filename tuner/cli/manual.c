// See manual.h.
#include "tuner/cli/manual.h"

#include <ctype.h>

#include "tuner/base/base.h"
#include "tuner/cli/options.h"

enum { LINE = 76 }; // columns of the source; readers fill lines again

struct page {
    FILE *file;
    int column;
    bool bold;
};

// One character, as it is to be read. Dashes of options stay dashes; quotes are those of the keyboard.
static void put_character(struct page *p, char c, bool dash)
{
    switch (c) {
    case '\\':
        fputs("\\e", p->file);
        break;
    case '\'':
        fputs("\\(aq", p->file);
        break;
    case '~':
        fputs("\\(ti", p->file);
        break;
    case '^':
        fputs("\\(ha", p->file);
        break;
    case '-':
        fputs(dash ? "\\-" : "-", p->file);
        break;
    default:
        fputc(c, p->file);
    }
}

// Inside of backticks, in front of a word, and behind another dash.
static bool is_dash(const struct page *p, const char *text, const char *c)
{
    return p->bold || c == text || !isalnum((unsigned char)c[-1]);
}

static void new_line(struct page *p)
{
    if (p->column) fputc('\n', p->file);
    p->column = 0;
}

static void put_word(struct page *p, const char *text, const char *word, size_t length)
{
    char *source = NULL;
    size_t size;
    FILE *out = p->file, *copy = open_memstream(&source, &size);
    if (!copy) abort();
    p->file = copy;
    if (*word == '.' || *word == '\'') fputs("\\&", copy); // not a macro where it begins a line
    for (const char *c = word; c < word + length; c++) {
        if (*c != '`') {
            put_character(p, *c, is_dash(p, text, c));
            continue;
        }
        p->bold = !p->bold;
        fputs(p->bold ? "\\fB" : "\\fR", copy);
    }
    fclose(copy);
    p->file = out;
    if (p->column && p->column + 1 + (int)size > LINE) new_line(p);
    p->column += fprintf(out, "%s%s", p->column ? " " : "", source);
    free(source);
}

// A text with its paragraphs. A sentence begins a line.
static void put_text(struct page *p, const char *text)
{
    for (const char *c = text; *c;) {
        size_t length = strcspn(c, " \n");
        if (length) put_word(p, text, c, length);
        c += length;
        if (*c == '\n') {
            new_line(p);
            fputs(".PP\n", p->file);
        } else if (length && *c == ' ' && c[-1] == '.' && isupper((unsigned char)c[1])) {
            new_line(p);
        }
        c += strspn(c, " \n");
    }
    new_line(p);
}

static void put_section(struct page *p, const char *title)
{
    fprintf(p->file, ".SH %s\n", title);
}

// A tag in bold, without `...`.
static void put_tag(struct page *p, const char *tag)
{
    fputs(".TP\n", p->file);
    char *bold = text_format("`%s`", tag);
    put_text(p, bold);
    free(bold);
}

static void put_literal(struct page *p, const char *lines)
{
    fputs(".PP\n.RS 4\n.nf\n", p->file);
    for (const char *c = lines; *c; c++) {
        if (*c == '.' && (c == lines || c[-1] == '\n')) fputs("\\&", p->file);
        put_character(p, *c, true);
    }
    fputs(".fi\n.RE\n", p->file);
}

// The value's name in italics, or its choices in bold.
static void put_value(struct page *p, const struct option_spec *spec)
{
    if (!spec->choices || spec->string) { // of a string, choices are only the usual values
        fprintf(p->file, " \\fI%s\\fR", spec->shown ? spec->shown : "VALUE");
        return;
    }
    for (size_t i = 0; spec->choices[i]; i++) fprintf(p->file, "%s\\fB%s\\fR", i ? "|" : " ", spec->choices[i]);
}

static void put_help(struct page *p, const struct option_spec *spec)
{
    char *help = option_help(spec);
    put_text(p, help);
    free(help);
}

static void put_option(struct page *p, const struct option_spec *spec)
{
    fputs(".TP\n", p->file);
    if (spec->positional) {
        fprintf(p->file, "\\fI%s\\fR\n", spec->name);
        put_help(p, spec);
        return;
    }
    if (spec->letter) fprintf(p->file, "\\fB\\-%c\\fR, ", spec->letter);
    fputs("\\fB\\-\\-", p->file);
    for (const char *c = spec->name; *c; c++) put_character(p, *c, true);
    fputs("\\fR", p->file);
    if (!spec->flag && strcmp(spec->name, "help")) put_value(p, spec);
    fputc('\n', p->file);
    put_help(p, spec);
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && !strncmp(at, word, length)) return true;
    return false;
}

// Those of a command; NULL: all.
static void put_facts(struct page *p, const char *title, const struct manual_fact *facts, const char *command)
{
    put_section(p, title);
    for (const struct manual_fact *f = facts; f->name; f++) {
        if (command && f->commands && !has_word(f->commands, command)) continue;
        put_tag(p, f->name);
        put_text(p, f->text);
    }
}

static void put_examples(struct page *p, const char *command)
{
    bool any = false;
    for (const struct manual_example *e = manual_examples; e->command; e++) {
        if (strcmp(e->command, command)) continue;
        if (!any) put_section(p, "EXAMPLES");
        any = true;
        put_text(p, e->purpose);
        put_literal(p, e->lines);
    }
}

static void put_command(struct page *p, const struct command *command)
{
    const struct option_spec *specs = command->options;
    bool positional = false;
    put_section(p, "SYNOPSIS");
    fprintf(p->file, "\\fBsweetspot %s\\fR [\\fIOPTION\\fR...]", command->name);
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (!spec->positional) continue;
        positional = true;
        fprintf(p->file, spec->optional ? " [\\fI%s\\fR%s]" : " \\fI%s\\fR%s", spec->name, spec->list ? "..." : "");
    }
    fputc('\n', p->file);
    put_section(p, "DESCRIPTION");
    put_text(p, command->description);
    if (command->more) {
        fputs(".PP\n", p->file);
        put_text(p, command->more);
    }
    if (positional) put_section(p, "ARGUMENTS");
    for (const struct option_spec *spec = specs; spec->name; spec++)
        if (spec->positional) put_option(p, spec);
    put_section(p, "OPTIONS");
    for (const struct option_spec *spec = specs; spec->name; spec++)
        if (!spec->positional) put_option(p, spec);
    put_option(p, &(struct option_spec){.name = "help", .letter = 'h', .help = "print a summary and exit"});
}

static void put_reference(struct page *p, const char *name, const char *after)
{
    fprintf(p->file, ".BR sweetspot%s%s (1)%s\n", *name ? "\\-" : "", name, after);
}

static void put_overview(struct page *p, const struct command *const *all)
{
    put_section(p, "SYNOPSIS");
    fputs("\\fBsweetspot\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.br\n"
          "\\fBsweetspot help\\fR [\\fICOMMAND\\fR]\n.br\n\\fBsweetspot \\-\\-version\\fR\n",
          p->file);
    put_section(p, "DESCRIPTION");
    put_text(p, manual_overview);
    put_section(p, "COMMANDS");
    for (; *all; all++) {
        fputs(".TP\n", p->file);
        put_reference(p, (*all)->name, "");
        put_text(p, (*all)->summary);
    }
}

char *manual_file(const struct command *command)
{
    return command ? text_format("sweetspot-%s.1", command->name) : text_copy("sweetspot.1");
}

void manual_write(FILE *file, const struct command *const *all, const struct command *command)
{
    struct page p = {.file = file};
    const char *name = command ? command->name : "";
    fprintf(file, ".\\\" A manual page, written by `sweetspot man`.\n.TH SWEETSPOT%s", command ? "\\-" : "");
    for (const char *c = name; *c; c++) fputc(toupper((unsigned char)*c), file);
    fprintf(file, " 1 \"%s\" \"sweetspot %s\" \"sweetspot\"\n", SWEETSPOT_DATE, SWEETSPOT_VERSION);
    put_section(&p, "NAME");
    p.column = fprintf(file, "sweetspot%s%s \\-", command ? "\\-" : "", name);
    put_text(&p, command ? command->summary : "autotuner for CUDA kernels");
    if (command)
        put_command(&p, command);
    else
        put_overview(&p, all);
    put_facts(&p, "EXIT STATUS", manual_statuses, command ? name : NULL);
    put_facts(&p, "ENVIRONMENT", manual_environment, command ? name : NULL);
    put_facts(&p, "FILES", manual_files, command ? name : NULL);
    put_examples(&p, command ? name : "tune");
    put_section(&p, "SEE ALSO");
    if (command) put_reference(&p, "", *command->see ? "," : "");
    const struct command *last = NULL;
    for (; *all; all++) {
        if (command && !has_word(command->see, (*all)->name)) continue;
        if (last) put_reference(&p, last->name, ",");
        last = *all;
    }
    if (last) put_reference(&p, last->name, "");
}
