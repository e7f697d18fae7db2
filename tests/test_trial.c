// The table of a trial's fields, and everything that depends on it. Every field survives a round trip through an answer
// and JSON, and the facts of several stages are combined by one rule.
#include "tests/e2e.h"

#include "tuner/trial/trial_field.h"

union figures {
    struct trial trial;
    struct trial_problem problem;
    struct trial_stage stage;
};

TEST(every_field_is_said_completely_and_once)
{
    size_t count;
    const struct trial_field *fields = trial_fields(&count);
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        assert_true(strlen(f->name) > 0 && strlen(f->meaning) > 0);
        assert_non_null(f->unit);
        assert_ptr_equal(trial_field_find(f->level, f->name), f); // no earlier field has this name
        assert_true(!f->answer == !(f->flags & (FIELD_GPU | FIELD_COMPILER)));
        assert_true(strlen(field_level_name(f->level)) > 0 && strlen(field_kind_name(f->kind)) > 0);
        for (size_t k = 0; k < i; k++) { // a recorded space has columns for trials and problems side by side
            bool both = f->flags & FIELD_RECORDED && fields[k].flags & FIELD_RECORDED;
            if (both) assert_string_not_equal(f->name, fields[k].name);
            if (f->level == fields[k].level) assert_int_not_equal(f->place, fields[k].place);
        }
    }
}

// A value of the field's kind that differs from the value in a cleared struct.
static json_t *some_value(const struct trial_field *f)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return json_string("text");
    case FIELD_STATUS:
        return json_string("crashed");
    case FIELD_BOOL:
        return json_true();
    case FIELD_COUNT:
    case FIELD_INTEGER:
        return json_integer(7);
    case FIELD_REAL:
        return json_real(0.1);
    default:
        return json_pack("[f,f]", 0.1, 0.3);
    }
}

static const struct record *answer_record(enum field_level level, unsigned from)
{
    return level == FIELD_TRIAL     ? trial_figures()
           : level == FIELD_PROBLEM ? problem_figures()
           : from == FIELD_COMPILER ? compiled_figures()
                                    : stage_figures();
}

TEST(every_field_is_unknown_until_it_is_taken_and_then_comes_back)
{
    size_t count;
    struct arena memory = {NULL};
    const struct trial_field *fields = trial_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const struct trial_field *f = &fields[i];
        union figures a, b;
        trial_clear(f->level, &a);
        trial_clear(f->level, &b);
        assert_int_equal(field_known(f, &a), f->kind == FIELD_BOOL || f->kind == FIELD_STATUS);
        json_t *value = some_value(f), *wrong = test_json(json_object()), *answer = test_json(json_object());
        field_take(f, &a, wrong, &memory); // no field has this type
        assert_int_equal(field_known(f, &a), f->kind == FIELD_BOOL || f->kind == FIELD_STATUS);
        field_take(f, &a, value, &memory);
        autojson json_t *back = field_json(f, &a);
        assert_true(json_equal(back, value));
        // Through a worker's answer, if the field occurs in one.
        unsigned from = f->flags & (FIELD_GPU | FIELD_COMPILER);
        record_write_into(answer_record(f->level, from), &a, answer);
        assert_int_equal(json_object_size(answer), from ? 1 : 0);
        if (from) {
            record_read(answer_record(f->level, from), answer, &b, &memory, NULL);
            autojson json_t *read = field_json(f, &b);
            assert_true(json_equal(read, value));
        }
        json_t *all = test_json(trial_json(f->level, &a));
        assert_true(json_equal(json_object_get(all, f->name), value));
        json_decref(value);
    }
    arena_release(&memory);
}

TEST(the_worst_stage_decides_what_is_known_after_compiling)
{
    struct trial_stage stages[3];
    for (int i = 0; i < 3; i++) trial_clear(FIELD_STAGE, &stages[i]);
    struct static_facts none = static_facts_of(stages, 3);
    assert_true(isnan(none.registers) && isnan(none.spill_bytes) && isnan(none.shared_bytes) &&
                isnan(none.code_bytes) && isnan(none.occupancy));
    stages[0] = (struct trial_stage){"a", 40, 8, 4, 1024, 2048, 0, 900, 0.5, ""};
    stages[2] = (struct trial_stage){"c", 32, 0, 0, 4096, -1, 0, 1000, 0.25, ""};
    struct static_facts facts = static_facts_of(stages, 3); // the second is a library's, which reports nothing
    assert_true(facts.registers == 40 && facts.spill_bytes == 12 && facts.shared_bytes == 4096 &&
                facts.code_bytes == 1000 && facts.occupancy == 0.25);
    stages[2].spill_stores = -1;
    stages[0].spill_loads = -1; // an incomplete sum is unknown
    assert_true(isnan(static_facts_of(stages, 3).spill_bytes));
    // A recording answers with one stage. This stage has the same facts, except the split of the shared memory.
    struct trial_stage stage = static_facts_stage(&facts);
    stage.shared_dynamic = 4096; // from the launch
    struct static_facts again = static_facts_of(&stage, 1);
    assert_memory_equal(&again, &facts, sizeof facts);
    stage = static_facts_stage(&none);
    assert_true(stage.registers == -1 && stage.spill_loads == -1 && stage.code_bytes == -1 && isnan(stage.occupancy));
}

// The scripted worker reports this figure. The code of the driver, the store and the commands never names it.
TEST(a_figure_that_the_worker_answers_is_stored_and_shown)
{
    char *folder = e2e_folder("figure");
    struct e2e_result r = e2e_pass(folder,
                                   "job='tests/stores/counted.cfg --store %s/job.db'\n"
                                   "SWEETSPOT_GPU_WORKER=$BIN/fake_worker SWEETSPOT_COMPILE_WORKER=$BIN/fake_worker "
                                   "$BIN/sweetspot tune $job -q && $BIN/sweetspot status $job --format json && "
                                   "$BIN/sweetspot compare $job --format json && $BIN/sweetspot export $job",
                                   folder);
    const char *compare = strstr(r.out, "sweetspot-compare"), *export = strstr(compare, "sweetspot-space"),
               *status = strstr(r.out, "\"energy\": 0.512"), *value = strstr(compare, "\"energy\": 0.512");
    assert_true(status && status < compare);
    assert_true(value && value < export);
    assert_contains(export, "\"energy\"");
}

TEST_MAIN(NULL, NULL)
