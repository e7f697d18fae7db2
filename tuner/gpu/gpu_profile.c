// See gpu_profile.h. A stage is counted once, with all of its runs, on buffers as its predecessors leave them, and
// sampled in as many as fill some milliseconds.
#include "tuner/gpu/gpu_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/counting/linetable.h"
#include "tuner/counting/sass.h"
#include "tuner/gpu/pipeline.h"
#include "tuner/gpu/workload.h"

// About how many samples one scheduler takes, and in which time.
enum { SAMPLES_WANTED = 2000, MOST_LAUNCHES = 2000 };
static const double sampling_time = 10e-3;

struct line {
    const char *directory, *file; // of the line table
    unsigned line;
    double self[SASS_COLUMNS], total[SASS_COLUMNS]; // of the line's own instructions; and of what it calls, inlined
    uint64_t samples[SASS_REASONS];                 // of the total
};

struct lines {
    size_t count;
    struct line *list;
};

// The stage being profiled, once or several times.
struct stage_run {
    struct workload *w;
    struct pipeline_part *part;
    unsigned stage, launches;
    int failed;
    struct error why;
};

static int run_stage(void *user)
{
    struct stage_run *r = user;
    r->failed = 0;
    for (unsigned i = 0; i < r->launches && !r->failed; i++)
        r->failed = pipeline_enqueue_stage(r->part, r->stage, 0, &r->why);
    if (!r->failed) r->failed = cuda_sync(r->w->cuda, &r->why);
    return r->failed;
}

// The buffers as the stage finds them.
static int prepare_stage(struct stage_run *r, struct device_problem *problem, struct error *err)
{
    const unsigned first = 0;
    int failed = buffers_restore(&problem->buffers, &first, 1, buffers_pattern(), err);
    if (!failed) failed = pipeline_prepare(r->part, 0, err);
    for (unsigned i = 0; i < r->stage && !failed; i++) failed = pipeline_enqueue_stage(r->part, i, 0, err);
    if (!failed && r->w->measure_settings.cold) failed = support_flush(r->w->support, err);
    if (!failed) failed = cuda_sync(r->w->cuda, err);
    return failed;
}

static struct line *find_line(struct lines *lines, const struct source_place *place, struct error *err)
{
    for (size_t i = 0; i < lines->count; i++) {
        struct line *l = &lines->list[i];
        if (l->line == place->line && !strcmp(l->file, place->file) && !strcmp(l->directory, place->directory))
            return l;
    }
    struct line *grown = memory_try_grow(lines->list, lines->count + 1, sizeof *lines->list, err);
    if (!grown) return NULL;
    lines->list = grown;
    lines->list[lines->count] = (struct line){.directory = place->directory, .file = place->file, .line = place->line};
    return &lines->list[lines->count++];
}

// Adds every instruction to its own line, and to each line that leads to it once.
static int join(const struct sass_listing *listing, const struct linetable *table, struct lines *lines,
                struct error *err)
{
    static const struct source_place nowhere = {"", "", 0};
    struct source_place *places = memory_try(linetable_depth(table) + 1, sizeof *places, err);
    if (!places) return -1;
    for (size_t i = 0; i < listing->count; i++) {
        const struct sass_instruction *one = &listing->list[i];
        size_t depth = linetable_find(table, i * SASS_BYTES, places);
        bool any = false;
        if (!depth) places[0] = nowhere;
        for (int k = 0; k < SASS_COLUMNS; k++) any |= one->value[k] > 0;
        if (!any) continue;
        for (size_t d = 0; d < (depth ? depth : 1); d++) {
            bool seen = false;
            for (size_t e = 0; e < d && !seen; e++)
                seen = places[e].line == places[d].line && !strcmp(places[e].file, places[d].file);
            if (seen) continue;
            struct line *line = find_line(lines, &places[d], err);
            if (!line) {
                free(places);
                return -1;
            }
            for (int k = 0; k < SASS_COLUMNS; k++) {
                if (!d) line->self[k] += one->value[k];
                line->total[k] += one->value[k];
            }
            for (size_t k = 0; k < listing->reason_count; k++) line->samples[k] += one->samples[k];
        }
    }
    free(places);
    return 0;
}

static json_t *columns_json(const struct sass_listing *listing, const double *values)
{
    json_t *object = json_object();
    for (int k = 0; k < SASS_COLUMNS; k++)
        if (listing->known[k]) json_object_set_new(object, sass_column_names[k], json_real(values[k]));
    return object;
}

static json_t *line_json(const struct sass_listing *listing, const struct line *line)
{
    json_t *stalls = json_object();
    for (size_t k = 0; k < listing->reason_count; k++)
        if (line->samples[k])
            json_object_set_new(stalls, listing->reasons[k], json_integer((json_int_t)line->samples[k]));
    return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o}", "directory", line->directory, "file", line->file, "line",
                     (int)line->line, "self", columns_json(listing, line->self), "total",
                     columns_json(listing, line->total), "stalls", stalls);
}

// NULL when memory is exhausted.
static json_t *stage_json(const struct sass_listing *listing, const struct linetable *table, const char *symbol,
                          struct error *err)
{
    struct lines lines = {0};
    json_t *list = json_array();
    double all[SASS_COLUMNS] = {0};
    for (size_t i = 0; i < listing->count; i++)
        for (int k = 0; k < SASS_COLUMNS; k++) all[k] += listing->list[i].value[k];
    if (table && join(listing, table, &lines, err)) {
        free(lines.list);
        json_decref(list);
        return NULL;
    }
    for (size_t i = 0; i < lines.count; i++) json_array_append_new(list, line_json(listing, &lines.list[i]));
    free(lines.list);
    return json_pack("{s:s, s:I, s:o, s:o, s:I}", "symbol", symbol, "code_bytes",
                     (json_int_t)(table ? linetable_code_bytes(table) : 0), "totals", columns_json(listing, all),
                     "lines", list, "dropped_samples", (json_int_t)listing->dropped);
}

// The sampling period's exponent, and how many launches fill the time.
static int plan_sampling(struct stage_run *r, unsigned *period, struct error *err)
{
    struct cuda_info info;
    cuda_info(r->w->cuda, &info);
    r->launches = 1;
    double begin = clock_now();
    if (run_stage(r)) return *err = r->why, r->failed;
    double one = fmax(clock_now() - begin, 2e-6);
    r->launches = (unsigned)fmin(fmax(ceil(sampling_time / one), 1), MOST_LAUNCHES);
    double cycles = one * r->launches * 1e6 * info.clock_mhz;
    *period = (unsigned)fmin(fmax(ceil(log2(cycles / SAMPLES_WANTED)), 5), 31);
    return 0;
}

static int count_stage(struct stage_run *r, struct device_problem *problem, const char *symbol,
                       struct sass_listing *listing, json_t *reasons, struct error *err)
{
    struct cuda_info info;
    struct error why = {""};
    cuda_info(r->w->cuda, &info);
    r->launches = 1;
    int failed = prepare_stage(r, problem, err);
    if (failed) return failed;
    int counted = sass_measure(cuda_context(r->w->cuda), info.ordinal, symbol, run_stage, r, listing, &why);
    if (counted == SASS_LAUNCH_FAILED) return *err = r->why, r->failed;
    if (counted) json_array_append_new(reasons, json_string(why.message));
    return 0;
}

static int sample_stage(struct stage_run *r, struct device_problem *problem, const char *symbol,
                        struct sass_listing *listing, json_t *reasons, struct error *err)
{
    struct error why = {""};
    unsigned period = 5;
    int failed = prepare_stage(r, problem, err);
    if (!failed) failed = plan_sampling(r, &period, err);
    if (failed) return failed;
    int sampled = sampling_measure(cuda_context(r->w->cuda), symbol, period, run_stage, r, listing, &why);
    if (sampled == SASS_LAUNCH_FAILED) return *err = r->why, r->failed;
    if (sampled) json_array_append_new(reasons, json_string(why.message));
    return 0;
}

// One of the two phases over all stages of a problem. The candidate's module is loaded for each phase, because CUPTI
// must be active when that happens.
static int phase(struct workload *w, const json_t *request, size_t problem, bool sample, struct sass_listing *listings,
                 json_t *reasons, struct error *err)
{
    struct pipeline pipeline;
    int failed = pipeline_open(&pipeline, w, request, err);
    const json_t *given = json_object_get(json_array_get(json_object_get(request, "problems"), 0), "stages");
    json_t *stages = pipeline_stages(given);
    for (unsigned s = 0; !failed && s < pipeline.parts[problem].stage_count; s++) {
        struct stage_run run = {.w = w, .part = &pipeline.parts[problem], .stage = s};
        const char *symbol = json_get_string(json_array_get(stages, s), "symbol", "");
        if (!*symbol) continue; // a library's call: its kernels have no source lines
        failed = (sample ? sample_stage : count_stage)(&run, &w->problems[problem], symbol, &listings[s], reasons, err);
    }
    if (failed != CUDA_CRASHED) pipeline_release(&pipeline);
    json_decref(stages);
    return failed;
}

int gpu_profile_run(struct workload *w, const json_t *request, json_t *answer, struct error *err)
{
    double begin = clock_now();
    struct linetable *tables[PIPELINE_STAGES_MAX] = {NULL};
    struct sass_listing listings[PIPELINE_STAGES_MAX] = {{0}};
    const json_t *part = json_array_get(json_object_get(request, "problems"), 0);
    json_t *stages = pipeline_stages(json_object_get(part, "stages"));
    int64_t problem = json_get_integer(part, "problem", -1);
    size_t size, count = json_array_size(stages);
    json_t *reasons = json_array(), *list = json_array();
    struct error why = {""};
    int failed = 0;
    char *cubin = text_read_file(json_get_string(request, "cubin", ""), &size);
    if (!cubin)
        failed = error_set(err, "cannot read '%s': %s", json_get_string(request, "cubin", ""), strerror(errno));
    else if (problem < 0 || (size_t)problem >= w->problem_count)
        failed = error_set(err, "no problem %lld", (long long)problem);
    else if (count > PIPELINE_STAGES_MAX)
        failed = error_set(err, "%zu stages; at most %d are possible", count, PIPELINE_STAGES_MAX);
    if (!failed && units_count(cubin, size, err) < 0) failed = -1;
    for (size_t s = 0; s < count && !failed; s++) {
        const char *symbol = json_get_string(json_array_get(stages, s), "symbol", "");
        if (!*symbol) continue;
        size_t bytes, unit = (size_t)json_get_integer(json_array_get(stages, s), "unit", 0);
        const char *image = cubin + units_offset(cubin, size, unit, &bytes);
        failed = linetable_read(&tables[s], image, bytes, symbol, err);
        if (!failed) failed = sass_listing_init(&listings[s], linetable_code_bytes(tables[s]), err);
    }
    double counted = clock_now();
    if (!failed) failed = phase(w, request, (size_t)problem, false, listings, reasons, err);
    counted = clock_now() - counted;
    double sampled = clock_now();
    if (!failed && json_get_bool(request, "samples", true)) {
        if (sampling_open(cuda_context(w->cuda), &why)) {
            json_array_append_new(reasons, json_string(why.message));
        } else {
            failed = phase(w, request, (size_t)problem, true, listings, reasons, err);
            if (failed != CUDA_CRASHED) sampling_close(cuda_context(w->cuda));
        }
    }
    sampled = clock_now() - sampled;
    if (!failed) failed = workload_sound(w, err);
    for (size_t s = 0; s < count && s < PIPELINE_STAGES_MAX; s++) {
        const char *symbol = json_get_string(json_array_get(stages, s), "symbol", "");
        json_t *stage = failed ? NULL : stage_json(&listings[s], tables[s], symbol, err);
        if (stage)
            json_array_append_new(list, stage);
        else if (!failed)
            failed = -1;
        sass_listing_release(&listings[s]);
        linetable_free(tables[s]);
    }
    free(cubin);
    json_decref(stages);
    if (!failed) json_object_set_new(answer, "status", json_string(status_name(STATUS_OK)));
    json_object_set_new(answer, "stages", list);
    json_object_set_new(answer, "reasons", reasons);
    json_object_set_new(answer, "phases", json_pack("{s:f, s:f}", "count", counted, "sample", sampled));
    json_object_set_new(answer, "wall", json_real(clock_now() - begin));
    return failed;
}
