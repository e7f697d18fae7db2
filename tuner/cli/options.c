// See options.h.
#include "tuner/cli/options.h"

#include <errno.h>
#include <unistd.h>

#include "tuner/base/colour.h"
#include "tuner/base/protocol.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 100, OPTIONS_MAX = 64 };

const char *const format_names[] = {"table", "json", "csv", NULL}, *const document_formats[] = {"table", "json", NULL};

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

// The value's name as --help shows it, such as FILE or table|csv|json. malloc'ed.
static char *shown_value(const struct option_spec *spec)
{
    return spec->choices ? text_join(spec->choices, "|") : text_copy(spec->shown ? spec->shown : "VALUE");
}

// The words of the most recently parsed command line, beginning with the command's name.
static struct {
    int count;
    char **words;
} parsed;

int complain(int status, const char *format, ...)
{
    TEXT_FROM(format, text);
    fprintf(stderr, "sweetspot: %s%s%s\n", colour_begin(stderr, COLOUR_BAD), text, colour_end(stderr));
    return status;
}

int complain_foreign(const char *path)
{
    return complain(EXIT_USAGE,
                    "'%s' is not an earlier output of this command; it was not changed (give another --output)", path);
}

int command_refuse(const char *format, ...)
{
    TEXT_FROM(format, text);
    fprintf(stderr, "sweetspot %s: %s\n", parsed.words[0], text);
    return EXIT_USAGE;
}

int command_refuse_unknown(const char *what, const char *word, const char *const *words)
{
    autofree char *text = text_unknown(what, word, words);
    return command_refuse("%s", text);
}

int option_check_files(const char *option, const struct option_list *files, size_t most, struct error *err)
{
    if (files->count > most) return error_set(err, "--%s: at most %zu", option, most);
    for (size_t i = 0; i < files->count; i++)
        if (access(files->items[i], R_OK))
            return error_set(err, "--%s: cannot read '%s': %s", option, files->items[i], strerror(errno));
    return 0;
}

// Reports a mistake in the command line and refers to --help.
__attribute__((format(printf, 1, 2))) static int mistake(const char *format, ...)
{
    TEXT_FROM(format, text);
    command_refuse("%s", text);
    fprintf(stderr, "sweetspot %s --help lists its arguments and options\n", parsed.words[0]);
    return EXIT_USAGE;
}

static int refuse_choice(const struct option_spec *spec, const char *text)
{
    const char *nearest = text_nearest(text, spec->choices);
    autofree char *all = nearest ? text_format("did you mean '%s'?", nearest) : text_join(spec->choices, ", ");
    return mistake("--%s cannot be '%s'; %s%s", spec->name, text, nearest ? "" : "use one of ", all);
}

// Stores a number. False if the text is not an allowed number.
static bool set_number(const struct option_spec *spec, const char *text)
{
    char *end;
    bool any = !spec->low && !spec->high;
    if (spec->seconds) return !text_duration(text, spec->seconds);
    if (spec->integer) {
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (end == text || *end || errno || value < spec->low || (!any && value > spec->high)) return false;
        *spec->integer = value;
        return true;
    }
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value)) return false;
    if (!any && (value < (double)spec->low || value > (double)spec->high)) return false;
    *spec->real = value;
    return true;
}

// Stores a value. -1, or EXIT_USAGE after a message.
static int set_value(const struct option_spec *spec, const char *text)
{
    if (spec->string) {
        *spec->string = text;
        return -1;
    }
    if (spec->list) {
        if (spec->list->count == OPTIONS_MAX_LIST)
            return mistake("more than %d times %s", OPTIONS_MAX_LIST, spec->name);
        spec->list->items[spec->list->count++] = text;
        return -1;
    }
    for (int i = 0; spec->choice && spec->choices[i]; i++)
        if (!strcmp(spec->choices[i], text)) {
            *spec->choice = i;
            return -1;
        }
    if (spec->choice) return refuse_choice(spec, text);
    if (set_number(spec, text)) return -1;
    bool any = !spec->low && !spec->high;
    char range[64] = "";
    if (spec->integer && any) snprintf(range, sizeof range, " of at least 0");
    if (!any) snprintf(range, sizeof range, " from %lld to %lld", (long long)spec->low, (long long)spec->high);
    return mistake("--%s needs %s%s, not '%s'", spec->name,
                   spec->integer ? "a whole number"
                   : spec->real  ? "a number"
                                 : "a duration such as 90s, 8h or 1h30m",
                   range, text);
}

// Options of earlier versions. The hint says what to use instead.
static const struct {
    const char *command, *option, *hint;
} removed[] = {
    {"tune", "patience", "use --until, as in --until 1%"},
    {"tune", "noise", "use --until, as in --until 1%"},
    {"tune", "strategy-options", "strategies have no options; `sweetspot list strategies` describes them"},
    {"tune", "no-nvcc", "use --no-checks, or SWEETSPOT_NVCC=none to skip only nvcc's build"},
    {"tune", "report", "run `sweetspot report` at any time"},
    {"tune", "report-every", "run `sweetspot report` at any time"},
    {"simulate", "first-seed", "use --seeds, as in --seeds 101-160"},
    {"simulate", "no-score", "runs are no longer made longer for the score"},
    {"simulate", "times", "use --budgets, as in --budgets 100,10s,20s"},
    {"simulate", "set", "strategies have no options; `sweetspot list strategies` describes them"},
    {"init", "force", "remove the file first"},
    {"header", "cubin", "use --output FILE.cubin or FILE.sweetspot"},
    {"header", "force", "remove the file first"},
    {"judge", "no-counters", "set SWEETSPOT_COUNTERS=none to read no counters"},
    {"judge", "problem", "counters are read on the first problem; `sweetspot profile --problem N` reads others"},
    {"profile", "no-counters", "set SWEETSPOT_COUNTERS=none to read no counters"},
    {"compare", "lower-bound", "--fail-below always decides by the lower bound"},
    {"report", "every", "run `sweetspot report` at any time"},
    {"status", "watch", "run `watch sweetspot status JOB`"},
    {"status", "every", "run `watch sweetspot status JOB`"},
};

// Former names of options, which still work.
static const struct {
    const char *command, *older, *name;
} renamed[] = {{"judge", "template", "implementation"}, {"tune", "target", "until"}, {"tune", "gpu-model", "device"}};

static const struct option_spec *find_older(const struct option_spec *specs, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (!strcmp(renamed[i].command, parsed.words[0]) && strlen(renamed[i].older) == length &&
            !strncmp(renamed[i].older, name, length))
            return find_option(specs, renamed[i].name, strlen(renamed[i].name));
    return NULL;
}

// Options of other programs. The hint is given if the command has our equivalent.
static const struct {
    const char *theirs, *ours, *hint;
} foreign[] = {
    {"json", "format", "--format json"},
    {"csv", "format", "--format csv"},
    {"gpu", "device", "--device"},
    {"jobs", "workers", "--workers"},
    {"threads", "workers", "--workers"},
    {"timeout", "time", "--time"},
    {"max-evals", "evaluations", "--evaluations"},
};

static int unknown_option(const struct option_spec *specs, const char *word, size_t length)
{
    const char *names[OPTIONS_MAX + 1] = {"help"};
    const struct option_spec *all = specs;
    char name[64];
    for (size_t count = 1; specs->name && count < OPTIONS_MAX; specs++)
        if (!specs->positional) names[count++] = specs->name;
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (!strcmp(removed[i].command, parsed.words[0]) && !strcmp(removed[i].option, name))
            return command_refuse("the option '--%s' was removed: %s", name, removed[i].hint);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!strcmp(foreign[i].theirs, name) && find_option(all, foreign[i].ours, strlen(foreign[i].ours)))
            return mistake("unknown option '--%s'; use %s", name, foreign[i].hint);
    const char *nearest = text_nearest(name, names);
    for (size_t i = 0; !nearest && names[i]; i++)
        if (length > 1 && !strncmp(names[i], name, strlen(name))) nearest = names[i];
    return mistake("unknown option '--%s'%s%s%s", name, nearest ? "; did you mean '--" : "", nearest ? nearest : "",
                   nearest ? "'?" : "");
}

// Reads the option in argv[*i] and its value. The value is `rest` (the rest of that word) or, if `rest` is NULL, the
// next word.
static int take_option(const struct option_spec *spec, const char *rest, int argc, char **argv, int *i)
{
    if (spec->flag) {
        *spec->flag = true;
        return -1;
    }
    const char *value = rest ? rest : *i + 1 < argc ? argv[++*i] : NULL;
    if (value && (*value || !spec->string)) return set_value(spec, value);
    autofree char *shown = shown_value(spec);
    return mistake("--%s needs a value: %s", spec->name, shown);
}

// Parses one word that begins with "--". May also consume argv[*i + 1]. Returns -1 to continue.
static int parse_long(const struct option_spec *specs, int argc, char **argv, int *i)
{
    const char *word = argv[*i] + 2;
    size_t length = strcspn(word, "=");
    const struct option_spec *spec = find_option(specs, word, length);
    if (!spec) spec = find_older(specs, word, length);
    if (!spec) return unknown_option(specs, word, length);
    if (spec->flag && word[length]) return mistake("--%s takes no value", spec->name);
    return take_option(spec, word[length] ? word + length + 1 : NULL, argc, argv, i);
}

// Parses one word of short options. May also consume argv[*i + 1]. Returns -1 to continue, or -2 if help was requested.
static int parse_short(const struct option_spec *specs, int argc, char **argv, int *i)
{
    const char *word = argv[*i] + 1;
    if (word[1] && find_option(specs, word, strcspn(word, "=")))
        return mistake("write --%s instead of -%s", word, word);
    for (const char *letter = word; *letter; letter++) {
        const struct option_spec *spec = find_letter(specs, *letter);
        if (!spec && *letter == 'h') return -2;
        if (!spec) return mistake("unknown option '-%c'", *letter);
        int status = take_option(spec, letter[1] ? letter + 1 : NULL, argc, argv, i);
        if (!spec->flag) return status;
    }
    return -1;
}

static int parse_positional(const struct option_spec **next, const char *word)
{
    static const char en_dash[] = "\xe2\x80\x93", em_dash[] = "\xe2\x80\x94";
    if (!strncmp(word, en_dash, 3) || !strncmp(word, em_dash, 3))
        return mistake("'%s' begins with a dash of printed text; write --%s", word, word + 3);
    while ((*next)->name && !(*next)->positional) (*next)++;
    if (!(*next)->name) return mistake("unexpected argument '%s'", word);
    int status = set_value(*next, word);
    if (!(*next)->list) (*next)++; // a list takes all further arguments
    return status;
}

char *options_command_line(void)
{
    autofree const char **words = memory_new((size_t)parsed.count + 2, sizeof *words);
    words[0] = "sweetspot";
    for (int i = 0; i < parsed.count; i++) words[i + 1] = parsed.words[i];
    return text_command(words);
}

char *option_help(const struct option_spec *spec)
{
    if (!spec->words) return text_copy(spec->help);
    autofree char *words = spec->words();
    return text_format("%s: %s", spec->help, words);
}

// Prints text, beginning at `column`. Lines are wrapped at blanks before HELP_WIDTH and continue at `indent`; newlines
// are kept.
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
    int column = spec->positional ? printf("  %s", spec->name)
                 : spec->letter   ? printf("  -%c, --%s", spec->letter, spec->name)
                                  : printf("      --%s", spec->name);
    if (!spec->positional && !spec->flag) {
        autofree char *shown = shown_value(spec);
        column += printf(" %s", shown);
    }
    if (column >= HELP_COLUMN) {
        printf("\n");
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    autofree char *help = option_help(spec);
    print_wrapped(help, HELP_COLUMN, HELP_COLUMN);
}

// Prints the help text of one command, for --help.
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
    const struct option_spec help = {.name = "help", .letter = 'h', .flag = &arguments, .help = "print this and exit"};
    bool grouped = false;
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (spec->group && !grouped) print_option(&help);
        if (spec->group) grouped = printf("\n%s:\n", spec->group) > 0;
        if (!spec->positional) print_option(spec);
    }
    if (!grouped) print_option(&help);
}

int options_parse(const struct option_spec *specs, const char *description, int argc, char **argv)
{
    memset(&parsed, 0, sizeof parsed);
    parsed.count = argc;
    parsed.words = argv;
    const struct option_spec *next = specs; // the next positional argument
    bool only_positional = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int status;
        if (only_positional || word[0] != '-' || !word[1]) {
            status = parse_positional(&next, word);
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
        autofree char *help = option_help(next);
        return mistake("%s is missing: %s", next->name, help);
    }
    return -1;
}
