// See source_options.h.
#include "tuner/source/source_options.h"

#include "tuner/base/base.h"
#include <unistd.h>

enum option_kind { OPTION_FOLDER, OPTION_BEFORE, OPTION_MACRO, OPTION_REFUSED };

// An option's value follows "=" or is the next word; where `joined`, it may follow the name at once.
static const struct {
    const char *name;
    enum option_kind kind;
    bool joined;
} known[] = {
    {"-I", OPTION_FOLDER, true},          {"--include-path", OPTION_FOLDER, false},
    {"-include", OPTION_BEFORE, false},   {"--pre-include", OPTION_BEFORE, false},
    {"-D", OPTION_MACRO, true},           {"--define-macro", OPTION_MACRO, false},
    {"-pch", OPTION_REFUSED, false},      {"--pch", OPTION_REFUSED, false},
    {"--use-pch", OPTION_REFUSED, false}, {"-use-pch", OPTION_REFUSED, false},
};

bool source_options_toolkit(const char *folder)
{
    static const char *const places[] = {"cuda_runtime_api.h", "../cuda_runtime_api.h"}; // the latter of include/cccl
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        char *path = text_format("%s/%s", folder, places[i]);
        found = !access(path, F_OK);
        free(path);
    }
    return found;
}

// A folder, if it is the user's; false if it is a toolkit's.
static bool add_folder(struct source_options *o, const char *folder)
{
    if (source_options_toolkit(folder)) return false;
    memory_add(o->folder, o->folder_count) = text_join_path(".", folder);
    return true;
}

// Which of the known options this is, and its value: NULL where that is the next word. -1: another.
static int find(const char *option, const char **value)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].name);
        if (strncmp(option, known[i].name, length)) continue;
        *value = option[length] == '=' ? option + length + 1 : option + length + strspn(option + length, " \t");
        if (!option[length]) *value = NULL;
        if (!option[length] || option[length] == '=' || known[i].joined) return (int)i;
    }
    return -1;
}

int source_options_read(struct source_options *o, const struct source_request *request, struct error *err)
{
    *o = (struct source_options){0};
    for (size_t i = 0; i < request->option_count; i++) {
        const char *option = request->option[i], *value = NULL;
        int which = find(option, &value);
        if (which >= 0 && known[which].kind == OPTION_REFUSED)
            return error_set(err, "option '%s' reads headers that are not part of the source's hash", option);
        if (which >= 0 && !value && i + 1 < request->option_count) value = request->option[++i];
        if (which < 0 || !value) {
            memory_add(o->rest, o->rest_count) = text_copy(option);
            continue;
        }
        if (known[which].kind == OPTION_FOLDER && add_folder(o, value)) continue;
        if (known[which].kind == OPTION_MACRO) memory_add(o->macro, o->macro_count) = text_copy(value);
        if (known[which].kind == OPTION_BEFORE)
            memory_add(o->before, o->before_count) = (struct source_before){text_copy(value), o->rest_count};
        memory_add(o->rest, o->rest_count) =
            text_format("%s%s%s", known[which].name, known[which].joined ? "" : "=", value);
    }
    for (size_t i = 0; i < request->include_count; i++)
        if (!add_folder(o, request->include[i]))
            memory_add(o->rest, o->rest_count) = text_format("-I%s", request->include[i]);
    for (size_t i = 0; i < request->macro_count; i++)
        memory_add(o->macro, o->macro_count) = text_copy(request->macro[i]);
    return 0;
}

void source_options_move(json_t *options, const char *root)
{
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *option = json_string_value(json_array_get(options, i)), *value = NULL;
        int which = option ? find(option, &value) : -1;
        if (which < 0 || (known[which].kind != OPTION_FOLDER && known[which].kind != OPTION_BEFORE)) continue;
        size_t after = value ? (size_t)(value - option) : 0; // what stands before the value stays
        if (!value && ++i < json_array_size(options)) value = option = json_string_value(json_array_get(options, i));
        char *path = value ? text_join_path(".", value) : NULL;
        if (path && !source_options_toolkit(path) && (known[which].kind == OPTION_FOLDER || !access(path, F_OK)))
            json_array_set_new(options, i, json_sprintf("%.*s%s%s", (int)after, option, root, path));
        free(path);
    }
}

void source_options_found(struct source_options *o, size_t which, const char *path)
{
    char **option = &o->rest[o->before[which].option];
    free(*option);
    *option = text_format("--pre-include=%s", path);
}

void source_options_add(struct source_options *o, char *option)
{
    memory_add(o->rest, o->rest_count) = option;
}

void source_options_release(struct source_options *o)
{
    for (size_t i = 0; i < o->folder_count; i++) free(o->folder[i]);
    for (size_t i = 0; i < o->before_count; i++) free(o->before[i].name);
    for (size_t i = 0; i < o->macro_count; i++) free(o->macro[i]);
    free(o->folder);
    free(o->before);
    free(o->macro);
    *o = (struct source_options){0};
}
