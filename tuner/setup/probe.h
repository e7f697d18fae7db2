// One question to a worker that is started for it: what `doctor` and `list counters` know.
#pragma once

#include "tuner/base/error.h"
#include "tuner/base/json.h"
#include "tuner/trial/environment.h"

// The GPU worker's answer to hello. NULL with its reason when it cannot work (no driver, no device, no permission).
json_t *probe_gpu(int index, struct error *);
// What this machine measures with: name and driver of its GPU, and the version of a compiler (PROTOCOL_NVRTC); all NULL
// without that GPU. Asking disturbs no measurement on it. The workers are asked once. The texts live as long as the
// process.
struct environment probe_environment(int index, const char *compiler);
// The metrics of a chip, and our sets of them: the GPU worker's answer to "metrics", which needs no GPU. NULL with a
// message.
json_t *probe_metrics(const char *chip, struct error *);
// "nvrtc 13.0" of PROTOCOL_NVRTC, as probe_environment has it; "" if it does not work.
const char *probe_compiler_version(const char *compiler);
// The compiler's answer to a request (takes the reference).
json_t *probe_compiler(json_t *request, struct error *);
