// A worker of the agent: a child process, whose bytes are forwarded as frames of its channel.
#pragma once

#include "tuner/base/child_process.h"
#include "tuner/node/node_message.h"

struct node_worker {
    uint32_t channel;
    struct child child;
    bool lines;              // forward its stdout line by line, because files that a line names are sent first
    bool end_input;          // close its stdin when all input is written
    bool stopped;            // stopped, as last reported
    bool ended;              // everything is reported
    bool dying;              // killed but not yet reaped; its output is ignored
    double closed_at;        // when it closed its stdout; 0: not yet
    struct byte_queue input; // for its stdin
    struct byte_queue line;  // incomplete line of its stdout
    bool passing;            // the line is too long to be examined
};

// Gets a line, without its newline, before it is forwarded.
typedef void node_line_visitor(void *user, const char *line);

// Starts the program that argv[0] names ("sweetspot-gpu"), from the path in an environment variable or next to the
// agent.
int node_worker_start(struct node_worker *, uint32_t channel, const struct node_start *, const char *folder,
                      struct error *);
// Reads and writes without blocking, and forwards the output. When the process has ended, sends FRAME_EXIT and sets
// `ended`.
void node_worker_io(struct node_worker *, struct frame_writer *, bool reads, double now, node_line_visitor *,
                    void *user);
// Sends FRAME_STATE if the process was stopped or continued.
void node_worker_check(struct node_worker *, struct frame_writer *);
// Kills the worker and its group, without waiting, because a process inside a device driver may take a long time to
// end. `ended` is set later.
void node_worker_kill(struct node_worker *);
void node_worker_release(struct node_worker *); // kills it and waits
