// Asks one question of a worker that is started for it. `doctor` and `list counters` get their facts in this way.
#pragma once

#include "tuner/base/error.h"
#include "tuner/base/json.h"
#include "tuner/trial/environment.h"

// The GPU worker's answer to hello. Returns NULL with the worker's reason if it cannot work (no driver, no device, no
// permission).
json_t *probe_gpu(int index, struct error *);
// The environment of this machine: name and driver of its GPU, and the version of a compiler (PROTOCOL_NVRTC). All are
// NULL if there is no such GPU. Asking does not disturb measurements on the GPU. The workers are asked only once. The
// strings live as long as the process.
struct environment probe_environment(int index, const char *compiler);
// The metrics of a chip and sweetspot's sets of metrics: the GPU worker's answer to "metrics". Needs no GPU. Returns
// NULL with a message on failure.
json_t *probe_metrics(const char *chip, struct error *);
// "nvrtc 13.0" for PROTOCOL_NVRTC, as in probe_environment; "" if it does not work.
const char *probe_compiler_version(const char *compiler);
// The compiler's answer to a request (takes the reference).
json_t *probe_compiler(json_t *request, struct error *);
