// See job_setup.h.
#include "tuner/setup/job_setup.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tuner/base/embedded.h"
#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/shared_library.h"
#include "tuner/base/text.h"
#include "tuner/setup/job_ceilings.h"

int job_setup_space(struct job_setup *s, struct worker_pool *pool, struct job *job, const char *cache, uint64_t seed,
                    struct error *err)
{
    *s = (struct job_setup){.job = job, .cache = cache, .seed = seed};
    char *parent = text_directory(cache);
    mkdir(parent, 0777); // "out" of "out/cache"; if it cannot be made, nor can the cache
    free(parent);
    if (mkdir(cache, 0777) && errno != EEXIST) {
        error_set(err, "cannot make the compile cache '%s': %s", cache, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    if (job_build_space(job, &pool->limits, err) || request_source_hash(job, s->source_hash, err)) return EXIT_USAGE;
    return 0;
}

// Which kernels of support.cu there are: those for the types of the job's buffers. In the order of the types, because
// the cache's key depends on it.
static json_t *support_defines(const struct job *job)
{
    json_t *defines = json_object();
    for (int type = 0; type < ELEMENT_COUNT; type++) {
        char *macro = text_format("SUPPORT_%s", element_name((enum element)type));
        bool used = false;
        for (char *c = macro; *c; c++) *c = (char)toupper((unsigned char)*c);
        for (size_t i = 0; i < job->buffer_count && !used; i++) used = (int)job->buffers[i].type == type;
        if (used) json_object_set_new(defines, macro, json_string("1"));
        free(macro);
    }
    return defines;
}

static json_t *request_own(const struct job_setup *s, const struct worker_pool *pool, const char *text, json_t *defines)
{
    return json_pack("{s:s, s:s, s:s, s:[], s:o, s:s, s:f}", "op", "compile", "arch", pool->arch, "text", text,
                     "entries", "defines", defines, "cache", s->cache, "deadline", 300.0);
}

static int read_helper(const struct job *job, const json_t *answer, struct compiled *out, struct error *err)
{
    enum trial_status status;
    const char *reason;
    struct error text;
    enum compile_result result = compile_result_read(answer, job, out, &status, &reason, &text);
    if (result != COMPILE_DONE) error_set(err, "%s", reason);
    return result == COMPILE_DONE ? 0 : result == COMPILE_IMPOSSIBLE ? EXIT_ENVIRONMENT : EXIT_USAGE;
}

// What is compiled before any candidate.
struct helper {
    const char *what, *entry; // NULL: kernels of the worker's own
    json_t *request;
    struct compiled *out; // NULL: a library
    int baseline;         // whose library it is; -1: the reference's
};

enum { HELPERS_MAX = 4 + 1 + JOB_MAX_BASELINES };

// Libraries of the user's that are given by their sources: of the reference, then of baselines.
static size_t collect_libraries(struct job_setup *s, const struct worker_pool *pool, struct helper *out)
{
    const struct reference *r = &s->job->reference;
    size_t count = 0;
    const char *const functions[] = {r->function, r->generate, r->verify};
    if (r->kind == REFERENCE_LIBRARY && shared_library_is_source(r->library))
        out[count++] = (struct helper){
            "reference library", r->library,
            request_build(s->job, r->library, r->options, r->option_count, functions, 3, pool->arch, s->cache), NULL,
            -1};
    for (size_t i = 0; i < s->job->baseline_count; i++) {
        const struct job_baseline *b = &s->job->baselines[i];
        const char *const entries[] = {b->function, b->init};
        if (shared_library_is_source(b->library))
            out[count++] = (struct helper){
                "baseline", b->name,
                request_build(s->job, b->library, b->options, b->option_count, entries, 2, pool->arch, s->cache), NULL,
                (int)i};
    }
    return count;
}

static size_t collect_helpers(struct job_setup *s, const struct worker_pool *pool, struct helper out[HELPERS_MAX])
{
    size_t count = 0;
    out[count++] =
        (struct helper){NULL, NULL, request_own(s, pool, embedded_support(), support_defines(s->job)), &s->support, -1};
    out[count++] = (struct helper){NULL, NULL, request_own(s, pool, embedded_ceilings(), job_ceilings_defines(s->job)),
                                   &s->ceilings, -1};
    if (s->job->reference.kind == REFERENCE_KERNEL)
        out[count++] = (struct helper){"reference kernel", s->job->reference.stage.entry,
                                       request_compile(s->job, NULL, pool->arch, NULL, s->cache), &s->reference, -1};
    if (s->job->current.own.given)
        out[count++] = (struct helper){"current kernel",
                                       s->job->current.source ? s->job->current.stage.entry : s->job->stages[0].entry,
                                       request_compile_current(s->job, pool->arch, s->cache), &s->current, -1};
    return count + collect_libraries(s, pool, out + count);
}

// What became of a library. One of a baseline that cannot be built costs no more than that baseline.
static int read_library(struct job_setup *s, const struct helper *helper, const json_t *answer, struct error *err)
{
    const char *reason = json_get_string(answer, "reason", "the compiler gives no reason");
    bool built = status_find(json_get_string(answer, "status", "")) == STATUS_OK;
    if (!built && helper->baseline < 0) {
        error_set(err, "%s", reason);
        return EXIT_USAGE;
    }
    if (helper->baseline < 0)
        s->library = json_incref((json_t *)(uintptr_t)answer);
    else
        s->libraries[helper->baseline] = json_incref((json_t *)(uintptr_t)answer);
    return 0;
}

// All at the same time: nothing can be measured before they are ready.
static int compile_helpers(struct job_setup *s, struct worker_pool *pool, struct error *err)
{
    struct helper helpers[HELPERS_MAX];
    json_t *requests[HELPERS_MAX], *answers[HELPERS_MAX];
    size_t which = 0;
    if (pool->replay) return 0;
    size_t count = collect_helpers(s, pool, helpers);
    for (size_t i = 0; i < count; i++) requests[i] = helpers[i].request;
    int status = 0;
    if (pool_ask_compilers(pool, requests, count, POOL_SETUP_TIMEOUT, answers, &which, err)) status = EXIT_ENVIRONMENT;
    for (size_t i = 0; i < count && !status; i++)
        if (!helpers[which = i].out)
            status = read_library(s, &helpers[i], answers[i], err);
        else if ((status = read_helper(s->job, answers[i], helpers[i].out, err)) && !helpers[i].what)
            status = EXIT_ENVIRONMENT;
    for (size_t i = 0; i < count; i++) json_decref(answers[i]);
    if (status && helpers[which].what)
        error_prefix(err, "%s '%s'", helpers[which].what, helpers[which].entry);
    else if (status)
        error_prefix(err, "the worker's own kernels do not compile");
    return status;
}

// The library to open in place of a source, and by which hash it is known.
static void name_library(json_t *to, const json_t *answer)
{
    json_object_set_new(to, "built", json_string(json_get_string(answer, "library", "")));
    json_object_set_new(to, "hash", json_string(json_get_string(answer, "hash", "")));
}

// Puts the libraries that were built into the request.
static void name_libraries(struct job_setup *s)
{
    size_t i, p;
    json_t *each, *problem;
    if (s->library) name_library(json_object_get(s->request, "reference"), s->library);
    for (size_t b = 0; b < s->job->baseline_count; b++) {
        const char *library = json_get_string(s->libraries[b], "library", NULL);
        json_array_foreach(json_object_get(s->request, "baselines"), i, each)
        {
            if (!s->libraries[b] || strcmp(json_get_string(each, "name", ""), s->job->baselines[b].name) != 0) continue;
            if (!library)
                json_object_set_new(each, "reason",
                                    json_string(json_get_string(s->libraries[b], "reason", "it could not be built")));
            json_array_foreach(json_object_get(each, "problems"), p, problem)
            {
                json_t *call = json_array_get(json_object_get(problem, "stages"), 0);
                if (library) json_object_set_new(call, "library", json_string(library));
            }
        }
    }
}

int job_setup_request(struct job_setup *s, struct worker_pool *pool, struct error *err)
{
    int status = compile_helpers(s, pool, err);
    if (status) return status;
    s->request = request_job(s->job, pool->memory, &s->reference, &s->current, s->seed, err);
    if (s->request) name_libraries(s);
    return s->request ? 0 : EXIT_USAGE;
}

void job_setup_release(struct job_setup *s)
{
    compiled_release(&s->support);
    compiled_release(&s->ceilings);
    compiled_release(&s->reference);
    compiled_release(&s->current);
    json_decref(s->request);
    json_decref(s->library);
    for (size_t i = 0; i < JOB_MAX_BASELINES; i++) json_decref(s->libraries[i]);
    *s = (struct job_setup){0};
}

json_t *job_setup_for_gpu(const struct job_setup *s, bool counters, const char *more)
{
    json_t *request = json_deep_copy(s->request), *names = counters ? json_array() : json_null();
    if (more) json_array_append_new(names, json_string(more));
    for (size_t i = 0; counters && i < s->job->metric_count; i++)
        json_array_append_new(names, json_string(s->job->metrics[i]));
    json_object_set_new(request, "counters", names);
    if (s->support.cubin) json_object_set_new(request, "support", json_string(s->support.cubin));
    if (s->ceilings.cubin) json_object_set_new(request, "ceilings", json_string(s->ceilings.cubin));
    json_object_set_new(json_object_get(request, "reference"), "cache",
                        json_string(s->cache)); // where expected values may be kept
    return request;
}

json_t *job_setup_compile(const struct job_setup *s, const struct worker_pool *pool, const uint16_t *config,
                          const char *text, bool by_nvcc)
{
    json_t *request = request_compile(s->job, config, pool->arch, s->source_hash, s->cache);
    json_object_set_new(request, "config", json_string(text));
    if (by_nvcc) json_object_set_new(request, "compiler", json_string(PROTOCOL_NVCC));
    return request;
}

enum compile_result compile_result_read(const json_t *answer, const struct job *job, struct compiled *compiled,
                                        enum trial_status *status, const char **reason, struct error *text)
{
    const char *word = json_get_string(answer, "status", "");
    int found = status_find(word);
    *reason = json_get_string(answer, "reason", "no reason given");
    switch (found) {
    case STATUS_OK:
        *status = STATUS_OK;
        if (!compiled_read(answer, compiled, text)) return COMPILE_DONE;
        *status = STATUS_COMPILE_ERROR;
        *reason = text->message;
        return COMPILE_FAILED;
    case STATUS_COMPILE_ERROR:
    case STATUS_COMPILE_TIMEOUT:
    case STATUS_PRUNED:
        *status = (enum trial_status)found;
        return COMPILE_FAILED;
    default:
        break;
    }
    bool changed = !strcmp(word, PROTOCOL_SOURCE_CHANGED);
    if (changed)
        error_set(text,
                  "'%s' has changed meanwhile. Everything measured so far is kept under the old source. Run the same "
                  "command again",
                  job->source);
    else
        error_set(text, "compiler: %s", *word ? *reason : "an answer without status");
    *reason = text->message;
    return changed ? COMPILE_SOURCE_CHANGED : COMPILE_IMPOSSIBLE;
}

// A configuration that leaves out every stage for a problem cannot compute it. That is fine where every problem may
// have a kernel of its own, as long as there is a tuned one that it can do.
static int does_too_little(const struct job *job, const struct planned_launch *launches, size_t count,
                           struct error *err)
{
    size_t done = 0;
    for (size_t p = 0; p < job->problem_count; p++) {
        bool does = false;
        for (size_t i = 0; i < count && !does; i++) does = launches[i].problem == (int)p;
        done += does && p < job->tuned_count;
        if (!does && job->objective != OBJECTIVE_EACH)
            return error_set(err, "it has no stage for problem %s", job->problems[p].name);
    }
    return done ? 0 : error_set(err, "it has no stage for any problem");
}

static int check_launches(const struct job *job, const struct device_limits *limits, const struct compiled *compiled,
                          const struct planned_launch *planned, size_t count, struct error *reason)
{
    for (size_t i = 0; i < count; i++) {
        const struct planned_launch *l = &planned[i];
        const struct entry_answer *e = compiled_find(compiled, &job->stages[l->stage]);
        if (e && launch_check(limits, &l->shape, e->figures.registers, e->figures.shared_static, reason))
            return error_prefix(reason, "%s on %s", job->stages[l->stage].name, job->problems[l->problem].name);
    }
    return 0;
}

int job_setup_launches(const struct job *job, const struct device_limits *limits, const uint16_t *config,
                       const struct compiled *compiled, json_t **problems, struct planned_launch **launches,
                       size_t *count, struct error *reason)
{
    *problems = request_problems(job, config, compiled, false, launches, count, reason);
    if (!*problems || does_too_little(job, *launches, *count, reason)) return -1;
    return check_launches(job, limits, compiled, *launches, *count, reason);
}
