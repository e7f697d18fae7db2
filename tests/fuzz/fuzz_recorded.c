// Recorded spaces: our format, Kernel Tuner's caches, KTT's results and T4 documents.
//
// Promise: every input is either read or refused with a message. After a recording has been read, every one of its
// configurations can be looked up, and the recording can be written and read back.
#include "tests/fuzz/fuzz_json.h"

#include <math.h>

#include "tuner/recorded/recorded.h"

static void look(const struct recorded *r)
{
    for (size_t i = 0; i < r->trial_count; i++) {
        struct observation o = recorded_observation(r, i);
        FUZZ_CHECK(recorded_find(r, r->configs + i * r->parameter_count) == (int64_t)i, "trial %zu", i);
        FUZZ_CHECK(o.outcome != OUTCOME_OK || isfinite(o.objective), "trial %zu: %g", i, o.objective);
    }
    FUZZ_CHECK(r->best < (int64_t)r->trial_count, "best %lld", (long long)r->best);
    recorded_device_name(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {""};
    static char written[600];
    if (!*written) snprintf(written, sizeof written, "%s/space.json", fuzz_folder());
    struct recorded *r = recorded_read(fuzz_file(data, size), &err), *again;
    FUZZ_CHECK(r || *err.message, "refused without a message");
    if (!r) return 0;
    look(r);
    if (recorded_write(r, written, &err)) { // another tool's parameter may have the name of one of our columns
        FUZZ_CHECK(*err.message, "not written, without a message");
        recorded_free(r);
        return 0;
    }
    again = recorded_read(written, &err);
    FUZZ_CHECK(again, "%s", err.message);
    // The best configuration may change, because times are written with seven digits.
    FUZZ_CHECK(again->trial_count == r->trial_count && (again->best < 0) == (r->best < 0), "%zu trials, then %zu",
               r->trial_count, again->trial_count);
    recorded_free(again);
    recorded_free(r);
    return 0;
}
