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

int list_entries(const char *what, json_t *all, const struct row_column *columns, const char *wanted, int as,
                 const char *note)
{
    json_t *chosen = json_array(), *entry;
    const char **known = memory_new(json_array_size(all) + 1, sizeof *known);
    size_t i, k, count = 0;
    json_array_foreach(all, i, entry) {
        const char *own = json_get_string(entry, "name", "");
        if (!wanted || !strcmp(own, wanted)) json_array_append(chosen, entry);
        for (k = 0; k < count && strcmp(known[k], own) != 0; k++) continue;
        if (k == count) known[count++] = own;
    }
    int status = json_array_size(chosen) ? EXIT_DONE : command_refuse_unknown(what, wanted, known);
    if (status == EXIT_DONE) list_print(json_incref(chosen), chosen, columns, as);
    if (status == EXIT_DONE && as == FORMAT_TABLE) fputs(note, stdout);
    free(known);
    json_decref(chosen);
    json_decref(all);
    return status;
}

int list_unknown_of_many(const char *what, const char *name, const char *const *names, const char *how)
{
    const char *nearest = text_nearest(name, names);
    return command_refuse("unknown %s '%s'%s%s%s", what, name, nearest ? "; did you mean '" : " (",
                          nearest ? nearest : how, nearest ? "'?" : ")");
}
