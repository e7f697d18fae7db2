// Libraries that a job gives by their sources: of the reference and of baselines. A compile worker builds them, as it
// would before a run. See check.h.
#include "tuner/base/base.h"
#include "tuner/base/run_program.h"
#include "tuner/check/check.h"
#include "tuner/check/compile_hints.h"
#include "tuner/pool/worker.h"
#include "tuner/setup/job_setup.h"

static int build(struct check *c, struct worker *w, const struct implementation *m, const char *folder,
                 struct error *err)
{
    json_t *request = request_implementation(c->job, m, c->arch, folder);
    double seconds = json_get_number(request, "deadline", 0) + COMPILE_GRACE;
    json_t *answer = worker_ask(w, request, seconds, err);
    if (!answer) return -1;
    if (status_find(json_get_string(answer, "status", "")) != STATUS_OK) {
        char *first = compile_first_error(json_get_string(answer, "reason", "no reason given"), m->path);
        size_t length = strlen(first);
        if (length && first[length - 1] == '\n') first[length - 1] = 0;
        check_add(&c->mistakes, job_location(c->job, "%s.library", m->setting), "'%s' cannot be built:\n%s", m->path,
                  first);
        free(first);
    }
    json_decref(answer);
    return 0;
}

int check_builds(struct check *c, char *const *compiler, const char *cache, struct error *err)
{
    const struct implementation *m;
    struct worker w = WORKER_NONE;
    char folder[PATH_MAX];
    bool any = false;
    for (size_t i = 0; (m = job_implementation(c->job, i)); i++) any |= implementation_is_built(m);
    if (!any) return 0;
    if (!cache && work_folder_make("check", folder, err)) return -1;
    int failed = worker_start(&w, "compiler", compiler, err);
    for (size_t i = 0; (m = job_implementation(c->job, i)) && !failed; i++)
        if (implementation_is_built(m)) failed = build(c, &w, m, cache ? cache : folder, err);
    worker_release(&w);
    if (!cache) work_folder_remove(folder);
    return failed;
}
