// docs/gallery.md is complete and up to date. It describes every template, every job and every parameter of a job.
// Every parameter that a section names occurs in the templates or jobs of this section.
#include <ctype.h>
#include <fnmatch.h>
#include <ftw.h>

#include "tests/e2e.h"
#include "tests/testing.h"

#define GALLERY "docs/gallery.md"

enum { WORDS_MAX = 4096 };

// The strings between backticks, except in blocks; malloc'ed.
struct spans {
    char *words[WORDS_MAX];
    size_t count;
};

static void spans_read(struct spans *s, const char *text)
{
    bool fenced = false;
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (!strncmp(at, "```", 3)) fenced = !fenced;
        if (fenced || !strncmp(at, "```", 3) || !strncmp(at, "    ", 4)) continue;
        const char *end = at + strcspn(at, "\n");
        for (const char *open; (open = memchr(at, '`', (size_t)(end - at)));) {
            const char *close = memchr(open + 1, '`', (size_t)(end - open - 1));
            if (!close) break;
            assert_true(s->count < WORDS_MAX);
            s->words[s->count++] = text_format("%.*s", (int)(close - open - 1), open + 1);
            at = close + 1;
        }
    }
}

static void spans_release(struct spans *s)
{
    for (size_t i = 0; i < s->count; i++) free(s->words[i]);
    s->count = 0;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), more = strlen(end);
    return length >= more && !strcmp(text + length - more, end);
}

// A parameter, alone or with one of its values: `LAYOUT padding`.
static bool is_parameter(const char *span)
{
    size_t length = strspn(span, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 1 && isupper((unsigned char)*span) && (!span[length] || span[length] == ' ');
}

static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; (at = memmem(at, strlen(at), word, length)); at += length) {
        bool begins = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[length]) || at[length] == '_')) return true;
    }
    return false;
}

static char *paths[1024]; // of templates, jobs and the files that jobs include
static size_t path_count;

static int add_path(const char *path, const struct stat *status, int kind)
{
    (void)status;
    if (kind != FTW_F || path_count == sizeof paths / sizeof *paths) return kind != FTW_F ? 0 : -1;
    if (ends_with(path, ".cu") || ends_with(path, ".cfg") || ends_with(path, ".inc"))
        paths[path_count++] = text_copy(path);
    return 0;
}

// A span names a file by its path, with or without the top folder, or several files with a * or a final /.
static bool names(const char *span, const char *path)
{
    const char *short_path = strchr(path, '/') + 1;
    char *pattern = test_text("%s%s", span, ends_with(span, "/") ? "*" : "");
    return !fnmatch(pattern, path, FNM_PATHNAME) || !fnmatch(pattern, short_path, FNM_PATHNAME);
}

static struct spans gallery;

static void read_all(void)
{
    char *text = test_owned(text_read_file(GALLERY, NULL));
    assert_non_null(text);
    spans_read(&gallery, text);
    assert_false(ftw("templates", add_path, 8) || ftw("configs", add_path, 8));
}

static void release_all(void)
{
    spans_release(&gallery);
    for (size_t i = 0; i < path_count; i++) free(paths[i]);
}

static bool named(const struct spans *s, const char *path)
{
    for (size_t i = 0; i < s->count; i++)
        if (names(s->words[i], path)) return true;
    return false;
}

TEST(every_template_and_every_job_is_described)
{
    size_t templates = 0, files = 0;
    for (size_t i = 0; i < path_count; i++) {
        bool template = ends_with(paths[i], ".cu");
        if (ends_with(paths[i], ".inc")) continue;
        if (!named(&gallery, paths[i])) fail_msg("%s describes no %s", GALLERY, paths[i]);
        templates += template;
        files += !template;
    }
    assert_true(templates > 10);
    assert_true(files > 50);
}

TEST(every_file_that_is_named_exists)
{
    for (size_t i = 0; i < gallery.count; i++) {
        const char *span = gallery.words[i];
        if (strchr(span, ' ') || !(ends_with(span, ".cu") || ends_with(span, ".cfg"))) continue;
        size_t found = 0;
        for (size_t p = 0; p < path_count; p++) found += names(span, paths[p]);
        if (!found) fail_msg("%s names %s, which does not exist", GALLERY, span);
    }
}

// The parameters are the upper-case names that job files define.
TEST(every_parameter_of_a_job_is_described)
{
    static const char begin[] = "name = \"";
    size_t seen = 0;
    for (size_t i = 0; i < path_count; i++) {
        autofree char *text = ends_with(paths[i], ".cu") ? text_copy("") : text_read_file(paths[i], NULL);
        for (const char *at = text; (at = strstr(at, begin)); seen++) {
            at += strlen(begin);
            char *name = test_text("%.*s", (int)strcspn(at, "\""), at);
            bool found = !is_parameter(name);
            for (size_t k = 0; k < gallery.count && !found; k++)
                found = is_parameter(gallery.words[k]) && has_word(gallery.words[k], name, strlen(name));
            if (!found) fail_msg("%s does not describe %s of %s", GALLERY, name, paths[i]);
        }
    }
    assert_true(seen > 200);
}

// Returns the text of the files that a section names, and of the jobs and included files that name such a file
// (malloc'ed).
static char *sources_of(const struct spans *section)
{
    struct text all = {0};
    text_add(&all, "%s", "");
    for (size_t i = 0; i < path_count; i++) {
        char *text = test_file("%s", paths[i]);
        bool taken = named(section, paths[i]);
        for (size_t k = 0; k < path_count && !taken; k++)
            taken = named(section, paths[k]) && strstr(text, strrchr(paths[k], '/') + 1);
        if (taken) text_add(&all, "\n%s", text);
    }
    return all.text;
}

TEST(what_a_section_calls_a_parameter_is_one)
{
    char *text = test_owned(text_read_file(GALLERY, NULL));
    size_t seen = 0;
    for (const char *at = text; (at = strstr(at, "\n## ")); at++) {
        const char *next = strstr(at + 1, "\n## ");
        char *section = test_text("%.*s", next ? (int)(next - at) : (int)strlen(at), at);
        struct spans spans = {.count = 0};
        spans_read(&spans, section);
        autofree char *sources = sources_of(&spans);
        for (size_t i = 0; i < spans.count; i++) {
            const char *span = spans.words[i];
            if (!is_parameter(span)) continue;
            if (!has_word(sources, span, strcspn(span, " ")))
                fail_msg("%s: no file of the section%.*s has a parameter %s", GALLERY, (int)strcspn(section + 3, "\n"),
                         section + 3, span);
            seen++;
        }
        spans_release(&spans);
    }
    assert_true(seen > 50);
}

TEST_MAIN(read_all, release_all)
