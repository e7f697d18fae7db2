// Kernel Tuner's cache files as recorded spaces. See recorded.h.

#include "tuner/base/base.h"
#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

static const double millisecond = 1e-3;

static int set_value(struct recorded *r, size_t trial, size_t parameter, const json_t *value, struct error *err)
{
    const struct recorded_parameter *p = &r->parameters[parameter];
    if (!value) return error_set(err, "configuration %zu lacks parameter '%s'", trial, p->name);
    int index = recorded_value_index(p, value);
    if (index < 0) {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        error_set(err, "configuration %zu: %s is not among the values of parameter '%s'", trial, text ? text : "?",
                  p->name);
        free(text);
        return -1;
    }
    r->configs[trial * r->parameter_count + parameter] = (uint16_t)index;
    return 0;
}

// The only problem's time and samples, from milliseconds. False, and nothing is set, without a time.
static bool set_time(struct recorded *r, size_t trial, const json_t *time, const json_t *samples)
{
    struct trial_problem *p = recorded_figures(r, trial, 0);
    double value = json_is_number(time) ? json_number_value(time) : NAN;
    r->impossible += json_is_number(time) && !(value > TRIAL_LONGEST_TIME) && !recorded_is_time(value * millisecond);
    if (!(value <= TRIAL_LONGEST_TIME) || !recorded_is_time(value * millisecond)) return false;
    p->time = value * millisecond;
    double *kept = arena_new(&r->memory, json_array_size(samples) * sizeof *kept);
    for (size_t i = 0; i < json_array_size(samples); i++)
        if (json_is_number(json_array_get(samples, i)))
            kept[p->sample_count++] = json_number_value(json_array_get(samples, i)) * millisecond;
    p->samples = kept;
    r->trials[trial].status = STATUS_OK;
    return true;
}

// Kernel Tuner's names of failures: "CompilationFailedConfig" and the like.
static enum trial_status failure_of(const char *text)
{
    if (strncmp(text, "Compil", 6) == 0) return STATUS_COMPILE_ERROR;
    return strncmp(text, "Invalid", 7) == 0 ? STATUS_PRUNED : STATUS_LAUNCH_ERROR;
}

int recorded_from_kernel_tuner(struct recorded *r, const json_t *document, struct error *err)
{
    const json_t *keys = json_object_get(document, "tune_params_keys"),
                 *values = json_object_get(document, "tune_params");
    json_t *cache = json_object_get(document, "cache"), *entry;
    const char *key, *objective = json_get_string(document, "objective", "time");
    if (!json_is_array(keys) || !json_is_object(values))
        return error_set(err, "the Kernel Tuner cache lacks tune_params or tune_params_keys");
    if (strcmp(objective, "time") != 0)
        return error_set(err, "the objective is '%s'; only spaces that were tuned for time can be read", objective);
    r->job = arena_copy(&r->memory, json_get_string(document, "kernel_name", ""));
    const char *device = json_get_string(document, "device_name", "");
    if (*device) r->device = json_pack("{s:s}", "name", device);
    recorded_one_problem(r);
    r->parameters = arena_new(&r->memory, json_array_size(keys) * sizeof *r->parameters);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *name = json_string_value(json_array_get(keys, i));
        if (!name) return error_set(err, "tune_params_keys has an element that is not a string");
        r->parameters[r->parameter_count++].name = arena_copy(&r->memory, name);
        if (recorded_set_values(r, &r->parameters[i], json_object_get(values, name), -1, err) < 0) return -1;
    }
    if (recorded_add_trials(r, json_object_size(cache), err)) return -1;
    size_t trial = 0;
    json_object_foreach(cache, key, entry)
    {
        for (size_t i = 0; i < r->parameter_count; i++)
            if (set_value(r, trial, i, json_object_get(entry, r->parameters[i].name), err) < 0)
                return error_prefix(err, "'%s'", key);
        const json_t *time = json_object_get(entry, "time");
        if (!set_time(r, trial, time, json_object_get(entry, "times"))) {
            const char *text = json_is_string(time) ? json_string_value(time) : "no time";
            r->trials[trial].status = failure_of(text);
            r->trials[trial].reason = arena_copy(&r->memory, text);
        }
        r->trials[trial].compile_seconds = json_get_number(entry, "compile_time", NAN) * millisecond;
        r->trials[trial].gpu_seconds =
            (json_get_number(entry, "benchmark_time", NAN) + json_get_number(entry, "verification_time", 0)) *
            millisecond;
        trial++;
    }
    return 0;
}
