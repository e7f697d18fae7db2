// Completion for bash: one function, one case a command.
#include "tuner/cli/completion.h"

static void begin(FILE *f, const struct command *const *all)
{
    fputs("# bash completion for sweetspot, written by `sweetspot completion bash`.\n"
          "_sweetspot()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words= kind=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          f);
    for (const struct command *const *command = all; *command; command++) fprintf(f, "%s ", (*command)->name);
    fputs("help --help --version' -- \"$word\"))\n        return\n    fi\n"
          "    # --format=json is three words\n"
          "    if [ \"$word\" = = ]; then\n        word=\n"
          "    elif [ \"$before\" = = ]; then\n        before=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n"
          "    case ${COMP_WORDS[1]} in\n    help) words='",
          f);
    for (const struct command *const *command = all; *command; command++)
        fprintf(f, "%s%s", command == all ? "" : " ", (*command)->name);
    fputs("' ;;\n", f);
}

static void put_value(FILE *f, const struct option_spec *spec)
{
    switch (completion_value(spec)) {
    case COMPLETION_FILE:
        fputs("kind=file", f);
        break;
    case COMPLETION_FOLDER:
        fputs("kind=folder", f);
        break;
    case COMPLETION_CHOICES:
        fputs("words='", f);
        for (size_t i = 0; spec->choices[i]; i++) fprintf(f, "%s%s", i ? " " : "", spec->choices[i]);
        fputs("'", f);
        break;
    default:
        fputs("return", f);
        break;
    }
}

static void command(FILE *f, const char *name, const struct option_spec *specs)
{
    const struct option_spec *positional = NULL;
    fprintf(f, "    %s)\n        options='", name);
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (!spec->positional) fprintf(f, "--%s ", spec->name);
        if (spec->positional && !positional) positional = spec;
    }
    fputs("--help'\n        case $before in\n", f);
    for (const struct option_spec *spec = specs; spec->name; spec++) {
        if (spec->positional || completion_value(spec) == COMPLETION_NONE) continue;
        fprintf(f, "        --%s", spec->name);
        if (spec->letter) fprintf(f, " | -%c", spec->letter);
        fputs(") options= ", f);
        put_value(f, spec);
        fputs(" ;;\n", f);
    }
    fputs("        *) ", f);
    if (positional && completion_value(positional) != COMPLETION_ANY)
        put_value(f, positional);
    else
        fputs(":", f);
    fputs(" ;;\n        esac\n        ;;\n", f);
}

static void end(FILE *f)
{
    fputs("    esac\n"
          "    case $word in -*) [ -z \"$options\" ] || words=$options kind= ;; esac\n"
          "    case $kind in\n"
          "    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "    folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
          "    esac\n}\ncomplete -F _sweetspot sweetspot\n",
          f);
}

const struct completion_shell completion_bash = {"bash", begin, command, end};
