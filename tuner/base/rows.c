// See rows.h.
#include "tuner/base/rows.h"

#include "tuner/base/base.h"

// The value at a path of members and indices, "a.b.0", or NULL.
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
    json_t *item;
    size_t i;
    json_array_foreach(list, i, item)
    {
        const json_t *text = json_is_object(item) ? json_object_iter_value(json_object_iter(item)) : item;
        text_add(&all, "%s%s", i ? "," : "", json_is_string(text) ? json_string_value(text) : "");
    }
    return all.text;
}

static char *cell_text(const json_t *row, const struct row_column *c)
{
    char number[32];
    if (c->text) return c->text(row);
    const json_t *value = value_at(row, c->member ? c->member : c->title + (*c->title == '>'));
    if (json_is_number(value) && c->format)
        return text_format(c->format, json_number_value(value) * (c->scale > 0 ? c->scale : 1));
    if (json_is_integer(value)) return text_format("%lld", (long long)json_integer_value(value));
    if (json_is_real(value)) return text_copy(text_show_number(json_real_value(value), number, sizeof number));
    if (json_is_true(value)) return text_copy("yes");
    return json_is_array(value) ? list_text(value) : text_copy(json_is_string(value) ? json_string_value(value) : "");
}

struct table *rows_table(const json_t *rows, const struct row_column *columns)
{
    size_t count = 0, i;
    const json_t *row;
    while (columns[count].title) count++;
    const char **titles = memory_new(count + 1, sizeof *titles);
    for (i = 0; i < count; i++) titles[i] = columns[i].title;
    struct table *table = table_new(titles);
    free(titles);
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < count; c++) {
            char *text = cell_text(row, &columns[c]);
            table_cell(table, "%s", text ? text : "");
            free(text);
        }
    }
    return table;
}
