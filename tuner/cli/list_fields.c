// `sweetspot list fields [NAME]`: the figures of a trial, from their table. See list.h.
#include "tuner/cli/list.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/options.h"
#include "tuner/trial/trial_field.h"

// Who measures a field; "" where the driver knows it by itself.
static const char *source_name(const struct trial_field *f)
{
    if (f->flags & FIELD_DERIVED) return "derived";
    return f->flags & FIELD_COMPILER ? "compiler" : f->flags & FIELD_GPU ? "GPU" : "";
}

static void add_row(struct table *table, json_t *document, const struct trial_field *f)
{
    bool recorded = f->flags & FIELD_RECORDED;
    table_cell(table, "%s", field_level_name(f->level));
    table_cell(table, "%s", f->name);
    table_cell(table, "%s", f->unit);
    table_cell(table, "%s", field_kind_name(f->kind));
    table_cell(table, "%s", source_name(f));
    table_cell(table, "%s", recorded ? "yes" : "");
    table_cell(table, "%s", f->meaning);
    json_array_append_new(document,
                          json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "level", field_level_name(f->level), "name",
                                    f->name, "unit", f->unit, "kind", field_kind_name(f->kind), "source",
                                    source_name(f), "recorded", (int)recorded, "meaning", f->meaning));
}

// A name may exist at several levels.
int list_fields(const char *name, int format)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    struct table *table =
        table_new((const char *[]){"level", "field", "unit", "kind", "source", "recorded", "meaning", NULL});
    json_t *document = json_array();
    for (size_t i = 0; i < count; i++)
        if (!name || !strcmp(fields[i].name, name)) add_row(table, document, &fields[i]);
    if (json_array_size(document) || !name) {
        list_print(table, document, format);
        return EXIT_DONE;
    }
    const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0, known = 0; i < count; i++) {
        size_t k = 0;
        while (k < known && strcmp(names[k], fields[i].name)) k++;
        if (k == known) names[known++] = fields[i].name;
    }
    int status = list_unknown("field", name, names);
    free(names);
    table_free(table);
    json_decref(document);
    return status;
}
