// What `--pool` says, as a list of nodes: how each one's agent is started, which GPUs it has, how many cores compile.
//
//     local  local:0,1        this machine, by an agent
//     ssh:host1,host2
//     slurm  slurm:4711       the nodes of this allocation, or of others, by a step each
//     nodes.cfg               a file of nodes with a command each (docs/cluster.md)
//
// Several, separated by commas. A list of nodes can be read again while a run lasts: files and allocations change.
#ifndef SWEETSPOT_POOL_SPEC_H
#define SWEETSPOT_POOL_SPEC_H

#include "tuner/pool/node_spec.h"

// -1 with a message that says what is wrong, in a file with its line. Release in any case.
int node_specs_read(struct node_specs *, const struct pool_request *, struct error *);

#endif
