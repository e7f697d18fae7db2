// sweetspot-node: the agent of a node, started by the driver through a command prefix (nothing, ssh, srun). See
// node_agent.h, and node_frame.h for what is said.
#include "tuner/base/base.h"
#include "tuner/base/installation.h"
#include "tuner/base/protocol.h"
#include "tuner/node/node_agent.h"

int main(int argc, char **argv)
{
    const char *cache = NULL;
    bool private = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--version")) {
            printf("sweetspot-node " SWEETSPOT_VERSION "\n");
            return EXIT_DONE;
        }
        if (!strcmp(argv[i], "--private")) {
            private = true;
        } else if (!strcmp(argv[i], "--cache") && i + 1 < argc) {
            cache = argv[++i];
        } else {
            fprintf(stderr, "usage: sweetspot-node [--cache FOLDER] [--private] [--version]\n"
                            "The agent of a node: `sweetspot tune --pool` starts it.\n");
            return !strcmp(argv[i], "--help") ? EXIT_DONE : EXIT_USAGE;
        }
    }
    return node_agent(cache, private);
}
