// Completion: the program offers every command and option in its tables, and the shells can read the scripts.
#include "tests/e2e.h"
#include "tests/finished_job.h"
#include "tests/testing.h"
#include "tuner/cli/commands.h"

// The completions for the next word: values if `word` is an option, otherwise words that begin with `word`.
static char *printed(const char *shell, const char *command, const char *word)
{
    char *out;
    bool option = !strncmp(word, "--", 2);
    assert_int_equal(
        finished_run(&cmd_completion, &out, NULL, "completion", shell, "--", command, word, option ? "" : NULL, NULL),
        0);
    return out;
}

TEST(every_option_of_every_command_is_offered)
{
    size_t options = 0;
    for (const struct command *const *command = commands; *command; command++) {
        char *out = printed("words", (*command)->name, "-");
        for (const struct option_spec *spec = (*command)->options; spec->name; spec++) {
            if (spec->positional) continue;
            char *option = test_text("--%s", spec->name), *line = test_text("%s\n", option);
            assert_contains(out, line);
            options++;
            for (size_t i = 0; spec->choices && spec->choices[i]; i++) {
                char *values = printed("words", (*command)->name, option);
                assert_contains(values, spec->choices[i]);
            }
        }
    }
    assert_true(options > 60);
}

// A letter stands for the same option in every command; -j is always the number of parallel workers.
TEST(a_letter_has_one_meaning)
{
    const char *words[128] = {['j'] = "jobs"};
    for (const struct command *const *command = commands; *command; command++)
        for (const struct option_spec *spec = (*command)->options; spec->name; spec++) {
            const char **word = &words[(unsigned char)spec->letter];
            if (!spec->letter || !strcmp(spec->name, "workers")) continue;
            if (*word && strcmp(*word, spec->name)) fail_msg("-%c: --%s and --%s", spec->letter, *word, spec->name);
            *word = spec->name;
        }
}

TEST(the_shells_can_read_it)
{
    static const struct {
        const char *shell, *check;
    } shells[] = {{"bash", "bash -n"}, {"zsh", "zsh -n"}, {"fish", "fish --no-execute"}};
    char *folder = e2e_folder("completion");
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        struct e2e_result r =
            e2e_run(folder, "cd $DIR; $BIN/sweetspot completion %s >file; command -v %s >/dev/null || exit 77; %s file",
                    shells[i].shell, shells[i].shell, shells[i].check);
        if (r.status != 0 && (r.status != 77 || i == 0)) fail_msg("%s: %s", shells[i].shell, r.err);
    }
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
        {"tune --no-", "--no-final --no-checks --no-stores --no-counters\n"},
        {"tune -t ''", "\n"},
        {"list op", "operations\n"},
        {"completion z", "zsh\n"},
        {"help jud", "judge\n"},
        {"compare --format=j", "--format=json\n"},
        {"check configs/sgemm_2", "configs/sgemm_2048.cfg\n"},
    };
    char *folder = e2e_folder("completion");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        e2e_write(
            folder, "try.sh",
            "source <(\"$BIN\"/sweetspot completion bash)\nCOMP_WORDS=(\"$BIN\"/sweetspot \"$@\")\nCOMP_CWORD=$#\n"
            "_sweetspot\necho \"${COMPREPLY[*]}\"\n");
        struct e2e_result r = e2e_run(folder, "bash $DIR/try.sh %s", cases[i].words);
        if (strcmp(r.out, cases[i].completions) != 0)
            fail_msg("sweetspot %s: completed to %s%s", cases[i].words, r.out, r.err);
    }
}

TEST(an_unknown_shell_is_refused)
{
    char *err;
    assert_int_equal(finished_run(&cmd_completion, NULL, &err, "completion", "bsh", NULL), 2);
    assert_contains(err, "unknown shell 'bsh'; did you mean 'bash'? (known: bash, zsh, fish)");
}

static void hand_over(void)
{
    commands_hand_over(commands);
}

TEST_MAIN(hand_over, NULL)
