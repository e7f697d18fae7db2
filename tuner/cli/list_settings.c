// `sweetspot list settings [NAME]`: the settings of a job file, from the table that its reader goes by. See list.h.

#include "tuner/base/base.h"
#include "tuner/base/protocol.h"
#include "tuner/cli/list.h"
#include "tuner/cli/options.h"
#include "tuner/job/job_settings.h"

static const struct row_column columns[] = {
    COLUMN_OF("setting", "name"), COLUMN("type"), COLUMN("default"), COLUMN("range"), COLUMN("meaning"), {0}};

static json_t *to_json(const struct job_setting *s)
{
    char *type = job_setting_type(s), *value = job_setting_default(s), *range = job_setting_range(s);
    json_t *words = s->words ? json_array() : json_null();
    for (size_t i = 0; s->words && s->words[i]; i++) json_array_append_new(words, json_string(s->words[i]));
    json_t *setting =
        json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:s}", "name", s->path, "type", type, "default", value, "has_default",
                  s->fallback != NULL, "range", range, "words", words, "meaning", s->meaning);
    free(type);
    free(value);
    free(range);
    return setting;
}

// A name is a path or a part of one, of whole words: a group's has all that is in the group.
static bool is_meant(const struct job_setting *s, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = s->path; at; at = strchr(at, '.'), at = at ? at + 1 : NULL)
        if (!strncmp(at, name, length) && (!at[length] || at[length] == '.' || at[length] == '[')) return true;
    return false;
}

int list_settings(const char *name, int format)
{
    size_t count, known = 0;
    const struct job_setting *settings = job_settings(&count);
    json_t *document = json_array();
    for (size_t i = 0; i < count; i++)
        if (!name || is_meant(&settings[i], name)) json_array_append_new(document, to_json(&settings[i]));
    if (json_array_size(document))
        return list_entries("setting", document, columns, NULL, format,
                            name ? ""
                                 : "\nNames in capitals are the job's own; [] stands for each element of a list. "
                                   "docs/job-file.md has an\n"
                                   "example for each setting; `sweetspot list settings NAME` shows one, or a group.\n");
    const char **names = memory_new(2 * count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) names[known++] = settings[i].path;
    for (size_t i = 0; i < count; i++) names[known++] = job_setting_name(&settings[i]);
    int status = list_unknown_of_many("setting", name, names, "sweetspot list settings shows all");
    free(names);
    json_decref(document);
    return status;
}
