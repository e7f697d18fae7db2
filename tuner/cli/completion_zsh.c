// Completion for zsh: _arguments with one specification an option.
#include "tuner/cli/completion.h"

static void begin(FILE *f, const struct command *const *all)
{
    fputs("#compdef sweetspot\n# zsh completion for sweetspot, written by `sweetspot completion zsh`.\n"
          "_sweetspot()\n{\n    local -a commands\n    commands=(\n",
          f);
    for (const struct command *const *command = all; *command; command++) {
        fprintf(f, "        %s:", (*command)->name);
        completion_put_quoted(f, (*command)->summary, ":\\");
        fputc('\n', f);
    }
    fputs("        help:'explain a command'\n    )\n"
          "    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        compadd -- --help --version\n        return\n    fi\n"
          "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n"
          "    (help) _describe command commands ;;\n",
          f);
}

static void put_value(FILE *f, const struct option_spec *spec)
{
    fprintf(f, "':%s:", spec->positional ? spec->name : spec->shown ? spec->shown : "VALUE");
    switch (completion_value(spec)) {
    case COMPLETION_FILE:
        fputs("_files", f);
        break;
    case COMPLETION_FOLDER:
        fputs("_files -/", f);
        break;
    case COMPLETION_CHOICES:
        for (size_t i = 0; spec->choices[i]; i++) fprintf(f, "%s%s", i ? " " : "(", spec->choices[i]);
        fputs(")", f);
        break;
    default:
        fputs(" ", f);
        break;
    }
    fputs("'", f);
}

static void put_option(FILE *f, const struct option_spec *spec)
{
    fputs(" \\\n            ", f);
    if (spec->list)
        fputs("'*'", f);
    else if (spec->letter)
        fprintf(f, "'(-%c --%s)'", spec->letter, spec->name);
    if (spec->letter)
        fprintf(f, "{-%c,--%s}", spec->letter, spec->name);
    else
        fprintf(f, "--%s", spec->name);
    fputc('\'', f);
    fputs("['", f);
    completion_put_quoted(f, spec->help, "[]:\\");
    fputs("']'", f);
    if (completion_value(spec) != COMPLETION_NONE) put_value(f, spec);
}

static void command(FILE *f, const char *name, const struct option_spec *specs)
{
    static const struct option_spec help = COMPLETION_HELP;
    fprintf(f, "    (%s)\n        _arguments -s", name);
    for (const struct option_spec *spec = specs; spec->name; spec++)
        if (!spec->positional) put_option(f, spec);
    put_option(f, &help);
    int number = 1;
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (!spec->positional) continue;
        if (spec->list)
            fputs(" \\\n            '*'", f);
        else
            fprintf(f, " \\\n            %d", number++);
        put_value(f, spec);
    }
    fputs("\n        ;;\n", f);
}

static void end(FILE *f)
{
    // In a folder of $fpath the file is the function's body; sourced, it declares what to complete.
    fputs("    esac\n}\n"
          "if [ \"$funcstack[1]\" = _sweetspot ]; then\n    _sweetspot \"$@\"\nelse\n    compdef _sweetspot "
          "sweetspot\nfi\n",
          f);
}

const struct completion_shell completion_zsh = {"zsh", begin, command, end};
