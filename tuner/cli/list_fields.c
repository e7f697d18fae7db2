// `sweetspot list fields [NAME]`: the figures of a trial, from their table. See list.h.
#include "tuner/base/base.h"
#include "tuner/cli/list.h"

#include "tuner/base/protocol.h"
#include "tuner/cli/options.h"
#include "tuner/trial/trial_field.h"

static const struct row_column columns[] = {
    COLUMN("level"),  COLUMN_OF("field", "name"), COLUMN("unit"),    COLUMN("kind"),
    COLUMN("source"), COLUMN("recorded"),         COLUMN("meaning"), {0}};

// Who measures a field; "" where the driver knows it by itself.
static const char *source_name(const struct trial_field *f)
{
    if (f->flags & FIELD_DERIVED) return "derived";
    return f->flags & FIELD_COMPILER ? "compiler" : f->flags & FIELD_GPU ? "GPU" : "";
}

// A name may exist at several levels.
int list_fields(const char *name, int format)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    json_t *document = json_array();
    const char **names = memory_new(count + 1, sizeof *names);
    for (size_t i = 0, known = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        size_t k = 0;
        while (k < known && strcmp(names[k], f->name)) k++;
        if (k == known) names[known++] = f->name;
        if (name && strcmp(f->name, name)) continue;
        json_array_append_new(document, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:s}", "level",
                                                  field_level_name(f->level), "name", f->name, "unit", f->unit, "kind",
                                                  field_kind_name(f->kind), "source", source_name(f), "recorded",
                                                  (int)(f->flags & FIELD_RECORDED), "meaning", f->meaning));
    }
    bool found = json_array_size(document) || !name;
    if (found)
        list_print(document, document, columns, format);
    else
        json_decref(document);
    int status = found ? EXIT_DONE : list_unknown("field", name, names);
    free(names);
    return status;
}
