// The worker processes of a run: compilers, each with one request at a time, and GPU workers, each with a short queue.
// The pool starts the workers, sets GPU workers up for a job, and keeps deadlines: a request's time starts when it
// reaches the head of its worker's queue. It kills workers that are late or send something invalid, and restarts those
// that died. It reports all this as events. The pool handles requests as JSON, and knows nothing about tasks,
// strategies or stores.
//
// Workers run on the driver's machine or on nodes (pool_slots.h), which come and go. Slots are added when a node joins,
// and stay when it leaves. The requests lost with a node do not count as failed.
#pragma once

#include "tuner/job/job.h"
#include "tuner/pool/pool_spec.h"
#include "tuner/pool/worker.h"

enum { POOL_SETUP_TIMEOUT = 600 }; // s

#define POOL_HERE ((size_t)-1) // the node of a worker that the driver itself starts

enum gpu_state { GPU_DOWN, GPU_HELLO, GPU_JOB, GPU_READY };

struct pool_sent {
    int64_t id;
    json_t *request; // for checking the answer
    double timeout;  // s, from the time when it reaches the head
};

// A place for a worker: a compiler, which has one request at a time, or a GPU worker.
struct pool_slot {
    struct worker worker;
    bool compiles;
    size_t node; // its node's number, or POOL_HERE
    char *name;  // "gpu 0"
    size_t queued;
    struct pool_sent *queue;
    double deadline;   // of the set-up or of the head of the queue
    double stopped;    // s for which it was seen stopped (SIGSTOP) during its current request; this time does not count
    int failed_starts; // in a row, weighted (pool_slots.h)
    bool dead;         // its pipe is closed; `death` says why
    struct error death;

    struct {
        bool greeting;   // busy with its greeting, which precedes all requests to its node
        size_t question; // the question that it answers, in pool_ask_compilers
    } compiler;

    // For a GPU worker:
    char *device, *uuid; // "0"; uuid: the device's, once known
    char *disabled;      // why it is no longer started (another model, defective); NULL: it is in use
    enum gpu_state state;
    int64_t setup_id;
    bool begun;  // the worker has sent a progress message for the head of the queue
    int64_t at;  // the trial that it is working on, from its newest progress message; 0: none
    bool ending; // it has announced its end ("crashed", "restart"), which is thus expected
};

struct pool_settings {
    const char *device;               // "0", "0,2", or "replay:FILE"
    int64_t compilers;                // 0: one per core
    bool counters;                    // GPU workers load the counting library
    bool nvcc;                        // candidates are compiled by nvcc
    const struct pool_request *nodes; // NULL: workers run on the driver's machine
    double patience;                  // s that set-up waits for a node that can be used; 0: pool_timeout()
    const char *keep, *probe_file;    // for nodes: the compile cache, and a file by which they prove that they see the
                                      // driver's files
    void *user;                       // for both callbacks
    // Receives messages and the workers' stderr. `shown`: for the user, not only for the log. NULL: they are dropped.
    void (*report)(void *user, bool shown, const char *text);
    void (*progress)(void *user, const char *worker, const char *what, double share); // in set-up; NULL: dropped
};

struct pool_node;

struct worker_pool {
    struct pool_settings settings;
    bool replay;
    bool lockstep; // a recording answers here: one event after the other, in a reproducible order
    char *replay_file, *gpu_program, *compile_program;
    size_t gpu_count, compiler_count;
    struct pool_slot *gpus, *compilers;
    // The first workers' answers to hello; the strings are borrowed from `hello` and `compiler_hello`.
    struct {
        json_t *hello, *compiler_hello;
        const char *device_name, *arch, *driver, *compiler;
        const char *no_counters; // why the first GPU worker has no hardware counters; NULL: it has them
        struct device_limits limits;
        int64_t memory; // free on the device, bytes
    } first;
    const json_t *recorded, *recording; // for a replay: the space's facts, and their source
    json_t *job_request;                // the set-up of every GPU worker
    double polled;                      // when workers were last polled; 0: never
    size_t first_gpu, first_compiler;   // the workers that are asked during set-up
    struct {
        size_t node_count;
        struct pool_node **nodes;
        struct node_links links;
        struct node_link_settings link_settings;
        char *token;     // a file next to the compile cache
        double reread;   // when the list of nodes is read again
        double deserted; // since when there has been no GPU; 0: there is one
    } remote;
    size_t next; // where pool_next continues: among the GPU workers, then the compilers
};

// Starts the first compiler and the first GPU worker and waits for their answers to hello. Returns 0, or an exit status
// with a message. The caller releases the pool in either case.
int pool_open(struct worker_pool *, const struct pool_settings *, struct error *);
// For a pool that was opened a while ago: reads the device's free memory again. Returns -1 with a message if the GPU
// worker does not answer.
int pool_refresh(struct worker_pool *, struct error *);
// Opens a pool of compilers only, one per core, all named "compiler". None of them is started yet.
void pool_open_compilers(struct worker_pool *);
void pool_stop(struct worker_pool *, double seconds); // gives GPU workers this long to end by themselves
void pool_release(struct worker_pool *);              // kills all, frees

// For set-up: pool_ask_compiler and pool_ask_gpu take a request, send it to the first compiler or the first GPU worker,
// and wait for the answer. They return NULL with a message when the worker died, was late or sent something invalid
// (worker.failure says which).
json_t *pool_ask_compiler(struct worker_pool *, json_t *request, double seconds, struct error *);
// Sends several requests at the same time, spread over the idle compilers, each to be answered within `seconds`. Takes
// the requests; answers[i] is a new reference. If a request fails, stops the compilations in flight and returns -1 with
// a message, the number of the failed request in *which, and no answers.
int pool_ask_compilers(struct worker_pool *, json_t *const *requests, size_t count, double seconds, json_t **answers,
                       size_t *which, struct error *);
json_t *pool_ask_gpu(struct worker_pool *, json_t *request, double seconds, struct error *);
// Sets the first GPU worker up for a job (takes the request), waits for its answer, and keeps the request for the other
// GPU workers. Returns 0, or an exit status with a message.
int pool_set_up(struct worker_pool *, json_t *request, json_t **answer, struct error *);

// Replaces the first GPU worker by one with the same set-up, and waits for it. Returns 0, or an exit status with a
// message.
int pool_set_up_again(struct worker_pool *, struct error *);

// Whether requests can go to this compiler: its node is up and has the same compiler as the others.
bool pool_compiler_usable(const struct worker_pool *, size_t compiler);
bool pool_gpu_usable(const struct worker_pool *, size_t gpu); // usable now, or once its worker is set up
// Takes a GPU out of use, and reports that.
void pool_gpu_disable(struct worker_pool *, size_t gpu, const char *why);
char *pool_gpu_host(const struct worker_pool *, size_t gpu); // the machine it is in; malloc'ed
// The GPU's slot name, uuid, host and node (null: the driver's own machine), for documents. A new reference.
json_t *pool_gpu_identity(const struct worker_pool *, size_t gpu);
// For a compiler that cannot work on its machine (because of a full disk, for example): disables its node. Returns
// false for a compiler on the driver's machine.
bool pool_refuse_compiler(struct worker_pool *, size_t compiler, const char *reason);

// The name of a node (NULL for POOL_HERE), and whether the node is up.
const char *pool_node_name(const struct worker_pool *, size_t node);
bool pool_node_is_up(const struct worker_pool *, size_t node);
// Why a GPU, or a node's compilers, are no longer used; NULL: they are in use. Borrowed.
const char *pool_gpu_disabled(const struct worker_pool *, size_t gpu);
const char *pool_compiler_disabled(const struct worker_pool *, size_t compiler);

// Starts every GPU worker that is not running; POOL_GPU_READY follows. Returns -1 with a message on failure.
int pool_start_gpus(struct worker_pool *, struct error *);

// Sends a request, which must be answered within `seconds`, and takes ownership of it. The GPU must be ready.
void slot_send(struct pool_slot *, json_t *request, double seconds);
// Sends a request to a compiler, which must be idle. If it is not running, it is started first; returns -1 with a
// message if that fails.
int pool_send_compiler(struct worker_pool *, size_t compiler, json_t *request, double seconds, struct error *);
// Ends a worker and drops its queue. pool_start_gpus and pool_send_compiler start another worker.
void slot_stop(struct pool_slot *);

enum pool_event_kind {
    POOL_GPU_READY,       // set up
    POOL_GPU_ANSWER,      // to the head of its queue
    POOL_GPU_LOST,        // killed or dead, its queue is lost; pool_start_gpus starts another
    POOL_COMPILER_ANSWER, // to its request
    POOL_COMPILER_LOST,   // its request is lost too; the compiler is restarted for the next request
    POOL_FAILED,          // workers cannot be started or set up, or are incompatible: the run has to end
};

struct pool_event {
    enum pool_event_kind kind;
    size_t worker;
    json_t *answer;   // new reference; NULL except for answers
    bool busy;        // LOST: it had a request
    bool late;        // LOST: it missed a deadline
    bool outside;     // LOST: its request may be retried, as another process killed or stopped the worker, or it had
                      // not begun the request
    bool begun;       // LOST: it was a GPU worker that worked on the head of its queue
    bool node;        // LOST: it was lost with its node, so its requests may be retried
    bool announced;   // LOST: it had announced its end, so no request in its queue is the cause
    int64_t trial;    // LOST: the trial of its last progress message; 0: unknown
    int exit_status;  // FAILED
    struct error why; // LOST, FAILED
};

// Waits until a worker or a node can be read, at most for the given time, and reads it. Without `gpus`, answers of GPU
// workers are left for their callers.
void pool_wait(struct worker_pool *, bool gpus, int milliseconds);
// Gets the next event. Returns false when all workers were polled and there are no more events. `now` is compared with
// deadlines.
bool pool_next(struct worker_pool *, double now, struct pool_event *);
