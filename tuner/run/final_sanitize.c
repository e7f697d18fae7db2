// The finalists under compute-sanitizer, before they race: see run.h and sanitize.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/run/interrupt.h"
#include "tuner/run/run.h"

static bool find_sanitizer(struct run *r, size_t gpu)
{
    struct error why;
    if (r->sanitizer_sought) return r->sanitizer != NULL;
    r->sanitizer_sought = true;
    r->sanitizer = sanitizer_open(r->pool.gpu_program, r->pool.gpus[gpu].device, &why);
    if (r->sanitizer)
        run_log(r, "finalists run under compute-sanitizer %s first", sanitizer_version(r->sanitizer));
    else if (*why.message)
        run_message(r, "no second opinion on the finalists: %s", why.message);
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

static void judge(struct run *r, struct task *t, const json_t *document)
{
    struct error reason;
    enum trial_status status = sanitizer_verdict(document, &reason);
    if (status == STATUS_OK) return;
    run_condemn(r, t->trial, status, reason.message);
    run_drop_task(r, t);
    r->final_condemned++;
}

// Every candidate has four tools, each of which keeps a core busy.
enum { AT_ONCE_MOST = 8, CORES_EACH = 4 };

// The next finalists that nothing is known of, as many as the machine has cores for, together.
static bool check_some(struct run *r, struct task **tasks, size_t *at, size_t count)
{
    struct sanitizing *under_way[AT_ONCE_MOST];
    struct task *whose[AT_ONCE_MOST];
    size_t n = 0, most = r->pool.compiler_count / CORES_EACH;
    most = most < 1 ? 1 : most > AT_ONCE_MOST ? AT_ONCE_MOST : most;
    json_t *request = job_setup_for_gpu(&r->setup);
    for (; *at < count && n < most; ++*at) {
        struct task *t = tasks[*at];
        json_t *known = known_document(r, t);
        if (known) {
            judge(r, t, known);
            json_decref(known);
            continue;
        }
        whose[n] = t;
        under_way[n++] = sanitizer_begin(r->sanitizer, r->job, request, t->text, t->compiled.cubin, t->problems);
    }
    for (size_t i = 0; i < n; i++) {
        json_t *document = sanitizer_end(under_way[i]);
        keep_document(r, whose[i], document);
        judge(r, whose[i], document);
        json_decref(document);
    }
    json_decref(request);
    return *at < count;
}

// All that are sent: whoever falls out in the race is followed by one of them.
void run_final_sanitize(struct run *r, size_t gpu)
{
    struct task_queue *queue = &r->policy.queue;
    size_t count = 0, at = 0;
    r->final_condemned = 0;
    if (r->pool.replay || !r->job->verify.enabled || !r->job->verify.sanitize || !find_sanitizer(r, gpu)) return;
    struct task **finalists = memory_new(queue->count + 1, sizeof *finalists); // the queue changes when one is dropped
    for (size_t i = 0; i < queue->count; i++) {
        struct task *t = (struct task *)queue->tasks[i];
        if (t->queued.state == TASK_FINAL) finalists[count++] = t;
    }
    while (!interrupt_count() && !r->fatal && check_some(r, finalists, &at, count)) {
    }
    free(finalists);
}
