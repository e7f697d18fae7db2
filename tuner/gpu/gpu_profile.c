// The request "profile": counts what each line of a candidate's source does, from the counts of its instructions
// (sass.h) and the line table (linetable.h). A stage is counted once, with all of its runs, on buffers as the previous
// stages left them. For sampling, it is launched repeatedly, until it has run for about 10 ms.
#include "tuner/gpu/gpu_requests.h"

#include <errno.h>

#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/counting/linetable.h"
#include "tuner/counting/sass.h"
#include "tuner/gpu/pipeline.h"

// The approximate number of samples that one scheduler should take during sampling_time.
enum { SAMPLES_WANTED = 2000, MOST_LAUNCHES = 2000 };
static const double sampling_time = 10e-3;

struct line {
    const char *directory, *file; // of the line table
    unsigned line;
    double self[SASS_COLUMNS], total[SASS_COLUMNS]; // of the line's own instructions; including inlined calls
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

// A request in progress.
struct profile_run {
    struct workload *w;
    const struct candidate *candidate;
    struct arena *memory;
    char *cubin; // holds the strings of the line tables
    size_t problem, count;
    const struct stage_call *stages[PIPELINE_STAGES_MAX];
    struct linetable *tables[PIPELINE_STAGES_MAX];
    struct sass_listing listings[PIPELINE_STAGES_MAX];
    const char *reasons[2 * PIPELINE_STAGES_MAX + 1]; // what could not be counted, and why
    size_t reason_count;
};

static void add_reason(struct profile_run *p, const struct error *why)
{
    p->reasons[p->reason_count++] = arena_copy(p->memory, why->message);
}

static int run_stage(void *user)
{
    struct stage_run *r = user;
    r->failed = 0;
    for (unsigned i = 0; i < r->launches && !r->failed; i++)
        r->failed = pipeline_enqueue_stage(r->part, r->stage, 0, &r->why);
    if (!r->failed) r->failed = cuda_sync(r->w->cuda, &r->why);
    return r->failed;
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

// Adds every instruction to its own line and to the lines of the inlined calls that lead to it, once per line.
static int join(const struct sass_listing *listing, const struct linetable *table, struct lines *lines,
                struct error *err)
{
    static const struct source_place nowhere = {"", "", 0};
    autofree struct source_place *places = memory_try(linetable_depth(table) + 1, sizeof *places, err);
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
            if (!line) return -1;
            for (int k = 0; k < SASS_COLUMNS; k++) {
                if (!d) line->self[k] += one->value[k];
                line->total[k] += one->value[k];
            }
            for (size_t k = 0; k < listing->reason_count; k++) line->samples[k] += one->samples[k];
        }
    }
    return 0;
}

static const struct record_named_real *columns(const struct sass_listing *listing, const double *values, size_t *count,
                                               struct arena *memory)
{
    struct record_named_real *list = arena_new(memory, SASS_COLUMNS * sizeof *list);
    for (int k = 0; k < SASS_COLUMNS; k++)
        if (listing->known[k]) list[(*count)++] = (struct record_named_real){sass_column_names[k], values[k]};
    return list;
}

static void answer_line(const struct sass_listing *listing, const struct line *line, struct profile_line *to,
                        struct arena *memory)
{
    struct record_named_integer *stalls = arena_new(memory, listing->reason_count * sizeof *stalls);
    *to = (struct profile_line){.directory = arena_copy(memory, line->directory),
                                .file = arena_copy(memory, line->file),
                                .line = (int)line->line,
                                .stalls = stalls};
    to->self = columns(listing, line->self, &to->self_count, memory);
    to->total = columns(listing, line->total, &to->total_count, memory);
    for (size_t k = 0; k < listing->reason_count; k++)
        if (line->samples[k])
            stalls[to->stall_count++] =
                (struct record_named_integer){arena_copy(memory, listing->reasons[k]), (int64_t)line->samples[k]};
}

static int answer_stage(const struct sass_listing *listing, const struct linetable *table, const char *symbol,
                        struct profile_stage *to, struct arena *memory, struct error *err)
{
    struct lines lines = {0};
    double all[SASS_COLUMNS] = {0};
    for (size_t i = 0; i < listing->count; i++)
        for (int k = 0; k < SASS_COLUMNS; k++) all[k] += listing->list[i].value[k];
    if (table && join(listing, table, &lines, err)) {
        free(lines.list);
        return -1;
    }
    struct profile_line *list = arena_new(memory, lines.count * sizeof *list);
    for (size_t i = 0; i < lines.count; i++) answer_line(listing, &lines.list[i], &list[i], memory);
    *to = (struct profile_stage){.symbol = symbol,
                                 .code_bytes = table ? (int64_t)linetable_code_bytes(table) : 0,
                                 .dropped_samples = (int64_t)listing->dropped,
                                 .lines = list,
                                 .line_count = lines.count};
    to->totals = columns(listing, all, &to->total_count, memory);
    free(lines.list);
    return 0;
}

// Chooses the exponent of the sampling period, and the number of launches that together take sampling_time.
static int plan_sampling(struct stage_run *r, unsigned *period, struct error *err)
{
    double begin = clock_now();
    if (run_stage(r)) return *err = r->why, r->failed;
    double one = fmax(clock_now() - begin, 2e-6);
    r->launches = (unsigned)fmin(fmax(ceil(sampling_time / one), 1), MOST_LAUNCHES);
    double cycles = one * r->launches * 1e6 * cuda_info(r->w->cuda)->clock_mhz;
    *period = (unsigned)fmin(fmax(ceil(log2(cycles / SAMPLES_WANTED)), 5), 31);
    return 0;
}

// Counts a stage, or samples it.
static int measure_stage(struct stage_run *r, const char *symbol, bool sample, struct sass_listing *listing,
                         struct profile_run *reasons, struct error *err)
{
    struct error why = {""};
    unsigned period = 5;
    void *context = cuda_context(r->w->cuda);
    r->launches = 1;
    int failed = pipeline_reach(r->w, r->part, r->stage, err);
    if (!failed && sample) failed = plan_sampling(r, &period, err);
    if (failed) return failed;
    int result = sample ? sampling_measure(context, symbol, period, run_stage, r, listing, &why)
                        : sass_measure(context, cuda_info(r->w->cuda)->ordinal, symbol, run_stage, r, listing, &why);
    if (result == SASS_LAUNCH_FAILED) return *err = r->why, r->failed;
    if (result) add_reason(reasons, &why);
    return 0;
}

// Runs one of the two phases, counting or sampling, on all stages of a problem. Each phase loads the candidate's module
// again, because CUPTI must be active when a module is loaded.
static int phase(struct profile_run *p, bool sample, struct error *err)
{
    struct pipeline pipeline;
    int failed = pipeline_open(&pipeline, p->w, p->candidate, err);
    for (unsigned s = 0; !failed && s < pipeline.parts[p->problem].stage_count; s++) {
        struct stage_run run = {.w = p->w, .part = &pipeline.parts[p->problem], .stage = s};
        const char *symbol = p->stages[s]->symbol;
        if (!*symbol) continue; // a library call: its kernels have no source lines
        failed = measure_stage(&run, symbol, sample, &p->listings[s], p, err);
    }
    if (failed != CUDA_CRASHED) pipeline_release(&pipeline);
    return failed;
}

// The candidate's stages on its one problem, with their line tables.
static int read_stages(struct profile_run *p, struct error *err)
{
    const struct candidate *c = p->candidate;
    const struct candidate_problem *part = c->problem_count ? &c->problems[0] : NULL;
    size_t size;
    if (!part || part->problem < 0 || (size_t)part->problem >= p->w->problem_count)
        return error_set(err, "no problem %d", part ? part->problem : -1);
    p->problem = (size_t)part->problem;
    for (size_t i = 0; i < part->stage_count; i++) { // the first run of each
        if (i && part->stages[i].again) continue;
        if (p->count == PIPELINE_STAGES_MAX) return error_set(err, "more than %d stages", PIPELINE_STAGES_MAX);
        p->stages[p->count++] = &part->stages[i];
    }
    p->cubin = text_read_file(c->cubin, &size);
    if (!p->cubin) return error_set(err, "cannot read '%s': %s", c->cubin, strerror(errno));
    int failed = units_count(p->cubin, size, err) < 0 ? -1 : 0;
    for (size_t s = 0; s < p->count && !failed; s++) {
        size_t bytes;
        if (!*p->stages[s]->symbol) continue;
        const char *image = p->cubin + units_offset(p->cubin, size, (size_t)p->stages[s]->unit, &bytes);
        failed = linetable_read(&p->tables[s], image, bytes, p->stages[s]->symbol, err);
        if (!failed) failed = sass_listing_init(&p->listings[s], linetable_code_bytes(p->tables[s]), err);
    }
    return failed;
}

static int sample_all(struct profile_run *p, struct error *err)
{
    struct error why = {""};
    if (sampling_open(cuda_context(p->w->cuda), &why)) {
        add_reason(p, &why);
        return 0;
    }
    int failed = phase(p, true, err);
    if (failed != CUDA_CRASHED) sampling_close(cuda_context(p->w->cuda));
    return failed;
}

int gpu_profile_run(struct workload *w, const struct profile_request *request, struct profile_answer *answer,
                    struct arena *memory, struct error *err)
{
    struct profile_run p = {.w = w, .candidate = &request->candidate, .memory = memory};
    struct profile_stage *list = arena_new(memory, PIPELINE_STAGES_MAX * sizeof *list);
    int failed = read_stages(&p, err);
    if (!failed) failed = phase(&p, false, err);
    if (!failed && request->samples) failed = sample_all(&p, err);
    if (!failed) failed = workload_sound(w, err);
    for (size_t s = 0; s < p.count; s++) {
        if (!failed) failed = answer_stage(&p.listings[s], p.tables[s], p.stages[s]->symbol, &list[s], memory, err);
        sass_listing_release(&p.listings[s]);
        linetable_free(p.tables[s]);
    }
    free(p.cubin);
    const char **reasons = arena_new(memory, sizeof p.reasons);
    memcpy(reasons, p.reasons, sizeof p.reasons);
    *answer = (struct profile_answer){.head.status = failed ? "" : status_name(STATUS_OK),
                                      .stages = list,
                                      .reasons = reasons,
                                      .stage_count = failed ? 0 : p.count,
                                      .reason_count = p.reason_count};
    return failed;
}
