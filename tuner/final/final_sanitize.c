// Runs the candidate that won the final under compute-sanitizer before calling it the winner: see run.h and sanitize.h.
#include "tuner/base/base.h"
#include "tuner/base/interrupt.h"
#include "tuner/final/final.h"

static bool find_sanitizer(struct final_run *f)
{
    struct error why;
    if (f->sanitizer_sought) return f->sanitizer != NULL;
    f->sanitizer_sought = true;
    f->sanitizer = sanitizer_open(f->with.pool->gpu_program, f->with.pool->gpus[f->with.pool->first_gpu].device, &why);
    if (f->sanitizer)
        display_log(f->with.display, "the winner runs under compute-sanitizer %s", sanitizer_version(f->sanitizer));
    else if (*why.message)
        display_message(f->with.display, "the winner is not run under compute-sanitizer: %s", why.message);
    return f->sanitizer != NULL;
}

// What an earlier final found with the same version. New reference, or NULL.
static json_t *known_document(struct final_run *f, const struct task *t)
{
    const char *text;
    double when;
    struct error err;
    if (store_get_trial_document(f->with.store, t->trial, SANITIZED_DOCUMENT, &text, &when, &err)) return NULL;
    json_t *known = json_parse(text, &err);
    if (!strcmp(json_get_string(known, "version", ""), sanitizer_version(f->sanitizer))) return known;
    json_decref(known);
    return NULL;
}

static void log_trouble(struct final_run *f, const struct task *t, const json_t *document)
{
    const char *note = json_get_string(document, "note", ""), *status;
    const json_t *tool;
    size_t i;
    if (*note) display_log(f->with.display, "trial %" PRId64 " was not sanitized: %s", t->trial, note);
    json_array_foreach(json_object_get(document, "tools"), i, tool)
    {
        if (!strcmp(status = json_get_string(tool, "status", ""), "clean")) continue;
        display_log(f->with.display, "trial %" PRId64 ", %s: %s: %s%s", t->trial, json_get_string(tool, "tool", "?"),
                    status, json_get_string(tool, "first", ""), json_get_string(tool, "reason", ""));
    }
}

static void keep_document(struct final_run *f, const struct task *t, const json_t *document)
{
    struct error err;
    char *text = json_dumps(document, JSON_COMPACT);
    log_trouble(f, t, document);
    if (store_put_trial_document(f->with.store, t->trial, SANITIZED_DOCUMENT, text, &err))
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
    free(text);
}

static void judge(struct final_run *f, const struct task *t, const json_t *document)
{
    struct error reason;
    enum trial_status status = sanitizer_verdict(document, &reason);
    if (status == STATUS_OK) return;
    final_condemn(f, t->trial, status, reason.message);
    f->condemned++;
}

static json_t *look_at(struct final_run *f, const struct task *t)
{
    json_t *document = known_document(f, t);
    if (document) return document;
    json_t *request = job_setup_for_gpu(f->with.setup, false, NULL);
    document = sanitizer_end(
        sanitizer_begin(f->sanitizer, f->with.job, request, t->text, t->compiled.cubin, t->problems, false));
    json_decref(request);
    keep_document(f, t, document);
    return document;
}

size_t final_sanitize(struct final_run *f, const int64_t *trials, size_t count)
{
    size_t before = f->condemned;
    if (f->with.pool->replay || !f->with.job->verify.enabled || !find_sanitizer(f)) return 0;
    for (size_t i = 0; i < count && !interrupt_count() && !f->with.failure->set; i++) {
        const struct task *t = final_find(f, trials[i]);
        if (!t) continue;
        json_t *document = look_at(f, t);
        judge(f, t, document);
        json_decref(document);
    }
    return f->condemned - before;
}
