// The agent of a node: starts, watches and kills the workers of a driver that is elsewhere, carries their lines over
// one pipe, and keeps the files that they need. It ends, and all its workers with it, when the pipe ends.
#ifndef SWEETSPOT_NODE_AGENT_H
#define SWEETSPOT_NODE_AGENT_H

#include <stdbool.h>

// Speaks the protocol on stdin and stdout until stdin ends. An exit status (protocol.h). `cache`: folder for the files
// and the compile cache; NULL: $XDG_CACHE_HOME/sweetspot-node, else $TMPDIR/sweetspot-node-<uid>, else the same below
// /tmp. `private`: the driver's files are not looked for, even where they could be seen.
int node_agent(const char *cache, bool private);

#endif
