// Many independent runs, dealt out to forked processes through a counter in shared memory: what runs need not be safe
// for threads, and a run is the same whoever does it. Results come back through shared memory, too.
#ifndef SWEETSPOT_BENCH_PROCESSES_H
#define SWEETSPOT_BENCH_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/error.h"

enum { BENCH_MAX_PROCESSES = 512 };

struct bench_processes {
    int64_t processes; // 0: one a core
    bool progress;     // on stderr
    size_t runs;
    // Run number `run`; what it finds goes to memory of bench_shared. -1 with a message.
    int (*one)(void *user, size_t run, struct error *);
    void *user;
};

// -1 with the message of the first run that failed, or of a process that died.
int bench_deal(const struct bench_processes *, struct error *);

// Zeroed memory that the processes share; NULL with a message. bench_unshare releases it.
void *bench_shared(size_t bytes, struct error *);
void bench_unshare(void *, size_t bytes);

#endif
