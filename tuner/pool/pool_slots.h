// Private to the pool: its slots, how their workers are started, which times deadlines leave out, and its nodes.
#pragma once

#include "tuner/base/limits.h"
#include "tuner/pool/worker_pool.h"

// A worker may fail three times in a row to become ready. If it was killed from outside, the machine may still be fine,
// so this counts less.
enum { POOL_HELLO_TIMEOUT = 120, POOL_FAILED_STARTS = 3 * ENDED_MOST };
static inline int pool_start_weight(bool outside)
{
    return outside ? 1 : ENDED_MOST;
}

// Adds a slot. Takes ownership of the strings.
void pool_add_gpu(struct worker_pool *, size_t node, char *name, char *device);
void pool_add_compiler(struct worker_pool *, size_t node, char *name);
// Whether some slot compiles, or may do so after its greeting.
bool pool_has_compiler(const struct worker_pool *);
size_t pool_first_compiler(const struct worker_pool *); // the first of these; compiler_count: there is none
// Starts a slot's worker. A GPU worker is sent hello, and the rest of its set-up follows from its answer. Returns -1
// with a message on failure.
int slot_start(struct worker_pool *, struct pool_slot *, struct error *);
// The first request to every compiler.
json_t *pool_compiler_hello(const struct worker_pool *);
void slot_set_uuid(struct pool_slot *, const json_t *device);
void slot_forget_head(struct pool_slot *); // removes the head of its queue
void pool_release_slots(struct worker_pool *);
// Returns the exit status, and writes the message, for a worker that refuses its set-up because of the machine or the
// job.
int pool_refusal(const json_t *answer, struct error *);
// Returns whether an answer reports that a user program, one of the job's baselines, crashed the worker. If so, workers
// that are set up from now on do not call this baseline.
bool pool_give_up_baseline(struct worker_pool *, const json_t *answer);
// Keeps the first worker's findings about libraries: their fastest algorithms, and which libraries are not available.
// Workers that are set up from now on do not search for them again.
void pool_keep_libraries(struct worker_pool *, const json_t *answer);
// Writes a line for the user (`shown`) or only for the log.
void pool_report(const struct pool_settings *, bool shown, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The next event of one worker.
bool pool_next_of(struct worker_pool *, struct pool_slot *, double now, struct pool_event *);
// Polls for stopped workers (SIGSTOP), if that is due.
void pool_poll_stops(struct worker_pool *, double now);

// The nodes of `--pool`. Each has an agent, which is started, greeted, and restarted with increasing delays after it
// was lost. A node that refuses (a different program version, a full disk) or that failed too often is reported and
// disabled. The list is read again periodically, so nodes can join and leave. An agent's clock is never used.
enum node_compilers { COMPILERS_UNKNOWN, COMPILERS_GREETED, COMPILERS_GOOD, COMPILERS_REFUSED };

struct pool_node {
    struct node_spec spec;
    struct node_link link;
    bool joined;   // it has slots
    bool began;    // its agent was started, and the agent's end has not been processed yet
    bool listed;   // it was in the list when the list was last read
    bool disabled; // for good
    int64_t gpus;  // number of GPUs; 0: its first GPU's worker has not reported it yet
    int failures;  // number of failures in a row
    double again;  // when to start it
    double up;     // when it came up
    enum node_compilers compilers;
    int greetings; // number of failed greetings of its compilers
    int foreign;   // number of answers to requests that its workers were not given
};

// Reads the list and starts all nodes. Returns -1 with a message on failure.
int pool_nodes_open(struct worker_pool *, struct error *);
void pool_nodes_release(struct worker_pool *); // after the slots
// Handles all changes; must be called often. Slots may be added.
void pool_nodes_serve(struct worker_pool *);
// Whether no node of the list has a GPU for the run, or no node has a compiler. `why` lists all reasons.
bool pool_nodes_unusable(const struct worker_pool *, struct error *why);
// Whether to stop waiting for a node that has a "GPU" or a "compiler" (`missing`), and why: no node can have one, or
// the pool's timeout has passed. *since holds the time of the first call, and must be 0 before that call.
bool pool_nodes_give_up(const struct worker_pool *, const char *missing, double *since, struct error *why);
void pool_node_disable(struct worker_pool *, size_t node, const char *why);
// Call if a worker has answered a request that it was not given (event->why has the details). If the worker is on a
// node, the request that it was given may be retried, and the second such answer disables the node. Nothing is done
// about a local worker, because a candidate may have damaged it.
void pool_node_foreign(struct worker_pool *, size_t node, struct pool_event *);
// Returns whether the GPU's node cannot carry out the run's job. If so, disables the GPU.
bool pool_gpu_refuses_job(struct worker_pool *, size_t gpu);
// Reads the node's number of GPUs from a GPU worker's hello. The other GPUs get slots later, in pool_nodes_serve.
void pool_node_count_gpus(struct worker_pool *, size_t gpu, const json_t *hello);
// Call when a compiler has sent its greeting. Its node compiles if this compiler is the same as the first one.
void pool_node_greeted(struct worker_pool *, size_t node, const json_t *hello);
// Call when the greeting failed. It is tried again, or the node's compilers are refused.
void pool_node_not_greeted(struct worker_pool *, size_t node, const char *why);
// Another slot whose worker runs on the GPU that this hello names; NULL if there is none. Two workers on one GPU slow
// each other down.
const struct pool_slot *pool_gpu_twin(const struct worker_pool *, size_t gpu, const json_t *hello);
// Disables the GPU if it cannot be used, and returns whether it did so. A GPU cannot be used if it is not the model
// that the user wants. On a node, it also cannot be used if its model or driver differs from the first GPU's, or if it
// takes part in the run already.
bool pool_gpu_differs(struct worker_pool *, size_t gpu, const json_t *hello);
// Seconds that a run waits for a GPU when it has none.
double pool_timeout(void);
