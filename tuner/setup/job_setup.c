// See job_setup.h.
#include "tuner/setup/job_setup.h"

#include <ctype.h>
#include <errno.h>
#include <sys/stat.h>

#include "tuner/base/embedded.h"
#include "tuner/setup/work_bounds.h"
#include "tuner/trial/trial_field.h"

static const double build_share = 0.25; // share of the command's time in which baselines must be built

int job_setup_space(struct job_setup *s, struct worker_pool *pool, struct job *job, const char *cache, uint64_t seed,
                    struct error *err)
{
    *s = (struct job_setup){.job = job, .cache = cache, .seed = seed};
    autofree char *parent = text_directory(cache);
    mkdir(parent, 0777); // "out" for "out/cache"; if it cannot be created, neither can the cache
    if (mkdir(cache, 0777) && errno != EEXIST)
        return error_set(err, "cannot make the compile cache '%s': %s", cache, strerror(errno)), EXIT_ENVIRONMENT;
    if (job_build_space(job, &pool->first.limits, err) || request_source_hash(job, s->source_hash, err))
        return EXIT_USAGE;
    return 0;
}

// Selects the kernels of support.cu: those for the types of the job's buffers, in the order of the types, because the
// cache's key depends on that order.
static json_t *support_defines(const struct job *job)
{
    json_t *defines = json_object();
    for (int type = 0; type < ELEMENT_COUNT; type++) {
        autofree char *macro = text_format("SUPPORT_%s", element_name((enum element)type));
        bool used = false;
        for (char *c = macro; *c; c++) *c = (char)toupper((unsigned char)*c);
        for (size_t i = 0; i < job->buffer_count && !used; i++) used = (int)job->buffers[i].type == type;
        if (used) json_object_set_new(defines, macro, json_string("1"));
    }
    return defines;
}

static json_t *request_own(const struct job_setup *s, const struct worker_pool *pool, const char *text, json_t *defines)
{
    return json_pack("{s:s, s:s, s:s, s:[], s:o, s:s, s:f}", "op", "compile", "arch", pool->first.arch, "text", text,
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

static bool is_needed(const struct job *job, const struct implementation *m)
{
    return m == &job->others.reference || m == job_current(job);
}

// Reads a compiler's answer for an implementation. The run cannot continue without the reference or the current kernel;
// any other implementation is just left out.
static int read_implementation(const struct job *job, const struct implementation *m, const json_t *answer,
                               struct error *err)
{
    autorelease(compiled_release) struct compiled compiled = {0};
    if (!is_needed(job, m)) return 0;
    if (m->kind != IMPLEMENTATION_LIBRARY) return read_helper(job, answer, &compiled, err);
    if (answer_status(answer) == STATUS_OK) return 0;
    error_set(err, "%s", answer_reason(answer, "the compiler gives no reason"));
    return EXIT_USAGE;
}

// Prefixes the error with the name of the code that does not compile. If `m` is NULL, that code is the worker's own
// kernels.
static void name_culprit(const struct job *job, const struct implementation *m, struct error *err)
{
    bool library = m && m->kind == IMPLEMENTATION_LIBRARY;
    if (!m)
        error_prefix(err, "the worker's own kernels do not compile");
    else if (!is_needed(job, m))
        error_prefix(err, "baseline '%s'", m->name);
    else
        error_prefix(err, "%s %s '%s'", m == &job->others.reference ? "reference" : "current",
                     library ? "library" : "kernel",
                     library                            ? m->path
                     : m->kind == IMPLEMENTATION_KERNEL ? m->stage.entry
                                                        : job->stages[0].entry);
}

static json_t *request_of(const struct job_setup *s, const struct worker_pool *pool, const struct implementation *m)
{
    json_t *request = request_implementation(s->job, m, pool->first.arch, s->cache);
    double deadline = json_get_number(request, "deadline", INFINITY);
    if (request && s->time > 0 && !is_needed(s->job, m))
        json_object_set_new(request, "deadline", json_real(fmin(deadline, build_share * s->time)));
    return request;
}

// Compiles in parallel the code that is needed before any candidate: the worker's own kernels and the implementations.
static int compile_helpers(struct job_setup *s, struct worker_pool *pool, struct error *err)
{
    enum { OWN = 2, MOST = OWN + JOB_SETUP_IMPLEMENTATIONS };
    json_t *requests[MOST], *answers[MOST];
    struct compiled *own[OWN] = {&s->support, &s->ceilings};
    const struct implementation *of[MOST] = {NULL}, *m;
    size_t number[MOST], count = OWN, which = 0;
    if (pool->replay) return 0;
    requests[0] = request_own(s, pool, embedded_support(), support_defines(s->job));
    requests[1] = request_own(s, pool, embedded_ceilings(), job_ceilings_defines(s->job));
    for (size_t i = 0; (m = job_implementation(s->job, i)); i++) {
        if (!(requests[count] = request_of(s, pool, m))) continue;
        of[count] = m;
        number[count++] = i;
    }
    int status =
        pool_ask_compilers(pool, requests, count, POOL_SETUP_TIMEOUT, answers, &which, err) ? EXIT_ENVIRONMENT : 0;
    for (size_t i = 0; i < count && !status; i++) {
        which = i;
        if (of[i])
            status = read_implementation(s->job, of[i], answers[i], err);
        else if (read_helper(s->job, answers[i], own[i], err))
            status = EXIT_ENVIRONMENT;
    }
    if (status) name_culprit(s->job, of[which], err);
    for (size_t i = 0; i < count; i++)
        if (of[i])
            s->answers[number[i]] = answers[i];
        else
            json_decref(answers[i]);
    return status;
}

// Creates the job with drawn sizes. Keeps only the sizes for which a request can be made.
static void draw_sizes(struct job_setup *s, const struct worker_pool *pool)
{
    struct job *drawn = pool->replay ? NULL : job_draw_sizes(s->job);
    size_t kept = 0;
    for (size_t p = 0; drawn && p < drawn->problem_count; p++) {
        struct job one = *drawn;
        struct error ignored;
        one.problems = &drawn->problems[p];
        one.problem_count = 1;
        autojson json_t *request = request_job(&one, pool->first.memory, s->answers, s->seed, &ignored);
        if (request) drawn->problems[kept++] = drawn->problems[p];
    }
    if (!kept) return;
    drawn->problem_count = kept;
    struct error ignored;
    if (!(s->sizes = request_job(drawn, pool->first.memory, s->answers, s->seed, &ignored))) return;
    json_object_del(s->sizes, "baselines");
    json_object_set_new(s->sizes, "drawn", json_true());
    s->job->sizes.drawn = drawn;
}

int job_setup_request(struct job_setup *s, struct worker_pool *pool, struct error *err)
{
    int status = compile_helpers(s, pool, err);
    if (status) return status;
    s->request = request_job(s->job, pool->first.memory, s->answers, s->seed, err);
    if (!s->request) return EXIT_USAGE;
    draw_sizes(s, pool);
    return 0;
}

void job_setup_release(struct job_setup *s)
{
    compiled_release(&s->support);
    compiled_release(&s->ceilings);
    json_decref(s->request);
    json_decref(s->sizes);
    for (size_t i = 0; i < JOB_SETUP_IMPLEMENTATIONS; i++) json_decref(s->answers[i]);
    *s = (struct job_setup){0};
}

// Adds the members that the requests for a job and for its drawn sizes have in common.
static void add_files(const struct job_setup *s, json_t *request)
{
    if (s->support.cubin) json_object_set_new(request, "support", json_string(s->support.cubin));
    if (s->ceilings.cubin) json_object_set_new(request, "ceilings", json_string(s->ceilings.cubin));
    json_object_set_new(json_object_get(request, "reference"), "cache",
                        json_string(s->cache)); // where expected values may be cached
}

json_t *job_setup_for_gpu(const struct job_setup *s, bool counters, const char *more, bool with_sizes)
{
    json_t *request = json_deep_copy(s->request), *names = counters ? json_array() : json_null();
    if (more) json_array_append_new(names, json_string(more));
    for (size_t i = 0; counters && i < s->job->search.metric_count; i++)
        json_array_append_new(names, json_string(s->job->search.metrics[i]));
    json_object_set_new(request, "counters", names);
    add_files(s, request);
    if (!s->sizes || !with_sizes) return request;
    json_t *sizes = json_deep_copy(s->sizes);
    add_files(s, sizes);
    json_object_set_new(request, "sizes", sizes);
    return request;
}

json_t *job_setup_compile(const struct job_setup *s, const struct worker_pool *pool, const uint16_t *config,
                          const char *text, bool by_nvcc)
{
    json_t *request = request_compile(s->job, config, pool->first.arch, s->source_hash, s->cache);
    json_object_set_new(request, "config", json_string(text));
    if (by_nvcc) json_object_set_new(request, "compiler", json_string(PROTOCOL_NVCC));
    return request;
}

enum compile_result compile_result_read(const json_t *answer, const struct job *job, struct compiled *compiled,
                                        enum trial_status *status, const char **reason, struct error *text)
{
    const char *word = json_get_string(answer, "status", "");
    int found = status_find(word);
    *reason = answer_reason(answer, "no reason given");
    if (found == STATUS_COMPILE_ERROR || found == STATUS_COMPILE_TIMEOUT || found == STATUS_PRUNED) {
        *status = (enum trial_status)found;
        return COMPILE_FAILED;
    }
    if (found == STATUS_OK) {
        *status = STATUS_OK;
        if (!compiled_read(answer, compiled, text)) return COMPILE_DONE;
        *status = STATUS_COMPILE_ERROR;
        *reason = text->message;
        return COMPILE_FAILED;
    }
    bool changed = !strcmp(word, PROTOCOL_SOURCE_CHANGED);
    if (changed)
        error_set(text,
                  "'%s' has changed during the run. Everything measured so far is kept under the old source. Run the "
                  "same command again",
                  job->code.source);
    else
        error_set(text, "compiler: %s", *word ? *reason : "an answer without status");
    *reason = text->message;
    return changed ? COMPILE_SOURCE_CHANGED : COMPILE_IMPOSSIBLE;
}

// A configuration that has no stage for a problem cannot compute that problem. With objective "each" this is fine if it
// can compute at least one tuned problem.
static int does_too_little(const struct job *job, const struct planned_launch *launches, size_t count,
                           struct error *err)
{
    size_t done = 0;
    for (size_t p = 0; p < job->problem_count; p++) {
        bool does = false;
        for (size_t i = 0; i < count && !does; i++) does = launches[i].problem == (int)p;
        done += does && p < job->tuned_count;
        if (!does && job->search.objective != OBJECTIVE_EACH)
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

static int check_compiled(const struct job *job, const uint16_t *config, const struct compiled *compiled,
                          struct error *reason)
{
    autofree struct trial_stage *stages = memory_new(compiled->entry_count + 1, sizeof *stages);
    for (size_t i = 0; i < compiled->entry_count; i++) stages[i] = compiled->entries[i].figures;
    struct static_facts facts = static_facts_of(stages, compiled->entry_count);
    return job_check_compiled(job, config, &facts, reason);
}

// Appends the launches on those drawn sizes for which the candidate can be launched. The generated header uses the same
// expressions, so it refuses the other sizes.
static void add_drawn(const struct job *drawn, const struct device_limits *limits, const uint16_t *config,
                      const struct compiled *compiled, json_t *problems)
{
    for (size_t p = 0; p < drawn->problem_count; p++) {
        autofree struct planned_launch *launches = NULL;
        size_t count;
        struct error ignored;
        autojson json_t *one = request_problem(drawn, config, compiled, p, &launches, &count, &ignored);
        if (one && count && !check_launches(drawn, limits, compiled, launches, count, &ignored))
            json_array_append(problems, one);
    }
}

int job_setup_launches(const struct job *job, const struct device_limits *limits, const uint16_t *config,
                       const struct compiled *compiled, json_t **problems, struct planned_launch **launches,
                       size_t *count, struct error *reason)
{
    *problems = request_problems(job, config, compiled, false, launches, count, reason);
    if (!*problems || does_too_little(job, *launches, *count, reason)) return -1;
    if (check_launches(job, limits, compiled, *launches, *count, reason)) return -1;
    if (check_compiled(job, config, compiled, reason)) return -1;
    if (job->sizes.drawn) add_drawn(job->sizes.drawn, limits, config, compiled, *problems);
    return 0;
}

size_t job_setup_stages(const struct job *job, const struct device_limits *limits, const struct compiled *compiled,
                        const struct planned_launch *launches, size_t count, struct trial_stage *stages)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct planned_launch *l = &launches[i];
        if (l->problem != launches[0].problem || l->run) continue;
        const struct entry_answer *e = compiled_find(compiled, &job->stages[l->stage]);
        struct trial_stage *out = &stages[found++];
        trial_clear(FIELD_STAGE, out);
        if (e) {
            *out = e->figures;
            out->occupancy =
                theoretical_occupancy(limits, l->shape.block[0] * l->shape.block[1] * l->shape.block[2], out->registers,
                                      l->shape.shared + (out->shared_static > 0 ? out->shared_static : 0));
        }
        out->name = job->stages[l->stage].name;
        out->shared_dynamic = l->shape.shared;
        out->warnings = compiled->warnings ? compiled->warnings : "";
    }
    return found;
}
