// `sweetspot list operations [NAME]`: see list.h.
#include <stdlib.h>
#include <string.h>

#include "kernels/operation.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"

static const char *kind_name(enum role_kind kind)
{
    static const char *const names[] = {"input", "output", "size", "scalar"};
    return names[kind];
}

static const char *reference_name(const struct operation *op)
{
    return op->reference ? "on the GPU (by = \"cublas\") or on all CPU cores (by = \"cpu\")"
                         : "on all CPU cores (by = \"cpu\")";
}

// A scalar's default; for the compute class, its word. Null for other roles.
static json_t *default_of(const struct operation *op, const struct operation_role *role)
{
    if (op->classes && !strcmp(role->name, "compute")) return json_string(op->classes[(size_t)role->fallback]);
    return role->kind == ROLE_SCALAR ? json_real(role->fallback) : json_null();
}

static json_t *to_json(const struct operation *op)
{
    json_t *roles = json_array(), *classes = json_array(), *baselines = json_array();
    for (const struct operation_role *role = op->roles; role->name; role++)
        json_array_append_new(roles,
                              json_pack("{s:s, s:s, s:o, s:s}", "name", role->name, "kind", kind_name(role->kind),
                                        "default", default_of(op, role), "summary", role->summary));
    for (size_t i = 0; op->classes && op->classes[i]; i++) json_array_append_new(classes, json_string(op->classes[i]));
    for (const struct operation_baseline *b = op->baselines; b->name; b++)
        json_array_append_new(baselines, json_pack("{s:s, s:s, s:b}", "name", b->name, "summary", b->summary,
                                                   "same_result", (int)b->same_result));
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:o}", "name", op->name, "summary", op->summary, "bound",
                     op->bound, "deterministic", (int)op->deterministic, "reference", reference_name(op), "roles",
                     roles, "classes", classes, "baselines", baselines);
}

static void list_all(int format)
{
    struct table *table = table_new((const char *[]){"operation", "classes", "baselines", "what it computes", NULL});
    json_t *document = json_array();
    for (size_t i = 0; operations[i]; i++) {
        const struct operation *op = operations[i];
        const char *none = NULL, **names = NULL;
        size_t count = 0;
        while (op->baselines[count].name) count++;
        names = memory_new(count + 1, sizeof *names);
        for (size_t k = 0; k < count; k++) names[k] = op->baselines[k].name;
        char *baselines = text_join(names, ","), *classes = text_join(op->classes ? op->classes : &none, ",");
        table_cell(table, "%s", op->name);
        table_cell(table, "%s", classes);
        table_cell(table, "%s", baselines);
        table_cell(table, "%s", op->summary);
        json_array_append_new(document, to_json(op));
        free(names);
        free(baselines);
        free(classes);
    }
    list_print(table, document, format);
    if (format == FORMAT_TABLE)
        printf("\n`sweetspot list operations NAME` shows the roles, error bound and baselines of one.\n");
}

static void add_row(struct table *table, const char *part, const char *name, const char *kind, const char *fallback,
                    const char *meaning)
{
    table_cell(table, "%s", part);
    table_cell(table, "%s", name);
    table_cell(table, "%s", kind);
    table_cell(table, "%s", fallback);
    table_cell(table, "%s", meaning);
}

static void list_one(const struct operation *op, int format)
{
    const char *repeated = op->deterministic ? "bit-identical across runs" : "bits may differ between runs";
    struct table *table = table_new((const char *[]){"part", "name", "kind", ">default", "meaning", NULL});
    if (format == FORMAT_TABLE) {
        printf("%s: %s\nerror bound: %s\nreference: %s\nresults: %s\n\n", op->name, op->summary, op->bound,
               reference_name(op), repeated);
    } else {
        add_row(table, "bound", "", "", "", op->bound);
        add_row(table, "reference", "", "", "", reference_name(op));
        add_row(table, "results", "", "", "", repeated);
    }
    for (const struct operation_role *role = op->roles; role->name; role++) {
        json_t *value = default_of(op, role);
        char number[32] = "";
        if (json_is_real(value)) snprintf(number, sizeof number, "%g", json_real_value(value));
        add_row(table, "role", role->name, kind_name(role->kind),
                json_is_string(value) ? json_string_value(value) : number, role->summary);
        json_decref(value);
    }
    for (size_t i = 0; op->classes && op->classes[i]; i++)
        add_row(table, "class", op->classes[i], "", "", "a value of `compute`, which sets bound and baselines");
    for (const struct operation_baseline *b = op->baselines; b->name; b++)
        add_row(table, "baseline", b->name, b->same_result ? "verified" : "not verified", "", b->summary);
    list_print(table, to_json(op), format);
}

int list_operations(const char *name, int format)
{
    if (!name) {
        list_all(format);
        return EXIT_DONE;
    }
    const struct operation *op = operation_find(name, NULL);
    if (!op) {
        const char *const *names = operation_names();
        int status = list_unknown("operation", name, names);
        return status;
    }
    list_one(op, format);
    return EXIT_DONE;
}
