// See manual.h.
#include "tuner/cli/manual.h"

#include <ctype.h>

#include "tuner/cli/options.h"

// Writes one character so that roff shows it literally. Dashes of options stay dashes; quotes stay plain quotes.
static void put_character(FILE *f, char c, bool dash)
{
    static const char *const escaped[128] = {
        ['\\'] = "\\e", ['\''] = "\\(aq", ['~'] = "\\(ti", ['^'] = "\\(ha", ['-'] = "\\-"};
    const char *escape = c > 0 && (c != '-' || dash) ? escaped[(int)c] : NULL;
    if (escape)
        fputs(escape, f);
    else
        fputc(c, f);
}

// Writes a string with its paragraphs, each sentence on its own line.
static void put_text(FILE *f, const char *text)
{
    bool bold = false, fresh = true; // fresh: at the beginning of a line
    for (const char *c = text; *c; c++) {
        bool sentence = *c == ' ' && c > text && c[-1] == '.' && isupper((unsigned char)c[1]);
        if (*c == '\n') {
            fputs(fresh ? ".PP\n" : "\n.PP\n", f);
            c += strspn(c, "\n") - 1;
        } else if (sentence) {
            fputc('\n', f);
        } else if (*c == '`') {
            bold = !bold;
            fputs(bold ? "\\fB" : "\\fR", f);
        } else {
            if (fresh && strchr(".'", *c)) fputs("\\&", f); // not a macro
            put_character(f, *c, bold || c == text || !isalnum((unsigned char)c[-1]));
        }
        fresh = sentence || *c == '\n';
    }
    if (!fresh) fputc('\n', f);
}

static void put_section(FILE *f, const char *title)
{
    fprintf(f, ".SH %s\n", title);
}

// Writes a tag in bold. `tag` is plain text, without backquotes.
static void put_tag(FILE *f, const char *tag)
{
    fputs(".TP\n", f);
    autofree char *bold = text_format("`%s`", tag);
    put_text(f, bold);
}

static void put_literal(FILE *f, const char *lines)
{
    fputs(".PP\n.RS 4\n.nf\n", f);
    for (const char *c = lines; *c; c++) {
        if (*c == '.' && (c == lines || c[-1] == '\n')) fputs("\\&", f);
        put_character(f, *c, true);
    }
    fputs(".fi\n.RE\n", f);
}

// Writes the value's name in italics, or its choices in bold.
static void put_value(FILE *f, const struct option_spec *spec)
{
    if (!spec->choices || spec->string) { // a string's choices are only the usual values
        fprintf(f, " \\fI%s\\fR", spec->shown ? spec->shown : "VALUE");
        return;
    }
    for (size_t i = 0; spec->choices[i]; i++) fprintf(f, "%s\\fB%s\\fR", i ? "|" : " ", spec->choices[i]);
}

static void put_help(FILE *f, const struct option_spec *spec)
{
    autofree char *help = option_help(spec);
    put_text(f, help);
}

static void put_option(FILE *f, const struct option_spec *spec)
{
    fputs(".TP\n", f);
    if (spec->positional) {
        fprintf(f, "\\fI%s\\fR\n", spec->name);
        put_help(f, spec);
        return;
    }
    if (spec->letter) fprintf(f, "\\fB\\-%c\\fR, ", spec->letter);
    fputs("\\fB\\-\\-", f);
    for (const char *c = spec->name; *c; c++) put_character(f, *c, true);
    fputs("\\fR", f);
    if (!spec->flag && strcmp(spec->name, "help")) put_value(f, spec);
    fputc('\n', f);
    put_help(f, spec);
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && !strncmp(at, word, length)) return true;
    return false;
}

// Writes the facts for a command, or all facts if `command` is NULL.
static void put_facts(FILE *f, const char *title, const struct manual_fact *facts, const char *command)
{
    put_section(f, title);
    for (const struct manual_fact *fact = facts; fact->name; fact++) {
        if (command && fact->commands && !has_word(fact->commands, command)) continue;
        put_tag(f, fact->name);
        put_text(f, fact->text);
    }
}

static void put_examples(FILE *f, const char *command)
{
    bool any = false;
    for (const struct manual_example *e = manual_examples; e->command; e++) {
        if (strcmp(e->command, command)) continue;
        if (!any) put_section(f, "EXAMPLES");
        any = true;
        put_text(f, e->purpose);
        put_literal(f, e->lines);
    }
}

static void put_command(FILE *f, const struct command *command)
{
    const struct option_spec *specs = command->options;
    bool positional = false;
    put_section(f, "SYNOPSIS");
    fprintf(f, "\\fBsweetspot %s\\fR [\\fIOPTION\\fR...]", command->name);
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (!spec->positional) continue;
        positional = true;
        fprintf(f, spec->optional ? " [\\fI%s\\fR%s]" : " \\fI%s\\fR%s", spec->name, spec->list ? "..." : "");
    }
    fputc('\n', f);
    put_section(f, "DESCRIPTION");
    put_text(f, command->description);
    if (command->more) {
        fputs(".PP\n", f);
        put_text(f, command->more);
    }
    if (positional) put_section(f, "ARGUMENTS");
    for (const struct option_spec *spec = specs; spec->name; spec++)
        if (spec->positional) put_option(f, spec);
    put_section(f, "OPTIONS");
    put_option(f, &(struct option_spec){.name = "help", .letter = 'h', .help = "print a summary and exit"});
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (spec->group) fprintf(f, ".SS %s\n", spec->group);
        if (!spec->positional) put_option(f, spec);
    }
}

static void put_reference(FILE *f, const char *name, const char *after)
{
    fprintf(f, ".BR sweetspot%s%s (1)%s\n", *name ? "\\-" : "", name, after);
}

static void put_overview(FILE *f, const struct command *const *all)
{
    put_section(f, "SYNOPSIS");
    fputs("\\fBsweetspot\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.br\n"
          "\\fBsweetspot help\\fR [\\fICOMMAND\\fR]\n.br\n\\fBsweetspot \\-\\-version\\fR\n",
          f);
    put_section(f, "DESCRIPTION");
    put_text(f, manual_overview);
    put_section(f, "COMMANDS");
    for (; *all; all++) {
        fputs(".TP\n", f);
        put_reference(f, (*all)->name, "");
        put_text(f, (*all)->summary);
    }
}

char *manual_file(const struct command *command)
{
    return command ? text_format("sweetspot-%s.1", command->name) : text_copy("sweetspot.1");
}

void manual_write(FILE *file, const struct command *const *all, const struct command *command)
{
    const char *name = command ? command->name : "";
    fprintf(file, ".\\\" A manual page, written by `sweetspot man`.\n.TH SWEETSPOT%s", command ? "\\-" : "");
    for (const char *c = name; *c; c++) fputc(toupper((unsigned char)*c), file);
    fprintf(file, " 1 \"%s\" \"sweetspot %s\" \"sweetspot\"\n", SWEETSPOT_DATE, SWEETSPOT_VERSION);
    put_section(file, "NAME");
    fprintf(file, "sweetspot%s%s \\- ", command ? "\\-" : "", name);
    put_text(file, command ? command->summary : "autotuner for CUDA kernels");
    if (command)
        put_command(file, command);
    else
        put_overview(file, all);
    put_facts(file, "EXIT STATUS", manual_statuses, command ? name : NULL);
    put_facts(file, "ENVIRONMENT", manual_environment, command ? name : NULL);
    put_facts(file, "FILES", manual_files, command ? name : NULL);
    put_examples(file, command ? name : "tune");
    put_section(file, "SEE ALSO");
    if (command) put_reference(file, "", *command->see ? "," : "");
    const struct command *last = NULL;
    for (; *all; all++) {
        if (command && !has_word(command->see, (*all)->name)) continue;
        if (last) put_reference(file, last->name, ",");
        last = *all;
    }
    if (last) put_reference(file, last->name, "");
}
