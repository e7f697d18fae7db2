// sweetspot completion: prints a shell script that asks the same command for the words that can come next. The scripts
// contain no commands or options, so they are never out of date.

#include "tuner/base/protocol.h"
#include "tuner/cli/commands.h"

static const char *shell;
static struct option_list words;

static const char *const names[] = {"bash", "zsh", "fish", NULL};
// The scripts pass this word in place of SHELL, then the command line after its first word. The answer lists the words
// that may replace the last one, one per line, or ":file" or ":folder" if a file or folder name is expected there.
static const char asking[] = "words";

static const char *const scripts[] = {
    "# bash completion for sweetspot, written by `sweetspot completion bash`.\n"
    "_sweetspot()\n{\n"
    "    local word=${COMP_WORDS[COMP_CWORD]#=} words\n"
    "    words=$(\"${COMP_WORDS[0]}\" completion words -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
    "    case $words in\n"
    "    :file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
    "    :folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$word\")) ;;\n"
    "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
    "    esac\n}\ncomplete -F _sweetspot sweetspot\n",
    "#compdef sweetspot\n# zsh completion for sweetspot, written by `sweetspot completion zsh`.\n"
    "_sweetspot()\n{\n"
    "    local -a candidates\n"
    "    candidates=(${(f)\"$($words[1] completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    case $candidates in\n"
    "    (:file) _files ;;\n"
    "    (:folder) _files -/ ;;\n"
    "    (*) compadd -a candidates ;;\n"
    "    esac\n}\n"
    // If zsh finds this file through $fpath, it is the function's body. If it is sourced, it registers the completion.
    "if [ \"$funcstack[1]\" = _sweetspot ]; then\n    _sweetspot \"$@\"\nelse\n    compdef _sweetspot sweetspot\nfi\n",
    "# fish completion for sweetspot, written by `sweetspot completion fish`.\n"
    "function __sweetspot_words\n"
    "    set -l line (commandline -opc)\n"
    "    set -l words ($line[1] completion words -- $line[2..-1] (commandline -ct) 2>/dev/null)\n"
    "    switch \"$words\"\n"
    "        case :file\n            __fish_complete_path (commandline -ct)\n"
    "        case :folder\n            __fish_complete_directories (commandline -ct)\n"
    "        case '*'\n            printf '%s\\n' $words\n"
    "    end\nend\n"
    "complete -c sweetspot -f -a '(__sweetspot_words)'\n",
};

static const struct option_spec specs[] = {
    ARGUMENT(string, &shell, "SHELL", "bash, zsh or fish", .choices = names),
    ARGUMENT(list, &words, "WORD", "used by the scripts with `words` as SHELL: the command line so far",
             .optional = true),
    OPTION_END,
};

static void print_value(const struct option_spec *spec)
{
    const char *shown = spec->positional ? spec->name : spec->shown ? spec->shown : "";
    for (size_t i = 0; spec->choices && spec->choices[i]; i++) puts(spec->choices[i]);
    if (spec->choices) return;
    if (!strcmp(shown, "FOLDER"))
        puts(":folder");
    else if (!strcmp(shown, "FILE") || !strcmp(shown, "JOB"))
        puts(":file");
}

// Returns the option that a word names if this option takes a value, otherwise NULL.
static const struct option_spec *option_before(const struct option_spec *specs_of, const char *word)
{
    for (const struct option_spec *spec = specs_of; spec->name; spec++)
        if (!spec->positional && !spec->flag && word[0] == '-' &&
            ((word[1] == '-' && !strcmp(word + 2, spec->name)) ||
             (spec->letter && word[1] == spec->letter && !word[2])))
            return spec;
    return NULL;
}

static void print_next(const struct command *command)
{
    const char *last = words.items[words.count - 1];
    size_t before = words.count - 2;
    // bash splits --format=json into three words.
    if (!strcmp(words.items[before], "=") && before > 1) before--;
    if (!strcmp(last, "=")) last = "";
    size_t name = *last == '-' ? strcspn(last, "=") : 0;
    autofree char *given = text_format("%.*s", (int)name, last);
    const struct option_spec *spec = last[name] == '=' ? option_before(command->options, given) : NULL;
    for (size_t i = 0; spec && spec->choices && spec->choices[i]; i++)
        printf("%.*s=%s\n", (int)name, last, spec->choices[i]);
    if (spec) return;
    spec = before ? option_before(command->options, words.items[before]) : NULL;
    if (spec) {
        print_value(spec);
    } else if (*last == '-') {
        for (spec = command->options; spec->name; spec++)
            if (!spec->positional) printf("--%s\n", spec->name);
        puts("--help");
    } else {
        for (spec = command->options; spec->name && !spec->positional;) spec++;
        if (spec->name) print_value(spec);
    }
}

static int run(void)
{
    size_t i = 0;
    while (names[i] && strcmp(names[i], shell) != 0) i++;
    if (!names[i] && strcmp(shell, asking) != 0) return command_refuse_unknown("shell", shell, names);
    const struct command *command = words.count > 1 ? command_find(commands_known(), words.items[0]) : NULL;
    if (i < sizeof scripts / sizeof *scripts) {
        fputs(scripts[i], stdout);
    } else if (command) {
        print_next(command);
    } else if (words.count < 2 || (words.count == 2 && !strcmp(words.items[0], "help"))) {
        for (const struct command *const *known = commands_known(); *known; known++) puts((*known)->name);
        if (words.count < 2) puts("help\n--help\n--version");
    }
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .summary = "print the completion script for bash, zsh or fish",
    .description = "Prints the completion script of a shell for sweetspot's command lines; `make install` puts it "
                   "where the shells look for it. For one session of bash: source <(sweetspot completion bash)",
    .options = specs,
    .run = run,
    .more = "The script calls the program, which completes from the same tables as `--help`.",
    .see = "man",
};
