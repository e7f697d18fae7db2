// Which of the device's ceilings a job needs, and the store's document of those that are known: what "ceilings"
// (protocol.h) answered, and
//   "pipes":["fp32 fma",..],"lasting_pipes":["wgmma bf16"]    those that were requested, whether or not the device has
//   them
#ifndef SWEETSPOT_JOB_CEILINGS_H
#define SWEETSPOT_JOB_CEILINGS_H

#include "tuner/base/json.h"
#include "tuner/job/job.h"

// The request for what is missing in a document (NULL: there is none); NULL when nothing is. A job whose pipe is
// unknown needs all that any job has, for some milliseconds each; others their own pipe, at the clock that lasts, and
// memory.
json_t *job_ceilings_request(const struct job *, const json_t *known);
// The document after an answer to the request. New reference; `known` may be NULL.
json_t *job_ceilings_merge(const json_t *known, const json_t *request, const json_t *answer);
// The macros that kernels/ceilings.cu is compiled with. New reference.
json_t *job_ceilings_defines(const struct job *);

#endif
