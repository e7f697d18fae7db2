// A worker process as the driver sees it: started, spoken to, one JSON object a line, killed when it misses a deadline
// or sends an invalid message, started again by its owner. Nothing a worker does can hurt the driver: its pipe is read
// without blocking, its death is an event, its messages are data.
//
// There are two ways to one: a child of the driver, started by fork and exec and spoken to over pipes, or a child of a
// node's agent, whose bytes the agent carries (node_link.h). All else is the same.
#pragma once

#include "tuner/base/byte_queue.h"
#include "tuner/base/clock.h"
#include "tuner/pool/node_link.h"

// s: a worker that stays stopped (SIGSTOP) for as long is replaced; how much too long the driver sleeps when it was
// suspended, and its workers probably with it; how often stopped workers are looked for.
enum { WORKER_LONGEST_STOP = 10, WORKER_OVERSLEPT = 2, WORKER_POLL = 1 };

// Why worker_wait came back without an answer.
enum worker_failure { WORKER_WORKS, WORKER_DIED, WORKER_LATE, WORKER_INVALID, WORKER_INTERRUPTED };

struct worker {
    const char *name;             // for messages: "gpu 0"; borrowed
    struct node_link *link;       // of the node where it runs; NULL: here
    struct node_links *links;     // all there are, which are served while one worker is waited for; NULL: none
    struct child child;           // here
    struct node_channel *channel; // there; NULL: not running
    int64_t next_id;
    struct byte_queue input;     // bytes read, the last of which may not be a whole line; a channel has its own
    struct byte_queue output;    // bytes not yet written
    struct child_output words;   // on stderr
    int exit_status;             // of waitpid, once dead
    bool killed;                 // by us
    bool lost;                   // with its node: no request of it is at fault
    enum worker_failure failure; // of the last worker_wait
    void (*chatter)(void *user, const struct worker *, const char *line); // its stderr, line by line; may be NULL
    void (*progress)(void *user, const struct worker *, const char *what,
                     double share); // what worker_wait hears while it waits; may be NULL
    void *chatter_user;             // of both
};

#define WORKER_NONE ((struct worker){.child = CHILD_NONE})

// Starts argv[0] (NULL-terminated argv): a path; on a node the name of one of our programs.
int worker_start(struct worker *, const char *name, char *const argv[], struct error *);
bool worker_running(const struct worker *);

// Queues a request (takes the reference), gives it the next id, which is returned. Written when the pipe takes it.
int64_t worker_send(struct worker *, json_t *request);

// poll(2) entries of this worker (at most CHILD_POLLED); returns how many were filled. None of one on a node: its link
// has them.
int worker_poll(const struct worker *, struct pollfd *);
// After poll, where there is something to read or write: does what is possible. *at is at the worker's entries of the
// poll, and then after them. 0; or -1 when the worker is dead or has closed its end (message says how it died; it is
// reaped and its pipes are closed). Lines that arrived before are still handed out by worker_receive.
int worker_polled(struct worker *, const struct pollfd **at, struct error *);
// The next whole answer: 1 with a new reference in *answer; 0 none yet; -1 the line is not a JSON object (message
// quotes it).
int worker_receive(struct worker *, json_t **answer, struct error *);

// Whether another process ended the worker: a signal that no kernel or template raises in it (the system's when memory
// is short, a batch system's, a person's). Once worker_polled has found it dead.
bool worker_ended_from_outside(const struct worker *);
// Whether the process is stopped (SIGSTOP) at this moment.
bool worker_stopped(const struct worker *);

// SIGKILL for its process group, reap, close. Afterwards not running; worker_start may be called again.
void worker_kill(struct worker *);
// Closes stdin and gives it `seconds` to end by itself before it is killed.
void worker_stop(struct worker *, double seconds);
void worker_release(struct worker *); // kills, frees

// A blocking exchange for set-up time: sends (takes the reference) and waits for the answer with its id. NULL with a
// message.
json_t *worker_ask(struct worker *, json_t *request, double seconds, struct error *);
// The same for a request that was sent already. Time in which worker or driver are stopped does not count; a worker
// that stays stopped is killed, and has died.
json_t *worker_wait(struct worker *, int64_t id, double seconds, struct error *);
