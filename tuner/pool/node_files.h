// The files that requests name, on nodes that do not see the driver's: the files that a request needs are sent before
// it, once a node, known by its content, and the request gets the node's paths. Which members are paths is a table
// here.
#pragma once

#include "tuner/pool/node_link.h"

// The request with the node's paths (takes the reference, returns one). A file that cannot be read keeps its path, and
// the worker reports the error.
json_t *node_files_place(struct node_link *, json_t *request);
// One file, for a command line. malloc'ed.
char *node_files_path(struct node_link *, const char *path);
// Answers name files of the node. Their bytes go to other nodes, so a node must not choose any file of the driver's:
// one that sends files may name those that it has sent, which get their paths here, and one that sees the driver's
// files may name those in the compile cache. -1 with a message if the answer names another.
int node_files_found(struct node_link *, json_t *answer, struct error *why);
// Whether a node (NULL: the driver's own machine) cannot carry out a request of kind "job", and why: a reference's
// command names programs and data of the driver's machine, which cannot be sent.
bool node_files_refuse(const struct node_link *, const json_t *job, struct error *why);
