// The formats of other tuners: Kernel Tuner's caches (github.com/KernelTuner/kernel_tuner), KTT's results
// (github.com/HiPerCoRe/KTT), and the documents T1 (a space) and T4 (results) of the auto-tuning community
// (github.com/odgaard/TuningSchema). Each format has a reader that produces rows, which take_rows() turns into a
// recorded space. See recorded.h.

#include "tuner/base/hash_index.h"
#include "tuner/recorded/recorded_parts.h"
#include "tuner/trial/trial_field.h"

static const double millisecond = 1e-3;

// A configuration and its result, as far as the file contains them. All JSON except `configuration` and `counters`
// belongs to the document.
struct row {
    json_t *configuration; // owned: values by name
    const json_t *time, *samples;
    double unit, sample_unit; // units of the time and of the samples, in seconds
    const char *failure;      // as the other tuner names it; NULL: none
    double compile_seconds, gpu_seconds, registers, shared_bytes;
    json_t *counters; // owned: `name`, `value`, `unit` of each; NULL: none
};

struct row_list {
    size_t count;
    struct row *row;
};

static struct row_list row_list_new(size_t count)
{
    struct row_list rows = {count, memory_new(count, sizeof *rows.row)};
    for (size_t i = 0; i < count; i++)
        rows.row[i] = (struct row){.compile_seconds = NAN, .gpu_seconds = NAN, .registers = NAN, .shared_bytes = NAN};
    return rows;
}

static void row_list_release(struct row_list *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        json_decref(rows->row[i].configuration);
        json_decref(rows->row[i].counters);
    }
    free(rows->row);
}

// A unit of time, in seconds; `otherwise` if the string is empty, and NaN if it is not a unit of time. Kernel Tuner's
// own files have "miliseconds".
static double time_unit(const char *text, double otherwise)
{
    static const struct {
        const char *begin, *symbol;
        double seconds;
    } units[] = {{"sec", "s", 1}, {"mil", "ms", 1e-3}, {"mic", "us", 1e-6}, {"nan", "ns", 1e-9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strncasecmp(text, units[i].begin, 3) || !strcmp(text, units[i].symbol)) return units[i].seconds;
    return *text ? NAN : otherwise;
}

static int read_unit(const json_t *metadata, const char *key, double *unit, struct error *err)
{
    const char *text = json_get_string(metadata, key, "");
    *unit = time_unit(text, millisecond);
    return isnan(*unit) ? error_set(err, "'%s' is the unknown unit '%s'", key, text) : 0;
}

// Returns the status for a word that other tuners write instead of a time. Only the word's beginning counts:
// "CompilationFailedConfig", "compile" and "CompilationFailed" are the same.
static enum trial_status failure_of(const char *text)
{
    static const struct {
        const char *begin;
        enum trial_status status;
    } words[] = {{"compil", STATUS_COMPILE_ERROR}, {"invalid", STATUS_PRUNED},    {"constraints", STATUS_PRUNED},
                 {"timeout", STATUS_TIMEOUT},      {"correctness", STATUS_WRONG}, {"validation", STATUS_WRONG}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncasecmp(text, words[i].begin, strlen(words[i].begin))) return words[i].status;
    return STATUS_LAUNCH_ERROR;
}

static void set_failed(struct recorded *r, size_t trial, const char *reason)
{
    char *end;
    if (strtod(reason, &end), end > reason && !*end)
        recorded_note(r, "configurations count as failed, because their times are texts instead of numbers");
    r->trials[trial].status = failure_of(reason);
    r->trials[trial].reason = arena_copy(&r->memory, reason);
}

// Sets the time and samples of the only problem. If there is no time, returns false and sets nothing.
static bool set_time(struct recorded *r, size_t trial, const struct row *row)
{
    struct trial_problem *p = recorded_figures(r, trial, 0);
    double value = json_is_number(row->time) ? json_number_value(row->time) : NAN;
    size_t samples = json_array_size(row->samples);
    bool possible = value <= TRIAL_LONGEST_TIME && recorded_is_time(value * row->unit);
    if (!possible && !json_is_string(row->time) && !(value > TRIAL_LONGEST_TIME))
        recorded_note(r, isnan(row->unit) ? "configurations count as failed, because the unit of their times is unknown"
                                          : RECORDED_IMPOSSIBLE);
    if (!possible) return false;
    p->time = value * row->unit;
    autofree double *list = memory_new(samples, sizeof *list);
    for (size_t i = 0; i < samples; i++) {
        const json_t *sample = json_array_get(row->samples, i);
        list[i] = json_is_number(sample) ? json_number_value(sample) * row->sample_unit : NAN;
    }
    recorded_set_samples(r, p, list, samples);
    r->trials[trial].status = STATUS_OK;
    return true;
}

static int compare_json_numbers(const void *a, const void *b)
{
    double x = json_number_value(*(json_t *const *)a), y = json_number_value(*(json_t *const *)b);
    return (x > y) - (x < y);
}

// All distinct values of a parameter in the rows: ascending if they are numbers, otherwise in order of appearance. Rows
// with null, a list or an object are left out later.
static json_t *collect_values(const struct row_list *rows, const char *name)
{
    autorelease(string_pool_release) struct string_pool keys = {0};
    autofree json_t **found = NULL;
    size_t count = 0;
    bool numbers = true;
    for (size_t i = 0; i < rows->count; i++) {
        json_t *value = json_object_get(rows->row[i].configuration, name);
        autofree char *key = recorded_value_key(value);
        if (!key || string_pool_put(&keys, key, strlen(key)) < count) continue;
        memory_add(found, count) = value;
        numbers &= json_is_number(value);
    }
    if (numbers && count) qsort(found, count, sizeof *found, compare_json_numbers);
    json_t *values = json_array();
    for (size_t i = 0; i < count; i++) json_array_append(values, found[i]);
    return values;
}

// KTT writes the values of a T4 document as strings; a string that contains a number is converted to it. New reference.
static json_t *number_or_text(json_t *value)
{
    json_error_t ignored;
    autojson json_t *number =
        json_is_string(value) ? json_loads(json_string_value(value), JSON_DECODE_ANY, &ignored) : NULL;
    return json_incref(json_is_number(number) ? number : value);
}

// A T1 document's list of values. It is a Python list, which differs from JSON only in its quotes and in the spelling
// of true and false. Returns NULL if it is any other expression.
static json_t *t1_values(const char *python)
{
    autorelease(text_release) struct text json = {0};
    json_error_t ignored;
    bool quoted = false;
    for (const char *p = python; *p; p++) {
        quoted ^= *p == '\'' || *p == '"';
        bool is_true = !quoted && !strncmp(p, "True", 4), is_false = !quoted && !strncmp(p, "False", 5);
        text_add(&json, "%.*s", is_true || is_false ? 0 : 1, *p == '\'' ? "\"" : p);
        if (is_true || is_false) text_add(&json, is_true ? "true" : "false");
        p += is_true ? 3 : is_false ? 4 : 0;
    }
    autojson json_t *list = json_loads(json.text ? json.text : "", 0, &ignored), *values = json_array();
    json_array_each(list, i, value) json_array_append_new(values, number_or_text(value));
    return json_array_size(values) ? json_incref(values) : NULL;
}

// Adds the parameters of the row that has the most parameters, because rows of failed configurations may lack some.
// Their values are those listed in T1 or, without such a list, those that occur in the rows.
static int add_parameters(struct recorded *r, const struct row_list *rows, const json_t *t1, struct error *err)
{
    const json_t *listed = json_object_get(json_object_get(t1, "ConfigurationSpace"), "TuningParameters");
    json_t *most = NULL;
    for (size_t i = 0; i < rows->count; i++)
        if (json_object_size(rows->row[i].configuration) > json_object_size(most)) most = rows->row[i].configuration;
    if (!most) return error_set(err, "the file has no configurations");
    json_object_each(most, name, value) {
        const json_t *one = NULL;
        for (size_t i = 0; i < json_array_size(listed) && !one; i++)
            if (!strcmp(json_get_string(json_array_get(listed, i), "Name", ""), name)) one = json_array_get(listed, i);
        if (t1 && !one) return error_set(err, "the T1 document is not of this space: it lacks parameter '%s'", name);
        const char *python = json_get_string(one, "Values", "");
        autojson json_t *values = t1_values(python);
        if (one && !values)
            recorded_note(r, "parameters have values in T1 that are not a list: the measured values are used");
        if (!values) values = collect_values(rows, name);
        if (recorded_add_parameter(r, name, values, -1, err)) return -1;
    }
    return 0;
}

// Adds the counters of all rows as metrics.
static void add_counters(struct recorded *r, const struct row_list *rows)
{
    size_t room = 0;
    for (size_t i = 0; i < rows->count; i++)
        json_array_each(rows->row[i].counters, k, one) {
            const char *name = json_get_string(one, "name", "");
            size_t m = 0;
            while (m < r->metric_count && strcmp(r->metrics[m].key, name)) m++;
            bool field = trial_field_find(FIELD_TRIAL, name) || trial_field_find(FIELD_PROBLEM, name);
            if (field) recorded_note(r, "counters are left out, because they have the name of a field of trials");
            if (!*name || field || m < r->metric_count) continue;
            if (r->metric_count == room) {
                struct recorded_metric *more = arena_new(&r->memory, (room = 2 * room + 8) * sizeof *more);
                if (r->metric_count) memcpy(more, r->metrics, r->metric_count * sizeof *more);
                r->metrics = more;
            }
            const char *kept = arena_copy(&r->memory, name);
            r->metrics[r->metric_count++] =
                (struct recorded_metric){kept, kept, arena_copy(&r->memory, json_get_string(one, "unit", ""))};
        }
}

static void set_counters(struct recorded *r, size_t trial, const json_t *counters)
{
    json_array_each(counters, k, one)
        for (size_t m = 0; m < r->metric_count; m++)
            if (!strcmp(r->metrics[m].key, json_get_string(one, "name", "")))
                r->counters[trial * r->metric_count + m] = json_get_number(one, "value", NAN);
}

// Copies the row's configuration to trial `to`. Returns false if the row has to be left out; the reason is noted.
static bool set_configuration(struct recorded *r, size_t to, const struct row *row)
{
    struct error ignored;
    for (size_t i = 0; i < r->parameter_count; i++) {
        const json_t *value = json_object_get(row->configuration, space_parameter(r->space, i)->name);
        if (value && !recorded_set_value(r, to, i, value, &ignored)) continue;
        recorded_note(r, value ? "rows are left out, because a value is not among its parameter's"
                               : "rows are left out, because they lack a parameter");
        return false;
    }
    return true;
}

static bool same_configuration(const void *wanted, size_t trial)
{
    const struct recorded *r = *(const struct recorded *const *)wanted;
    size_t size = r->parameter_count * sizeof *r->configs;
    return !memcmp(r->configs + trial * r->parameter_count, r->configs + r->trial_count * r->parameter_count, size);
}

// Turns the rows into trials, after the parameters have been added. Rows without a usable configuration are left out,
// and so are rows whose configuration occurred before.
static int take_rows(struct recorded *r, const struct row_list *rows, struct error *err)
{
    autorelease(hash_index_release) struct hash_index seen = {0};
    recorded_one_problem(r);
    add_counters(r, rows);
    if (recorded_add_trials(r, rows->count, err)) return -1;
    r->trial_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        size_t trial = r->trial_count;
        uint32_t hash = 0;
        if (!set_configuration(r, trial, row)) continue;
        for (size_t p = 0; p < r->parameter_count; p++)
            hash = hash_mix(hash, r->configs[trial * r->parameter_count + p]);
        if (hash_index_find(&seen, hash, same_configuration, &r) >= 0) {
            recorded_note(r, "rows are left out, because an earlier one has the same configuration");
            continue;
        }
        hash_index_add(&seen, hash, trial);
        r->trial_count++;
        if (row->failure)
            set_failed(r, trial, row->failure);
        else if (!set_time(r, trial, row))
            set_failed(r, trial, json_is_string(row->time) ? json_string_value(row->time) : "no time");
        r->trials[trial].compile_seconds = row->compile_seconds;
        r->trials[trial].gpu_seconds = row->gpu_seconds;
        r->trials[trial].facts.registers = row->registers;
        r->trials[trial].facts.shared_bytes = row->shared_bytes;
        set_counters(r, trial, row->counters);
    }
    return 0;
}

static void set_device(struct recorded *r, const char *name)
{
    if (*name) r->about.device = json_pack("{s:s}", "name", name);
}

static void set_licence(struct recorded *r, const json_t *document)
{
    const char *american = json_get_string(document, "license", "not stated");
    r->about.licence = arena_copy(&r->memory, json_get_string(document, "licence", american));
}

// Whether it stands for Python's NaN or infinity (recorded_import.c).
static bool is_not_finite(const json_t *value)
{
    return json_is_object(value) && !json_object_size(value);
}

// A cache may come from a search with another objective. Every entry also contains the time, and only the time is used
// here. Failed entries contain a word instead of the objective. Values that no configuration can have here (None, NaN)
// are not listed, so their rows are left out.
int recorded_from_kernel_tuner(struct recorded *r, const json_t *document, struct error *err)
{
    const json_t *keys = json_object_get(document, "tune_params_keys"),
                 *values = json_object_get(document, "tune_params");
    json_t *cache = json_object_get(document, "cache");
    const char *objective = json_get_string(document, "objective", "time");
    if (!json_is_array(keys) || !json_is_object(values))
        return error_set(err, "the Kernel Tuner cache lacks tune_params or tune_params_keys");
    r->about.job = arena_copy(&r->memory, json_get_string(document, "kernel_name", ""));
    set_device(r, json_get_string(document, "device_name", ""));
    set_licence(r, document);
    json_array_each(keys, i, key) {
        const char *name = json_string_value(key);
        if (!name) return error_set(err, "tune_params_keys has an element that is not a string");
        autojson json_t *list = json_array();
        json_array_each(json_object_get(values, name), k, value)
            if (!json_is_null(value) && !is_not_finite(value)) json_array_append(list, value);
        if (recorded_add_parameter(r, name, list, -1, err)) return -1;
    }
    autorelease(row_list_release) struct row_list rows = row_list_new(json_object_size(cache));
    size_t timed = 0, at = 0;
    json_object_each(cache, key, entry) {
        struct row *row = &rows.row[at++];
        row->configuration = json_incref(entry);
        row->time = json_object_get(entry, "time");
        row->samples = json_object_get(entry, "times");
        row->unit = row->sample_unit = millisecond;
        if (!json_is_number(row->time)) row->failure = json_get_string(entry, objective, NULL);
        row->compile_seconds = json_get_number(entry, "compile_time", NAN) * millisecond;
        row->gpu_seconds =
            (json_get_number(entry, "benchmark_time", NAN) + json_get_number(entry, "verification_time", 0)) *
            millisecond;
        timed += json_is_number(row->time);
    }
    return timed || !strcmp(objective, "time")
               ? take_rows(r, &rows, err)
               : error_set(err, "the objective is '%s', and no entry has a 'time'", objective);
}

// The sum of the numbers; NaN if there are no numbers.
static double sum_of(const json_t *numbers)
{
    double sum = json_array_size(numbers) ? 0 : NAN;
    json_array_each(numbers, i, number) sum += json_number_value(number);
    return sum;
}

static void t4_row(struct row *row, const json_t *result, double unit)
{
    const json_t *times = json_object_get(result, "times"), *measurements = json_object_get(result, "measurements");
    const char *invalidity = json_get_string(result, "invalidity", "correct");
    row->configuration = json_object();
    json_object_each(json_object_get(result, "configuration"), name, value)
        json_object_set_new(row->configuration, name, number_or_text(value));
    row->unit = row->sample_unit = unit;
    row->samples = json_object_get(times, "runtimes");
    row->counters = json_array();
    json_array_each(measurements, i, value) {
        if (strcmp(json_get_string(value, "name", ""), "time")) {
            json_array_append(row->counters, value);
        } else {
            row->time = json_object_get(value, "value");
            row->unit = time_unit(json_get_string(value, "unit", ""), unit);
        }
    }
    if (strcmp(invalidity, "correct")) row->failure = invalidity;
    double compiled = json_get_number(times, "compilation", NAN); // Kernel Tuner's name; the schema's is longer
    row->compile_seconds = json_get_number(times, "compilation_time", compiled) * unit;
    row->gpu_seconds = (sum_of(row->samples) + json_get_number(times, "validation", 0)) * unit;
    row->registers = json_get_number(json_object_get(result, "compilation_data"), "registers", NAN);
}

int recorded_from_t4(struct recorded *r, const json_t *document, const json_t *t1, struct error *err)
{
    const json_t *results = json_object_get(document, "results"), *metadata = json_object_get(document, "metadata");
    double unit;
    if (read_unit(metadata, "timeunit", &unit, err)) return -1;
    autorelease(row_list_release) struct row_list rows = row_list_new(json_array_size(results));
    set_device(r, json_get_string(metadata, "device", ""));
    set_licence(r, metadata);
    for (size_t i = 0; i < rows.count; i++) t4_row(&rows.row[i], json_array_get(results, i), unit);
    if (t1)
        r->about.job =
            arena_copy(&r->memory, json_get_string(json_object_get(t1, "KernelSpecification"), "KernelName", ""));
    return add_parameters(r, &rows, t1, err) || take_rows(r, &rows, err) ? -1 : 0;
}

// KTT's counters have a type instead of a unit.
static json_t *ktt_counter(const json_t *counter)
{
    const char *type = json_get_string(counter, "Type", "");
    return json_pack("{s:s, s:O?, s:s}", "name", json_get_string(counter, "Name", ""), "value",
                     json_object_get(counter, "Value"), "unit",
                     !strcmp(type, "Percent")      ? "%"
                     : !strcmp(type, "Throughput") ? "bytes/s"
                                                   : "");
}

// A result may have several kernels. The counters are taken from the first one, the registers and shared memory from
// the kernel that needs the most.
static void ktt_row(struct row *row, const json_t *result, double unit)
{
    const char *status = json_get_string(result, "Status", "Ok");
    row->configuration = json_object();
    row->counters = json_array();
    row->time = json_object_get(result, "TotalDuration");
    row->unit = unit;
    if (strcmp(status, "Ok")) row->failure = status;
    json_array_each(json_object_get(result, "Configuration"), i, value)
        json_object_set_new(row->configuration, json_get_string(value, "Name", ""),
                            number_or_text(json_object_get(value, "Value")));
    const json_t *kernels = json_object_get(result, "ComputationResults");
    json_array_each(kernels, i, value) {
        const json_t *data = json_object_get(value, "CompilationData");
        row->registers = fmax(row->registers, json_get_number(data, "RegistersCount", NAN));
        row->shared_bytes = fmax(row->shared_bytes, json_get_number(data, "LocalMemorySize", NAN));
    }
    const json_t *profiled = json_object_get(json_array_get(kernels, 0), "ProfilingData");
    json_array_each(json_object_get(profiled, "Counters"), i, value)
        json_array_append_new(row->counters, ktt_counter(value));
}

int recorded_from_ktt(struct recorded *r, const json_t *document, const json_t *t1, struct error *err)
{
    const json_t *results = json_object_get(document, "Results"), *metadata = json_object_get(document, "Metadata");
    double unit;
    if (read_unit(metadata, "TimeUnit", &unit, err)) return -1;
    autorelease(row_list_release) struct row_list rows = row_list_new(json_array_size(results));
    r->about.job = arena_copy(&r->memory, json_get_string(json_array_get(results, 0), "KernelName", ""));
    set_device(r, json_get_string(metadata, "Device", ""));
    set_licence(r, json_object_get(document, "UserData"));
    for (size_t i = 0; i < rows.count; i++) ktt_row(&rows.row[i], json_array_get(results, i), unit);
    return add_parameters(r, &rows, t1, err) || take_rows(r, &rows, err) ? -1 : 0;
}
