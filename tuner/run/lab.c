// See lab.h. A lab is a run (run.h) without a store, a strategy and a loop.
#include "tuner/run/lab.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/run/run.h"

enum { JOB_TIMEOUT = 600, STOP_PATIENCE = 5 };

static const double rest = 400e-6; // s, unless the job says otherwise: as long as makes times repeatable and like ncu's (measure.c)

struct lab {
    struct run run;
    struct tune_options options;
    char *device, *cache;
    bool counts;
    void (*say)(const char *text);
};

static json_t *job_request(const struct lab *lab, const struct lab_options *o)
{
    json_t *request = json_deep_copy(lab->run.job_request), *measure = json_object_get(request, "measure");
    if (json_get_number(measure, "rest", 0) == 0) json_object_set_new(measure, "rest", json_real(rest));
    if (lab->run.support.cubin) json_object_set_new(request, "support", json_string(lab->run.support.cubin));
    json_t *names = o->metrics ? json_pack("[s]", o->metrics) : json_null();
    for (size_t i = 0; o->metrics && i < lab->run.job->metric_count; i++) json_array_append_new(names, json_string(lab->run.job->metrics[i]));
    json_object_set_new(request, "counters", names);
    if (!o->baselines) json_object_set_new(request, "baselines", json_array());
    return request;
}

int lab_open(struct lab **out, struct job *job, const struct lab_options *o, struct error *err)
{
    struct lab *lab = memory_new(1, sizeof *lab);
    struct run *r = &lab->run;
    *out = NULL;
    lab->device = text_copy(o->device);
    lab->cache = text_copy(o->cache);
    lab->counts = o->metrics != NULL;
    lab->say = o->say;
    // The worker opens CUPTI when the job names metrics; its hello need not, which would cost as much again.
    lab->options = (struct tune_options){.device = lab->device, .cache = lab->cache, .workers = 1, .seed = -1, .counters = false, .quiet = true};
    r->job = job;
    r->options = &lab->options;
    int status = strncmp(o->device, "replay:", 7) ? 0 : EXIT_USAGE;
    if (status) error_set(&r->failure, "a recorded space cannot be looked into: this needs a GPU");
    if (!status) status = run_meet(r);
    if (!status) status = run_prepare_job(r);
    if (!status && !(r->job_answer = worker_ask(&r->gpus[0].worker, job_request(lab, o), JOB_TIMEOUT, &r->failure))) status = EXIT_ENVIRONMENT;
    if (!status && strcmp(json_get_string(r->job_answer, "status", ""), "ok")) {
        error_set(&r->failure, "%s: %s", job->path, json_get_string(r->job_answer, "reason", "the GPU worker refuses the job"));
        status = EXIT_ENVIRONMENT;
    }
    if (status) {
        *err = r->failure;
        lab_close(lab);
        return status;
    }
    *out = lab;
    return 0;
}

void lab_close(struct lab *lab)
{
    if (!lab) return;
    for (size_t i = 0; i < lab->run.gpu_count; i++) worker_stop(&lab->run.gpus[i].worker, STOP_PATIENCE); // a tool around it may have something to write
    run_release(&lab->run);
    free(lab->device);
    free(lab->cache);
    free(lab);
}

void lab_say(const struct lab *lab, const char *text)
{
    if (lab->say) lab->say(text);
}

bool lab_counts(const struct lab *lab) { return lab->counts; }
const struct device_limits *lab_limits(const struct lab *lab) { return &lab->run.limits; }
const json_t *lab_hello(const struct lab *lab) { return lab->run.hello; }
const json_t *lab_request(const struct lab *lab) { return lab->run.job_request; }
const json_t *lab_job(const struct lab *lab) { return lab->run.job_answer; }

static int admit(struct lab *lab, const struct lab_candidate *c, struct error *err)
{
    const struct job *job = lab->run.job;
    for (size_t i = 0; i < c->launch_count; i++) {
        const struct compiled_entry *e = compiled_find(&c->compiled, job->stages[c->launches[i].stage].entry);
        if (!e || !admit_launch(&lab->run.limits, &c->launches[i].shape, e->registers, e->shared, err)) continue;
        error_prefix(err, "%s", status_name(STATUS_PRUNED));
        return 1;
    }
    return 0;
}

int lab_compile(struct lab *lab, const uint16_t *config, const json_t *defines, struct lab_candidate *c, struct error *err)
{
    struct run *r = &lab->run;
    char text[TUNE_CONFIG_TEXT];
    *c = (struct lab_candidate){0};
    space_format(r->job->space, config, text, sizeof text);
    c->config = text_copy(text);
    json_t *request = request_compile(r->job, config, r->arch, r->source_hash, r->options->cache), *extra = json_deep_copy(defines);
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
    return admit(lab, c, err);
}

void lab_candidate_release(struct lab_candidate *c)
{
    free(c->config);
    compiled_release(&c->compiled);
    json_decref(c->problems);
    free(c->launches);
    *c = (struct lab_candidate){0};
}

json_t *lab_ask(struct lab *lab, json_t *request, double seconds, struct error *err)
{
    json_t *answer = worker_ask(&lab->run.gpus[0].worker, request, seconds, err);
    if (!answer || strcmp(json_get_string(answer, "status", ""), "error")) return answer;
    error_set(err, "%s", json_get_string(answer, "reason", "the GPU worker failed"));
    json_decref(answer);
    return NULL;
}
