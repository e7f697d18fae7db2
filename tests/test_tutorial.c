// docs/tutorial.md, followed step by step as far as possible without a GPU; test_gpu_tutorial does the rest. The README
// shows the tutorial's kernel.
#include "tests/testing.h"
#include "tests/tutorial.h"

TEST(what_a_document_says_is_printed_must_be_printed)
{
    static const struct {
        const char *printed, *expected;
        bool same;
    } cases[] = {
        {"a\nb\n", "a\nb\n", true},
        {"a\nb\n", "a\n", false},
        {"a\nb\n", "b\n", false},
        {"a\nb\nc\n", "a\n...\nc\n", true},
        {"a\nc\n", "a\n...\nc\n", true},
        {"a\nb\nc\n", "a\n...\nb\n", false},
        {"a\nb\nc\n", "...\nc\n", true},
        {"a\nb\nc\n", "...\nb\n...\n", true},
        {"a\nb\nc\n", "...\nc\n...\nb\n...\n", false},
        {"FACTOR=4: 0 wrong\n", "...: 0 wrong\n", true},
        {"FACTOR=4: 10 wrong\n", "...: 0 wrong\n", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tutorial_prints(cases[i].printed, cases[i].expected) != cases[i].same)
            fail_msg("'%s' for '%s'", cases[i].printed, cases[i].expected);
}

TEST(the_tutorial_can_be_followed_without_a_gpu)
{
    bool have = !system(test_text("PATH=\"$PATH:%s/bin\" && command -v nvcc >/dev/null 2>&1", TEST_CUDA_HOME));
    if (!have) skip();
    tutorial_follow("docs/tutorial.md", false);
}

TEST(the_readme_shows_the_files_of_the_tutorial)
{
    struct tutorial readme, tutorial;
    int files = 0;
    tutorial_read(&readme, "README.md");
    tutorial_read(&tutorial, "docs/tutorial.md");
    for (int i = 0; i < readme.count; i++) {
        if (!tutorial_is_file(&readme.blocks[i])) continue;
        bool found = false;
        for (int j = 0; j < tutorial.count; j++) {
            if (strcmp(readme.blocks[i].word, tutorial.blocks[j].word) != 0) continue;
            assert_string_equal(readme.blocks[i].text, tutorial.blocks[j].text);
            found = true;
        }
        if (!found) fail_msg("README.md has %s, docs/tutorial.md has not", readme.blocks[i].word);
        files++;
    }
    assert_int_equal(files, 1); // the job; the kernel is in the tutorial
    tutorial_release(&tutorial);
    tutorial_release(&readme);
}

TEST(the_readme_fits_a_few_screens)
{
    char *text = test_file("README.md");
    int lines = 0;
    for (char *at = text; *at; lines++) {
        size_t columns = 0;
        for (; *at && *at != '\n'; at++) columns += (*at & 0xc0) != 0x80; // first bytes of UTF-8 characters
        if (columns > 120) fail_msg("README.md:%d: %zu columns", lines + 1, columns);
        if (*at) at++;
    }
    if (lines > 130) fail_msg("README.md has %d lines", lines);
}

TEST_MAIN(NULL, NULL)
