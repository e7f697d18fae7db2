// See single_run.h. A single is a run (run.h) without a store, a strategy and a loop.
#include "tuner/run/single_run.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { JOB_TIMEOUT = 600, STOP_PATIENCE = 5 };

static const double rest =
    400e-6; // s, unless the job says otherwise: as long as makes times repeatable and like ncu's (measure.c)

struct single_run {
    struct run run;
    struct tune_options options;
    char *device, *cache;
    bool counts;
    void (*say)(const char *text);
};

static json_t *job_request(const struct single_run *single, const struct single_run_options *o)
{
    json_t *request = json_deep_copy(single->run.job_request), *measure = json_object_get(request, "measure");
    if (json_get_number(measure, "rest", 0) == 0) json_object_set_new(measure, "rest", json_real(rest));
    if (single->run.support.cubin) json_object_set_new(request, "support", json_string(single->run.support.cubin));
    json_t *names = o->metrics ? json_pack("[s]", o->metrics) : json_null();
    for (size_t i = 0; o->metrics && i < single->run.job->metric_count; i++)
        json_array_append_new(names, json_string(single->run.job->metrics[i]));
    json_object_set_new(request, "counters", names);
    if (!o->baselines) json_object_set_new(request, "baselines", json_array());
    return request;
}

int single_run_open(struct single_run **out, struct job *job, const struct single_run_options *o, struct error *err)
{
    struct single_run *single = memory_new(1, sizeof *single);
    struct run *r = &single->run;
    *out = NULL;
    single->device = text_copy(o->device);
    single->cache = text_copy(o->cache);
    single->counts = o->metrics != NULL;
    single->say = o->say;
    // The worker opens CUPTI when the job names metrics; its hello need not, which would cost as much again.
    single->options = (struct tune_options){
        .device = single->device, .cache = single->cache, .workers = 1, .seed = -1, .counters = false, .quiet = true};
    r->job = job;
    r->options = &single->options;
    int status = strncmp(o->device, "replay:", 7) ? 0 : EXIT_USAGE;
    if (status) error_set(&r->failure, "a recorded space cannot be looked into: this needs a GPU");
    if (!status) status = run_meet(r);
    if (!status) status = run_prepare_job(r);
    if (!status && !(r->job_answer = worker_ask(&r->gpus[0].worker, job_request(single, o), JOB_TIMEOUT, &r->failure)))
        status = EXIT_ENVIRONMENT;
    if (!status && strcmp(json_get_string(r->job_answer, "status", ""), "ok")) {
        error_set(&r->failure, "%s: %s", job->path,
                  json_get_string(r->job_answer, "reason", "the GPU worker refuses the job"));
        status = EXIT_ENVIRONMENT;
    }
    if (status) {
        *err = r->failure;
        single_run_close(single);
        return status;
    }
    *out = single;
    return 0;
}

void single_run_close(struct single_run *single)
{
    if (!single) return;
    for (size_t i = 0; i < single->run.gpu_count; i++)
        worker_stop(&single->run.gpus[i].worker, STOP_PATIENCE); // a tool around it may have something to write
    run_release(&single->run);
    free(single->device);
    free(single->cache);
    free(single);
}

void single_run_say(const struct single_run *single, const char *text)
{
    if (single->say) single->say(text);
}

bool single_run_counts(const struct single_run *single)
{
    return single->counts;
}
const struct device_limits *single_run_limits(const struct single_run *single)
{
    return &single->run.limits;
}
const json_t *single_run_hello(const struct single_run *single)
{
    return single->run.hello;
}
const json_t *single_run_request(const struct single_run *single)
{
    return single->run.job_request;
}
const json_t *single_run_job(const struct single_run *single)
{
    return single->run.job_answer;
}

static int check_launches(struct single_run *single, const struct single_run_candidate *c, struct error *err)
{
    const struct job *job = single->run.job;
    for (size_t i = 0; i < c->launch_count; i++) {
        const struct compiled_entry *e = compiled_find(&c->compiled, job->stages[c->launches[i].stage].entry);
        if (!e || !launch_check(&single->run.limits, &c->launches[i].shape, e->figures.registers,
                                e->figures.shared_static, err))
            continue;
        error_prefix(err, "%s", status_name(STATUS_PRUNED));
        return 1;
    }
    return 0;
}

int single_run_compile(struct single_run *single, const uint16_t *config, const json_t *defines,
                       struct single_run_candidate *c, struct error *err)
{
    struct run *r = &single->run;
    char text[TUNE_CONFIG_TEXT];
    *c = (struct single_run_candidate){0};
    space_format(r->job->space, config, text, sizeof text);
    c->config = text_copy(text);
    json_t *request = request_compile(r->job, config, r->arch, r->source_hash, r->options->cache),
           *extra = json_deep_copy(defines);
    if (extra) json_object_update(json_object_get(request, "defines"), extra);
    json_decref(extra);
    json_object_set_new(request, "config", json_string(text));
    json_t *answer = worker_ask(&r->compilers[0].worker, request, r->job->compile_timeout + 10, err);
    if (!answer) return -1;
    const char *status = json_get_string(answer, "status", "");
    int failed = 0;
    if (strcmp(status, "ok")) {
        error_set(err, "%s: %s", status, json_get_string(answer, "reason", "no reason given"));
        failed = 1;
    } else {
        failed = compiled_read(answer, &c->compiled, err);
    }
    json_decref(answer);
    if (failed) return failed;
    c->launches = memory_new(REQUEST_MAX_LAUNCHES, sizeof *c->launches);
    c->problems = request_problems(r->job, config, &c->compiled, false, c->launches, &c->launch_count, err);
    if (!c->problems) return -1;
    return check_launches(single, c, err);
}

void single_run_candidate_release(struct single_run_candidate *c)
{
    free(c->config);
    compiled_release(&c->compiled);
    json_decref(c->problems);
    free(c->launches);
    *c = (struct single_run_candidate){0};
}

json_t *single_run_ask(struct single_run *single, json_t *request, double seconds, struct error *err)
{
    json_t *answer = worker_ask(&single->run.gpus[0].worker, request, seconds, err);
    if (!answer || strcmp(json_get_string(answer, "status", ""), "error")) return answer;
    error_set(err, "%s", json_get_string(answer, "reason", "the GPU worker failed"));
    json_decref(answer);
    return NULL;
}
