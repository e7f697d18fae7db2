// Finds launches that are impossible on the device. See check.h.
#include "tuner/check/check.h"
#include "tuner/setup/request.h"
#include "tuner/setup/wave_model.h"

// How many configurations, evenly spread, are checked.
enum { LAUNCHES_LOOKED_AT = 500 };

// Returns 0 if the device may be able to hold all blocks of a cooperative launch at once. Registers are unknown here.
static int fits_at_once(const struct device_limits *d, const struct launch_shape *l, struct error *reason)
{
    int64_t blocks, most = blocks_at_once(d, l, -1, -1);
    if (__builtin_mul_overflow(l->grid[0] * l->grid[1], l->grid[2], &blocks)) blocks = INT64_MAX;
    return blocks <= most
               ? 0
               : error_set(reason,
                           "cooperative grid of %" PRId64 " blocks; the device holds at most %" PRId64 " at once",
                           blocks, most);
}

// Returns 0 if every launch of the configuration is possible. Otherwise *stage becomes the stage whose launch is
// impossible, or stage_count if the launches cannot be computed.
static int fits(const struct check *c, const uint16_t *config, size_t *stage, struct error *reason)
{
    autofree struct planned_launch *launches = NULL;
    size_t count = 0;
    autojson json_t *problems = request_problems(c->job, config, NULL, false, &launches, &count, reason);
    int failed = 0;
    *stage = c->job->stage_count;
    if (!problems) return -1;
    for (size_t i = 0; i < count && !failed; i++) {
        if (c->job->stages[launches[i].stage].operation) continue;
        *stage = (size_t)launches[i].stage;
        if (launch_check(c->limits, &launches[i].shape, -1, -1, reason) ||
            (c->job->stages[launches[i].stage].cooperative && fits_at_once(c->limits, &launches[i].shape, reason)))
            failed = error_prefix(reason, "problem %s", c->job->problems[launches[i].problem].name);
    }
    return failed;
}

// The setting that a launch's error message is about.
static struct location place_of(const struct check *c, size_t stage, const char *reason)
{
    const char *member = strstr(reason, "grid")      ? "launch.grid"
                         : strstr(reason, "cluster") ? "launch.cluster"
                         : strstr(reason, "shared")  ? "launch.shared"
                                                     : "launch.block";
    return check_stage_location(c->job, stage < c->job->stage_count ? stage : 0, member, -1, "");
}

// Finds features that the job uses but the architecture lacks.
static void check_architecture(struct check *c)
{
    const struct job *job = c->job;
    if (c->limits->compute >= 90) return;
    for (size_t s = 0; s < job->stage_count; s++) {
        const struct stage *stage = &job->stages[s];
        for (size_t i = 0; i < stage->argument_count; i++)
            if (stage->arguments[i].map)
                check_add(&c->doubts, check_stage_location(job, s, "arguments", (int)i, ""),
                          "a tensor map needs compute capability 9.0 (sm_90); %s has none", c->arch);
        if (stage->overlap)
            check_add(&c->doubts, check_stage_location(job, s, "launch.overlap", -1, ""),
                      "'overlap' needs compute capability 9.0 (sm_90); launches on %s do not overlap", c->arch);
    }
}

void check_launches(struct check *c)
{
    const struct job *job = c->job;
    uint64_t size = space_size(job->space), step = size / LAUNCHES_LOOKED_AT + 1, looked = 0, failed = 0;
    uint16_t config[SPACE_MAX_PARAMETERS];
    struct error first = {""}, reason;
    size_t stage, first_stage = 0;
    autofree char *example = NULL;
    for (uint64_t i = 0; i < size && looked < LAUNCHES_LOOKED_AT; i += step, looked++) {
        space_get(job->space, i, config);
        if (!fits(c, config, &stage, &reason)) continue;
        if (!failed++) {
            first = reason;
            first_stage = stage;
            example = space_text(job->space, config);
        }
    }
    if (failed && failed == looked)
        check_add(&c->mistakes, place_of(c, first_stage, first.message),
                  "no configuration can be launched on sm_%" PRId64 "%s%s: %s", c->limits->compute,
                  *example ? ", e.g. " : "", example, first.message);
    else if (failed)
        check_add(&c->doubts, place_of(c, first_stage, first.message),
                  "%" PRIu64 " of %" PRIu64 " configurations%s cannot be launched on sm_%" PRId64
                  ", e.g. %s: %s; add a constraint that excludes them",
                  failed, looked, looked < size ? " looked at" : "", c->limits->compute, example, first.message);
    check_architecture(c);
}
