// The driver's end of the pipe to a node's agent (tuner/node): started by a command prefix, spoken to in frames.
// Workers of the node are channels of the link. A link that is silent for too long, or whose pipe ends, is down, and
// all its channels are lost at once. Its owner decides whether it is started again.
#pragma once

#include "tuner/base/child_process.h"
#include "tuner/node/node_file.h"

enum { NODE_OUTPUT_MOST = 256 << 20 }; // bytes from all workers of a node that wait to be a whole line

// Shared by all links of a run.
struct node_link_settings {
    double heartbeat, timeout, greeting; // s between beats, of silence, until the agent's first word
    struct node_probe probes[2];         // files by which an agent proves that it sees the driver's
    size_t probe_count;
    char *keep; // folder for files that nodes send
    void (*report)(void *user, bool shown, const char *text);
    void *user;
};

struct node_channel {
    struct node_link *link;
    uint32_t number;
    struct byte_queue output, errors; // what has arrived and was not yet taken
    bool ended, killed;               // the process has ended, `status` says how; the agent had to kill it
    bool lost;                        // with the link
    bool stopped;
    int status;
};

enum node_link_state { LINK_DOWN, LINK_GREETING, LINK_WELCOMED, LINK_UP };

struct node_link_files {
    bool shared;     // files are used in place
    char *cache;     // folder of the node for what is sent
    json_t *have;    // names of files there: name -> true
    json_t *trees;   // sources there: what was to be compiled -> folder
    json_t *brought; // files of the node that are here: path there -> path here
    size_t unnamed;  // files that came and that no answer has named since
    struct node_arrival arrival;
    char *arriving; // its path there
};

struct node_link {
    const char *name; // of the node; borrowed
    const struct node_link_settings *settings;
    enum node_link_state state;
    struct child child;
    struct byte_queue in;
    struct frame_writer out;
    double started, heard, heartbeat_at, served;
    struct node_identity identity; // what the agent says of its node, in `memory`; no cores: nothing yet
    struct arena memory;
    struct node_link_files files;
    struct child_output words;  // on stderr, of the command that starts the agent
    struct child_output banner; // before the greeting
    size_t channel_count;
    struct node_channel **channels;
    uint32_t next_channel;
    char *why;    // it is down
    bool refused; // starting it again is useless: another program, a full disk
};

struct node_links {
    size_t count;
    struct node_link **list; // borrowed
};

// Runs a command whose last word is the agent. What argv[0] writes before the agent's greeting is skipped, and logged.
int node_link_start(struct node_link *, char *const argv[], struct error *);
void node_link_io(struct node_link *); // reads and writes what is possible, keeps the time, and sets `state`
const char *node_link_why(const struct node_link *); // it is down
// Takes the link down, for this reason.
void node_link_stop(struct node_link *, bool refused, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Its agent was told to end, by the end of the pipe, and has until `limit` (clock_now) to end its workers.
void node_link_end_wait(struct node_link *, double limit);
void node_link_release(struct node_link *);

// A worker there, of which argv[0] is a name. NULL with a message when the link is not up.
struct node_channel *node_link_open(struct node_link *, char *const argv[], struct error *);
void node_link_close(struct node_link *, struct node_channel *); // kills the worker if there still is one
void node_channel_put(struct node_channel *, enum frame_type, const void *bytes, size_t size);

// Waits until one of them, or of the others' descriptors, can be read or written, and serves all links (NULL: there is
// none).
void node_links_wait(const struct node_links *, struct pollfd *others, int count, int milliseconds);
