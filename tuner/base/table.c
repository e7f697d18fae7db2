// See table.h.
#include "tuner/base/table.h"

#include <assert.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "tuner/base/colour.h"

enum { COLUMN_LEAST = 8 }; // truncated text keeps at least this width

struct table {
    size_t columns, cell_count;
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
    va_list args;
    va_start(args, format);
    memory_add(t->cells, t->cell_count) = text_format_list(format, args);
    va_end(args);
}

void table_number(struct table *t, const char *format, double value)
{
    table_cell(t, isfinite(value) ? format : "", value);
}

void table_add_texts(struct table *t, const char *const *texts)
{
    for (; *texts; texts++) table_cell(t, "%s", *texts);
}

// How many terminal columns a string takes up: UTF-8 continuation bytes take none.
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

// Prints the first `width` columns of a string, the last of which is an ellipsis.
static void print_cut(const char *text, size_t width, FILE *file)
{
    size_t length = 0;
    for (size_t used = 0; text[length]; length++) {
        bool begins = ((unsigned char)text[length] & 0xc0) != 0x80;
        if (begins && ++used == width) break;
    }
    fprintf(file, "%.*s\u2026", (int)length, text);
}

static void print_row(const struct table *t, char *const *row, size_t count, const size_t *widths, FILE *file)
{
    size_t owed = 0; // blanks are written only before the next cell, so that lines end where their text does
    for (size_t i = 0; i < count; i++) {
        if (!widths[i]) continue;
        const char *text = *row[i] ? row[i] : "-";
        size_t width = width_of(text), missing = width < widths[i] ? widths[i] - width : 0;
        pad(file, owed + (t->right[i] ? missing : 0));
        if (width > widths[i])
            print_cut(text, widths[i], file);
        else
            fputs(text, file);
        owed = 2 + (t->right[i] ? 0 : missing);
    }
    fputc('\n', file);
}

// The width of a file that is a terminal: COLUMNS if it is set, otherwise what the terminal reports. 0: it is not a
// terminal, or its width is unknown.
static size_t terminal_width(FILE *file)
{
    struct winsize size;
    int fd = terminal_of(file);
    if (fd < 0) return 0;
    const char *set = getenv("COLUMNS");
    long columns = set ? strtol(set, NULL, 10) : 0;
    if (columns > 0) return (size_t)columns;
    return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

// Narrows the widest column of text until lines fit or no column of text is wider than COLUMN_LEAST. Numbers are never
// truncated.
static void fit(const struct table *t, size_t *widths, size_t available)
{
    size_t line = 0;
    for (size_t i = 0; i < t->columns; i++) line += widths[i] ? widths[i] + 2 : 0;
    while (line > available + 2) {
        size_t widest = t->columns;
        for (size_t i = 0; i < t->columns; i++)
            if (!t->right[i] && (widest == t->columns || widths[i] > widths[widest])) widest = i;
        if (widest == t->columns || widths[widest] <= COLUMN_LEAST) break;
        widths[widest]--;
        line--;
    }
}

void table_print(const struct table *t, FILE *file)
{
    autofree size_t *widths = memory_new(t->columns, sizeof *widths);
    autorelease(text_list_release) struct text_list cells = {0}, titles = {0};
    for (size_t i = 0; i < t->cell_count; i++) {
        text_list_add(&cells, text_plain(t->cells[i]));
        size_t width = width_of(cells.list[i]);
        if (width > widths[i % t->columns]) widths[i % t->columns] = width;
    }
    for (size_t i = 0; i < t->columns; i++) {
        text_list_add(&titles, text_plain(t->titles[i]));
        if (widths[i] && width_of(titles.list[i]) > widths[i]) widths[i] = width_of(titles.list[i]);
    }
    size_t available = terminal_width(file);
    if (available) fit(t, widths, available);
    print_row(t, titles.list, t->columns, widths, file);
    for (size_t i = 0; i < t->cell_count; i += t->columns)
        print_row(t, cells.list + i, t->cell_count - i < t->columns ? t->cell_count - i : t->columns, widths, file);
}

static void csv_print(const char *text, FILE *file)
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
        assert(t->columns > 0);
        fputc((i + 1) % t->columns && i + 1 < t->cell_count ? ',' : '\n', file);
    }
}

// The value at a path of members and indices ("a.b.0"), or NULL.
static const json_t *value_at(const json_t *value, const char *path)
{
    char key[128];
    while (value && *path) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof key) return NULL;
        memcpy(key, path, length);
        key[length] = 0;
        value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10)) : json_object_get(value, key);
        path += length + (path[length] == '.');
    }
    return value;
}

static char *list_text(const json_t *list)
{
    struct text all = {0};
    json_array_each(list, i, item) {
        const json_t *text = json_is_object(item) ? json_object_iter_value(json_object_iter(item)) : item;
        text_add(&all, "%s%s", i ? "," : "", json_is_string(text) ? json_string_value(text) : "");
    }
    return all.text;
}

static char *cell_text(const json_t *row, const struct row_column *c)
{
    if (c->text) return c->text(row);
    const json_t *value = value_at(row, c->member ? c->member : c->title + (*c->title == '>'));
    if (json_is_number(value) && c->format)
        return text_format(c->format, json_number_value(value) * (c->scale > 0 ? c->scale : 1));
    if (json_is_integer(value)) return text_format("%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) return text_copy(text_show_number(json_real_value(value), TEXT_ROOM));
    if (json_is_true(value)) return text_copy("yes");
    return json_is_array(value) ? list_text(value) : text_copy(json_is_string(value) ? json_string_value(value) : "");
}

void rows_print(const json_t *rows, const struct row_column *columns, bool csv, FILE *file)
{
    size_t count = 0;
    while (columns[count].title) count++;
    autofree const char **titles = memory_new(count + 1, sizeof *titles);
    for (size_t i = 0; i < count; i++) titles[i] = columns[i].title;
    struct table *table = table_new(titles);
    json_array_each(rows, i, row) {
        for (size_t c = 0; c < count; c++) {
            autofree char *text = cell_text(row, &columns[c]);
            table_cell(table, "%s", text ? text : "");
        }
    }
    (csv ? table_print_csv : table_print)(table, file);
    table_free(table);
}
