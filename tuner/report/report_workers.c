// What the workers did: the documents that runs leave of theirs, and each GPU's share of the trials over the time of
// search, from the trials themselves.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/report/report_parts.h"

enum { BINS_MOST = 60, CELLS_MOST = 4000, BINS_LEAST = 10 }; // GPUs times bins, so that the page stays small

// Of all runs without their workers, oldest first, and of the newest one all.
struct run_documents {
    json_t *runs, *last;
};

static int add_document(void *user, double when, const char *text)
{
    struct run_documents *d = user;
    json_t *document = json_parse(text, NULL);
    (void)when;
    if (!json_is_object(document)) {
        json_decref(document);
        return 0;
    }
    if (!d->last) d->last = json_deep_copy(document);
    json_object_del(document, "workers");
    json_array_insert_new(d->runs, 0, document);
    return 0;
}

// The worker of the newest run that had this GPU, or NULL.
static const json_t *find_worker(const json_t *last, const char *uuid)
{
    const json_t *w;
    size_t i;
    json_array_foreach(json_object_get(last, "workers"), i, w)
    {
        if (*uuid && !strcmp(json_get_string(w, "uuid", ""), uuid)) return w;
    }
    return NULL;
}

struct gpu_shares {
    size_t gpus, bins;
    double width;   // s of search that a bin has
    double *trials; // by GPU, then bin
    double *busy;   // s
    size_t *all, *failed;
};

// A trial took its GPU until it finished; the stretch may lie in several bins.
static void add_trial(struct gpu_shares *s, size_t gpu, double end, double seconds)
{
    size_t bin = (size_t)fmin(end / s->width, (double)s->bins - 1);
    double begin = fmax(0, end - seconds);
    s->trials[gpu * s->bins + bin]++;
    for (size_t b = bin + 1; b-- > 0;) {
        double from = fmax(begin, (double)b * s->width), to = fmin(end, (double)(b + 1) * s->width);
        if (to > from) s->busy[gpu * s->bins + b] += to - from;
        if (begin >= (double)b * s->width) break;
    }
}

static json_t *row_json(const double *values, size_t count, double per)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(list, json_real_or_null(values[i] / per));
    return list;
}

static json_t *gpu_json(const struct result *r, const struct gpu_shares *s, size_t gpu, const json_t *last)
{
    const char *uuid = r->table.uuids.texts[gpu];
    const json_t *w = find_worker(last, uuid), *reason = json_object_get(w, "reason");
    double *busy = s->busy + gpu * s->bins;
    json_t *shares = json_array();
    for (size_t b = 0; b < s->bins; b++) json_array_append_new(shares, json_real_or_null(fmin(1, busy[b] / s->width)));
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o}", "uuid", json_text(uuid, strlen(uuid)), "name",
                     w ? json_string(json_get_string(w, "name", "")) : json_null(), "node",
                     w ? json_string(json_get_string(w, "node", "")) : json_null(), "trials", (json_int_t)s->all[gpu],
                     "failed", (json_int_t)s->failed[gpu], "set_aside",
                     reason ? json_incref((json_t *)reason) : json_null(), "rate",
                     row_json(s->trials + gpu * s->bins, s->bins, s->width), "busy", shares);
}

// Over the time of search of all runs. NULL where no trial says which GPU measured it.
static json_t *over_time(const struct result *r, const json_t *last)
{
    const struct trial_table *t = &r->table;
    size_t gpus = t->uuids.count, known = 0;
    for (size_t g = 0; g < gpus; g++) known += *t->uuids.texts[g] != 0;
    if (!known || !(r->runs.seconds > 0)) return NULL;
    struct gpu_shares s = {.gpus = gpus, .bins = CELLS_MOST / gpus};
    if (s.bins > BINS_MOST) s.bins = BINS_MOST;
    if (s.bins < BINS_LEAST) s.bins = BINS_LEAST;
    s.width = r->runs.seconds / (double)s.bins;
    s.trials = memory_new(gpus * s.bins, sizeof *s.trials);
    s.busy = memory_new(gpus * s.bins, sizeof *s.busy);
    s.all = memory_new(gpus, sizeof *s.all);
    s.failed = memory_new(gpus, sizeof *s.failed);
    for (size_t i = 0; i < t->count; i++) {
        size_t g = t->devices[i];
        s.all[g]++;
        s.failed[g] += trial_failed(t->status[i]);
        add_trial(&s, g, run_times_at(&r->runs, t->finished[i]), t->gpu_seconds[i]);
    }
    json_t *edges = json_array(), *list = json_array();
    for (size_t b = 0; b <= s.bins; b++) json_array_append_new(edges, json_real((double)b * s.width));
    for (size_t g = 0; g < gpus; g++)
        if (*t->uuids.texts[g]) json_array_append_new(list, gpu_json(r, &s, g, last));
    free(s.trials);
    free(s.busy);
    free(s.all);
    free(s.failed);
    return json_pack("{s:o, s:o}", "edges", edges, "list", list);
}

json_t *report_workers(const struct result *r)
{
    struct run_documents d = {.runs = json_array()};
    struct error ignored; // the trials are shown without
    store_each_document(r->store, "workers", 0, add_document, &d, &ignored);
    json_t *gpus = over_time(r, d.last), *json = NULL;
    if (gpus || d.last)
        json = json_pack("{s:o, s:o, s:o}", "runs", d.runs, "last", d.last ? d.last : json_null(), "gpus",
                         gpus ? gpus : json_null());
    else
        json_decref(d.runs);
    return json ? json : json_null();
}
