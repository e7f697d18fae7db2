// There is one manual page per command, which explains every option in the words of --help. The pages name only
// commands, options and facts that exist. Programs that read manual pages print no warnings.
#include "tests/e2e.h"

#include <ctype.h>

#include "tests/finished_job.h"
#include "tests/testing.h"
#include "tuner/base/memory.h"
#include "tuner/cli/commands.h"
#include "tuner/cli/manual.h"
#include "tuner/cli/options.h"

// A command's page in roff; NULL: the overview. malloc'ed.
static char *source_of(const struct command *command)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    manual_write(file, commands, command);
    fclose(file);
    return test_owned(text);
}

// The words of a text, separated by blanks, without markup or backticks. malloc'ed.
static char *words_of(const char *text, bool roff)
{
    static const struct {
        const char *from, *to;
    } marks[] = {{"\\fB", ""},   {"\\fR", ""},   {"\\fI", ""},   {"\\&", ""},  {"\\-", "-"},
                 {"\\(aq", "'"}, {"\\(ti", "~"}, {"\\(ha", "^"}, {"\\e", "\\"}};
    char *out = memory_new(strlen(text) + 2, 1), *to = out;
    for (const char *c = text; *c;) {
        size_t i = 0, count = roff ? sizeof marks / sizeof *marks : 0;
        while (i < count && strncmp(c, marks[i].from, strlen(marks[i].from))) i++;
        if (i < count) {
            to = stpcpy(to, marks[i].to);
            c += strlen(marks[i].from);
        } else if (roff && !strncmp(c, "\n.PP\n", 5)) {
            c += 4;
        } else if (isspace((unsigned char)*c)) {
            if (to > out && to[-1] != ' ') *to++ = ' ';
            c++;
        } else {
            if (*c != '`') *to++ = *c;
            c++;
        }
    }
    *to = 0;
    return test_owned(out);
}

static char *section(const char *page, const char *title)
{
    char *heading = test_text("\n.SH %s\n", title), *begin = strstr(page, heading), *text = NULL;
    if (begin) {
        begin += strlen(heading);
        char *end = strstr(begin, "\n.SH ");
        text = text_format("%.*s\n", end ? (int)(end - begin) : (int)strlen(begin), begin);
    }
    return test_owned(text);
}

static void expect_words(const char *page, const char *text, const char *where)
{
    char *words = words_of(text, false), *all = words_of(page, true);
    if (!strstr(all, words)) fail_msg("the page of %s lacks: %s", where, words);
}

struct looked_at {
    const char *command, *page;
    size_t options;
};

static void look_at_options(struct looked_at *l, const struct command *command)
{
    char *options = section(l->page, "OPTIONS"), *arguments = section(l->page, "ARGUMENTS"),
         *prose = section(l->page, "DESCRIPTION");
    size_t tags = 0;
    expect_words(prose, command->description, l->command);
    for (const struct option_spec *spec = command->options; spec->name; spec++) {
        char *tag, *dashed = test_owned(text_copy(""));
        for (const char *c = spec->name; *c; c++) dashed = test_text("%s%s%c", dashed, *c == '-' ? "\\" : "", *c);
        if (spec->positional)
            tag = test_text(".TP\n\\fI%s\\fR", spec->name);
        else if (spec->letter)
            tag = test_text(".TP\n\\fB\\-%c\\fR, \\fB\\-\\-%s\\fR", spec->letter, dashed);
        else
            tag = test_text(".TP\n\\fB\\-\\-%s\\fR", dashed);
        const char *where = spec->positional ? arguments : options;
        const char *at = where ? strstr(where, tag) : NULL;
        if (!at || (at[strlen(tag)] != ' ' && at[strlen(tag)] != '\n'))
            fail_msg("the page of %s has no %s", l->command, spec->name);
        expect_words(where, spec->help, l->command);
        l->options += !spec->positional;
    }
    for (const char *c = options; (c = strstr(c, ".TP\n")); c++) tags++;
    assert_int_equal(tags, l->options + 1); // and --help
}

TEST(every_command_has_a_page_with_its_description_and_every_option)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        char *page = source_of(c);
        struct looked_at l = {.command = c->name, .page = page};
        look_at_options(&l, c);
        expect_words(page, c->summary, c->name);
        for (char *more = text_copy(c->more ? c->more : ""), *at = more, *next; at; at = next) { // paragraphs
            if ((next = strstr(at, "\n\n"))) *next = 0, next += 2;
            expect_words(page, at, c->name);
            if (!next) free(more);
        }
    }
}

TEST(the_overview_names_every_command_and_fact)
{
    char *page = source_of(NULL), *list = section(page, "COMMANDS"), *see = section(page, "SEE ALSO");
    size_t tags = 0;
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        char *reference = test_text(".BR sweetspot\\-%s (1)", c->name);
        assert_contains(list, reference);
        assert_contains(see, reference);
        expect_words(list, c->summary, "sweetspot");
    }
    for (const char *c = list; (c = strstr(c, ".TP\n")); c++) tags++;
    assert_int_equal(tags, command_count);
    const struct manual_fact *const tables[] = {manual_statuses, manual_environment, manual_files};
    for (size_t t = 0; t < 3; t++)
        for (const struct manual_fact *f = tables[t]; f->name; f++) {
            expect_words(page, f->name, "sweetspot");
            expect_words(page, f->text, "sweetspot");
        }
}

static void expect_commands(const char *names, const char *where)
{
    for (const char *at = names; at && *at; at += strcspn(at, " "), at += *at == ' ') {
        char *name = test_text("%.*s", (int)strcspn(at, " "), at);
        if (!command_find(commands, name)) fail_msg("%s: there is no command '%s'", where, name);
    }
}

TEST(facts_and_references_are_of_commands_that_exist)
{
    const struct manual_fact *const tables[] = {manual_statuses, manual_environment, manual_files};
    const char *const titles[] = {"EXIT STATUS", "ENVIRONMENT", "FILES"};
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        char *page = source_of(c), *own = test_text(" %s ", c->name);
        for (size_t t = 0; t < 3; t++) {
            char *there = section(page, titles[t]), *text = words_of(there, true);
            for (const struct manual_fact *f = tables[t]; f->name; f++) {
                char *all = test_text(" %s ", f->commands ? f->commands : c->name), *words = words_of(f->text, false);
                expect_commands(f->commands, f->name);
                if ((strstr(all, own) != NULL) != (strstr(text, words) != NULL))
                    fail_msg("%s is on the page of %s, or is not, against the table", f->name, c->name);
            }
        }
    }
    for (size_t i = 0; i < command_count; i++) {
        char *page = source_of(commands[i]), *see = section(page, "SEE ALSO");
        expect_commands(commands[i]->see, commands[i]->name);
        assert_contains(see, ".BR sweetspot (1)", ".BR sweetspot\\-"); // at least one more
        assert_null(strstr(see, ",\n\n"));                             // no comma after the last
    }
}

// Fails unless all options in an example's command line exist.
static void find_options(const struct command *command, char *line)
{
    for (char *word = strtok(line, " \n)"); word; word = strtok(NULL, " \n)")) {
        if (word[0] != '-' || !word[1]) continue;
        bool found = false;
        for (const struct option_spec *spec = command->options; spec->name; spec++)
            found |= !spec->positional &&
                     (word[1] == '-' ? !strcmp(spec->name, word + 2) : spec->letter == word[1] && !word[2]);
        if (!found) fail_msg("an example has the option %s, which does not exist", word);
    }
}

TEST(examples_use_commands_and_options_that_exist)
{
    size_t seen = 0;
    for (const struct manual_example *e = manual_examples; e->command; e++) {
        char *page = source_of(command_find(commands, e->command));
        expect_words(page, e->purpose, e->command);
        expect_words(page, e->lines, e->command);
        assert_contains(e->lines, e->command);
        for (const char *at = e->lines; (at = strstr(at, "sweetspot ")); at++, seen++) {
            const char *rest = at + strlen("sweetspot ");
            char *name = test_text("%.*s", (int)strspn(rest, "abcdefghijklmnopqrstuvwxyz"), rest),
                 *line = test_text("%.*s", (int)strcspn(rest, "|\n)"), rest);
            const struct command *c = command_find(commands, name);
            if (!c) fail_msg("the example of %s has no command: %s", e->command, rest);
            find_options(c, line);
        }
    }
    assert_true(seen > 10);
}

// Variables for the program's own tests are not documented.
TEST(every_variable_that_the_program_reads_is_named)
{
    char *folder = e2e_folder("variables"), *page = source_of(NULL);
    struct e2e_result r = e2e_run(folder, "grep -rhoE '(secure_)?getenv\\(\"[A-Z_]+\"\\)' tuner search kernels "
                                          "| grep -oE '[A-Z_]{3,}' | grep -v SWEETSPOT_REPLAY | sort -u");
    size_t seen = 0;
    for (char *name = strtok(r.out, "\n"); name; name = strtok(NULL, "\n"), seen++)
        expect_words(page, name, "sweetspot");
    assert_true(seen > 5);
}

static char *folder_of_pages(void)
{
    char *folder = e2e_folder("pages");
    e2e_pass(folder, "$BIN/sweetspot man --output $DIR/man");
    return folder;
}

TEST(all_pages_are_written_into_a_folder_as_they_are_printed)
{
    char *folder = folder_of_pages();
    struct e2e_result r = e2e_pass(folder, "cd $DIR/man && ls && $BIN/sweetspot man | cmp - sweetspot.1 && "
                                           "$BIN/sweetspot man tune | cmp - sweetspot-tune.1");
    size_t files = 0;
    for (const char *c = r.out; (c = strchr(c, '\n')); c++) files++;
    assert_int_equal(files, command_count + 1);
}

TEST(readers_of_manual_pages_have_nothing_to_complain_about)
{
    char *folder = folder_of_pages();
    struct e2e_result r = e2e_run(
        folder,
        "has() { command -v $1 >/dev/null; }; has mandoc || has man || exit 77; cd $DIR/man; ! has mandoc || mandoc "
        "-Tlint * >&2; ! has man || LC_ALL=C.UTF-8 man --warnings -l $(has mandoc && echo sweetspot-tune.1 || echo *)");
    bool absent = r.status == 77 || strstr(r.out, "has been minimized"); // in a container, `man` may show no pages
    assert_string_equal(r.err, "");
    if (!absent) assert_contains(r.out, "SEE ALSO");
    if (absent) skip();
}

TEST(mistakes_are_told)
{
    char *folder = e2e_folder("pages");
    struct e2e_result r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot man tun"));
    assert_contains(r.err, "unknown command 'tun'; did you mean 'tune'?");
    r = e2e_ended(2, e2e_run(folder, "$BIN/sweetspot man tune --output $DIR"));
    assert_contains(r.err, "--output writes all pages");
    r = e2e_ended(3, e2e_run(folder, "$BIN/sweetspot man --output /dev/null/pages"));
    assert_contains(r.err, "sweetspot man: ");
}

static void hand_over(void)
{
    commands_hand_over(commands);
}

TEST_MAIN(hand_over, NULL)
