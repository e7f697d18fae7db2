// Reading a recorded space: which format a file has, and those of other tuners: Kernel Tuner's cache files and the T4
// results format of the FAIR benchmark hub (schema: github.com/odgaard/TuningSchema). See recorded.h.

#include "tuner/base/base.h"
#include "tuner/base/gzip.h"
#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

static const double millisecond = 1e-3;

static int set_configuration(struct recorded *r, size_t trial, const json_t *values, struct error *err)
{
    for (size_t i = 0; i < r->parameter_count; i++)
        if (recorded_set_value(r, trial, i, json_object_get(values, space_parameter(r->space, i)->name), err))
            return -1;
    return 0;
}

static void set_failed(struct recorded *r, size_t trial, enum trial_status status, const char *reason)
{
    r->trials[trial].status = status;
    r->trials[trial].reason = arena_copy(&r->memory, reason);
}

// The only problem's time and samples; `unit` converts to seconds. False, and nothing is set, without a time.
static bool set_time(struct recorded *r, size_t trial, const json_t *time, const json_t *samples, double unit)
{
    struct trial_problem *p = recorded_figures(r, trial, 0);
    double value = json_is_number(time) ? json_number_value(time) : NAN;
    r->impossible += json_is_number(time) && !(value > TRIAL_LONGEST_TIME) && !recorded_is_time(value * unit);
    if (!(value <= TRIAL_LONGEST_TIME) || !recorded_is_time(value * unit)) return false;
    p->time = value * unit;
    double *kept = arena_new(&r->memory, json_array_size(samples) * sizeof *kept);
    for (size_t i = 0; i < json_array_size(samples); i++)
        if (json_is_number(json_array_get(samples, i)))
            kept[p->sample_count++] = json_number_value(json_array_get(samples, i)) * unit;
    p->samples = kept;
    r->trials[trial].status = STATUS_OK;
    return true;
}

// Kernel Tuner's names of failures: "CompilationFailedConfig" and the like.
static enum trial_status failure_of(const char *text)
{
    if (strncmp(text, "Compil", 6) == 0 || strncmp(text, "compil", 6) == 0) return STATUS_COMPILE_ERROR;
    if (strncmp(text, "Invalid", 7) == 0 || strcmp(text, "constraints") == 0) return STATUS_PRUNED;
    if (strcmp(text, "timeout") == 0) return STATUS_TIMEOUT;
    if (strcmp(text, "correctness") == 0) return STATUS_WRONG;
    return STATUS_LAUNCH_ERROR;
}

static void set_device(struct recorded *r, const char *name)
{
    if (*name) r->device = json_pack("{s:s}", "name", name);
}

static int from_kernel_tuner(struct recorded *r, const json_t *document, struct error *err)
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
    set_device(r, json_get_string(document, "device_name", ""));
    recorded_one_problem(r);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *name = json_string_value(json_array_get(keys, i));
        if (!name) return error_set(err, "tune_params_keys has an element that is not a string");
        if (recorded_add_parameter(r, name, json_object_get(values, name), -1, err)) return -1;
    }
    if (recorded_add_trials(r, json_object_size(cache), err)) return -1;
    size_t trial = 0;
    json_object_foreach(cache, key, entry) {
        if (set_configuration(r, trial, entry, err)) return error_prefix(err, "'%s'", key);
        const json_t *time = json_object_get(entry, "time");
        if (!set_time(r, trial, time, json_object_get(entry, "times"), millisecond)) {
            const char *text = json_is_string(time) ? json_string_value(time) : "no time";
            set_failed(r, trial, failure_of(text), text);
        }
        r->trials[trial].compile_seconds = json_get_number(entry, "compile_time", NAN) * millisecond;
        r->trials[trial].gpu_seconds =
            (json_get_number(entry, "benchmark_time", NAN) + json_get_number(entry, "verification_time", 0)) *
            millisecond;
        trial++;
    }
    return 0;
}

static int compare_json_numbers(const void *a, const void *b)
{
    double x = json_number_value(*(json_t *const *)a), y = json_number_value(*(json_t *const *)b);
    return (x > y) - (x < y);
}

// All different values of a parameter in the results: ascending if they are numbers, else in the order of their
// appearance.
static json_t *collect_values(const json_t *results, const char *name)
{
    size_t count = 0, room = 16;
    autofree json_t **found = memory_new(room, sizeof *found);
    bool numbers = true;
    for (size_t i = 0; i < json_array_size(results); i++) {
        json_t *value = json_object_get(json_object_get(json_array_get(results, i), "configuration"), name);
        size_t at = 0;
        while (value && at < count && !json_equal(found[at], value)) at++;
        if (!value || at < count) continue;
        if (count == room) found = memory_grow(found, room *= 2, sizeof *found);
        found[count++] = value;
        numbers &= json_is_number(value);
    }
    if (numbers) qsort(found, count, sizeof *found, compare_json_numbers);
    json_t *values = json_array();
    for (size_t i = 0; i < count; i++) json_array_append(values, found[i]);
    return values;
}

// The file's unit of time in seconds.
static double time_unit(const json_t *document)
{
    const char *unit = json_get_string(json_object_get(document, "metadata"), "timeunit", "milliseconds");
    if (strncmp(unit, "sec", 3) == 0 || strcmp(unit, "s") == 0) return 1;
    if (strncmp(unit, "micro", 5) == 0 || strcmp(unit, "us") == 0) return 1e-6;
    if (strncmp(unit, "nano", 4) == 0 || strcmp(unit, "ns") == 0) return 1e-9;
    return millisecond;
}

static const json_t *measured_time(const json_t *result)
{
    const json_t *list = json_object_get(result, "measurements");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (strcmp(json_get_string(one, "name", ""), "time") == 0) return json_object_get(one, "value");
    }
    return NULL;
}

// NaN where there are none.
static double sum_of(const json_t *numbers)
{
    double sum = json_array_size(numbers) ? 0 : NAN;
    for (size_t i = 0; i < json_array_size(numbers); i++) sum += json_number_value(json_array_get(numbers, i));
    return sum;
}

static int from_t4(struct recorded *r, const json_t *document, struct error *err)
{
    const json_t *results = json_object_get(document, "results");
    json_t *first = json_object_get(json_array_get(results, 0), "configuration"), *value;
    const char *name;
    double unit = time_unit(document);
    if (!json_is_object(first)) return error_set(err, "the T4 file has no configurations");
    set_device(r, json_get_string(json_object_get(document, "metadata"), "device", ""));
    recorded_one_problem(r);
    json_object_foreach(first, name, value) {
        autojson json_t *values = collect_values(results, name);
        int result = recorded_add_parameter(r, name, values, -1, err);
        if (result) return -1;
    }
    if (recorded_add_trials(r, json_array_size(results), err)) return -1;
    for (size_t trial = 0; trial < r->trial_count; trial++) {
        const json_t *result = json_array_get(results, trial), *times = json_object_get(result, "times");
        if (set_configuration(r, trial, json_object_get(result, "configuration"), err)) return -1;
        const char *invalidity = json_get_string(result, "invalidity", "correct");
        if (strcmp(invalidity, "correct") != 0)
            set_failed(r, trial, failure_of(invalidity), invalidity);
        else if (!set_time(r, trial, measured_time(result), json_object_get(times, "runtimes"), unit))
            set_failed(r, trial, STATUS_LAUNCH_ERROR, "no time");
        r->trials[trial].compile_seconds = json_get_number(times, "compilation", NAN) * unit;
        r->trials[trial].gpu_seconds =
            (sum_of(json_object_get(times, "runtimes")) + json_get_number(times, "validation", 0)) * unit;
    }
    return 0;
}

// Python writes NaN and Infinity, which are not JSON. Outside strings they become 0 and blanks, in place.
static void blank_python_numbers(char *text)
{
    bool in_string = false;
    for (char *p = text; *p; p++) {
        if (*p == '"')
            in_string = !in_string;
        else if (*p == '\\' && in_string && p[1])
            p++;
        if (in_string || (*p != 'N' && *p != 'I')) continue;
        size_t length = strncmp(p, "NaN", 3) == 0 ? 3 : strncmp(p, "Infinity", 8) == 0 ? 8 : 0;
        if (length == 0) continue;
        bool minus = p > text && p[-1] == '-';
        // "null" does not fit into three letters; 0 will do, because a time of 0 counts as missing.
        memset(p, ' ', length);
        if (minus) p[-1] = ' ';
        *p = '0';
        p += length - 1;
    }
}

void recorded_warn(const struct recorded *r, const char *path)
{
    if (r->impossible)
        fprintf(stderr,
                "sweetspot: %s: %zu configurations count as failed, because their times are impossible (none, below "
                "100 ns, not a number)\n",
                path, r->impossible);
}

struct recorded *recorded_read(const char *path, struct error *err)
{
    size_t size;
    char *text = gzip_read_file(path, &size, err);
    if (!text) return NULL;
    blank_python_numbers(text);
    json_error_t where;
    autojson json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (!document) {
        bool cut = (size_t)where.position + 2 >= size || json_error_code(&where) == json_error_premature_end_of_input;
        if (json_error_code(&where) == json_error_out_of_memory)
            error_set(err, "%s: out of host memory", path);
        else
            error_set(err, "%s:%d: %s%s", path, where.line, cut ? "the file is truncated: " : "", where.text);
        return NULL;
    }
    struct recorded *r = recorded_new();
    r->symbols = symbols_new();
    r->space = space_new(r->symbols);
    const char *format = json_get_string(document, "format", "");
    int result;
    if (strcmp(format, "sweetspot-space") == 0)
        result = recorded_from_sweetspot(r, document, err);
    else if (json_is_object(json_object_get(document, "cache")))
        result = from_kernel_tuner(r, document, err);
    else if (json_is_array(json_object_get(document, "results")))
        result = from_t4(r, document, err);
    else
        result = error_set(err, "not a recorded space: neither sweetspot-space nor a Kernel Tuner cache nor T4");
    if (result == 0) result = recorded_index(r, err);
    if (result < 0) {
        error_prefix(err, "%s", path);
        recorded_free(r);
        return NULL;
    }
    return r;
}
