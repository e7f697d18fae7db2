// The drawings of ARCHITECTURE.md match the sources: the programs, folders, files and statuses in docs/images/*.dot
// exist, no program or status is missing, and each drawing was made from the .dot file next to it.
#include <ctype.h>
#include <glob.h>

#include "tests/e2e.h"
#include "tests/testing.h"
#include "tuner/base/protocol.h"

static const char *reading; // name of the text being read
static size_t programs, paths;

// Returns a copy of the text without comments and without the tags in labels (malloc'ed).
static char *words_of(const char *text)
{
    char *words = text_copy(text), *to = words;
    for (const char *from = text; *from; from++) {
        bool comment = !strncmp(from, "//", 2) && (from == text || from[-1] == '\n' || from[-1] == ' ');
        bool tag = *from == '<' && (isalpha((unsigned char)from[1]) || from[1] == '/');
        if (comment || tag) from += strcspn(from, comment ? "\n" : ">");
        *to++ = comment || tag ? ' ' : *from;
        if (!*from) break;
    }
    *to = 0;
    return words;
}

static void check_word(const char *word)
{
    size_t length = strlen(word);
    if (!strncmp(word, "sweetspot", 9)) {
        char *program = test_text("%s/%s", e2e_bin(), word);
        if (access(program, X_OK)) fail_msg("%s: there is no program %s", reading, word);
        programs++;
    } else if (strchr(word, '/')) {
        // Files in out/ are created by runs.
        if (strncmp(word, "out/", 4) && access(word, F_OK)) fail_msg("%s: there is no %s", reading, word);
        paths++;
    } else if (length > 2 && (!strcmp(word + length - 2, ".c") || !strcmp(word + length - 2, ".h"))) {
        fail_msg("%s: %s has no folder", reading, word);
    }
}

static void check_words(const char *path)
{
    char *text = test_owned(text_read_file(path, NULL)), *words = words_of(text), *rest = words;
    reading = path;
    for (char *word; (word = strsep(&rest, " \n\t,;:\"<>[](){}=")) != NULL;) check_word(word);
    free(words);
}

static void check_drawing(const char *path, const char *folder)
{
    char *drawing = test_text("%.*ssvg", (int)strlen(path) - 3, path),
         *text = test_owned(text_read_file(drawing, NULL));
    struct e2e_result r = e2e_run(folder, "sha256sum <%s | cut -d' ' -f1", path);
    r.out[strcspn(r.out, "\n")] = 0;
    assert_int_equal(strlen(r.out), 64);
    if (!text || !strstr(text, r.out)) fail_msg("%s was not drawn from %s: make pictures", drawing, path);
}

TEST(every_drawing_names_what_exists_and_was_made_from_its_text)
{
    char *folder = e2e_folder("pictures");
    glob_t found;
    assert_int_equal(glob("docs/images/*.dot", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        check_words(found.gl_pathv[i]);
        check_drawing(found.gl_pathv[i], folder);
    }
    assert_true(found.gl_pathc >= 2);
    assert_true(programs >= 4);
    assert_true(paths > 10);
    globfree(&found);
}

static void assert_drawn(const char *path, const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if (!isalnum((unsigned char)at[length]) && !strchr("-_", at[length])) return;
    fail_msg("%s does not show %s", path, name);
}

TEST(every_program_and_every_status_is_drawn)
{
    char *processes = test_owned(text_read_file("docs/images/processes.dot", NULL)),
         *trial = test_owned(text_read_file("docs/images/trial.dot", NULL)),
         *pattern = test_text("%s/sweetspot*", e2e_bin());
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 4);
    for (size_t i = 0; i < found.gl_pathc; i++)
        assert_drawn("docs/images/processes.dot", processes, strrchr(found.gl_pathv[i], '/') + 1);
    for (int i = 0; i < STATUS_COUNT; i++)
        if (i != STATUS_OK) assert_drawn("docs/images/trial.dot", trial, status_name((enum trial_status)i));
    globfree(&found);
}

TEST_MAIN(NULL, NULL)
