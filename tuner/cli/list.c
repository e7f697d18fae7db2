// See list.h: what all kinds of lists share.
#include "tuner/cli/list.h"

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/options.h"

void list_print(json_t *document, const json_t *rows, const struct row_column *columns, int format)
{
    struct table *table = rows_table(rows, columns);
    if (format == FORMAT_JSON)
        json_print(document, stdout);
    else
        (format == FORMAT_CSV ? table_print_csv : table_print)(table, stdout);
    table_free(table);
    json_decref(document);
}

int list_unknown(const char *what, const char *name, const char *const *names)
{
    char *text = text_unknown(what, name, names);
    fprintf(stderr, "sweetspot list: %s\n", text);
    free(text);
    return EXIT_USAGE;
}

int list_unknown_of_many(const char *what, const char *name, const char *const *names, const char *how)
{
    const char *nearest = text_nearest(name, names);
    fprintf(stderr, "sweetspot list: unknown %s '%s'%s%s%s\n", what, name, nearest ? "; did you mean '" : " (",
            nearest ? nearest : how, nearest ? "'?" : ")");
    return EXIT_USAGE;
}
