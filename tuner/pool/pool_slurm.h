// Nodes of a Slurm allocation: a step for each, which srun starts.
#ifndef SWEETSPOT_POOL_SLURM_H
#define SWEETSPOT_POOL_SLURM_H

#include "tuner/pool/node_spec.h"

// Adds the nodes of a job (NULL: the one in which this runs). -1 with a message, which says how to get an allocation.
int pool_slurm_add(struct node_specs *, const struct pool_request *, const char *job, struct error *);
// The number of a node in a list such as SLURM_JOB_CPUS_PER_NODE, "32(x2),16"; 0 where there is none.
long pool_slurm_count(const char *list, size_t node);

#endif
