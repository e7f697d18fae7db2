// Private to the pool: its slots, starting what is in them, and time that does not count for deadlines.
#ifndef SWEETSPOT_POOL_SLOTS_H
#define SWEETSPOT_POOL_SLOTS_H

#include "tuner/base/limits.h"
#include "tuner/pool/worker_pool.h"

// A worker may fail three times in a row to become ready. If it was ended from outside, the machine may still be fine:
// that counts less.
enum { POOL_HELLO_TIMEOUT = 120, POOL_FAILED_STARTS = 3 * ENDED_MOST };
static inline int pool_start_weight(bool outside)
{
    return outside ? 1 : ENDED_MOST;
}

// Adds one; takes the texts.
void pool_add_gpu(struct worker_pool *, size_t node, char *name, char *device);
void pool_add_compiler(struct worker_pool *, size_t node, char *name);
// Whether one compiles, or may once it has said what it is.
bool pool_has_compiler(const struct worker_pool *);
size_t pool_first_compiler(const struct worker_pool *); // of these; compiler_count: there is none
// Starts one and sends hello to a GPU worker; the rest of its set-up follows from its answer. -1 with a message.
int pool_start_compiler(struct worker_pool *, size_t compiler, struct error *);
int pool_start_gpu(struct worker_pool *, size_t gpu, struct error *);
// What a compiler is asked before all else.
json_t *pool_compiler_hello(const struct worker_pool *);
void slot_set_uuid(struct pool_slot *, const json_t *device);
void slot_forget_head(struct pool_slot *); // of its queue
void pool_release_slots(struct worker_pool *);
// The exit status and the message of a worker that refuses its set-up: it blames the machine or the job.
int pool_refusal(const json_t *answer, struct error *);
// Whether an answer says that one of the job's baselines, a program, has crashed its worker. Then workers that are set
// up from now on do not call it.
bool pool_give_up_baseline(struct worker_pool *, const json_t *answer);
// A line to the log, or to the person who watches.
void pool_log(const struct worker_pool *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pool_say(const struct worker_pool *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// What pool_ask_compilers uses of the pool's events. As pool_wait, but answers of GPU workers are left for their
// callers.
void pool_wait_for_compilers(struct worker_pool *, int milliseconds);
bool pool_next_of_compiler(struct worker_pool *, size_t compiler, double now, struct pool_event *);
// Looks for workers that are stopped (SIGSTOP), now and then.
void pool_poll_stops(struct worker_pool *, double now);

#endif
