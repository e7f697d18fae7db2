// The table of a trial's figures, and what follows from a field's kind. See trial_field.h.
#include "tuner/trial/trial_field.h"

#include "tuner/base/base.h"

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
     .flags = FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, .answer = "time", .meaning = "median of the samples"},
    {"low", "s", PROBLEM(low), .kind = FIELD_REAL,
     .flags = FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, .answer = "low",
     .meaning = "lower end of the median's 95% interval"},
    {"high", "s", PROBLEM(high), .kind = FIELD_REAL,
     .flags = FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, .answer = "high",
     .meaning = "upper end of the median's 95% interval"},
    {"samples", "s", PROBLEM(samples), .count_place = offsetof(struct trial_problem, sample_count),
     .kind = FIELD_SAMPLES, .flags = FIELD_GPU | FIELD_RECORDED | FIELD_MEASURED, .answer = "samples",
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

enum { FIELDS = sizeof fields / sizeof *fields };

// What a figure can be by its unit: beyond that the answer is wrong, not the kernel.
static const struct {
    const char *unit;
    double low, high;
} ranges[] = {{"s", 0, TRIAL_LONGEST_TIME}, {"MHz", 0, 1e6}, {"C", -100, 1e4}, {"W", 0, 1e6}, {"J", 0, 1e300},
              {"bytes", 0, 0x1p40},         {"", 0, 1e300}};

const struct trial_field *trial_fields(size_t *count)
{
    *count = FIELDS;
    return fields;
}

const struct trial_field *trial_field_find(enum field_level level, const char *name)
{
    for (size_t i = 0; i < FIELDS; i++)
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

// How records (tuner/base/record.h) take a field, under one of its names. Without `ranges` any value of its type goes.
static struct record_field as_record(const struct trial_field *f, const char *name, bool checked)
{
    static const enum record_kind kinds[FIELD_KINDS] = {
        [FIELD_TEXT] = RECORD_TEXT,     [FIELD_STATUS] = RECORD_WORD,     [FIELD_BOOL] = RECORD_BOOL,
        [FIELD_COUNT] = RECORD_INTEGER, [FIELD_INTEGER] = RECORD_INTEGER, [FIELD_REAL] = RECORD_REAL,
        [FIELD_SAMPLES] = RECORD_REAL};
    struct record_field r = {.name = name,
                             .kind = kinds[f->kind],
                             .shape = f->kind == FIELD_SAMPLES ? RECORD_LIST : RECORD_ONE,
                             .offset = f->place,
                             .count = f->count_place,
                             .fallback = f->kind == FIELD_INTEGER ? -1 : 0,
                             .words = status_names};
    size_t i = 0;
    if (!checked) return r;
    while (i + 1 < sizeof ranges / sizeof *ranges && strcmp(ranges[i].unit, f->unit) != 0) i++;
    r.low = f->flags & FIELD_MEASURED ? TRIAL_SHORTEST_TIME : ranges[i].low;
    r.high = f->most > 0 ? f->most : r.kind == RECORD_INTEGER ? 0x1p40 : ranges[i].high;
    return r;
}

static const size_t sizes[FIELD_LEVELS] = {sizeof(struct trial), sizeof(struct trial_problem),
                                           sizeof(struct trial_stage)};

bool field_known(const struct trial_field *f, const void *record)
{
    struct record_field r = as_record(f, f->name, false);
    if (f->kind == FIELD_SAMPLES) return *(const size_t *)(const void *)((const char *)record + f->count_place) > 0;
    return f->kind == FIELD_BOOL || f->kind == FIELD_STATUS || record_knows(&r, record);
}

json_t *field_json(const struct trial_field *f, const void *record)
{
    struct record_field r = as_record(f, f->name, false);
    r.flags = RECORD_ALWAYS;
    return field_known(f, record) ? record_get(&r, record) : json_null();
}

void field_take(const struct trial_field *f, void *record, const json_t *value, struct arena *memory)
{
    struct record_field r = as_record(f, f->name, false);
    record_take(&r, "", value, record, memory, NULL);
}

static const struct record *trial_answer(enum field_level level, unsigned from)
{
    static struct record_field rows[FIELD_LEVELS][2][FIELDS + 1];
    static struct record records[FIELD_LEVELS][2];
    static const char *const what[FIELD_LEVELS] = {"a trial", "a problem", "a stage"};
    struct record_field *all = rows[level][from == FIELD_COMPILER], *row = all;
    struct record *r = &records[level][from == FIELD_COMPILER];
    for (size_t i = 0; !r->what && i < FIELDS; i++) {
        const struct trial_field *f = &fields[i];
        if (f->level != level) continue;
        *row = as_record(f, f->flags & from ? f->answer : f->name, true);
        if (!(f->flags & from)) row->flags |= RECORD_SILENT;
        row++;
    }
    if (!r->what) *r = (struct record){what[level], sizes[level], all, NULL};
    return r;
}

const struct record *trial_figures(void)
{
    return trial_answer(FIELD_TRIAL, FIELD_GPU);
}

const struct record *problem_figures(void)
{
    return trial_answer(FIELD_PROBLEM, FIELD_GPU);
}

const struct record *stage_figures(void)
{
    return trial_answer(FIELD_STAGE, FIELD_GPU);
}

const struct record *compiled_figures(void)
{
    return trial_answer(FIELD_STAGE, FIELD_COMPILER);
}

void trial_clear(enum field_level level, void *record)
{
    record_clear(trial_answer(level, FIELD_GPU), record);
}

void trial_write_answer(enum field_level level, unsigned from, const void *record, json_t *answer)
{
    record_write_into(trial_answer(level, from), record, answer);
}

void trial_read_answer(enum field_level level, unsigned from, void *record, const json_t *answer, struct arena *memory)
{
    for (const struct record_field *f = trial_answer(level, from)->fields; f->name; f++)
        if (!(f->flags & RECORD_SILENT)) record_take(f, "", json_object_get(answer, f->name), record, memory, NULL);
}

json_t *trial_json(enum field_level level, const void *record)
{
    json_t *object = json_object();
    for (size_t i = 0; i < FIELDS; i++)
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
