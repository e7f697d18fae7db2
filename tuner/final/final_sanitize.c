// Runs the candidate that won the final under compute-sanitizer before calling it the winner: see run.h and sanitize.h.
#include "tuner/base/clock.h"
#include "tuner/base/interrupt.h"
#include "tuner/final/final.h"

static const double over_time = 1.5; // s by which a check may exceed the deadline

static bool find_sanitizer(struct final_run *f)
{
    struct error why;
    if (f->sanitizing.sought) return f->sanitizing.by != NULL;
    f->sanitizing.sought = true;
    f->sanitizing.by =
        sanitizer_open(f->with.pool->gpu_program, f->with.pool->gpus[f->with.pool->first_gpu].device, &why);
    if (f->sanitizing.by)
        display_log(f->with.display, "the winner runs under compute-sanitizer %s", sanitizer_version(f->sanitizing.by));
    else if (*why.message)
        display_message(f->with.display, "the winner is not run under compute-sanitizer: %s", why.message);
    return f->sanitizing.by != NULL;
}

// The part of the document (sanitize.h) that is read here.
struct tool_found {
    const char *tool, *status, *first, *reason;
    bool advice;
};
struct sanitized_found {
    const char *version, *note;
    const struct tool_found *tools;
    size_t tool_count;
};
static const struct record_field tool_fields[] = {
    {"tool", RECORD_MEMBER(struct tool_found, tool)},     {"status", RECORD_MEMBER(struct tool_found, status)},
    {"first", RECORD_MEMBER(struct tool_found, first)},   {"reason", RECORD_MEMBER(struct tool_found, reason)},
    {"advice", RECORD_MEMBER(struct tool_found, advice)}, {0}};
static const struct record tool_record = {"a tool", sizeof(struct tool_found), tool_fields, NULL};
static const struct record_field found_fields[] = {
    {"version", RECORD_MEMBER(struct sanitized_found, version)},
    {"note", RECORD_MEMBER(struct sanitized_found, note)},
    {"tools", RECORD_RECORDS(struct sanitized_found, tools, tool_count, tool_record)},
    {0}};
static const struct record found_record = {"what was sanitized", sizeof(struct sanitized_found), found_fields, NULL};

// The document of an earlier final with the same version of the tools. New reference; NULL if there is none.
static json_t *known_document(struct final_run *f, const struct task *t)
{
    struct sanitized_found found;
    autorelease(arena_release) struct arena memory = {NULL};
    autojson json_t *known = store_get_document(f->with.store, t->trial, SANITIZED_DOCUMENT, NULL, NULL);
    if (!known || record_read(&found_record, known, &found, &memory, NULL)) return NULL;
    return strcmp(found.version, sanitizer_version(f->sanitizing.by)) ? NULL : json_incref(known);
}

// Findings that do not change the verdict are shown as warnings; the rest goes to the log.
static void tell(struct final_run *f, const struct task *t, const json_t *document)
{
    struct sanitized_found found;
    autorelease(arena_release) struct arena memory = {NULL};
    record_read(&found_record, document, &found, &memory, NULL);
    if (*found.note) display_log(f->with.display, "trial %" PRId64 " was not sanitized: %s", t->trial, found.note);
    for (size_t i = 0; i < found.tool_count; i++) {
        const struct tool_found *tool = &found.tools[i];
        if (!strcmp(tool->status, "clean")) continue;
        if (tool->advice && (!strcmp(tool->status, "errors") || !strcmp(tool->status, "warnings")))
            display_message(f->with.display, "warning: trial %" PRId64 ", %s: %s", t->trial, tool->tool, tool->first);
        else
            display_log(f->with.display, "trial %" PRId64 ", %s: %s: %s%s", t->trial, tool->tool, tool->status,
                        tool->first, tool->reason);
    }
}

static void keep_document(struct final_run *f, const struct task *t, const json_t *document)
{
    struct error err;
    if (store_put_document(f->with.store, t->trial, SANITIZED_DOCUMENT, document, &err))
        fatal_error_set(f->with.failure, EXIT_ENVIRONMENT, &err);
}

bool final_sanitizes(const struct final_run *f)
{
    const char *given = getenv("SWEETSPOT_SANITIZER"); // "none", or a path: sanitize.h
    return f->with.checks && !f->with.pool->replay && f->with.job->verify.enabled && !(given && !strcmp(given, "none"));
}

static void judge(struct final_run *f, const struct task *t, const json_t *document)
{
    struct error reason;
    enum trial_status status = sanitizer_verdict(document, &reason);
    tell(f, t, document);
    if (status == STATUS_OK) return;
    final_condemn(f, t->trial, status, reason.message);
    f->blamed.trial = t->trial;
    f->blamed.status = status;
    f->blamed.reason = reason;
    f->sanitizing.condemned++;
}

static json_t *look_at(struct final_run *f, const struct task *t)
{
    json_t *document = known_document(f, t);
    if (document) return document;
    double begin = clock_now(), left = final_clock_left(&f->clock, begin);
    if (left + over_time < f->clock.sanitizer) {
        f->unchecked = true;
        display_message(f->with.display, "trial %" PRId64 " is not run under compute-sanitizer: no time is left",
                        t->trial);
        return NULL;
    }
    final_phase(f, "compute-sanitizer runs the winner");
    autojson json_t *request =
        job_setup_for_gpu(f->with.setup, false, NULL, false); // without counters and drawn sizes, as it is slow anyway
    document = sanitizer_end(sanitizer_begin(f->sanitizing.by, f->with.job, request, t->text, t->compiled.cubin,
                                             t->problems, false, left + over_time));
    f->clock.sanitizer = clock_now() - begin;
    keep_document(f, t, document);
    return document;
}

size_t final_sanitize(struct final_run *f, const int64_t *trials, size_t count)
{
    size_t before = f->sanitizing.condemned;
    if (!final_sanitizes(f) || !find_sanitizer(f)) return 0;
    for (size_t i = 0; i < count && !interrupt_count() && !f->with.failure->set; i++) {
        const struct task *t = final_find(f, trials[i]);
        if (!t) continue;
        autojson json_t *document = look_at(f, t);
        if (document) judge(f, t, document);
    }
    return f->sanitizing.condemned - before;
}
