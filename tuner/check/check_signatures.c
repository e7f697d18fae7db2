// Asks the compiler which arguments the kernels take, for the first configuration and for the reference. For each stage
// that the first configuration leaves out, asks about one configuration with this stage. Also lets the compiler build
// libraries that the job gives as sources. See check.h.
#include "tuner/base/run_program.h"
#include "tuner/check/check.h"
#include "tuner/protocol/message.h"
#include "tuner/setup/job_setup.h"

// How many configurations, evenly spread, are searched for one with a given stage. If none has the stage, the stage is
// not checked.
enum { STAGE_TRIES = 1000 };

// A request to compile only one of the "units", with that unit's macros and entries. New reference.
static json_t *request_of_unit(const json_t *request, const json_t *unit)
{
    json_t *one = json_copy((json_t *)request), *defines = json_copy(json_object_get(request, "defines"));
    if (!defines) defines = json_object();
    json_object_update(defines, json_object_get(unit, "defines"));
    json_object_set_new(one, "defines", defines);
    json_object_set(one, "entries", json_object_get(unit, "entries"));
    json_object_del(one, "units");
    return one;
}

// Takes the request.
static int ask_unit(struct check *c, struct worker *w, const uint16_t *config, json_t *request, size_t unit,
                    const char *folder, struct error *err)
{
    autorelease(signatures_release) struct signatures all;
    int failed = signatures_ask(&all, w, request, c->arch, folder, c->job->code.compile_timeout + COMPILE_GRACE, err);
    if (!failed && !all.log) check_arguments(c, config, unit, &all);
    if (!failed && !all.log) check_constants(c, config, &all);
    return failed;
}

static int ask(struct check *c, struct worker *w, const uint16_t *config, const char *folder, struct error *err)
{
    json_t *request = config ? request_compile(c->job, config, c->arch, NULL, folder)
                             : request_implementation(c->job, &c->job->others.reference, c->arch, folder);
    int failed = 0;
    if (!json_object_get(request, "units")) return ask_unit(c, w, config, request, 0, folder, err);
    json_array_each(json_object_get(request, "units"), i, unit) {
        size_t number = (size_t)json_get_integer(unit, "unit", 0);
        if (!failed) failed = ask_unit(c, w, config, request_of_unit(request, unit), number, folder, err);
    }
    json_decref(request);
    return failed;
}

static bool uses(const struct job *job, const uint16_t *config, size_t stage)
{
    autofree int64_t *values = memory_new(symbols_count(job->symbols), sizeof *values);
    bool used = false;
    for (size_t p = 0; p < job->problem_count && !used; p++)
        used = !job_problem_values(job, config, p, values, NULL) && request_stage_used(job, stage, values, NULL) > 0;
    return used;
}

static int ask_candidates(struct check *c, struct worker *w, const char *folder, struct error *err)
{
    const struct job *job = c->job;
    uint64_t size = space_size(job->space), step = size / STAGE_TRIES + 1;
    autofree bool *seen = memory_new(job->stage_count, sizeof *seen);
    uint16_t config[SPACE_MAX_PARAMETERS];
    int failed = 0;
    for (size_t s = 0; s < job->stage_count && !failed; s++) {
        bool found = false;
        if (seen[s] || job->stages[s].operation) continue;
        for (uint64_t i = 0; i < size && !found; i += step) {
            space_get(job->space, i, config);
            found = uses(job, config, s);
        }
        if (!found) continue;
        failed = ask(c, w, config, folder, err);
        for (size_t k = s; k < job->stage_count; k++) seen[k] |= uses(job, config, k);
    }
    return failed;
}

// Builds a library that the job gives as a source, in the same way as before a run.
static int build(struct check *c, struct worker *w, const struct implementation *m, const char *folder,
                 struct error *err)
{
    json_t *request = request_implementation(c->job, m, c->arch, folder);
    double seconds = json_get_number(request, "deadline", 0) + COMPILE_GRACE;
    autojson json_t *answer = worker_ask(w, request, seconds, err);
    if (!answer) return -1;
    if (answer_status(answer) != STATUS_OK) {
        autofree char *first = compile_first_error(answer_reason(answer, "no reason given"), m->path);
        size_t length = strlen(first);
        if (length && first[length - 1] == '\n') first[length - 1] = 0;
        bool needed = m == &c->job->others.reference || m == job_current(c->job),
             lacking = !strcmp(json_get_string(answer, "status", ""), PROTOCOL_ENVIRONMENT);
        check_add(lacking && !needed ? &c->doubts : &c->mistakes, job_location(c->job, "%s.library", m->setting),
                  "'%s' cannot be built:\n%s", m->path, first);
    }
    return 0;
}

int check_signatures(struct check *c, char *const *compiler, const char *cache, struct error *err)
{
    char folder[PATH_MAX];
    struct worker w = WORKER_NONE;
    const struct implementation *m;
    if (work_folder_make("check", folder, err)) return -1;
    int failed = worker_start(&w, "compiler", compiler, err);
    if (!failed && c->job->code.source) failed = ask_candidates(c, &w, folder, err);
    if (!failed && c->job->others.reference.kind == IMPLEMENTATION_KERNEL) failed = ask(c, &w, NULL, folder, err);
    for (size_t i = 0; (m = job_implementation(c->job, i)) && !failed; i++)
        if (implementation_is_built(m)) failed = build(c, &w, m, cache ? cache : folder, err);
    worker_release(&w);
    work_folder_remove(folder);
    return failed;
}
