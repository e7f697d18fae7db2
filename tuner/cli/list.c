// See list.h: what all kinds of lists share.
#include "tuner/cli/list.h"

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/options.h"

void list_print(json_t *document, const json_t *rows, const struct row_column *columns, int format)
{
    if (format == FORMAT_JSON)
        json_print(document, stdout);
    else
        rows_print(rows, columns, format == FORMAT_CSV, stdout);
    json_decref(document);
}

int list_unknown_of_many(const char *what, const char *name, const char *const *names, const char *how)
{
    const char *nearest = text_nearest(name, names);
    return command_refuse("unknown %s '%s'%s%s%s", what, name, nearest ? "; did you mean '" : " (",
                          nearest ? nearest : how, nearest ? "'?" : ")");
}
