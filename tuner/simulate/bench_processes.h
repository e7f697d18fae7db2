// Distributes independent runs over forked processes through a counter in shared memory, so the code of a run need not
// be thread-safe. A run gives the same result in any process. Results also come back through shared memory.
#ifndef SWEETSPOT_BENCH_PROCESSES_H
#define SWEETSPOT_BENCH_PROCESSES_H

#include "tuner/base/base.h"

enum { BENCH_MAX_PROCESSES = 512 };

struct bench_processes {
    int64_t processes; // 0: one per core
    bool progress;     // on stderr
    size_t runs;
    // Run number `run`; it writes its results to memory of bench_shared. -1 with a message.
    int (*one)(void *user, size_t run, struct error *);
    void *user;
};

// -1 with the message of the first run that failed, or of a process that died.
int bench_deal(const struct bench_processes *, struct error *);

// Zeroed memory that the processes share; NULL with a message. bench_unshare releases it.
void *bench_shared(size_t bytes, struct error *);
void bench_unshare(void *, size_t bytes);

#endif
