// Private to the pool: what pool_ask_compilers uses of its events.
#ifndef SWEETSPOT_POOL_ASK_H
#define SWEETSPOT_POOL_ASK_H

#include "tuner/pool/worker_pool.h"

void pool_read_compilers(struct worker_pool *); // after poll
bool pool_next_of_compiler(struct worker_pool *, size_t compiler, double now, struct pool_event *);

#endif
