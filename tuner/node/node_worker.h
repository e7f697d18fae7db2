// A worker of the agent's: a child process, whose bytes are carried as frames of its channel.
#pragma once

#include "tuner/base/child_process.h"
#include "tuner/node/node_message.h"

struct node_worker {
    uint32_t channel;
    struct child child;
    bool lines;              // its stdout is handed out line by line, because files that lines name go before them
    bool end_input;          // close its stdin when all is written
    bool stopped;            // as it was reported
    bool ended;              // all is reported
    bool dying;              // killed, but not yet reaped: its output is ignored
    double closed_at;        // when it closed its stdout; 0: not yet
    struct byte_queue input; // for its stdin
    struct byte_queue line;  // of its stdout: begun
    bool passing;            // the line is too long to be looked into
};

// Gets a line, without its newline, before it is carried.
typedef void node_line_visitor(void *user, const char *line);

// Starts the program that argv[0] names ("sweetspot-gpu"): where an environment variable says, or next to the agent.
int node_worker_start(struct node_worker *, uint32_t channel, const struct node_start *, const char *folder,
                      struct error *);
// Reads and writes what is possible, and carries it. When the process has ended, FRAME_EXIT is carried, and `ended` is
// set.
void node_worker_io(struct node_worker *, struct frame_writer *, bool reads, double now, node_line_visitor *,
                    void *user);
// Carries FRAME_STATE where the process was stopped or continued.
void node_worker_check(struct node_worker *, struct frame_writer *);
// Kills it and its group, without waiting: a process in a driver may take long to go. `ended` follows.
void node_worker_kill(struct node_worker *);
void node_worker_release(struct node_worker *); // kills it, and waits
