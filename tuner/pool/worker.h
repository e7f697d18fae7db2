// A worker process as the driver sees it. Messages are JSON objects, one per line. A worker is killed when it misses a
// deadline or sends an invalid message, and its owner restarts it. Nothing that a worker does can harm the driver: its
// pipe is read without blocking, its death is an event, and its messages are data.
//
// A worker is either a child of the driver, started by fork and exec and connected by pipes, or a child of a node's
// agent, which forwards its bytes (node_link.h). Everything else is the same.
#pragma once

#include "tuner/base/byte_queue.h"
#include "tuner/base/clock.h"
#include "tuner/pool/node_link.h"

// All in seconds. A stopped worker (SIGSTOP) is replaced after WORKER_LONGEST_STOP. If the driver sleeps more than
// WORKER_OVERSLEPT longer than intended, it concludes that it was suspended, and that its workers probably were too.
// The driver polls for stopped workers every WORKER_POLL.
enum { WORKER_LONGEST_STOP = 10, WORKER_OVERSLEPT = 2, WORKER_POLL = 1 };

// Why worker_wait returned without an answer.
enum worker_failure { WORKER_WORKS, WORKER_DIED, WORKER_LATE, WORKER_INVALID, WORKER_INTERRUPTED };

struct worker {
    const char *name;             // for messages: "gpu 0"; borrowed
    struct node_link *link;       // link to the node where it runs; NULL: a child of the driver
    struct node_links *links;     // all links, which are served while waiting for one worker; NULL: none
    struct child child;           // as a child of the driver
    struct node_channel *channel; // on a node; NULL: not running
    int64_t next_id;
    struct byte_queue input;     // bytes read, perhaps with an incomplete last line; a channel has its own
    struct byte_queue output;    // bytes not yet written
    struct child_output words;   // output on stderr
    int exit_status;             // from waitpid, once dead
    bool killed;                 // killed by the driver
    bool lost;                   // lost with its node, so none of its requests is the cause
    enum worker_failure failure; // of the last worker_wait
    void (*chatter)(void *user, const struct worker *, const char *line); // its stderr, line by line; may be NULL
    void (*progress)(void *user, const struct worker *, const char *what,
                     double share); // progress that worker_wait receives; may be NULL
    void *chatter_user;             // for both
};

#define WORKER_NONE ((struct worker){.child = CHILD_NONE})

// Starts argv[0] (argv is NULL-terminated), which is a path or, on a node, the name of one of sweetspot's programs.
int worker_start(struct worker *, const char *name, char *const argv[], struct error *);
bool worker_running(const struct worker *);

// Queues a request (takes the reference) with the next id, and returns this id. It is written when the pipe has room.
int64_t worker_send(struct worker *, json_t *request);

// Fills in the poll(2) entries of this worker (at most CHILD_POLLED) and returns their number. A worker on a node has
// no entries, because its link has them.
int worker_poll(const struct worker *, struct pollfd *);
// After poll: reads and writes as much as possible. *at points to the worker's poll entries, and is moved past them.
// Returns 0, or -1 when the worker is dead or has closed its end. The message then says how the worker died; it is
// reaped and its pipes are closed. worker_receive still returns lines that arrived before.
int worker_polled(struct worker *, const struct pollfd **at, struct error *);
// The next complete answer. Returns 1 with a new reference in *answer, 0 if there is none yet, or -1 if the line is not
// a JSON object (the message quotes it).
int worker_receive(struct worker *, json_t **answer, struct error *);

// Whether another process killed the worker: it died of a signal that no kernel or template raises. Linux's OOM killer,
// a batch system or a user may send such a signal. Call after worker_polled has found it dead.
bool worker_ended_from_outside(const struct worker *);
// Whether the process is stopped (SIGSTOP) at this moment.
bool worker_stopped(const struct worker *);

// Sends SIGKILL to its process group, reaps it and closes its pipes. Afterwards worker_start may be called again.
void worker_kill(struct worker *);
// Closes stdin, gives the worker `seconds` to end by itself, and then kills it.
void worker_stop(struct worker *, double seconds);
void worker_release(struct worker *); // kills and frees it

// A blocking exchange for set-up time: sends (takes the reference) and waits for the answer with its id. Returns NULL
// with a message on failure.
json_t *worker_ask(struct worker *, json_t *request, double seconds, struct error *);
// Waits for the answer to a request that was sent already. Time in which the worker or the driver is stopped is not
// counted. A worker that stays stopped is killed and treated as dead.
json_t *worker_wait(struct worker *, int64_t id, double seconds, struct error *);
