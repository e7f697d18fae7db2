// Private to the pool: the nodes of `--pool`. Each has an agent, which is started, greeted, and started again with
// growing delays when it was lost. A node that refuses (another program, a full disk) or that failed too often is set
// aside, and named. The list is read again now and then: nodes join, and leave. What an agent says of clocks is of no
// use to anybody.
#ifndef SWEETSPOT_POOL_NODES_H
#define SWEETSPOT_POOL_NODES_H

#include "tuner/pool/pool_slots.h"

enum node_compilers { COMPILERS_UNKNOWN, COMPILERS_GREETED, COMPILERS_GOOD, COMPILERS_REFUSED };

struct pool_node {
    struct node_spec spec;
    struct node_link link;
    bool joined;  // it has slots
    bool began;   // its agent was started, and the end of it has not been seen to
    bool listed;  // in the list when it was read last
    bool aside;   // for good
    int64_t gpus; // how many it has; 0: its first GPU's worker has not yet said
    int failures; // in a row
    double again; // when to start it
    double up;    // since when it is up
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
// Whether to wait no longer for a node with what is missing ("GPU", "compiler"), and why: there is no hope, or the
// pool's patience is over. *since: when it was first asked, 0 before.
bool pool_nodes_give_up(const struct worker_pool *, const char *missing, double *since, struct error *why);
void pool_node_disable(struct worker_pool *, size_t node, const char *why);
// A worker of a node has given another's answer, for the reason in event->why: its request is innocent. The second time
// the node is set aside. Nothing of a worker that is here: a candidate may have damaged it.
void pool_node_foreign(struct worker_pool *, size_t node, struct pool_event *);
// Whether the node cannot take the run's job: its GPU is set aside then.
bool pool_gpu_refuses_job(struct worker_pool *, size_t gpu);
// A GPU worker's hello says how many GPUs there are: the others get slots later, in pool_nodes_serve.
void pool_node_count_gpus(struct worker_pool *, size_t gpu, const json_t *hello);
// A compiler has said what it is. Whether it compiles as the first one does.
bool pool_node_greeted(struct worker_pool *, size_t node, const json_t *hello);
// It did not say it. It is asked again, or refused.
void pool_node_not_greeted(struct worker_pool *, size_t node, const char *why);
// Whether a GPU is of the model that the user wants. It is set aside otherwise.
bool pool_gpu_is_wanted(struct worker_pool *, size_t gpu, const json_t *hello);
// Another slot whose worker runs on the GPU that this one's hello names, or NULL: two on one GPU slow each other down.
const struct pool_slot *pool_gpu_twin(const struct worker_pool *, size_t gpu, const json_t *hello);
// Whether a GPU of a node is of another kind than the first one, has another driver, or is in the run already. It is
// set aside then.
bool pool_gpu_differs(struct worker_pool *, size_t gpu, const json_t *hello);
// Seconds that a run waits for a GPU when it has none.
double pool_timeout(void);

#endif
