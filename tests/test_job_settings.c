// Compares the table of a job's settings with the reader that uses it and the page that explains it. docs/job-file.md
// has one row for each setting, generated from the table, and examples that load. tests/job_mistakes.txt has jobs that
// are refused, with the messages. In both files, the first example is a whole job, and each later example replaces some
// of the job's settings.
#include "tests/golden.h"

#include <ctype.h>
#include <math.h>

#include "tuner/base/memory.h"
#include "tuner/job/job.h"
#include "tuner/job/job_settings.h"

#define PAGE "docs/job-file.md"

static char *page, *folder;

// Reads a piece of a job file setting by setting. Places are written as in the table: "arguments[].fill.low".
struct piece {
    const char *at; // in the text
    char place[256];
    size_t opened[16], depth; // lengths of the enclosing places
};

static size_t name_length(const char *c)
{
    size_t length = 0;
    while (isalnum((unsigned char)c[length]) || c[length] == '_') length++;
    return length;
}

static const char *end_of_string(const char *c)
{
    for (c++; *c && *c != '"'; c++) c += *c == '\\';
    return c;
}

// Moves to the value of the next setting and sets `place`. False if there is none.
static bool next_setting(struct piece *p)
{
    for (const char *c = p->at; *c; c++) {
        size_t length = name_length(c), around = p->depth ? p->opened[p->depth - 1] : 0;
        if (*c == '"') {
            c = end_of_string(c);
        } else if (strchr("({[", *c)) {
            assert_true(p->depth < sizeof p->opened / sizeof *p->opened);
            strcat(p->place, *c == '{' ? "." : "[]");
            p->opened[p->depth++] = strlen(p->place);
        } else if (strchr(")}]", *c)) {
            p->depth--;
            p->place[p->depth ? p->opened[p->depth - 1] : 0] = 0;
        } else if (length && !strncmp(c + length, " = ", 3)) {
            snprintf(p->place + around, sizeof p->place - around - 4, "%.*s", (int)length, c);
            p->at = c + length + 3;
            return true;
        } else if (length) {
            c += length - 1;
        }
    }
    return false;
}

// Whether a place has this path. A path may also match inside a stage, because stages have arguments as well.
// IMPLEMENTATION in a path stands for any of four groups.
static bool is_at(const char *place, const char *path)
{
    static const char *const groups[] = {"reference.", "current.", "fallback.", "baselines[]."};
    static const char implementation[] = "IMPLEMENTATION.";
    size_t length = strlen(place), wanted = strlen(path), own = sizeof implementation - 1;
    for (size_t i = 0; !strncmp(path, implementation, own) && i < sizeof groups / sizeof *groups; i++)
        if (!strncmp(place, groups[i], strlen(groups[i])) && !strcmp(place + strlen(groups[i]), path + own))
            return true;
    bool inner = strchr(path, '.') && length > wanted && place[length - wanted - 1] == '.';
    return (length == wanted || inner) && !strcmp(place + length - wanted, path);
}

// The beginning of a setting's value; NULL if the text does not have the setting.
static const char *value_of(const char *text, const char *path)
{
    struct piece p = {.at = text};
    while (next_setting(&p))
        if (is_at(p.place, path)) return p.at;
    return NULL;
}

static const char *end_of_value(const char *value)
{
    int depth = 0;
    for (const char *c = value; *c; c++) {
        if (*c == '"') c = end_of_string(c);
        depth += strchr("({[", *c) != NULL;
        depth -= strchr(")}]", *c) != NULL;
        if (*c == ';' && !depth) return c;
    }
    fail_msg("a value without end: %s", value);
    return NULL;
}

// Returns the mistakes in a job after the piece has replaced some of the job's settings, one per line, or "" if there
// are no mistakes.
static char *mistakes_with(const char *whole, const char *piece)
{
    autorelease(text_release) struct text text = {0};
    struct text found = {0};
    struct piece p = {.at = whole};
    bool stages = value_of(piece, "stages");
    text_add(&text, "%s", piece);
    text_add(&found, "%s", "");
    while (next_setting(&p)) {
        bool replaced = strpbrk(p.place, ".[") || value_of(piece, p.place) ||
                        (stages && (!strcmp(p.place, "launch") || !strcmp(p.place, "arguments")));
        if (!replaced) text_add(&text, "\n%s = %.*s;\n", p.place, (int)(end_of_value(p.at) - p.at), p.at);
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

// The page's next example after `at` without its indentation, or NULL if there is none. An example is an indented block
// between blank lines. *end: the example's end.
static char *example_after(const char *at, const char **end)
{
    if (!at || !(at = strstr(at, "\n\n    "))) return NULL;
    char *text = test_owned(text_copy(""));
    for (at += 2; !strncmp(at, "    ", 4); at += strcspn(at, "\n") + 1)
        text = test_text("%s%.*s\n", text, (int)strcspn(at, "\n") - 4, at + 4);
    *end = at - 1;
    return text;
}

static char *whole_job(const char **end)
{
    return example_after(page, end);
}

// The first example after the whole job that contains the setting.
static char *example_of(const char *path)
{
    const char *at;
    whole_job(&at);
    for (char *example; (example = example_after(at, &at));)
        if (value_of(example, path)) return example;
    fail_msg("no example of %s has %s", PAGE, path);
    return NULL;
}

static char *mistakes_of(const char *example)
{
    const char *end;
    return mistakes_with(whole_job(&end), example);
}

static char *shown_type(const struct job_setting *s)
{
    enum { IN_A_ROW = 5 };
    autofree char *type = job_setting_type(s), *range = job_setting_range(s);
    size_t words = 0;
    while (s->words && s->words[words]) words++;
    if (words > IN_A_ROW || !*range || s->kind == KIND_DURATION) return test_text("%s", type);
    if (!words) return test_text("%s, %s", type, range);
    char *shown = test_text("`\"%s\"`", s->words[0]);
    for (size_t i = 1; i < words; i++) shown = test_text("%s, `\"%s\"`", shown, s->words[i]);
    return shown;
}

static char *row_of(const struct job_setting *s)
{
    autofree char *value = job_setting_default(s);
    const char *quote = s->fallback ? "`" : "";
    return test_text("| `%s` | %s | %s%s%s | %s |\n", s->path, shown_type(s), quote, value, quote, s->meaning);
}

static char *row_start(const struct job_setting *s)
{
    return test_text("\n| `%s` |", s->path);
}

// Writes the rows as the table gives them. A new row is placed after the row of the previous setting.
static void write_rows(void)
{
    size_t count;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(page, row_start(&settings[i])), *end = at;
        if (!at) end = at = strstr(page, row_start(&settings[i ? i - 1 : i]));
        if (!at) fail_msg("%s has no row for %s", PAGE, settings[i].path);
        end += strcspn(end + 1, "\n") + 2;
        if (!strstr(page, row_start(&settings[i]))) at = end - 1;
        char *longer = text_format("%.*s%s%s", (int)(at + 1 - page), page, row_of(&settings[i]), end);
        free(page);
        page = longer;
    }
    golden_write(PAGE, page);
}

static size_t times(const char *text, const char *part)
{
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, part)); at++) found++;
    return found;
}

TEST(the_page_has_one_row_for_each_setting_as_the_table_has_it)
{
    size_t count;
    const struct job_setting *settings = job_settings(&count);
    for (size_t i = 0; i < count; i++) {
        char *row = row_of(&settings[i]);
        if (!strstr(page, test_text("\n%s", row))) fail_msg("%s lacks this row; `make golden` adds it:\n%s", PAGE, row);
        assert_int_equal(times(page, row_start(&settings[i])), 1);
        for (const char *const *word = settings[i].words; word && *word; word++)
            if (!strstr(page, test_text("`\"%s\"`", *word))) fail_msg("%s: %s lacks %s", PAGE, settings[i].path, *word);
    }
    for (const struct expr_function *f = expr_functions; f->name; f++) count++;
    for (const struct device_name *n = device_names; n->name; n++) count++;
    assert_int_equal(times(page, "\n| `"), count); // no others
}

TEST(every_example_loads)
{
    const char *at = page;
    size_t tried = 0;
    for (char *example; (example = example_after(at, &at)); tried++) {
        char *mistakes = mistakes_of(example);
        if (*mistakes) fail_msg("%s: the example\n%s\n%s", PAGE, example, mistakes);
    }
    assert_true(tried > 15);
    assert_non_null(strstr(test_file("README.md"), whole_job(&at))); // its job
}

TEST(every_mistake_is_refused_with_its_message)
{
    char *text = test_file("tests/job_mistakes.txt"), *at = strstr(text, "\n\n");
    size_t tried = 0;
    assert_non_null(at);
    for (*at++ = 0; *++at; tried++) {
        char *message = strstr(at, "\n=> "), *end = message ? strchr(message + 1, '\n') : NULL;
        assert_non_null(end);
        *message = *end = 0;
        message += strlen("\n=> ");
        char *mistakes = mistakes_with(text, at);
        if (!strstr(mistakes, message))
            fail_msg("'%s' should fail with '%s', and does with '%s'", at, message, mistakes);
        at = end;
    }
    assert_true(tried > 100);
}

// The setting's example with another value. NULL for names that the job chooses.
static char *with_value(const struct job_setting *s, const char *value)
{
    if (job_setting_is_open(s)) return NULL;
    char *example = example_of(s->path);
    const char *begin = value_of(example, s->path);
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
        char *mistakes = mistakes_of(text);
        if (!*mistakes || strstr(mistakes, "syntax error")) fail_msg("%s: %s: %s", s->path, text, mistakes);
    }
}

static bool refused_by_range(const struct job_setting *s, double value)
{
    char *number = s->kind == KIND_INTEGER ? text_format("%.0f", value) : text_format("%.17e", value),
         *text = with_value(s, number), *mistakes = mistakes_of(text),
         *start = test_text("%s' is ", job_setting_name(s));
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
        assert_true((s->fallback != NULL) != (s->unset != NULL)); // exactly one of the two
        if (!s->fallback) continue;
        char *value = job_setting_default(s), *text = with_value(s, value), *mistakes = mistakes_of(text);
        if (*mistakes) fail_msg("%s = %s: %s", s->path, value, mistakes);
        free(value);
    }
}

TEST(expressions_are_described_with_every_function_operator_and_name)
{
    for (const struct expr_function *f = expr_functions; f->name; f++) {
        char *row = test_text("\n| `%s` | %s |\n", f->shown, f->meaning);
        if (!strstr(page, row)) fail_msg("%s lacks:%s", PAGE, row);
    }
    for (const struct device_name *n = device_names; n->name; n++) {
        char *row = test_text("\n| `%s` | %s |\n", n->name, n->meaning);
        if (!strstr(page, row)) fail_msg("%s lacks:%s", PAGE, row);
    }
    const char *at = strstr(page, "Operators, from the weakest"), *end = strstr(at, "\n\n");
    for (const struct expr_operator *o = expr_operators; o->sign; o++) {
        char *span = test_text("`%s`", o->sign);
        at = strstr(at, span); // in the order of their levels
        if (!at || at > end) fail_msg("%s lacks the operator %s, or has it in another place", PAGE, span);
    }
}

static void setup(void)
{
    static const char *const files[] = {"add.cu", "axpy.cu", "add.cubin", "simple.cu", "expected.npy", "libmine.so"};
    folder = e2e_folder("settings");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) e2e_write(folder, files[i], "#define TILE 4\n");
    page = text_read_file(PAGE, NULL);
    assert_non_null(page);
    if (golden_writing()) write_rows();
}

static void teardown(void)
{
    free(page);
}

TEST_MAIN(setup, teardown)
