// Turns `--pool` into a list of nodes. For each node, the list says how the agent is started, which GPUs the node has,
// and how many of its cores compile.
//
//     local  local:0,1        this machine, through an agent
//     ssh:host1,host2
//     slurm  slurm:4711       the nodes of this allocation, or of others: srun starts a step for each
//     nodes.cfg               a file of nodes in libconfig's syntax, with a command each (docs/cluster.md):
//
//     nodes = (
//       { name = "gpu01"; command = "ssh gpu01"; gpus = [0, 1]; cores = 32; },
//       { name = "old";   command = "srun --jobid=4711 --nodelist=n7 --overlap"; },     // all that it has
//       { name = "box";   command = "docker exec -i box"; count = 2; gpus = 4; program = "/opt/sweetspot-node"; }
//     );
//
// Several items are separated by commas. A list of nodes can be read again during a run, because files and allocations
// change.
#pragma once

#include "tuner/base/base.h"

struct node_spec {
    char *name;               // unique in the list
    struct text_list command; // the agent is its last word or words
    bool gpus_known;          // otherwise its first GPU worker reports their number
    struct text_list gpus;    // as for `sweetspot-gpu --device`
    int64_t cores;            // number of cores that compile; -1: all
};

struct node_specs {
    size_t count;
    struct node_spec *list;
};

struct pool_request {
    size_t text_count;
    const char *const *texts; // as given, one for each --pool
    const char *cache;        // the agent's folder; NULL: its default
    const char *model;        // only GPUs whose name contains this, ignoring case; NULL: the first GPU's model
};

// Returns -1 with a message, which names the line if the error is in a file. Always release the result.
int node_specs_read(struct node_specs *, const struct pool_request *, struct error *);
void node_spec_release(struct node_spec *);
void node_specs_release(struct node_specs *);

// The count that a list such as SLURM_JOB_CPUS_PER_NODE ("32(x2),16") gives for a node; 0 if it gives none.
long pool_slurm_count(const char *list, size_t node);
