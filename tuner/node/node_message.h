// The greeting of an agent, and the messages between driver and agent (node_frame.h). Each message is a struct, with
// one table that writes, reads and checks it.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/record.h"
#include "tuner/node/node_frame.h"

// The greeting of an agent, which describes the agent and its node: one line with a word that occurs in no banner, the
// protocol's version, and an object.
//
//     sweetspot-node 1 {"version":"1.0.0","program":"<hash of all programs>","host":"gpu07","cores":32}
#define NODE_GREETING "sweetspot-node "
enum { NODE_PROTOCOL = 1, NODE_MOST_CORES = 4096 };

struct node_identity {
    const char *version, *program, *host;
    int64_t cores;
};

// This node's greeting, without a newline. malloc'ed.
char *node_identity_line(void);
// Reads such a line. Returns -1 with a message if it is not a greeting, if the version of the protocol or of any
// program differs, or if the number of cores is impossible. `node` is for the message.
int node_identity_read(const char *line, const char *node, struct node_identity *, struct arena *, struct error *);
// The hash of the programs that run on nodes, from the files next to this program.
void node_identity_programs(char hash[HASH_TEXT_SIZE]);

struct node_probe {
    const char *path, *hash;
};

union node_message {
    struct node_welcome {
        const char *folder; // the driver's working directory
        const struct record_named_text *env;
        const struct node_probe *probes; // files by which the agent proves that it sees the driver's files
        size_t env_count, probe_count;
        double heartbeat, timeout; // s between heartbeats; s of silence after which the agent ends. NaN: default
    } welcome;
    struct node_start {
        const char *const *argv;
        size_t argv_count;
    } start;
    struct node_ready {
        bool shared;             // the agent sees the driver's files
        const char *cache;       // the agent's folder for files
        const char *const *have; // names of files in it
        size_t have_count;
    } ready;
    struct node_exit {
        int status; // from waitpid
        bool killed;
    } exit;
    struct node_state {
        bool stopped;
    } state;
    struct node_trouble {
        const char *reason;
    } trouble;
    struct node_file {
        const char *name, *path; // only one is given; name: below the node's cache; path: anywhere on the node
        const char *hash;
        int64_t size; // -1: unknown
    } file;
};

// Queues the message of this type, which is one of the structs above.
void node_message_put(struct frame_writer *, enum frame_type, uint32_t channel, const void *message);
// Reads a frame's message. Does nothing if the type has no message. Returns -1 with an error if it is malformed.
int node_message_read(const struct frame *, union node_message *, struct arena *, struct error *);
