// See probe.h.
#include "tuner/setup/probe.h"

#include "tuner/base/installation.h"
#include "tuner/pool/worker.h"
#include "tuner/protocol/message.h"

enum { PROBE_TIMEOUT = 120 };

static json_t *ask_new(const char *variable, const char *program, char *device, json_t *request, struct error *err)
{
    autorelease(worker_release) struct worker w = WORKER_NONE;
    autofree char *path = installation_worker(variable, program);
    char *argv[] = {path, device ? "--device" : NULL, device, NULL};
    autojson json_t *answer = NULL;
    bool greets = !strcmp(json_get_string(request, "op", ""), "hello");
    if (worker_start(&w, program, argv, err))
        json_decref(request);
    else
        answer = worker_ask(&w, request, PROBE_TIMEOUT, err);
    bool wrong = answer && greets && greeting_check(answer, err);
    if (wrong) error_prefix(err, "%s", path);
    json_object_del(answer, "protocol"); // of no use to others
    worker_stop(&w, 2);
    return wrong ? NULL : json_incref(answer);
}

// The GPU worker's answer, which has `member` unless it says why not.
static json_t *ask_gpu(char *device, json_t *request, const char *member, const char *why, struct error *err)
{
    autojson json_t *answer = ask_new("SWEETSPOT_GPU_WORKER", "sweetspot-gpu", device, request, err);
    if (!answer || json_object_get(answer, member)) return json_incref(answer);
    error_set(err, "%s", answer_reason(answer, why));
    return NULL;
}

json_t *probe_gpu(int index, struct error *err)
{
    char device[16];
    snprintf(device, sizeof device, "%d", index);
    return ask_gpu(device, json_pack("{s:s}", "op", "hello"), "device",
                   "the GPU worker does not say which device it has", err);
}

json_t *probe_metrics(const char *chip, struct error *err)
{
    return ask_gpu(NULL, json_pack("{s:s, s:s}", "op", "metrics", "chip", chip), "metrics",
                   "the GPU worker does not know its metrics", err);
}

json_t *probe_compiler(json_t *request, struct error *err)
{
    return ask_new("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile", NULL, request, err);
}
