// Runs the candidate that won the final under compute-sanitizer before calling it the winner: see run.h and sanitize.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/interrupt.h"
#include "tuner/base/memory.h"
#include "tuner/run/run.h"

static bool find_sanitizer(struct run *r)
{
    struct error why;
    if (r->sanitizer_sought) return r->sanitizer != NULL;
    r->sanitizer_sought = true;
    r->sanitizer = sanitizer_open(r->pool.gpu_program, r->pool.gpus[r->pool.first_gpu].device, &why);
    if (r->sanitizer)
        run_log(r, "the winner runs under compute-sanitizer %s", sanitizer_version(r->sanitizer));
    else if (*why.message)
        run_message(r, "the winner is not run under compute-sanitizer: %s", why.message);
    return r->sanitizer != NULL;
}

// What an earlier final found with the same version. New reference, or NULL.
static json_t *known_document(struct run *r, const struct task *t)
{
    const char *text;
    double when;
    struct error err;
    if (store_get_trial_document(r->store, t->trial, SANITIZED_DOCUMENT, &text, &when, &err)) return NULL;
    json_t *known = json_parse(text, &err);
    if (!strcmp(json_get_string(known, "version", ""), sanitizer_version(r->sanitizer))) return known;
    json_decref(known);
    return NULL;
}

static void log_trouble(struct run *r, const struct task *t, const json_t *document)
{
    const json_t *tools = json_object_get(document, "tools"), *tool;
    size_t i;
    const char *note = json_get_string(document, "note", "");
    if (*note) run_log(r, "trial %" PRId64 " was not sanitized: %s", t->trial, note);
    json_array_foreach(tools, i, tool)
    {
        const char *status = json_get_string(tool, "status", "");
        if (!strcmp(status, "clean")) continue;
        run_log(r, "trial %" PRId64 ", %s: %s: %s%s", t->trial, json_get_string(tool, "tool", "?"), status,
                json_get_string(tool, "first", ""), json_get_string(tool, "reason", ""));
    }
}

static void keep_document(struct run *r, const struct task *t, const json_t *document)
{
    struct error err;
    char *text = json_dumps(document, JSON_COMPACT);
    log_trouble(r, t, document);
    if (store_put_trial_document(r->store, t->trial, SANITIZED_DOCUMENT, text, &err))
        run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
}

static void judge(struct run *r, const struct task *t, const json_t *document)
{
    struct error reason;
    enum trial_status status = sanitizer_verdict(document, &reason);
    if (status == STATUS_OK) return;
    run_condemn(r, t->trial, status, reason.message);
    r->final_condemned++;
}

static struct task *find_finalist(struct run *r, int64_t trial)
{
    struct task_queue *queue = &r->policy.queue;
    for (size_t i = 0; i < queue->count; i++) {
        struct task *t = (struct task *)queue->tasks[i];
        if (t->trial == trial && t->queued.purpose == TASK_FINALIST) return t;
    }
    return NULL;
}

static json_t *look_at(struct run *r, const struct task *t)
{
    json_t *document = known_document(r, t);
    if (document) return document;
    json_t *request = job_setup_for_gpu(&r->setup);
    document =
        sanitizer_end(sanitizer_begin(r->sanitizer, r->job, request, t->text, t->compiled.cubin, t->problems, false));
    json_decref(request);
    keep_document(r, t, document);
    return document;
}

size_t run_final_sanitize(struct run *r, const int64_t *trials, size_t count)
{
    size_t before = r->final_condemned;
    if (r->pool.replay || !r->job->verify.enabled || !find_sanitizer(r)) return 0;
    for (size_t i = 0; i < count && !interrupt_count() && !r->fatal; i++) {
        struct task *t = find_finalist(r, trials[i]);
        if (!t) continue;
        json_t *document = look_at(r, t);
        judge(r, t, document);
        json_decref(document);
    }
    return r->final_condemned - before;
}
