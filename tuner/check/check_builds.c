// Libraries that a job gives by their sources: of the reference and of baselines. A compile worker builds them, as it
// would before a run. See check.h.
#include "tuner/base/base.h"
#include "tuner/base/shared_library.h"
#include "tuner/base/work_folder.h"
#include "tuner/check/check.h"
#include "tuner/check/compile_hints.h"
#include "tuner/pool/worker.h"
#include "tuner/setup/job_setup.h"

static int build(struct check *c, struct worker *w, json_t *request, const char *source, const char *setting,
                 struct error *err)
{
    double seconds = json_get_number(request, "deadline", 0) + COMPILE_GRACE;
    json_t *answer = worker_ask(w, request, seconds, err);
    if (!answer) return -1;
    if (status_find(json_get_string(answer, "status", "")) != STATUS_OK) {
        char *first = compile_first_error(json_get_string(answer, "reason", "no reason given"), source);
        size_t length = strlen(first);
        if (length && first[length - 1] == '\n') first[length - 1] = 0;
        check_add(&c->mistakes, job_location(c->job, "%s", setting), "'%s' cannot be built:\n%s", source, first);
        free(first);
    }
    json_decref(answer);
    return 0;
}

static int build_all(struct check *c, struct worker *w, const char *folder, struct error *err)
{
    const struct job *job = c->job;
    const struct reference *r = &job->reference;
    const char *const functions[] = {r->function, r->generate, r->verify};
    int failed = 0;
    if (r->kind == REFERENCE_LIBRARY && shared_library_is_source(r->library))
        failed = build(c, w, request_build(job, r->library, r->options, r->option_count, functions, 3, c->arch, folder),
                       r->library, "reference.library", err);
    for (size_t i = 0; i < job->baseline_count && !failed; i++) {
        const struct job_baseline *b = &job->baselines[i];
        const char *const entries[] = {b->function, b->init};
        if (!shared_library_is_source(b->library)) continue;
        char *setting = text_format("baselines[%zu].library", i);
        failed = build(c, w, request_build(job, b->library, b->options, b->option_count, entries, 2, c->arch, folder),
                       b->library, setting, err);
        free(setting);
    }
    return failed;
}

int check_builds(struct check *c, char *const *compiler, const char *cache, struct error *err)
{
    const struct job *job = c->job;
    bool any = job->reference.library && shared_library_is_source(job->reference.library);
    for (size_t i = 0; i < job->baseline_count; i++) any |= shared_library_is_source(job->baselines[i].library);
    if (!any) return 0;
    struct worker w = WORKER_NONE;
    char folder[PATH_MAX];
    if (!cache && work_folder_make("check", folder, err)) return -1;
    int failed = worker_start(&w, "compiler", compiler, err);
    if (!failed) failed = build_all(c, &w, cache ? cache : folder, err);
    worker_release(&w);
    if (!cache) work_folder_remove(folder);
    return failed;
}
