// The parts of a job's request that files of their own make: private to request*.c.
#ifndef SWEETSPOT_REQUEST_PARTS_H
#define SWEETSPOT_REQUEST_PARTS_H

#include "tuner/setup/request.h"

// The "buffers" of a problem whose names have these values. NULL with a message.
json_t *request_buffers(const struct job *, const int64_t *values, struct error *);
// The "problems" of a kernel that is no candidate, or of a program. NULL with a message.
json_t *request_kernel_problems(const struct job *, const struct stage *, const struct compiled *, struct error *);

#endif
