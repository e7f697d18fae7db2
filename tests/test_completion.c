// Completion: the scripts have every command and option of the tables, and the shells can read them.
#include "tests/e2e.h"
#include "tests/finished_job.h"
#include "tests/testing.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/completion.h"

static char *printed(const char *shell)
{
    char *out;
    assert_int_equal(finished_run(&cmd_completion, &out, NULL, "completion", shell, NULL), 0);
    return out;
}

// What a shell's file must have of a command: where it begins and ends, and an option's form.
struct expectation {
    const char *shell, *text, *command;
    size_t options;
};

// The part of the text that is about the command; malloc'ed.
static char *part_of(const struct expectation *e)
{
    char *opening =
        !strcmp(e->shell, "zsh") ? text_format("\n    (%s)\n", e->command) : text_format("\n    %s)\n", e->command);
    const char *begin = strstr(e->text, opening);
    if (!begin) fail_msg("%s: nothing about %s", e->shell, e->command);
    const char *end = strstr(begin, "\n        ;;\n");
    assert_non_null(end);
    free(opening);
    return text_format("%.*s", (int)(end - begin), begin);
}

static void expect_options(struct expectation *e, const struct command *command)
{
    bool fish = !strcmp(e->shell, "fish");
    char *part = fish ? text_copy(e->text) : part_of(e);
    assert_true(*command->description);
    for (const struct option_spec *spec = command->options; spec->name; spec++) {
        if (spec->positional) continue;
        char *form = !fish          ? text_format("--%s", spec->name)
                     : spec->letter ? text_format("'__fish_seen_subcommand_from %s' -s %c -l %s ", e->command,
                                                  spec->letter, spec->name)
                                    : text_format("'__fish_seen_subcommand_from %s' -l %s ", e->command, spec->name);
        assert_contains(part, form);
        free(form);
        if (spec->choices) {
            char *choices = text_join(spec->choices, " ");
            assert_contains(part, choices);
            free(choices);
        }
        e->options++;
    }
    free(part);
}

TEST(every_option_of_every_command_is_there)
{
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        char *text = printed(shells[i]);
        size_t options = 0;
        for (const struct command *const *command = commands; *command; command++) {
            struct expectation e = {shells[i], text, (*command)->name, 0};
            expect_options(&e, *command);
            options += e.options;
            assert_contains(text, (*command)->name);
        }
        assert_true(options > 60);
        free(text);
    }
}

TEST(the_shells_can_read_it)
{
    static const struct {
        const char *shell, *check;
    } shells[] = {{"bash", "bash -n"}, {"zsh", "zsh -n"}, {"fish", "fish --no-execute"}};
    char *folder = e2e_folder("completion");
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        struct outcome_of_command r =
            e2e_run(folder, "cd %s; $BIN/sweetspot completion %s >file; command -v %s >/dev/null || exit 77; %s file",
                    folder, shells[i].shell, shells[i].shell, shells[i].check);
        if (r.status != 0 && (r.status != 77 || i == 0)) fail_msg("%s: %s", shells[i].shell, r.err);
        e2e_done(&r);
    }
    e2e_remove(folder);
}

TEST(bash_completes_by_it)
{
    static const struct {
        const char *words, *completions;
    } cases[] = {
        {"he", "header help\n"},
        {"compare --format j", "json\n"},
        {"compare --format = j", "json\n"},
        {"simulate -f c", "csv\n"},
        {"tune --no-", "--no-stores --no-counters --no-final --no-nvcc\n"},
        {"tune -t ''", "\n"},
        {"list op", "operations\n"},
        {"completion z", "zsh\n"},
        {"help jud", "judge\n"},
        {"check configs/sgemm_2", "configs/sgemm_2048.cfg\n"},
    };
    char *folder = e2e_folder("completion");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(folder, "try.sh",
                  "source <(\"$BIN\"/sweetspot completion bash)\nCOMP_WORDS=(sweetspot \"$@\")\nCOMP_CWORD=$#\n"
                  "_sweetspot\necho \"${COMPREPLY[*]}\"\n");
        struct outcome_of_command r = e2e_run(folder, "bash %s/try.sh %s", folder, cases[i].words);
        if (strcmp(r.out, cases[i].completions) != 0)
            fail_msg("sweetspot %s: completed to %s%s", cases[i].words, r.out, r.err);
        e2e_done(&r);
    }
    e2e_remove(folder);
}

TEST(an_unknown_shell_is_refused)
{
    char *err;
    assert_int_equal(finished_run(&cmd_completion, NULL, &err, "completion", "bsh", NULL), 2);
    assert_contains(err, "unknown shell 'bsh'; did you mean 'bash'? (known: bash, zsh, fish)");
    free(err);
}

static int hand_over(void **state)
{
    (void)state;
    commands_hand_over(commands);
    return 0;
}

TEST_MAIN(hand_over, NULL)
