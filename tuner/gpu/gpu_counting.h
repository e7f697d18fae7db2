// Hardware counters for a batch of candidates: connects counters.h, which uses CUPTI, with pipelines and problems.
// Counting has its own request, because nothing is timed while a profiler session is open.
#pragma once

#include "tuner/base/json.h"
#include "tuner/gpu/baselines.h"
#include "tuner/gpu/workload_data.h"
#include "tuner/protocol/count_message.h"

struct gpu_counting;

// Prepares to count the metric set "basic" and what `names` lists: further sets, or single metrics in CUPTI's spelling.
// Fails only when memory is exhausted, or when a name is empty. The caller closes.
int gpu_counting_open(struct gpu_counting **out, const struct machine *, const char *const *names, size_t count,
                      struct error *err);
// Whether it was opened with these names.
bool gpu_counting_is_for(const struct gpu_counting *, const char *const *names, size_t count);
void gpu_counting_close(struct gpu_counting *); // NULL is fine
// "available", "chip", "reason", "metrics" and "missing", for the answer to "hello".
json_t *gpu_counting_describe(const struct gpu_counting *);
// The first function returns the keys of the columns that gpu_counting_run() fills, in order. The second returns at
// most one string, which names the metrics that the chip lacks.
const char *const *gpu_counting_keys(const struct gpu_counting *, size_t *count, struct arena *);
const char *const *gpu_counting_missing(const struct gpu_counting *, size_t *count);
// Fills `answer`, which is cleared, and keeps what it points to in `memory`. The negative codes are those of
// gpu_trial_run().
int gpu_counting_run(struct gpu_counting *, struct workload *, struct baselines *, const struct count_request *,
                     struct count_answer *answer, struct arena *memory, struct error *err);

// The answer to "metrics": the metrics that CUPTI has for a chip, and the sets. Needs no device.
int gpu_counting_list(const char *chip, json_t *answer, struct error *err);
