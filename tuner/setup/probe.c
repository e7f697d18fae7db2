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
    json_object_del(answer, "protocol"); // callers do not need it
    worker_stop(&w, 2);
    return wrong ? NULL : json_incref(answer);
}

// The GPU worker's answer. It must have `member`, or a reason why `member` is missing.
static json_t *ask_gpu(char *device, json_t *request, const char *member, const char *why, struct error *err)
{
    autojson json_t *answer = ask_new("SWEETSPOT_GPU_WORKER", "sweetspot-gpu", device, request, err);
    if (!answer || json_object_get(answer, member)) return json_incref(answer);
    error_set(err, "%s", answer_reason(answer, why));
    return NULL;
}

static json_t *ask_gpu_number(int index, const char *op, struct error *err)
{
    char device[16];
    snprintf(device, sizeof device, "%d", index);
    return ask_gpu(device, json_pack("{s:s}", "op", op), "device", "the GPU worker does not report its device", err);
}

json_t *probe_gpu(int index, struct error *err)
{
    return ask_gpu_number(index, "hello", err);
}

json_t *probe_metrics(const char *chip, struct error *err)
{
    return ask_gpu(NULL, json_pack("{s:s, s:s}", "op", "metrics", "chip", chip), "metrics",
                   "the GPU worker does not report its metrics", err);
}

json_t *probe_compiler(json_t *request, struct error *err)
{
    return ask_new("SWEETSPOT_COMPILE_WORKER", "sweetspot-compile", NULL, request, err);
}

// A worker's hello, empty if the worker cannot work. The hello is kept, because a command may show many jobs.
static const json_t *known_worker(int gpu, const char *compiler)
{
    static json_t *known;
    struct error err;
    autofree char *name = compiler ? text_copy(compiler) : text_format("%d", gpu);
    if (!known) known = json_object();
    if (!json_object_get(known, name)) {
        json_t *said = compiler ? probe_compiler(json_pack("{s:s, s:s}", "op", "hello", "compiler", compiler), &err)
                                : ask_gpu_number(gpu, "identify", &err);
        json_object_set_new(known, name, said ? said : json_object());
    }
    return json_object_get(known, name);
}

const char *probe_compiler_version(const char *compiler)
{
    return json_get_string(known_worker(0, compiler), "compiler", "");
}

struct environment probe_environment(int index, const char *compiler)
{
    const json_t *gpu = json_object_get(known_worker(index, NULL), "device");
    if (!gpu) return (struct environment){0};
    return (struct environment){.device = json_get_string(gpu, "name", ""),
                                .driver = json_get_string(gpu, "driver", ""),
                                .compiler = probe_compiler_version(compiler)};
}
