// Nodes from a file in libconfig's syntax: any command that starts something on a node.
#ifndef SWEETSPOT_POOL_FILE_H
#define SWEETSPOT_POOL_FILE_H

#include "tuner/pool/node_spec.h"

// -1 with the first mistake and its line.
int pool_file_add(struct node_specs *, const struct pool_request *, const char *path, struct error *);

#endif
