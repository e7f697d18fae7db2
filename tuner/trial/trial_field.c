// The table of a trial's figures, and what follows from a field's kind. See trial_field.h.
#include "tuner/trial/trial_field.h"

#include <math.h>
#include <string.h>

#define TRIAL(member) .level = FIELD_TRIAL, .place = offsetof(struct trial, member)
#define PROBLEM(member) .level = FIELD_PROBLEM, .place = offsetof(struct trial_problem, member)
#define STAGE(member) .level = FIELD_STAGE, .place = offsetof(struct trial_stage, member)
#define FACT(member) .kind = FIELD_REAL, TRIAL(facts.member), .flags = FIELD_DERIVED | FIELD_RECORDED

// clang-format off
static const struct trial_field fields[] = {
    {"config", "", TRIAL(config), .kind = FIELD_TEXT, .meaning = "the configuration: NAME=VALUE,..."},
    {"status", "", TRIAL(status), .kind = FIELD_STATUS, .flags = FIELD_RECORDED | FIELD_JUDGED,
     .meaning = "the outcome: ok, or another status"},
    {"reason", "", TRIAL(reason), .kind = FIELD_TEXT, .flags = FIELD_RECORDED | FIELD_JUDGED,
     .meaning = "why it is not ok"},
    {"objective", "s", TRIAL(objective), .kind = FIELD_REAL, .meaning = "what is minimised, over the problems' times"},
    {"compile_seconds", "s", TRIAL(compile_seconds), .kind = FIELD_REAL, .flags = FIELD_RECORDED,
     .meaning = "compile time; for a cached cubin, the time of the original compilation"},
    {"compile_cached", "", TRIAL(compile_cached), .kind = FIELD_BOOL, .meaning = "whether the compile cache had it"},
    {"gpu_busy", "s", TRIAL(gpu_busy), .kind = FIELD_REAL, .flags = FIELD_GPU, .answer = "busy",
     .meaning = "time for which the GPU executed its kernels"},
    {"gpu_seconds", "s", TRIAL(gpu_seconds), .kind = FIELD_REAL, .flags = FIELD_GPU | FIELD_RECORDED, .answer = "wall",
     .meaning = "time for which it occupied a GPU: loading, verifying, measuring; not counting"},
    {"device_id", "", TRIAL(device_id), .kind = FIELD_TEXT, .meaning = "uuid of the GPU that measured it"},
    {"clock_mhz", "MHz", TRIAL(clock_mhz), .kind = FIELD_REAL, .flags = FIELD_GPU | FIELD_RECORDED,
     .answer = "clock_mhz", .meaning = "SM clock after measuring"},
    {"temperature", "C", TRIAL(temperature), .kind = FIELD_REAL, .flags = FIELD_GPU | FIELD_RECORDED,
     .answer = "temperature", .meaning = "of the GPU after measuring"},
    {"counted", "", TRIAL(counted), .kind = FIELD_BOOL, .meaning = "whether counters were taken or found unavailable"},
    {"finished", "s", TRIAL(finished), .kind = FIELD_REAL, .meaning = "when it was stored: Unix time"},
    {"registers", "", FACT(registers), .meaning = "registers per thread, of the worst stage"},
    {"spill_bytes", "bytes", FACT(spill_bytes), .meaning = "spill loads and stores, of the worst stage"},
    {"shared_bytes", "bytes", FACT(shared_bytes), .meaning = "shared memory per block, of the worst stage"},
    {"code_bytes", "bytes", FACT(code_bytes), .meaning = "machine code, of the worst stage"},
    {"theoretical_occupancy", "", FACT(occupancy), .meaning = "theoretical occupancy of the worst stage, 0 to 1"},

    {"name", "", PROBLEM(name), .kind = FIELD_TEXT, .meaning = "the problem's sizes, or its name in the job"},
    {"tuned", "", PROBLEM(tuned), .kind = FIELD_BOOL, .meaning = "whether it is measured; otherwise only verified"},
    {"time", "s", PROBLEM(time), .kind = FIELD_REAL,
     .flags = FIELD_GPU | FIELD_RECORDED | FIELD_POSITIVE, .answer = "time", .meaning = "median of the samples"},
    {"low", "s", PROBLEM(low), .kind = FIELD_REAL,
     .flags = FIELD_GPU | FIELD_RECORDED | FIELD_POSITIVE, .answer = "low",
     .meaning = "lower end of the median's 95% interval"},
    {"high", "s", PROBLEM(high), .kind = FIELD_REAL,
     .flags = FIELD_GPU | FIELD_RECORDED | FIELD_POSITIVE, .answer = "high",
     .meaning = "upper end of the median's 95% interval"},
    {"samples", "s", PROBLEM(samples), .count_place = offsetof(struct trial_problem, sample_count),
     .kind = FIELD_SAMPLES, .flags = FIELD_GPU | FIELD_RECORDED | FIELD_POSITIVE, .answer = "samples",
     .meaning = "some of the measured times"},
    {"samples_taken", "", PROBLEM(samples_taken), .kind = FIELD_COUNT, .flags = FIELD_GPU | FIELD_RECORDED,
     .answer = "count", .meaning = "how many times were measured"},
    {"error", "", PROBLEM(error), .kind = FIELD_REAL, .flags = FIELD_GPU | FIELD_RECORDED, .answer = "error",
     .meaning = "the worst element's error divided by its bound"},
    {"power", "W", PROBLEM(power), .kind = FIELD_REAL, .flags = FIELD_GPU | FIELD_RECORDED, .answer = "power",
     .meaning = "mean power of the board during the measurement, by its sensor"},
    {"energy", "J", PROBLEM(energy), .kind = FIELD_REAL, .flags = FIELD_GPU | FIELD_RECORDED, .answer = "energy",
     .meaning = "power times time, where the measurement took 0.1 s or longer"},

    {"name", "", STAGE(name), .kind = FIELD_TEXT, .meaning = "the stage's name in the job"},
    {"registers", "", STAGE(registers), .kind = FIELD_INTEGER, .flags = FIELD_COMPILER, .answer = "registers",
     .meaning = "registers per thread"},
    {"spill_loads", "bytes", STAGE(spill_loads), .kind = FIELD_INTEGER, .flags = FIELD_COMPILER,
     .answer = "spill_loads", .meaning = "spilled registers read back, per thread"},
    {"spill_stores", "bytes", STAGE(spill_stores), .kind = FIELD_INTEGER, .flags = FIELD_COMPILER,
     .answer = "spill_stores", .meaning = "registers spilled to local memory, per thread"},
    {"shared_static", "bytes", STAGE(shared_static), .kind = FIELD_INTEGER, .flags = FIELD_COMPILER,
     .answer = "shared", .meaning = "static shared memory per block"},
    {"shared_dynamic", "bytes", STAGE(shared_dynamic), .kind = FIELD_INTEGER,
     .meaning = "dynamic shared memory per block"},
    {"stack", "bytes", STAGE(stack), .kind = FIELD_INTEGER, .flags = FIELD_COMPILER, .answer = "stack",
     .meaning = "stack frame per thread"},
    {"code_bytes", "bytes", STAGE(code_bytes), .kind = FIELD_INTEGER, .flags = FIELD_COMPILER,
     .answer = "code_bytes", .meaning = "machine code"},
    {"occupancy", "", STAGE(occupancy), .kind = FIELD_REAL, .flags = FIELD_GPU, .most = 1, .answer = "occupancy",
     .meaning = "theoretical occupancy, 0 to 1"},
    {"warnings", "", STAGE(warnings), .kind = FIELD_TEXT, .meaning = "the compiler's warnings about performance"},
};
// clang-format on

// What a figure can be by its unit: beyond that the answer is wrong, not the kernel.
static const struct {
    const char *unit;
    double low, high;
} ranges[] = {{"s", 0, TRIAL_LONGEST_TIME}, {"MHz", 0, 1e6}, {"C", -100, 1e4}, {"W", 0, 1e6}, {"J", 0, 1e300},
              {"bytes", 0, 0x1p40},         {"", 0, 1e300}};

const struct trial_field *trial_fields(size_t *count)
{
    *count = sizeof fields / sizeof *fields;
    return fields;
}

const struct trial_field *trial_field_find(enum field_level level, const char *name)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].level == level && !strcmp(fields[i].name, name)) return &fields[i];
    return NULL;
}

const char *field_level_name(enum field_level level)
{
    static const char *const names[FIELD_LEVELS] = {"trial", "problem", "stage"};
    return names[level];
}

const char *field_kind_name(enum field_kind kind)
{
    static const char *const names[FIELD_KINDS] = {"text",    "status", "yes or no", "count",
                                                   "integer", "real",   "samples"};
    return names[kind];
}

static void *place_of(const struct trial_field *f, const void *record)
{
    return (char *)record + f->place;
}

static size_t *sample_count(const struct trial_field *f, const void *record)
{
    return (size_t *)((char *)record + f->count_place);
}

void trial_clear(enum field_level level, void *record)
{
    static const size_t sizes[FIELD_LEVELS] = {sizeof(struct trial), sizeof(struct trial_problem),
                                               sizeof(struct trial_stage)};
    memset(record, 0, sizes[level]);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level != level) continue;
        if (f->kind == FIELD_TEXT) *(const char **)place_of(f, record) = "";
        if (f->kind == FIELD_REAL) *(double *)place_of(f, record) = NAN;
        if (f->kind == FIELD_INTEGER) *(int64_t *)place_of(f, record) = -1;
    }
}

bool field_known(const struct trial_field *f, const void *record)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return *(const char **)place_of(f, record) && **(const char **)place_of(f, record);
    case FIELD_COUNT:
        return *(int64_t *)place_of(f, record) != 0;
    case FIELD_INTEGER:
        return *(int64_t *)place_of(f, record) >= 0;
    case FIELD_REAL:
        return !isnan(*(double *)place_of(f, record));
    case FIELD_SAMPLES:
        return *sample_count(f, record) > 0;
    default:
        return true;
    }
}

static json_t *samples_json(const double *samples, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(array, json_real_or_null(samples[i]));
    return array;
}

json_t *field_json(const struct trial_field *f, const void *record)
{
    json_t *value = NULL;
    if (!field_known(f, record)) return json_null();
    switch (f->kind) {
    case FIELD_TEXT:
        value = json_string(*(const char **)place_of(f, record)); // NULL where it is not UTF-8
        break;
    case FIELD_STATUS:
        value = json_string(status_name(*(enum trial_status *)place_of(f, record)));
        break;
    case FIELD_BOOL:
        value = json_boolean(*(bool *)place_of(f, record));
        break;
    case FIELD_COUNT:
    case FIELD_INTEGER:
        value = json_integer(*(int64_t *)place_of(f, record));
        break;
    case FIELD_REAL:
        value = json_real_or_null(*(double *)place_of(f, record));
        break;
    default:
        value = samples_json(*(const double **)place_of(f, record), *sample_count(f, record));
    }
    return value ? value : json_null();
}

static void take_samples(const struct trial_field *f, void *record, const json_t *value, struct arena *memory)
{
    size_t count = 0, given = json_array_size(value);
    double *samples = given ? arena_new(memory, given * sizeof *samples) : NULL;
    for (size_t i = 0; i < given; i++)
        if (json_is_number(json_array_get(value, i))) samples[count++] = json_number_value(json_array_get(value, i));
    *(const double **)place_of(f, record) = samples;
    *sample_count(f, record) = count;
}

void field_take(const struct trial_field *f, void *record, const json_t *value, struct arena *memory)
{
    switch (f->kind) {
    case FIELD_TEXT:
        if (json_is_string(value)) *(const char **)place_of(f, record) = arena_copy(memory, json_string_value(value));
        break;
    case FIELD_STATUS: {
        int status = json_is_string(value) ? status_find(json_string_value(value)) : -1;
        if (status >= 0) *(enum trial_status *)place_of(f, record) = (enum trial_status)status;
        break;
    }
    case FIELD_BOOL:
        if (json_is_boolean(value)) *(bool *)place_of(f, record) = json_is_true(value);
        break;
    case FIELD_COUNT:
    case FIELD_INTEGER:
        if (json_is_integer(value)) *(int64_t *)place_of(f, record) = json_integer_value(value);
        break;
    case FIELD_REAL:
        if (json_is_number(value)) *(double *)place_of(f, record) = json_number_value(value);
        break;
    default:
        if (json_is_array(value)) take_samples(f, record, value, memory);
    }
}

static int refuse(const struct trial_field *f, const char *how, struct error *why)
{
    return error_set(why, "the figure '%s' of a %s is %s", f->answer, field_level_name(f->level), how);
}

static int check_number(const struct trial_field *f, const json_t *value, struct error *why)
{
    size_t i = 0;
    bool integer = f->kind == FIELD_COUNT || f->kind == FIELD_INTEGER;
    while (i + 1 < sizeof ranges / sizeof *ranges && strcmp(ranges[i].unit, f->unit) != 0) i++;
    double low = ranges[i].low,
           high = f->most > 0 ? f->most
                  : integer   ? 0x1p40
                              : ranges[i].high,
           number = json_number_value(value);
    if (integer ? !json_is_integer(value) : !json_is_number(value)) return refuse(f, "not of its kind", why);
    if (number >= low && number <= high && (number > 0 || !(f->flags & FIELD_POSITIVE))) return 0;
    error_set(why, "the figure '%s' of a %s is %g, outside %s%g to %g", f->answer, field_level_name(f->level), number,
              f->flags & FIELD_POSITIVE ? "more than " : "", low, high);
    return -1;
}

static int check_value(const struct trial_field *f, const json_t *value, struct error *why)
{
    const json_t *one;
    size_t i;
    if (!value || json_is_null(value)) return 0;
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_STATUS:
        return json_is_string(value) ? 0 : refuse(f, "not a text", why);
    case FIELD_BOOL:
        return json_is_boolean(value) ? 0 : refuse(f, "neither true nor false", why);
    case FIELD_SAMPLES:
        if (!json_is_array(value)) return refuse(f, "not a list", why);
        json_array_foreach((json_t *)(uintptr_t)value, i, one)
        {
            if (!json_is_null(one) && check_number(f, one, why)) return -1;
        }
        return 0;
    default:
        return check_number(f, value, why);
    }
}

int trial_check_answer(enum field_level level, unsigned from, const json_t *answer, struct error *why)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level == level && f->flags & from && check_value(f, json_object_get(answer, f->answer), why)) return -1;
    }
    return 0;
}

void trial_write_answer(enum field_level level, unsigned from, const void *record, json_t *answer)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level == level && f->flags & from && field_known(f, record))
            json_object_set_new(answer, f->answer, field_json(f, record));
    }
}

void trial_read_answer(enum field_level level, unsigned from, void *record, const json_t *answer, struct arena *memory)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level == level && f->flags & from) field_take(f, record, json_object_get(answer, f->answer), memory);
    }
}

json_t *trial_json(enum field_level level, const void *record)
{
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].level == level && field_known(&fields[i], record))
            json_object_set_new(object, fields[i].name, field_json(&fields[i], record));
    if (level != FIELD_TRIAL) return object;
    const struct trial *trial = record;
    json_t *problems = json_array(), *stages = json_array();
    for (size_t i = 0; i < trial->problem_count; i++)
        json_array_append_new(problems, trial_json(FIELD_PROBLEM, &trial->problems[i]));
    for (size_t i = 0; i < trial->stage_count; i++)
        json_array_append_new(stages, trial_json(FIELD_STAGE, &trial->stages[i]));
    json_object_set_new(object, "problems", problems);
    json_object_set_new(object, "stages", stages);
    return object;
}
