// See recording_check.h.
#include "tuner/setup/recording_check.h"

#include "tuner/base/base.h"

static bool has(const json_t *list, const char *word)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item) && !strcmp(json_string_value(item), word)) return true;
    }
    return false;
}

static bool is_parameter(const struct job *job, const char *name)
{
    for (size_t i = 0; i < space_parameter_count(job->space); i++)
        if (!strcmp(space_parameter(job->space, i)->name, name)) return true;
    return false;
}

static int refuse(const json_t *recorded, const char *why, const char *name, struct error *err)
{
    const char *job = json_get_string(recorded, "job", "");
    return error_set(err, "the recording belongs to another job%s%s%s: %s '%s'; give the job that was recorded",
                     *job ? ", '" : "", job, *job ? "'" : "", why, name);
}

int recording_check(const struct job *job, const json_t *recorded, struct error *err)
{
    const json_t *parameters = json_object_get(recorded, "parameters"),
                 *problems = json_object_get(recorded, "problems");
    const char *name = json_get_string(recorded, "job", "");
    size_t i;
    json_t *item;
    if (!recorded) return 0; // the worker does not say
    for (i = 0; i < space_parameter_count(job->space); i++)
        if (!has(parameters, space_parameter(job->space, i)->name))
            return refuse(recorded, "it has no parameter", space_parameter(job->space, i)->name, err);
    json_array_foreach(parameters, i, item)
    {
        if (!is_parameter(job, json_string_value(item)))
            return refuse(recorded, "the job has no parameter", json_string_value(item), err);
    }
    // A job may be renamed, or have other problems than when it was recorded; both at once make another job.
    if (!*name || !strcmp(name, job->name)) return 0;
    for (i = 0; i < job->tuned_count; i++)
        if (!has(problems, "") && !has(problems, job->problems[i].name))
            return refuse(recorded, "it has no problem", job->problems[i].name, err);
    return 0;
}
