// The driver's end of the pipe to a node's agent (tuner/node). The agent is started by a command prefix, and messages
// are frames. Workers of the node are channels of the link. A link that is silent for too long, or whose pipe ends, is
// down, and all its channels are lost at once. Its owner decides whether to restart it.
#pragma once

#include "tuner/base/child_process.h"
#include "tuner/node/node_file.h"

enum { NODE_OUTPUT_MOST = 256 << 20 }; // bytes of incomplete lines from all workers of a node

// Shared by all links of a run.
struct node_link_settings {
    double heartbeat, timeout, greeting; // s between heartbeats; s of silence; s until the agent's greeting
    struct node_probe probes[2];         // files by which an agent proves that it sees the driver's files
    size_t probe_count;
    char *keep;    // folder for files that nodes send
    bool recorded; // nodes replay a recording, whose binaries are not files
    void (*report)(void *user, bool shown, const char *text);
    void *user;
};

struct node_channel {
    struct node_link *link;
    uint32_t number;
    struct byte_queue output, errors; // bytes that have arrived and were not read yet
    bool ended, killed;               // the process has ended (`status` says how); the agent had to kill it
    bool lost;                        // lost with the link
    bool stopped;
    int status;
};

enum node_link_state { LINK_DOWN, LINK_GREETING, LINK_WELCOMED, LINK_UP };

struct node_link_files {
    bool shared;     // files are used in place
    char *cache;     // the node's folder for files that are sent
    json_t *have;    // names of files on the node: name -> true
    json_t *trees;   // sources on the node: key of a compilation -> folder
    json_t *brought; // files that the node has sent: path there -> path here
    size_t unnamed;  // number of files received since an answer last named one
    struct node_arrival arrival;
    char *arriving; // the arriving file's path on the node
};

struct node_link {
    const char *name; // of the node; borrowed
    const struct node_link_settings *settings;
    enum node_link_state state;
    struct child child;
    struct byte_queue in;
    struct frame_writer out;
    double started, heard, heartbeat_at, served;
    struct node_identity identity; // the agent's description of its node, in `memory`; no cores: none yet
    struct arena memory;
    struct node_link_files files;
    struct child_output words;  // stderr of the command that starts the agent
    struct child_output banner; // output before the greeting
    size_t channel_count;
    struct node_channel **channels;
    uint32_t next_channel;
    char *why;    // why it is down
    bool refused; // restarting it is useless: a different program version, no program, a full disk
};

struct node_links {
    size_t count;
    struct node_link **list; // borrowed
};

// Runs a command whose last word is the agent. Output of argv[0] before the agent's greeting is logged and otherwise
// ignored.
int node_link_start(struct node_link *, char *const argv[], struct error *);
void node_link_io(struct node_link *);               // reads and writes without blocking, checks timeouts, sets `state`
const char *node_link_why(const struct node_link *); // why it is down
// Takes the link down, for this reason.
void node_link_stop(struct node_link *, bool refused, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Waits for the end of an agent whose pipe was closed. The agent has until `limit` (clock_now) to end its workers.
void node_link_end_wait(struct node_link *, double limit);
void node_link_release(struct node_link *);

// Starts a worker on the node; argv[0] is the name of a program. Returns NULL with a message when the link is not up.
struct node_channel *node_link_open(struct node_link *, char *const argv[], struct error *);
void node_link_close(struct node_link *, struct node_channel *); // kills the worker if it still runs
void node_channel_put(struct node_channel *, enum frame_type, const void *bytes, size_t size);

// Waits until one of the links (NULL: none) or one of the other descriptors can be read or written, and serves all
// links.
void node_links_wait(const struct node_links *, struct pollfd *others, int count, int milliseconds);
