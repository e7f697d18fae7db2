// Compares outputs with the files of tests/golden. `make golden` (SWEETSPOT_GOLDEN=write) rewrites them.
//
// Dates, process ids and durations are masked, and numbers with more than GOLDEN_DIGITS digits are rounded, because
// their last digits depend on the machine's mathematical library.
#pragma once

#include "tests/e2e.h"

#include <regex.h>
#include <stdbool.h>

#define GOLDEN_NUMBER "[0-9][0-9.e+-]*"

enum { GOLDEN_DIGITS = 12 };

struct blot {
    const char *pattern, *text; // POSIX extended; "\1" in the text is the first group
};

// Applied to every output.
static const struct blot golden_everywhere[] = {
    {"20[0-9][0-9]-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-5][0-9])?", "<date>"},
    {"(\"(when|started|ended|pid|search_seconds|ms/proposal)\": ?)" GOLDEN_NUMBER, "\\1<number>"},
    {"(\"key\":\")[0-9a-f]{32}", "\\1<hash>"},
    {"(\"finished\": )" GOLDEN_NUMBER, "\\1<number>"},
    {"(finished,)" GOLDEN_NUMBER, "\\1<number>"},
    {NULL, NULL},
};

static inline bool golden_writing(void)
{
    const char *mode = getenv("SWEETSPOT_GOLDEN");
    return mode && !strcmp(mode, "write");
}

// Replaces every match of the pattern; takes ownership of `text`.
static inline char *golden_blot(char *text, const struct blot *b)
{
    regex_t regex;
    regmatch_t found[4];
    struct text out = {0};
    const char *rest = text;
    assert_int_equal(regcomp(&regex, b->pattern, REG_EXTENDED | REG_NEWLINE), 0);
    while (!regexec(&regex, rest, 4, found, rest == text ? 0 : REG_NOTBOL) && found[0].rm_eo > 0) {
        bool kept = !strncmp(b->text, "\\1", 2);
        int from = kept ? found[1].rm_eo : found[0].rm_so;
        text_add(&out, "%.*s%s", from, rest, kept ? b->text + 2 : b->text);
        rest += found[0].rm_eo;
    }
    text_add(&out, "%s", rest);
    regfree(&regex);
    free(text);
    return out.text;
}

// Rounds every number with a decimal point and more than GOLDEN_DIGITS digits to that many; takes ownership of `text`.
static inline char *golden_round(char *text)
{
    size_t size;
    char *out = NULL;
    FILE *to = open_memstream(&out, &size);
    for (const char *at = text; *at;) {
        size_t length = strspn(at, "0123456789"), whole = length;
        if (length && at[length] == '.') length += 1 + strspn(at + length + 1, "0123456789");
        size_t digits = length - (length > whole);
        if (length && at[length] == 'e') {
            size_t sign = at[length + 1] == '-' || at[length + 1] == '+',
                   power = strspn(at + length + 1 + sign, "0123456789");
            if (power) length += 1 + sign + power;
        }
        if (length > whole && digits > GOLDEN_DIGITS) {
            fprintf(to, "%.*g", GOLDEN_DIGITS, strtod(at, NULL));
        } else {
            if (!length) length = 1;
            fwrite(at, 1, length, to);
        }
        at += length;
    }
    fclose(to);
    free(text);
    return out;
}

static inline void golden_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

// For lists and documents with one entry per row of a table in the program: tests fail if an entry is missing, and
// `make golden` adds it. Inserts `text` after the line of `place` (in `document`), in memory and in the file. Takes
// ownership of the document; the result is malloc'ed.
static inline char *golden_insert(const char *path, char *document, const char *place, const char *text)
{
    assert_non_null(place);
    const char *end = place + strcspn(place, "\n");
    end += *end == '\n';
    char *longer = text_format("%.*s%s%s", (int)(end - document), document, text, end);
    golden_write(path, longer);
    free(document);
    return longer;
}

// The last line that begins with `start`, from `from` up to the document's next heading; NULL if there is none.
static inline const char *golden_last_line(const char *from, const char *start)
{
    const char *last = NULL;
    for (const char *line = from; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n')) {
        if (line > from && !strncmp(line, "##", 2)) break;
        if (!strncmp(line, start, strlen(start))) last = line;
    }
    return last;
}

// Masks the text, and compares it with tests/golden/<name>.txt or writes that file.
static inline void golden_hold(const char *folder, const char *name, const char *printed_text, const struct blot *blots)
{
    char *path = test_text("tests/golden/%s.txt", name), *text = text_copy(printed_text);
    for (const struct blot *b = golden_everywhere; b->pattern; b++) text = golden_blot(text, b);
    for (const struct blot *b = blots; b && b->pattern; b++) text = golden_blot(text, b);
    text = golden_round(text);
    if (golden_writing()) {
        golden_write(path, text);
    } else {
        char *printed = test_text("%s/printed", folder);
        golden_write(printed, text);
        struct e2e_result difference = e2e_run(folder, "diff -u %s %s", path, printed);
        if (difference.status) {
            print_message("%s%s", difference.out, difference.err);
            fail_msg("%s is no longer what is printed; if it is meant: `make golden`, and read the difference", path);
        }
    }
    free(text);
}
