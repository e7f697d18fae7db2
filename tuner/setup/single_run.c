// See single_run.h.
#include "tuner/setup/single_run.h"

enum { CLOSING_PATIENCE = 5 }; // s

static json_t *describe_job(const struct single_run *single, const struct single_run_options *o)
{
    json_t *request = job_setup_for_gpu(&single->setup, single->counts, o->metrics, o->baselines);
    if (o->rest > 0 && !single->job->measure.rest_given)
        json_object_set_new(json_object_get(request, "measure"), "rest", json_real(o->rest));
    if (!o->baselines) json_object_set_new(request, "baselines", json_array());
    return request;
}

// The worker opens CUPTI when the job names metrics. The hello does not need it and would take twice as long.
static int open_pool(struct single_run *single, bool nvcc, struct error *err)
{
    const struct pool_settings settings = {.device = single->device, .counters = false, .nvcc = nvcc};
    return pool_open(&single->pool, &settings, err);
}

int single_run_start(struct single_run **out, const char *device, struct error *err)
{
    struct single_run *single = memory_new(1, sizeof *single);
    single->device = text_copy(device);
    int status = open_pool(single, false, err);
    if (status) {
        single_run_close(single);
        single = NULL;
    }
    *out = single;
    return status;
}

static int set_up(struct single_run *single, bool started, const struct single_run_options *o, struct error *err)
{
    if (!strncmp(o->device, "replay:", 7))
        return error_set(err, "this needs a GPU: a recorded space has only the results of whole candidates"),
               EXIT_USAGE;
    if (strchr(o->device, ',')) return error_set(err, "--device must be one GPU here, not '%s'", o->device), EXIT_USAGE;
    bool nvcc = single->job->code.compiler == JOB_NVCC, usable = started && !nvcc && !pool_refresh(&single->pool, err);
    if (started && !usable) pool_release(&single->pool);
    int status = usable ? 0 : open_pool(single, nvcc, err);
    if (!status) status = job_setup_space(&single->setup, &single->pool, single->job, single->cache, JOB_SEED, err);
    if (!status) status = job_setup_request(&single->setup, &single->pool, err);
    if (status || o->compiles_only) return status;
    status = pool_set_up(&single->pool, describe_job(single, o), &single->job_answer, err);
    if (status && single->job_answer) error_prefix(err, "%s", single->job->path);
    if (!status) record_read(&job_answer_record, single->job_answer, &single->reported, &single->memory, NULL);
    return status;
}

int single_run_open(struct single_run **out, struct job *job, const struct single_run_options *o, struct error *err)
{
    const char *counters = getenv("SWEETSPOT_COUNTERS");
    bool started = *out;
    struct single_run *single = started ? *out : memory_new(1, sizeof *single);
    if (!started) single->device = text_copy(o->device);
    single->job = job;
    single->cache = text_copy(o->cache);
    single->binary = o->binary;
    single->library = o->library;
    single->counts = o->metrics && !(counters && !strcmp(counters, "none"));
    single->say = o->say;
    int status = set_up(single, started, o, err);
    if (status) {
        single_run_close(single);
        single = NULL;
    }
    *out = single;
    return status;
}

void single_run_close(struct single_run *single)
{
    if (!single) return;
    const struct worker_pool *pool = &single->pool;
    bool hangs = pool->gpu_count && pool->gpus[pool->first_gpu].worker.failure == WORKER_LATE;
    pool_stop(&single->pool, hangs ? 0 : CLOSING_PATIENCE); // a tool that wraps the worker may have output to write
    pool_release(&single->pool);
    job_setup_release(&single->setup);
    json_decref(single->job_answer);
    arena_release(&single->memory);
    free(single->device);
    free(single->cache);
    free(single);
}

void single_run_say(const struct single_run *single, const char *text)
{
    if (single->say) single->say(text);
}

struct candidate single_run_described(const struct single_run_candidate *c)
{
    return (struct candidate){
        .name = "candidate", .config = c->config, .cubin = c->compiled.cubin, .written = c->problems};
}

static int fail_candidate(struct single_run_candidate *c, enum trial_status status, const char *reason)
{
    free(c->reason);
    c->status = status;
    c->reason = text_copy(reason);
    return 0;
}

static int take_compiled(struct single_run *single, const uint16_t *config, const json_t *answer,
                         struct single_run_candidate *c, struct error *err)
{
    enum trial_status status;
    const char *reason;
    enum compile_result result = compile_result_read(answer, single->job, &c->compiled, &status, &reason, err);
    if (result == COMPILE_FAILED) return fail_candidate(c, status, reason);
    if (result != COMPILE_DONE) return -1;
    if (job_setup_launches(single->job, &single->pool.first.limits, config, &c->compiled, &c->problems, &c->launches,
                           &c->launch_count, err))
        return fail_candidate(c, STATUS_PRUNED, err->message);
    return 0;
}

// Describes a binary as a compiler's answer, in which an entry's name is its symbol.
static json_t *describe_binary(const struct single_run *single)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < single->job->stage_count; i++) {
        const struct stage *s = &single->job->stages[i];
        if (!s->operation)
            json_array_append_new(entries, json_pack("{s:s, s:s, s:I}", "entry", s->entry, "symbol", s->entry, "unit",
                                                     (json_int_t)s->unit));
    }
    return json_pack("{s:s, s:s, s:o}", "status", status_name(STATUS_OK), "cubin", single->binary, "entries", entries);
}

int single_run_compile(struct single_run *single, const uint16_t *config, const json_t *defines,
                       struct single_run_candidate *c, struct error *err)
{
    *c = (struct single_run_candidate){
        .config = space_text(single->job->space, config), .status = STATUS_OK, .reason = text_copy("")};
    if (single->library) {
        c->problems = request_own_problems(single->job, single->library, NULL, single->library->path, err);
        return c->problems ? 0 : -1;
    }
    if (single->binary) {
        autojson json_t *given = describe_binary(single);
        return take_compiled(single, config, given, c, err);
    }
    json_t *request = job_setup_compile(&single->setup, &single->pool, config, c->config, false);
    if (defines) json_object_update(json_object_get(request, "defines"), (json_t *)(uintptr_t)defines);
    autojson json_t *answer =
        pool_ask_compiler(&single->pool, request, single->job->code.compile_timeout + COMPILE_GRACE, err);
    return answer ? take_compiled(single, config, answer, c, err) : -1;
}

void single_run_candidate_release(struct single_run_candidate *c)
{
    free(c->config);
    free(c->reason);
    compiled_release(&c->compiled);
    json_decref(c->problems);
    free(c->launches);
    *c = (struct single_run_candidate){0};
}

json_t *single_run_ask(struct single_run *single, json_t *request, double seconds, bool *late, struct error *err)
{
    if (single->ended && pool_set_up_again(&single->pool, err)) {
        if (late) *late = false;
        json_decref(request);
        return NULL;
    }
    autojson json_t *answer = pool_ask_gpu(&single->pool, request, seconds, err);
    single->ended = json_get_bool(answer, "restart", false);
    if (late) *late = !answer && single->pool.gpus[single->pool.first_gpu].worker.failure == WORKER_LATE;
    if (!answer || strcmp(json_get_string(answer, "status", ""), PROTOCOL_ERROR)) return json_incref(answer);
    error_set(err, "%s", answer_reason(answer, "the GPU worker failed"));
    return NULL;
}
