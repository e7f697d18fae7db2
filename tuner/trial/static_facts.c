// Figures known after compiling: the one rule by which several stages make one figure. See trial.h.
#include <math.h>

#include "tuner/trial/trial.h"
#include "tuner/trial/trial_field.h"

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
