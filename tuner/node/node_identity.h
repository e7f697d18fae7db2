// The greeting of an agent, which describes it and its node: one line that begins with a word which no banner
// has, then the protocol's version and an object.
//
//     sweetspot-node 1 {"version":"0.1","program":"<hash of all programs>","host":"gpu07","cores":32}
#ifndef SWEETSPOT_NODE_IDENTITY_H
#define SWEETSPOT_NODE_IDENTITY_H

#include "tuner/base/hash.h"
#include "tuner/base/record.h"

#define NODE_GREETING "sweetspot-node "
enum { NODE_PROTOCOL = 1, NODE_MOST_CORES = 4096 };

struct node_identity {
    const char *version, *program, *host;
    int64_t cores;
};

// The line of this node, without a newline. malloc'ed.
char *node_identity_line(void);
// Reads such a line. -1 with a message where it is not one, of another version of the protocol, the program or its
// programs, or with impossible cores. `node` is for the message.
int node_identity_read(const char *line, const char *node, struct node_identity *, struct arena *, struct error *);
// The hash of the programs that run on nodes, as they lie next to this one.
void node_identity_programs(char hash[HASH_TEXT_SIZE]);

#endif
