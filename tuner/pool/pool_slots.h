// Private to the pool: its slots, starting what is in them, time that does not count for deadlines, and its nodes.
#pragma once

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
int slot_start(struct worker_pool *, struct pool_slot *, struct error *);
// The first request to every compiler.
json_t *pool_compiler_hello(const struct worker_pool *);
void slot_set_uuid(struct pool_slot *, const json_t *device);
void slot_forget_head(struct pool_slot *); // of its queue
void pool_release_slots(struct worker_pool *);
// The exit status and the message of a worker that refuses its set-up: it blames the machine or the job.
int pool_refusal(const json_t *answer, struct error *);
// Whether an answer says that one of the job's baselines, a program, has crashed its worker. Then workers that are set
// up from now on do not call it.
bool pool_give_up_baseline(struct worker_pool *, const json_t *answer);
// What the first worker has found out of libraries: which of their ways are the fastest, and which are not available.
// Workers that are set up from now on do not look again.
void pool_keep_libraries(struct worker_pool *, const json_t *answer);
// A line for the user (`shown`) or only for the log.
void pool_report(const struct pool_settings *, bool shown, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The next event of one worker.
bool pool_next_of(struct worker_pool *, struct pool_slot *, double now, struct pool_event *);
// Looks for workers that are stopped (SIGSTOP), now and then.
void pool_poll_stops(struct worker_pool *, double now);

// The nodes of `--pool`. Each has an agent, which is started, greeted, and started again with growing delays when it
// was lost. A node that refuses (another program, a full disk) or that failed too often is disabled, and named. The
// list is read again now and then: nodes join, and leave. An agent's clock is never used.
enum node_compilers { COMPILERS_UNKNOWN, COMPILERS_GREETED, COMPILERS_GOOD, COMPILERS_REFUSED };

struct pool_node {
    struct node_spec spec;
    struct node_link link;
    bool joined;   // it has slots
    bool began;    // its agent was started, and its end was not processed yet
    bool listed;   // in the list when it was read last
    bool disabled; // for good
    int64_t gpus;  // how many it has; 0: its first GPU's worker has not yet said
    int failures;  // in a row
    double again;  // when to start it
    double up;     // since when it is up
    enum node_compilers compilers;
    int greetings; // of its compilers that failed
    int foreign;   // answers of its workers that were another request's
};

// Reads the list and starts all. -1 with a message.
int pool_nodes_open(struct worker_pool *, struct error *);
void pool_nodes_release(struct worker_pool *); // after the slots
// Sees to what has changed: to be called often. Slots may be added.
void pool_nodes_serve(struct worker_pool *);
// Whether no node of the list has a GPU for the run, or none a compiler, with all reasons.
bool pool_nodes_unusable(const struct worker_pool *, struct error *why);
// Whether to wait no longer for a node with what is missing ("GPU", "compiler"), and why: no node can have it, or the
// pool's timeout is over. *since: when it was first asked, 0 before.
bool pool_nodes_give_up(const struct worker_pool *, const char *missing, double *since, struct error *why);
void pool_node_disable(struct worker_pool *, size_t node, const char *why);
// A worker of a node has answered a request of another worker, as event->why says: its own request may be retried. The
// second time the node is disabled. A worker that is here is left alone: a candidate may have damaged it.
void pool_node_foreign(struct worker_pool *, size_t node, struct pool_event *);
// Whether the node cannot take the run's job: its GPU is disabled then.
bool pool_gpu_refuses_job(struct worker_pool *, size_t gpu);
// A GPU worker's hello says how many GPUs there are: the others get slots later, in pool_nodes_serve.
void pool_node_count_gpus(struct worker_pool *, size_t gpu, const json_t *hello);
// A compiler has said what it is. The node compiles if it is as the first one.
void pool_node_greeted(struct worker_pool *, size_t node, const json_t *hello);
// It did not say it. It is asked again, or refused.
void pool_node_not_greeted(struct worker_pool *, size_t node, const char *why);
// Another slot whose worker runs on the GPU that this one's hello names, or NULL: two on one GPU slow each other down.
const struct pool_slot *pool_gpu_twin(const struct worker_pool *, size_t gpu, const json_t *hello);
// Whether a GPU is not of the model that the user wants, or one of a node is of another kind than the first one, has
// another driver, or is in the run already. It is disabled then.
bool pool_gpu_differs(struct worker_pool *, size_t gpu, const json_t *hello);
// Seconds that a run waits for a GPU when it has none.
double pool_timeout(void);
