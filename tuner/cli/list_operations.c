// `sweetspot list operations [NAME]`: see list.h.

#include "kernels/operation.h"
#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"

static const char *const kind_names[] = {"input", "output", "size", "scalar"}; // by enum role_kind

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
                              json_pack("{s:s, s:s, s:o, s:s}", "name", role->name, "kind", kind_names[role->kind],
                                        "default", default_of(op, role), "summary", role->summary));
    for (size_t i = 0; op->classes && op->classes[i]; i++) json_array_append_new(classes, json_string(op->classes[i]));
    for (const struct operation_baseline *b = op->baselines; b && b->name; b++)
        json_array_append_new(baselines, json_pack("{s:s, s:s, s:b}", "name", b->name, "summary", b->summary,
                                                   "same_result", (int)b->same_result));
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:o, s:o}", "name", op->name, "summary", op->summary, "bound",
                     op->bound, "deterministic", (int)op->deterministic, "reference", reference_name(op), "roles",
                     roles, "classes", classes, "baselines", baselines);
}

static int list_all(int format)
{
    static const struct row_column columns[] = {COLUMN_OF("operation", "name"),
                                                COLUMN("classes"),
                                                COLUMN("baselines"),
                                                COLUMN_OF("what it computes", "summary"),
                                                {0}};
    json_t *document = json_array();
    for (size_t i = 0; operations[i]; i++) json_array_append_new(document, to_json(operations[i]));
    return list_entries("operation", document, columns, NULL, format,
                        "\n`sweetspot list operations NAME` shows the roles, error bound and baselines of one.\n");
}

static void add_row(json_t *rows, const char *part, const char *name, const char *kind, json_t *fallback,
                    const char *meaning)
{
    json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:o, s:s}", "part", part, "name", name, "kind", kind,
                                          "default", fallback, "meaning", meaning));
}

static void list_one(const struct operation *op, int format)
{
    static const struct row_column columns[] = {
        COLUMN("part"), COLUMN("name"), COLUMN("kind"), COLUMN_NUMBER(">default", NULL, "%g"), COLUMN("meaning"), {0}};
    const char *repeated = op->deterministic ? "bit-identical across runs" : "bits may differ between runs";
    json_t *rows = json_array();
    if (format == FORMAT_TABLE) {
        printf("%s: %s\nerror bound: %s\nreference: %s\nresults: %s\n\n", op->name, op->summary, op->bound,
               reference_name(op), repeated);
    } else {
        add_row(rows, "bound", "", "", NULL, op->bound);
        add_row(rows, "reference", "", "", NULL, reference_name(op));
        add_row(rows, "results", "", "", NULL, repeated);
    }
    for (const struct operation_role *role = op->roles; role->name; role++)
        add_row(rows, "role", role->name, kind_names[role->kind], default_of(op, role), role->summary);
    for (size_t i = 0; op->classes && op->classes[i]; i++)
        add_row(rows, "class", op->classes[i], "", NULL, "a value of `compute`, which sets bound and baselines");
    for (const struct operation_baseline *b = op->baselines; b && b->name; b++)
        add_row(rows, "baseline", b->name, b->same_result ? "verified" : "not verified", NULL, b->summary);
    list_print(to_json(op), rows, columns, format);
    json_decref(rows);
}

int list_operations(const char *name, int format)
{
    const struct operation *op = name ? operation_find(name, NULL) : NULL;
    if (!name) return list_all(format);
    if (!op) return command_refuse_unknown("operation", name, operation_names());
    list_one(op, format);
    return EXIT_DONE;
}
