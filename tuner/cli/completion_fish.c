// Completion for fish: one line per option.
#include "tuner/cli/completion.h"

static void begin(FILE *f, const struct command *const *all)
{
    fputs("# fish completion for sweetspot, written by `sweetspot completion fish`.\ncomplete -c sweetspot -f\n", f);
    for (const struct command *const *command = all; *command; command++) {
        fprintf(f, "complete -c sweetspot -n __fish_use_subcommand -a %s -d ", (*command)->name);
        completion_put_quoted(f, (*command)->summary, "\\");
        fputs("\ncomplete -c sweetspot -n '__fish_seen_subcommand_from help' ", f);
        fprintf(f, "-a %s\n", (*command)->name);
    }
    fputs("complete -c sweetspot -n __fish_use_subcommand -a help -d 'explain a command'\n"
          "complete -c sweetspot -n __fish_use_subcommand -l version -d 'print the version and exit'\n"
          "complete -c sweetspot -s h -l help -d 'print this and exit'\n",
          f);
}

static void put_choices(FILE *f, const struct option_spec *spec)
{
    for (size_t i = 0; spec->choices[i]; i++) fprintf(f, "%s%s", i ? " " : " -a '", spec->choices[i]);
    fputs("'", f);
}

static void command(FILE *f, const char *name, const struct option_spec *specs)
{
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        enum completion_value value = completion_value(spec);
        if (spec->positional && value == COMPLETION_ANY) continue;
        fprintf(f, "complete -c sweetspot -n '__fish_seen_subcommand_from %s'", name);
        if (!spec->positional && spec->letter) fprintf(f, " -s %c", spec->letter);
        if (!spec->positional) fprintf(f, " -l %s", spec->name);
        if (value == COMPLETION_FILE) fputs(spec->positional ? " -F" : " -r -F", f);
        if (value == COMPLETION_FOLDER) fputs(" -x -a '(__fish_complete_directories)'", f);
        if (value == COMPLETION_ANY) fputs(" -x", f);
        if (value == COMPLETION_CHOICES && !spec->positional) fputs(" -x", f);
        if (value == COMPLETION_CHOICES) put_choices(f, spec);
        if (!spec->positional) {
            fputs(" -d ", f);
            completion_put_quoted(f, spec->help, "\\");
        }
        fputc('\n', f);
    }
}

static void end(FILE *f)
{
    (void)f;
}

const struct completion_shell completion_fish = {"fish", begin, command, end};
