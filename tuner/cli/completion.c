// See completion.h: what the shells' files share.
#include "tuner/cli/completion.h"

#include <string.h>

static const struct command *all;

void completion_set_commands(const struct command *table)
{
    all = table;
}

const struct command *completion_commands(void)
{
    return all;
}

enum completion_value completion_value(const struct option_spec *spec)
{
    if (spec->flag || (!spec->positional && !strcmp(spec->name, "help"))) return COMPLETION_NONE;
    if (spec->choices) return COMPLETION_CHOICES;
    const char *shown = spec->positional ? spec->name : spec->shown ? spec->shown : "";
    if (!strcmp(shown, "FOLDER")) return COMPLETION_FOLDER;
    return !strcmp(shown, "FILE") || !strcmp(shown, "JOB") ? COMPLETION_FILE : COMPLETION_ANY;
}

void completion_put_quoted(FILE *f, const char *text, const char *escaped)
{
    fputc('\'', f);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", f); // closes the quotes, adds a quote, opens them again
        else if (strchr(escaped, *text))
            fputc('\\', f);
        fputc(*text, f);
    }
    fputc('\'', f);
}
