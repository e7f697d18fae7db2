// Measures everything about one candidate, or a baseline, on one problem. The result is the profile, a JSON document
// for reports and rules (tuner/explain/profile.h). It contains measurements without judgements.
//
//   {"name":"trial 17","config":"BLOCK_M=..","problem":"M=2048,..","status":"ok","reason":"",
//    "time":..s,"low":..,"high":..,"clock_mhz":..,"flops":..,"bytes":..,
//    "pipe":"fp32 fma" or null,"operations":..of the pipe, or null if unknown,
//    "device":{as in hello, and "compute"},"ceilings":{..} or null,
//    "stages":[{"name":"gemm_simt","launch":{"grid":[..],"block":[..],"cluster":[..]},
//               "facts":{"registers":..,"spill_loads":..,"spill_stores":..,"shared_static":..,
//                        "shared_dynamic":..,"stack":..,"code_bytes":..,
//                        "threads":..,"blocks":..,"blocks_per_sm":..,"occupancy":0..1,"waves":..,
//                        "limit_registers":..,"limit_shared":..,"limit_warps":..,"limit_blocks":..,
//                        "schedulers":..,"scheduler_warps":..},
//               "counters":{"icache_misses":..},"totals":{..},"lines":[..as in the worker's "profile"..]}],
//    "notes":["what could not be measured, and why"],"seconds":{"compile":..,"trial":..,"count":..,"lines":..}}
#pragma once

#include <stdbool.h>

#include "tuner/setup/single_run.h"

// Whether the candidate ran and can be explained: ok, slow, nondeterministic or implausible.
bool explain_worked(const json_t *profile);

// Returns a new document. Its "status" is the trial's. If a trial with this status cannot be explained, the only other
// member is "reason". Returns NULL with a message if a worker failed. `variant` 0 is the candidate itself. Any other
// variant is compiled with SWEETSPOT_VARIANT=variant and is never verified. If more than `blocks_per_sm` blocks of the
// first stage would fit on a multiprocessor (0: no limit), the candidate's shared memory is increased until no more
// than that fit.
json_t *explain_candidate(struct single_run *, const struct job *, const uint16_t *config, size_t problem,
                          const char *name, int variant, int64_t blocks_per_sm, struct error *);
// The profile of a baseline that the single run has measured: time and counters. Returns NULL with the reason if no
// baseline has that name or if it does not work.
json_t *explain_baseline(struct single_run *, const struct job *, const char *baseline, size_t problem, struct error *);

// Seconds to wait for the counters of a kernel that takes `time`: every pass launches it twice.
double explain_timeout(double time);

// The facts about one launch from the compiler and the occupancy calculator. New reference.
json_t *explain_facts(const struct device_limits *, const struct launch_shape *, int64_t registers,
                      int64_t shared_static);
