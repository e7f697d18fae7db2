// The table of a trial's figures, and functions that depend only on a field's kind. See trial_field.h.
#include "tuner/trial/trial_field.h"

#define ROW(level, type, kind, member, unit, flags, answer, meaning) \
    {#member, unit, level, FIELD_##kind, offsetof(type, member), flags, answer, meaning},
#define TRIAL_ROW(...) ROW(FIELD_TRIAL, struct trial, __VA_ARGS__)
#define PROBLEM_ROW(...) ROW(FIELD_PROBLEM, struct trial_problem, __VA_ARGS__)
#define STAGE_ROW(...) ROW(FIELD_STAGE, struct trial_stage, __VA_ARGS__)
#define FACT_PLACE(member) offsetof(struct trial, facts.member)
#define FACT_ROW(member, name, unit, meaning) \
    {name, unit, FIELD_TRIAL, FIELD_REAL, FACT_PLACE(member), FIELD_DERIVED | FIELD_RECORDED, NULL, meaning},

// clang-format off
static const struct trial_field fields[] = {
    TRIAL_FIGURES(TRIAL_ROW)
    FACT_FIGURES(FACT_ROW)
    PROBLEM_FIGURES(PROBLEM_ROW)
    STAGE_FIGURES(STAGE_ROW)
};
// clang-format on

enum { FIELDS = sizeof fields / sizeof *fields };

// The possible values of a figure, by its unit. If a value is outside this range, the answer is wrong, not the kernel.
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

// Describes a figure as a field of a record (tuner/base/record.h), under one of the figure's names. Unless `checked`,
// any value of its type is accepted.
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
                             .count = f->kind == FIELD_SAMPLES ? offsetof(struct trial_problem, sample_count) : 0,
                             .fallback = f->kind == FIELD_INTEGER ? -1 : 0,
                             .words = status_names};
    size_t i = 0;
    if (!checked) return r;
    while (i + 1 < sizeof ranges / sizeof *ranges && strcmp(ranges[i].unit, f->unit) != 0) i++;
    r.low = f->flags & FIELD_MEASURED ? TRIAL_SHORTEST_TIME : ranges[i].low;
    r.high = f->flags & FIELD_SHARE ? 1 : r.kind == RECORD_INTEGER ? 0x1p40 : ranges[i].high;
    return r;
}

static const size_t sizes[FIELD_LEVELS] = {sizeof(struct trial), sizeof(struct trial_problem),
                                           sizeof(struct trial_stage)};

bool field_known(const struct trial_field *f, const void *record)
{
    struct record_field r = as_record(f, f->name, false);
    if (f->kind == FIELD_SAMPLES) return ((const struct trial_problem *)record)->sample_count > 0;
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

void field_copy(const struct trial_field *f, void *to, const void *from, struct arena *memory)
{
    autojson json_t *value = field_json(f, from);
    field_take(f, to, value, memory);
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

// Facts known after compiling -----------------------------------------------------------------------------------------

static double worse(double old, double value)
{
    return value < 0 ? old : fmax(old, value); // fmax ignores a NaN
}

struct static_facts static_facts_of(const struct trial_stage *stages, size_t count)
{
    struct static_facts facts = {NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < count; i++) {
        const struct trial_stage *s = &stages[i];
        facts.registers = worse(facts.registers, (double)s->registers);
        if (s->spill_loads >= 0 && s->spill_stores >= 0)
            facts.spill_bytes = worse(facts.spill_bytes, (double)s->spill_loads + (double)s->spill_stores);
        if (s->shared_static >= 0)
            facts.shared_bytes =
                worse(facts.shared_bytes, (double)s->shared_static + fmax(0, (double)s->shared_dynamic));
        facts.code_bytes = worse(facts.code_bytes, (double)s->code_bytes);
        facts.occupancy = fmin(facts.occupancy, s->occupancy);
    }
    return facts;
}

static int64_t known(double value)
{
    return value >= 0 && value < 0x1p52 ? (int64_t)value : -1;
}

struct trial_stage static_facts_stage(const struct static_facts *facts)
{
    struct trial_stage stage;
    trial_clear(FIELD_STAGE, &stage);
    stage.registers = known(facts->registers);
    stage.spill_loads = known(facts->spill_bytes);
    if (stage.spill_loads >= 0) stage.spill_stores = 0;
    stage.shared_static = 0;
    stage.code_bytes = known(facts->code_bytes);
    stage.occupancy = facts->occupancy;
    return stage;
}

json_t *trial_counts_json(const int64_t counts[STATUS_COUNT])
{
    json_t *object = json_object();
    for (int s = 0; s < STATUS_COUNT; s++)
        if (counts[s]) json_object_set_new(object, status_name((enum trial_status)s), json_integer(counts[s]));
    return object;
}
