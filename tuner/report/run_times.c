// Finds when the runs of an environment searched, and how many seconds of search came before a given time. Runs may be
// days apart, and a chart over time must not show these gaps.
//
// Every run writes a "device" document when it begins and a "run" document when its search ends. A run that was killed,
// or is still running, has only the "device" document, and is assumed to last until its last trial.
#include "tuner/report/report_parts.h"

struct moments { // newest first
    size_t count;
    struct {
        double when;
        json_t *document;
    } * list;
};

static int add_moment(void *user, double when, json_t *document)
{
    struct moments *m = user;
    m->list = memory_grow(m->list, m->count + 1, sizeof *m->list);
    m->list[m->count].when = when;
    m->list[m->count++].document = json_incref(document);
    return 0;
}

static void release_moments(struct moments *m)
{
    for (size_t i = 0; i < m->count; i++) json_decref(m->list[i].document);
    free(m->list);
}

static void add_run(struct run_times *r, double from)
{
    memory_add(r->runs, r->count) = (struct search_run){.from = from, .started = from, .ended = from, .began = from};
}

// The last run that had begun by this time, or the first run.
static struct search_run *run_of(const struct run_times *r, double moment)
{
    size_t low = 0, high = r->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->runs[middle].from <= moment)
            low = middle;
        else
            high = middle;
    }
    return &r->runs[low];
}

// Stores the run's document. A run may have written one document when it began and another when it ended; the later one
// is kept.
static void take_document(struct search_run *run, double when, json_t *document)
{
    json_decref(run->document);
    run->document = json_incref(document);
    run->started = json_get_number(document, "started", run->from);
    run->ended = json_get_number(document, "ended", when);
    run->seconds = json_get_number(document, "search_seconds", run->ended - run->started);
    if (!(run->seconds >= 0)) run->seconds = 0;
    run->began = when - run->seconds;
}

int run_times_read(struct run_times *r, struct store *store, const struct trial_table *t, struct error *err)
{
    struct moments devices = {0}, documents = {0};
    *r = (struct run_times){0};
    int status = store_each_document(store, 0, "device", 0, add_moment, &devices, err) ||
                         store_each_document(store, 0, "run", 0, add_moment, &documents, err)
                     ? -1
                     : 0;
    double first = t->count ? t->rows[0].finished : NAN;
    size_t oldest = devices.count ? devices.count - 1 : 0;
    if (t->count && (!devices.count || first < devices.list[oldest].when)) add_run(r, first);
    for (size_t i = devices.count; i--;) add_run(r, devices.list[i].when);
    for (size_t i = documents.count; i-- && r->count;)
        if (json_is_object(documents.list[i].document))
            take_document(run_of(r, documents.list[i].when), documents.list[i].when, documents.list[i].document);
    for (size_t i = 0; i < t->count; i++) {
        struct search_run *run = run_of(r, t->rows[i].finished);
        run->evaluations++;
        if (!run->document && t->rows[i].finished > run->ended) run->ended = t->rows[i].finished;
    }
    for (size_t i = 0, before = 0; i < r->count; i++) {
        struct search_run *run = &r->runs[i];
        if (!run->document) run->seconds = run->ended - run->began;
        run->at = r->seconds;
        run->evaluations_before = before;
        r->seconds += run->seconds;
        before += run->evaluations;
    }
    release_moments(&devices);
    release_moments(&documents);
    return status;
}

void run_times_release(struct run_times *r)
{
    for (size_t i = 0; i < r->count; i++) json_decref(r->runs[i].document);
    free(r->runs);
    *r = (struct run_times){0};
}

// Seconds of search before a trial that finished at this time.
static double seconds_at(const struct run_times *r, double finished)
{
    if (!r->count) return 0;
    const struct search_run *run = run_of(r, finished);
    return run->at + fmin(fmax(finished - run->began, 0), run->seconds);
}

json_t *run_times_json(const struct run_times *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const struct search_run *run = &r->runs[i];
        json_t *strategy = json_object_get(run->document, "strategy"), *seed = json_object_get(run->document, "seed");
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:I, s:O?, s:O?, s:f, s:I}", "started", run->started, "ended", run->ended,
                            "new", (json_int_t)json_get_integer(run->document, "new", (int64_t)run->evaluations),
                            "strategy", strategy, "seed", seed, "at", run->at, "evaluations_before",
                            (json_int_t)run->evaluations_before));
    }
    return list;
}

static void add_row(json_t *rows, double seconds, size_t evaluations, double time, int64_t trial)
{
    json_array_append_new(rows, json_pack("[f, I, f, I]", seconds, (json_int_t)evaluations, time, (json_int_t)trial));
}

json_t *report_progress(const struct result *r)
{
    const struct trial_table *t = &r->table;
    json_t *rows = json_array();
    double best = INFINITY, seconds = 0;
    int64_t trial = NO_TRIAL;
    for (size_t i = 0; i < t->count; i++) {
        if (t->rows[i].status != STATUS_OK || !(t->rows[i].time < best)) continue;
        best = t->rows[i].time;
        trial = t->rows[i].id;
        seconds = fmax(seconds, seconds_at(&r->runs, t->rows[i].finished)); // clocks may be set back
        add_row(rows, seconds, i + 1, best, trial);
    }
    if (trial) add_row(rows, fmax(seconds, r->runs.seconds), t->count, best, trial);
    return json_pack("{s:[s,s,s,s], s:o}", "columns", "seconds", "evaluations", "time", "trial", "rows", rows);
}
