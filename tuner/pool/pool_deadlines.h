// Private to the pool: time that does not count for deadlines.
#ifndef SWEETSPOT_POOL_DEADLINES_H
#define SWEETSPOT_POOL_DEADLINES_H

#include "tuner/pool/worker_pool.h"

// Looks for workers that are stopped (SIGSTOP), now and then.
void pool_poll_stops(struct worker_pool *, double now);
// The driver was suspended for so long.
void pool_allow_for_pause(struct worker_pool *, double seconds);

#endif
