// The parts of a job's request that files of their own make: private to request*.c.
#ifndef SWEETSPOT_REQUEST_PARTS_H
#define SWEETSPOT_REQUEST_PARTS_H

#include "tuner/setup/request.h"

// The "buffers" of a problem whose names have these values. NULL with a message.
json_t *request_buffers(const struct job *, const struct problem *, const int64_t *values, struct error *);
// The "problems" of a kernel that is no candidate, or of a function in `library`. NULL with a message.
json_t *request_own_problems(const struct job *, const struct implementation *, const struct compiled *,
                             const char *library, struct error *);
// What the job calls a role of the reference's operation.
const char *request_bound_name(const struct job *, const char *role);
// An implementation as GPU workers get it; `answer` is the compiler's, NULL where it was not asked. NULL with a
// message.
json_t *request_describe(const struct job *, const struct implementation *, const json_t *answer, struct error *);

#endif
