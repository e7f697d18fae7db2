// Files that requests name, for nodes that cannot see the driver's files. The files that a request needs are sent ahead
// of it, once per node, and identified by content. In the request, the driver's paths are replaced by the node's. A
// table in node_files.c lists the members that are paths.
#pragma once

#include "tuner/pool/node_link.h"

// Sends the request's files and returns the request with the node's paths (takes a reference, returns one). A file that
// cannot be read keeps its path, and the worker reports the error.
json_t *node_files_place(struct node_link *, json_t *request);
// Sends one file, for a command line, and returns its path on the node, malloc'ed.
char *node_files_path(struct node_link *, const char *path);
// Answers name files of the node. Their content goes to other nodes, so a node must not be able to name arbitrary files
// of the driver's machine. A node that sends files may name only the files that it has sent, whose paths are replaced
// by the paths on this machine. A node that sees the driver's files may name only files in the compile cache. Returns
// -1 with a message if the answer names another file.
int node_files_found(struct node_link *, json_t *answer, struct error *why);
// Whether a node (NULL: the driver's own machine) cannot carry out a request of kind "job", and why. The only reason is
// a reference's command: it names programs and data on the driver's machine, which cannot be sent.
bool node_files_refuse(const struct node_link *, const json_t *job, struct error *why);
