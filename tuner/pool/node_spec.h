// Making the list of nodes: used by each kind of `--pool` (pool_spec.h).
#ifndef SWEETSPOT_NODE_SPEC_H
#define SWEETSPOT_NODE_SPEC_H

#include "tuner/base/base.h"

struct node_spec {
    char *name;      // unique in the list
    char **command;  // NULL-terminated; the agent is its last word or words
    bool gpus_known; // else its first GPU worker says how many there are
    size_t gpu_count;
    char **gpus;   // as for `sweetspot-gpu --device`
    int64_t cores; // that compile; -1: as many as it has
};

struct node_specs {
    size_t count;
    struct node_spec *list;
};

struct pool_request {
    size_t text_count;
    const char *const *texts; // as given, one for each --pool
    const char *cache;        // its folder there; NULL: its own choice
    const char *model;        // only GPUs with this in their name, in any case; NULL: of the first one's
};

// Adds a node (takes the name). Of a name that is there already, the next gets a number behind it.
struct node_spec *node_specs_add(struct node_specs *, char *name);
void node_spec_add_gpu(struct node_spec *, char *device); // takes it
// Words at the end of the command, NULL behind them; and the agent with its options. `program`: its path
// there; NULL: as here, or the environment's.
void node_spec_add(struct node_spec *, ...) __attribute__((sentinel));
void node_spec_agent(struct node_spec *, const struct pool_request *, const char *program, bool is_private);
void node_spec_release(struct node_spec *);
void node_specs_release(struct node_specs *);

#endif
