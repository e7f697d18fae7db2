// The table of a job's settings, against the reader that goes by it and the page that explains it: docs/job-file.md has
// each setting with its type, default and range, and no other; its examples load, and its mistakes are refused in the
// words that it quotes.
#include "tests/golden.h"

#include <ctype.h>
#include <math.h>

#include "tuner/base/memory.h"
#include "tuner/job/job.h"
#include "tuner/job/job_settings.h"

#define PAGE "docs/job-file.md"

static char *page, *folder;

// The page's job: an example replaces the settings that it names.
static const struct {
    const char *name, *text;
} base[] = {
    {"name", "name = \"t\";"},
    {"kernel", "kernel = { template = \"axpy.cu\"; entry = \"axpy\"; };"},
    {"parameters",
     "parameters = ( { name = \"BLOCK\"; values = [64, 128, 256]; }, { name = \"UNROLL\"; unroll = [0, 2]; } );"},
    {"problems", "problems = ( { N = 16777216; } );"},
    {"launch", "launch = { grid = [ \"ceil_div(N, BLOCK)\" ]; block = [ \"BLOCK\" ]; };"},
    {"arguments", "arguments = ( { scalar = \"N\"; type = \"i64\"; }, { buffer = \"x\"; type = \"f32\"; shape = [ "
                  "\"N\" ]; }, { buffer = \"y\"; type = \"f32\"; shape = [ \"N\" ]; direction = \"inout\"; } );"},
    {"reference",
     "reference = { kernel = \"axpy_naive\"; launch = { grid = [ \"ceil_div(N, 256)\" ]; block = [ 256 ]; }; };"},
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Where the value of a setting begins in a piece of a job file, at depth 0 or deeper; NULL: not there.
static const char *value_of(const char *text, const char *name, bool outermost)
{
    int depth = 0;
    size_t length = strlen(name);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            for (c++; *c && *c != '"'; c++) c += *c == '\\';
        depth += strchr("({[", *c) != NULL;
        depth -= strchr(")}]", *c) != NULL;
        if ((c == text || !is_name(c[-1])) && !strncmp(c, name, length) && !strncmp(c + length, " = ", 3) &&
            (depth == 0) == outermost)
            return c + length + 3;
    }
    return NULL;
}

static const char *end_of_value(const char *value)
{
    int depth = 0;
    for (const char *c = value; *c; c++) {
        if (*c == '"')
            for (c++; *c && *c != '"'; c++) c += *c == '\\';
        depth += strchr("({[", *c) != NULL;
        depth -= strchr(")}]", *c) != NULL;
        if (*c == ';' && !depth) return c;
    }
    fail_msg("a value without end: %s", value);
    return NULL;
}

// The mistakes of the page's job with the piece in it, a line each; "" where there is none. malloc'ed.
static char *mistakes_with(const char *piece)
{
    autorelease(text_release) struct text text = {0};
    struct text found = {0};
    text_add(&text, "%s", piece);
    text_add(&found, "%s", "");
    bool stages = value_of(piece, "stages", true);
    for (size_t i = 0; i < sizeof base / sizeof *base; i++) {
        bool replaced = value_of(piece, base[i].name, true) ||
                        (stages && (!strcmp(base[i].name, "launch") || !strcmp(base[i].name, "arguments")));
        if (!replaced) text_add(&text, "\n%s\n", base[i].text);
    }
    e2e_write(folder, "job.cfg", text.text);
    struct mistakes mistakes = {0};
    struct job *job;
    struct error err;
    if (!job_load(test_text("%s/job.cfg", folder), &job, &mistakes) && job_build_space(job, &device_limits_h200, &err))
        text_add(&found, "%s", err.message);
    job_free(job);
    for (size_t i = 0; i < mistakes.count; i++) text_add(&found, "%s\n", mistakes.list[i].text);
    mistakes_release(&mistakes);
    return test_owned(found.text);
}

// Lines up to a blank one, as one line. malloc'ed.
static char *paragraph(const char *at)
{
    const char *end = strstr(at, "\n\n");
    char *text = text_format("%.*s", (int)(end ? end - at : (long)strlen(at)), at), *to = text;
    for (const char *c = text; *c; c++) {
        if (*c != '\n') {
            *to++ = *c;
            continue;
        }
        *to++ = c[1] == '-' ? '\n' : ' '; // an item of a list
        c += strspn(c + 1, " ");
    }
    *to = 0;
    return test_owned(text);
}

static const char *next_paragraph(const char *at)
{
    const char *end = strstr(at, "\n\n");
    return end ? end + 2 + strspn(end + 2, "\n") : at + strlen(at);
}

static const char *section_of(const char *path)
{
    char *heading = test_text("\n### %s\n\n", path);
    const char *at = strstr(page, heading);
    if (!at) fail_msg("%s has no section '### %s'; `make golden` adds it", PAGE, path);
    at += strlen(heading);
    return at;
}

// The section's example, without its indentation. malloc'ed.
static char *example_of(const char *path)
{
    const char *at = next_paragraph(next_paragraph(section_of(path)));
    char *text = test_owned(text_copy(""));
    if (strncmp(at, "    ", 4)) fail_msg("%s: %s has no example", PAGE, path);
    while (!strncmp(at, "    ", 4)) {
        size_t length = strcspn(at, "\n");
        text = test_text("%s%.*s\n", text, (int)length - 4, at + 4);
        at += length + 1;
    }
    return text;
}

static const char *shown_default(const struct job_setting *s, char **text)
{
    autofree char *value = job_setting_default(s);
    *text = s->fallback ? text_format("`%s`", value) : text_copy(value);
    return *text;
}

static char *expected_facts(const struct job_setting *s)
{
    autofree char *type = job_setting_type(s), *range = job_setting_range(s), *value = NULL;
    shown_default(s, &value);
    return text_format("Type: %s. Default: %s.%s%s%s", type, value,
                       !*range    ? ""
                       : s->words ? " One of: "
                                  : " Range: ",
                       range, *range ? "." : "");
}

// The line of the index. malloc'ed.
static char *index_line(const struct job_setting *s)
{
    autofree char *type = job_setting_type(s), *value = NULL;
    char *anchor = test_owned(text_copy(s->path)), *to = anchor;
    for (const char *c = s->path; *c; c++)
        if (is_name(*c)) *to++ = (char)tolower((unsigned char)*c);
    *to = 0;
    return test_text("| [%s](#%s) | %s | %s | %s |\n", s->path, anchor, type, shown_default(s, &value), s->meaning);
}

// An example for a setting: its default, or some value of its kind, in the example of the setting before it if that is
// of the same group. Indented, malloc'ed.
static char *first_example(const struct job_setting *before, const struct job_setting *s)
{
    static const char *const some[] = {[KIND_BOOL] = "true",       [KIND_INTEGER] = "1",        [KIND_NUMBER] = "1",
                                       [KIND_DURATION] = "\"1s\"", [KIND_EXPRESSION] = "\"1\"", [KIND_GROUPS] = NULL};
    const char *name = job_setting_name(s), *last = job_setting_name(before), *any = some[s->kind];
    autofree char *value = s->fallback ? job_setting_default(s)
                           : s->words  ? text_format("\"%s\"", s->words[0])
                                       : text_copy(any ? any : "\"text\"");
    char *example = test_text("%s = %s;\n", name, value);
    size_t group = (size_t)(name - s->path);
    if (group && group == (size_t)(last - before->path) && !strncmp(s->path, before->path, group)) {
        char *theirs = example_of(before->path);
        const char *at = value_of(theirs, last, false), *end = at ? end_of_value(at) + 1 : theirs;
        example = test_text("%.*s %s = %s;%s", (int)(end - theirs), theirs, name, value, end);
    }
    struct text indented = {0};
    for (char *line = strtok(example, "\n"); line; line = strtok(NULL, "\n")) text_add(&indented, "    %s\n", line);
    return indented.text;
}

// Adds lines of the index and sections that are missing, each behind that of the setting before it.
static void complete_page(void)
{
    size_t count;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 1; i < count; i++) {
        const struct job_setting *s = &settings[i];
        char *heading = test_text("\n### %s\n", s->path), *before = index_line(&settings[i - 1]), *line = index_line(s),
             *facts = expected_facts(s), *example = first_example(&settings[i - 1], s),
             *section = test_text("### %s\n\n%s\n\n%c%s.\n\n%s\n", s->path, facts,
                                  toupper((unsigned char)s->meaning[0]), s->meaning + 1, example);
        const char *place = section_of(settings[i - 1].path), *end = strstr(place, "\n##");
        if (!strstr(page, heading)) {
            page = golden_insert(PAGE, page, end, section);
            page = golden_insert(PAGE, page, strstr(page, before), line);
        }
        free(facts);
        free(example);
    }
}

TEST(every_setting_has_a_section_with_its_facts_in_the_tables_order)
{
    size_t count, sections = 0;
    const struct job_setting *settings = job_settings(&count);
    const char *before = page;
    for (size_t i = 0; i < count; i++) {
        const char *at = section_of(settings[i].path);
        char *facts = paragraph(at), *expected = expected_facts(&settings[i]), *prose = paragraph(next_paragraph(at)),
             *meaning = test_text("%s.", settings[i].meaning);
        assert_true(at > before);
        assert_string_equal(facts, expected);
        meaning[0] = (char)toupper((unsigned char)meaning[0]);
        if (strncmp(prose, meaning, strlen(meaning)) || !strchr(" ", prose[strlen(meaning)]))
            fail_msg("%s: the section of %s does not begin with \"%s\"", PAGE, settings[i].path, meaning);
        before = at;
        free(expected);
    }
    for (const char *c = page; (c = strstr(c, "\n### ")); c++) sections++;
    assert_int_equal(sections, count);
}

TEST(the_index_has_a_line_for_each_setting)
{
    size_t count, lines = 0;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        char *line = index_line(&settings[i]), *whole = test_text("\n%s", line);
        if (!strstr(page, whole)) fail_msg("%s has not this line in its index:%s", PAGE, whole);
    }
    for (const char *c = page; (c = strstr(c, "\n| [")); c++) lines++;
    assert_int_equal(lines, count);
}

TEST(every_example_loads_and_names_its_setting)
{
    size_t count;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        char *example = example_of(settings[i].path), *mistakes = mistakes_with(example);
        const char *name = job_setting_name(&settings[i]);
        if (*mistakes) fail_msg("%s: the example of %s: %s", PAGE, settings[i].path, mistakes);
        if (!job_setting_is_open(&settings[i]) && !value_of(example, name, name == settings[i].path))
            fail_msg("%s: the example of %s does not have it", PAGE, settings[i].path);
    }
}

// "- `PIECE` fails with `MESSAGE`.", wherever it stands.
TEST(every_mistake_is_refused_in_the_words_of_the_page)
{
    size_t tried = 0;
    for (const char *at = page; (at = strstr(at, "\n- `")); at++) {
        char *list = paragraph(at + 1), *item = strtok(list, "\n"), *middle = strstr(item, "` fails with `");
        if (middle) {
            char *message = middle + strlen("` fails with `"), *end = strstr(message, "`.");
            assert_non_null(end);
            *middle = *end = 0;
            char *mistakes = mistakes_with(item + 3);
            if (!strstr(mistakes, message))
                fail_msg("%s: '%s' should fail with '%s', and does with '%s'", PAGE, item + 3, message, mistakes);
            tried++;
        }
    }
    assert_true(tried > 60);
}

// The setting's example with another value. malloc'ed; NULL for names that the job chooses.
static char *with_value(const struct job_setting *s, const char *value)
{
    if (job_setting_is_open(s)) return NULL;
    const char *name = job_setting_name(s);
    char *example = example_of(s->path);
    const char *begin = value_of(example, name, name == s->path);
    char *text = text_format("%.*s%s%s", (int)(begin - example), example, value, end_of_value(begin));
    return test_owned(text);
}

TEST(no_setting_takes_a_value_of_another_type)
{
    size_t count;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct job_setting *s = &settings[i];
        bool list = (s->kind >= KIND_STRINGS && s->kind <= KIND_EXPRESSIONS) || s->kind == KIND_GROUPS;
        char *text = with_value(s, list ? "true" : "( 1 )");
        if (!text) continue;
        char *mistakes = mistakes_with(text);
        if (!*mistakes || strstr(mistakes, "syntax error")) fail_msg("%s: %s: %s", s->path, text, mistakes);
    }
}

static bool refused_by_range(const struct job_setting *s, double value)
{
    char *number = s->kind == KIND_INTEGER ? text_format("%.0f", value) : text_format("%.17e", value),
         *text = with_value(s, number), *mistakes = mistakes_with(text),
         *start = test_text("'%s' is ", job_setting_name(s));
    const char *at = strstr(mistakes, start);
    bool refused = at && strstr(at, ", but must be ");
    free(number);
    return refused;
}

TEST(numbers_are_taken_up_to_their_bounds_and_no_further)
{
    size_t count, tried = 0;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct job_setting *s = &settings[i];
        if ((s->kind != KIND_INTEGER && s->kind != KIND_NUMBER) || job_setting_is_open(s)) continue;
        bool good = !refused_by_range(s, s->low) && refused_by_range(s, s->low > -1e300 ? s->low - 1 : -1e301);
        if (!isinf(s->high)) good &= !refused_by_range(s, s->high) && refused_by_range(s, 2 * s->high + 1);
        if (!good) fail_msg("%s does not keep to its range", s->path);
        tried++;
    }
    assert_true(tried > 15);
}

TEST(defaults_are_values_that_the_setting_takes)
{
    size_t count;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const struct job_setting *s = &settings[i];
        assert_true((s->fallback != NULL) != (s->unset != NULL)); // one of the two
        if (!s->fallback) continue;
        char *value = job_setting_default(s), *text = with_value(s, value), *mistakes = mistakes_with(text);
        if (*mistakes) fail_msg("%s = %s: %s", s->path, value, mistakes);
        free(value);
    }
}

TEST(expressions_are_described_with_every_function_operator_and_name)
{
    size_t rows = 0;
    for (const struct expr_function *f = expr_functions; f->name; f++, rows++) {
        char *row = test_text("\n| `%s` | %s |\n", f->shown, f->meaning);
        if (!strstr(page, row)) fail_msg("%s lacks:%s", PAGE, row);
    }
    for (const struct device_name *n = device_names; n->name; n++, rows++) {
        char *row = test_text("\n| `%s` | %s |\n", n->name, n->meaning);
        if (!strstr(page, row)) fail_msg("%s lacks:%s", PAGE, row);
    }
    for (const char *c = page; (c = strstr(c, "\n| `")); c++) rows--;
    assert_int_equal(rows, 0);
    char *operators = paragraph(strstr(page, "Operators, from the weakest")), *at = operators;
    for (const struct expr_operator *o = expr_operators; o->sign; o++) {
        char *span = test_text("`%s`", o->sign);
        at = strstr(at, span); // in the order of their levels
        if (!at) fail_msg("%s lacks the operator %s, or has it in another place", PAGE, span);
    }
}

static void setup(void)
{
    static const char *const files[] = {"axpy.cu", "axpy.cubin", "simple.cu", "expected.npy", "libmine.so"};
    folder = e2e_folder("settings");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) e2e_write(folder, files[i], "#define TILE 4\n");
    page = text_read_file(PAGE, NULL);
    assert_non_null(page);
    if (golden_writing()) complete_page();
}

static void teardown(void)
{
    free(page);
}

TEST_MAIN(setup, teardown)
