// See table.h.
#include "tuner/output/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"

struct table {
    size_t columns, cell_count, cell_room;
    char **titles;
    bool *right;
    char **cells; // row by row
};

struct table *table_new(const char *const *titles)
{
    struct table *t = memory_new(1, sizeof *t);
    while (titles[t->columns]) t->columns++;
    t->titles = memory_new(t->columns, sizeof *t->titles);
    t->right = memory_new(t->columns, sizeof *t->right);
    for (size_t i = 0; i < t->columns; i++) {
        t->right[i] = titles[i][0] == '>';
        t->titles[i] = text_copy(titles[i] + t->right[i]);
    }
    return t;
}

void table_free(struct table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->columns; i++) free(t->titles[i]);
    for (size_t i = 0; i < t->cell_count; i++) free(t->cells[i]);
    free(t->titles);
    free(t->right);
    free(t->cells);
    free(t);
}

void table_cell(struct table *t, const char *format, ...)
{
    if (t->cell_count == t->cell_room) {
        t->cell_room = t->cell_room ? 2 * t->cell_room : 64;
        t->cells = memory_grow(t->cells, t->cell_room, sizeof *t->cells);
    }
    va_list args;
    va_start(args, format);
    char *cell = NULL;
    if (vasprintf(&cell, format, args) < 0) cell = text_copy("?");
    va_end(args);
    t->cells[t->cell_count++] = cell;
}

// Columns that a terminal needs: UTF-8 continuation bytes take none.
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void pad(FILE *file, size_t count)
{
    while (count--) fputc(' ', file);
}

static void print_row(const struct table *t, char *const *row, size_t count, const size_t *widths, FILE *file)
{
    size_t owed = 0; // blanks are written before the next cell only, so that lines end where their text does
    for (size_t i = 0; i < count; i++) {
        if (!widths[i]) continue;
        const char *text = *row[i] ? row[i] : "-";
        size_t missing = widths[i] - width_of(text);
        pad(file, owed + (t->right[i] ? missing : 0));
        fputs(text, file);
        owed = 2 + (t->right[i] ? 0 : missing);
    }
    fputc('\n', file);
}

void table_print(const struct table *t, FILE *file)
{
    size_t *widths = memory_new(t->columns, sizeof *widths);
    for (size_t i = 0; i < t->cell_count; i++) {
        size_t width = width_of(t->cells[i]);
        if (width > widths[i % t->columns]) widths[i % t->columns] = width;
    }
    for (size_t i = 0; i < t->columns; i++)
        if (widths[i] && width_of(t->titles[i]) > widths[i]) widths[i] = width_of(t->titles[i]);
    print_row(t, t->titles, t->columns, widths, file);
    for (size_t i = 0; i < t->cell_count; i += t->columns)
        print_row(t, t->cells + i, t->cell_count - i < t->columns ? t->cell_count - i : t->columns, widths, file);
    free(widths);
}

void csv_print(const char *text, FILE *file)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"') fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

void table_print_csv(const struct table *t, FILE *file)
{
    for (size_t i = 0; i < t->columns; i++) {
        if (i) fputc(',', file);
        csv_print(t->titles[i], file);
    }
    fputc('\n', file);
    for (size_t i = 0; i < t->cell_count; i++) {
        csv_print(t->cells[i], file);
        fputc((i + 1) % t->columns && i + 1 < t->cell_count ? ',' : '\n', file);
    }
}
