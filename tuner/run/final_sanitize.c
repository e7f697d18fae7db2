// The finalists under compute-sanitizer, before they race: see run.h and sanitize.h.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static json_t *check(struct run *r, const struct task *t)
{
    json_t *document = known_document(r, t);
    if (document) return document;
    json_t *request = job_setup_for_gpu(&r->setup);
    document = sanitizer_check(r->sanitizer, r->job, request, t->text, t->compiled.cubin, t->problems);
    json_decref(request);
    log_trouble(r, t, document);
    struct error err;
    char *text = json_dumps(document, JSON_COMPACT);
    if (store_put_trial_document(r->store, t->trial, SANITIZED_DOCUMENT, text, &err))
        run_fail(r, EXIT_ENVIRONMENT, &err);
    free(text);
    return document;
}

// All that are sent: whoever falls out in the race is followed by one of them.
void run_final_sanitize(struct run *r, size_t gpu)
{
    r->final_condemned = 0;
    if (r->pool.replay || !r->job->verify.enabled || !r->job->verify.sanitize || !find_sanitizer(r, gpu)) return;
    for (size_t i = 0; i < r->policy.queue.count && !interrupt_count() && !r->fatal;) {
        struct task *t = (struct task *)r->policy.queue.tasks[i];
        struct error reason;
        enum trial_status status = STATUS_OK;
        if (t->queued.state == TASK_FINAL) {
            json_t *document = check(r, t);
            status = sanitizer_verdict(document, &reason);
            json_decref(document);
        }
        if (status == STATUS_OK) {
            i++;
            continue;
        }
        run_condemn(r, t->trial, status, reason.message);
        run_drop_task(r, t);
        r->final_condemned++;
    }
}
