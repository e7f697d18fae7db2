// See options.h.
#include "tuner/cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 100, OPTIONS_MAX = 64 };

const char *const format_names[] = {"table", "csv", "json", NULL};

static bool takes_value(const struct option_spec *spec)
{
    return !spec->flag;
}

static const struct option_spec *find_option(const struct option_spec *specs, const char *name, size_t length)
{
    for (; specs->name; specs++)
        if (!specs->positional && strlen(specs->name) == length && !strncmp(specs->name, name, length)) return specs;
    return NULL;
}

static const struct option_spec *find_letter(const struct option_spec *specs, char letter)
{
    for (; specs->name; specs++)
        if (!specs->positional && specs->letter == letter) return specs;
    return NULL;
}

static void print_choices(FILE *file, const char *const *choices, const char *separator)
{
    for (size_t i = 0; choices[i]; i++) fprintf(file, "%s%s", i ? separator : "", choices[i]);
}

// The value's name as --help shows it: FILE, or table|csv|json.
static void print_shown(FILE *file, const struct option_spec *spec)
{
    if (spec->choices)
        print_choices(file, spec->choices, "|");
    else
        fputs(spec->shown ? spec->shown : "VALUE", file);
}

// Stores a value. Prints what is wrong with it and returns false otherwise.
static bool set_value(const struct option_spec *spec, const char *command, const char *text)
{
    char *end = NULL;
    errno = 0;
    if (spec->string) {
        *spec->string = text;
        return true;
    }
    if (spec->list) {
        if (spec->list->count == OPTIONS_MAX_LIST) {
            fprintf(stderr, "sweetspot %s: more than %d times %s\n", command, OPTIONS_MAX_LIST, spec->name);
            return false;
        }
        spec->list->items[spec->list->count++] = text;
        return true;
    }
    if (spec->choice) {
        for (int i = 0; spec->choices[i]; i++)
            if (!strcmp(spec->choices[i], text)) {
                *spec->choice = i;
                return true;
            }
        const char *nearest = text_nearest(text, spec->choices);
        fprintf(stderr, "sweetspot %s: --%s cannot be '%s'; ", command, spec->name, text);
        if (nearest) {
            fprintf(stderr, "did you mean '%s'?\n", nearest);
        } else {
            fputs("use one of ", stderr);
            print_choices(stderr, spec->choices, ", ");
            fputc('\n', stderr);
        }
        return false;
    }
    if (spec->integer) {
        long long value = strtoll(text, &end, 10);
        int64_t low = spec->low, high = spec->high;
        if (!low && !high) high = INT64_MAX;
        if (end != text && !*end && !errno && value >= low && value <= high) {
            *spec->integer = value;
            return true;
        }
        if (high == INT64_MAX)
            fprintf(stderr, "sweetspot %s: --%s needs a whole number of at least %lld, not '%s'\n", command, spec->name,
                    (long long)low, text);
        else
            fprintf(stderr, "sweetspot %s: --%s needs a whole number from %lld to %lld, not '%s'\n", command,
                    spec->name, (long long)low, (long long)high, text);
        return false;
    }
    if (spec->real) {
        double value = strtod(text, &end);
        bool any = !spec->low && !spec->high;
        if (end != text && !*end && isfinite(value) &&
            (any || (value >= (double)spec->low && value <= (double)spec->high))) {
            *spec->real = value;
            return true;
        }
        fprintf(stderr, "sweetspot %s: --%s needs a number", command, spec->name);
        if (!any) fprintf(stderr, " from %lld to %lld", (long long)spec->low, (long long)spec->high);
        fprintf(stderr, ", not '%s'\n", text);
        return false;
    }
    if (spec->share) {
        double value = strtod(text, &end);
        bool percent = end != text && *end == '%';
        value /= percent ? 100 : 1;
        if (end != text && !end[percent] && value >= 0 && value <= 1) {
            *spec->share = value;
            return true;
        }
        fprintf(stderr, "sweetspot %s: --%s needs a share such as 0.01 or 1%%, not '%s'\n", command, spec->name, text);
        return false;
    }
    if (!text_duration(text, spec->seconds)) return true;
    fprintf(stderr, "sweetspot %s: --%s needs a duration such as 90s, 8h or 1h30m, not '%s'\n", command, spec->name,
            text);
    return false;
}

static int usage_error(const char *command)
{
    fprintf(stderr, "sweetspot %s --help lists what it takes\n", command);
    return EXIT_USAGE;
}

// Options of earlier versions. The hint says what to use instead.
static const struct {
    const char *command, *option, *hint;
} removed[] = {
    {"tune", "patience", "use --until, as in --until 1%"},
    {"tune", "noise", "use --until, as in --until 1%"},
    {"tune", "report", "run `sweetspot report` at any time"},
    {"tune", "report-every", "run `sweetspot report` at any time"},
    {"report", "every", "run `sweetspot report` at any time"},
};

static int unknown_option(const struct option_spec *specs, const char *command, const char *word, size_t length)
{
    const char *names[OPTIONS_MAX + 1] = {"help"};
    char name[64];
    for (size_t count = 1; specs->name && count < OPTIONS_MAX; specs++)
        if (!specs->positional) names[count++] = specs->name;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        if (strcmp(removed[i].command, command) != 0 || strcmp(removed[i].option, name) != 0) continue;
        fprintf(stderr, "sweetspot %s: the option '--%s' was removed: %s\n", command, name, removed[i].hint);
        return EXIT_USAGE;
    }
    const char *nearest = text_nearest(name, names);
    fprintf(stderr, "sweetspot %s: unknown option '--%s'", command, name);
    if (nearest) fprintf(stderr, "; did you mean '--%s'?", nearest);
    fputc('\n', stderr);
    return usage_error(command);
}

static int missing_value(const struct option_spec *spec, const char *command)
{
    fprintf(stderr, "sweetspot %s: --%s needs a value: ", command, spec->name);
    print_shown(stderr, spec);
    fputc('\n', stderr);
    return usage_error(command);
}

// One word that begins with "--". May take argv[*i + 1]. -1 to go on.
static int parse_long(const struct option_spec *specs, int argc, char **argv, int *i)
{
    const char *command = argv[0], *word = argv[*i] + 2;
    size_t length = strcspn(word, "=");
    const struct option_spec *spec = find_option(specs, word, length);
    if (!spec) return unknown_option(specs, command, word, length);
    if (!takes_value(spec)) {
        if (word[length]) {
            fprintf(stderr, "sweetspot %s: --%s takes no value\n", command, spec->name);
            return usage_error(command);
        }
        *spec->flag = true;
        return -1;
    }
    const char *value = word[length] ? word + length + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (!value) return missing_value(spec, command);
    return set_value(spec, command, value) ? -1 : usage_error(command);
}

// One word of short options. May take argv[*i + 1]. -1 to go on, -2 for help.
static int parse_short(const struct option_spec *specs, int argc, char **argv, int *i)
{
    const char *command = argv[0];
    for (const char *letter = argv[*i] + 1; *letter; letter++) {
        const struct option_spec *spec = find_letter(specs, *letter);
        if (!spec && *letter == 'h') return -2;
        if (!spec) {
            fprintf(stderr, "sweetspot %s: unknown option '-%c'\n", command, *letter);
            return usage_error(command);
        }
        if (!takes_value(spec)) {
            *spec->flag = true;
            continue;
        }
        const char *value = letter[1] ? letter + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        if (!value) return missing_value(spec, command);
        return set_value(spec, command, value) ? -1 : usage_error(command);
    }
    return -1;
}

static int parse_positional(const struct option_spec **next, const char *command, const char *word)
{
    while ((*next)->name && !(*next)->positional) (*next)++;
    if (!(*next)->name) {
        fprintf(stderr, "sweetspot %s: unexpected argument '%s'\n", command, word);
        return usage_error(command);
    }
    if (!set_value(*next, command, word)) return usage_error(command);
    if (!(*next)->list) (*next)++; // a list takes all further arguments
    return -1;
}

static struct {
    int count;
    char **words;
} parsed;

char *options_command_line(void)
{
    const char **words = memory_new((size_t)parsed.count + 2, sizeof *words);
    words[0] = "sweetspot";
    for (int i = 0; i < parsed.count; i++) words[i + 1] = parsed.words[i];
    char *line = text_command(words);
    free(words);
    return line;
}

char *option_help(const struct option_spec *spec)
{
    if (!spec->words) return text_copy(spec->help);
    char *words = spec->words(), *help = text_format("%s: %s", spec->help, words);
    free(words);
    return help;
}

static void options_help(const struct option_spec *specs, const char *command, const char *description);

int options_parse(const struct option_spec *specs, const char *description, int argc, char **argv)
{
    parsed.count = argc;
    parsed.words = argv;
    const struct option_spec *next = specs; // positional argument awaited
    bool only_positional = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int status;
        if (only_positional || word[0] != '-' || !word[1]) {
            status = parse_positional(&next, argv[0], word);
        } else if (!strcmp(word, "--")) {
            only_positional = true;
            continue;
        } else if (!strcmp(word, "--help")) {
            status = -2;
        } else if (word[1] == '-') {
            status = parse_long(specs, argc, argv, &i);
        } else {
            status = parse_short(specs, argc, argv, &i);
        }
        if (status == -2) {
            options_help(specs, argv[0], description);
            return EXIT_DONE;
        }
        if (status >= 0) return status;
    }
    for (; next->name; next++) {
        if (!next->positional || next->optional || (next->list && next->list->count)) continue;
        char *help = option_help(next);
        fprintf(stderr, "sweetspot %s: %s is missing: %s\n", argv[0], next->name, help);
        free(help);
        return usage_error(argv[0]);
    }
    return -1;
}

// Prints text from `column` on, wrapped at blanks before HELP_WIDTH and continued at `indent`; newlines are kept.
static void print_wrapped(const char *text, int column, int indent)
{
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (column > indent && column + (int)length > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        printf("%.*s", (int)length, text);
        column += (int)length;
        text += length;
        if (*text == '\n') {
            printf("\n%*s", text[1] && text[1] != '\n' ? indent : 0, "");
            column = indent;
            text++;
        } else if (*text == ' ') {
            if (column + 1 + (int)strcspn(text + 1, " \n") <= HELP_WIDTH) {
                putchar(' ');
                column++;
            } else {
                printf("\n%*s", indent, "");
                column = indent;
            }
            text++;
        }
    }
    putchar('\n');
}

static void print_option(const struct option_spec *spec)
{
    char head[256];
    FILE *out = fmemopen(head, sizeof head, "w");
    if (!out) return;
    if (spec->positional) {
        fprintf(out, "  %s", spec->name);
    } else {
        if (spec->letter)
            fprintf(out, "  -%c, --%s", spec->letter, spec->name);
        else
            fprintf(out, "      --%s", spec->name);
        if (takes_value(spec)) {
            fputc(' ', out);
            print_shown(out, spec);
        }
    }
    fputc('\0', out);
    fclose(out);
    int column = printf("%s", head);
    if (column >= HELP_COLUMN) {
        printf("\n");
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    char *help = option_help(spec);
    print_wrapped(help, HELP_COLUMN, HELP_COLUMN);
    free(help);
}

// The help text of one command, as --help prints it.
static void options_help(const struct option_spec *specs, const char *command, const char *description)
{
    printf("usage: sweetspot %s [OPTION...]", command);
    bool arguments = false;
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (!spec->positional) continue;
        printf(spec->optional ? " [%s%s]" : " %s%s", spec->name, spec->list ? "..." : "");
        arguments = true;
    }
    printf("\n\n");
    print_wrapped(description, 0, 0);
    if (arguments) {
        printf("\nArguments:\n");
        for (const struct option_spec *spec = specs; spec->name; spec++)
            if (spec->positional) print_option(spec);
    }
    printf("\nOptions:\n");
    for (const struct option_spec *spec = specs; spec->name; spec++)
        if (!spec->positional) print_option(spec);
    print_option(
        &(struct option_spec){.name = "help", .letter = 'h', .flag = &arguments, .help = "print this and exit"});
}
