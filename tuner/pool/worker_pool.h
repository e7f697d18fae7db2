// The worker processes of a run: compilers, each with one request at a time, and GPU workers, each with a short queue.
// The pool starts them, sets GPU workers up for a job, keeps deadlines (a request's runs from when it is at the head of
// its worker's queue), kills what is late or sends something invalid, and restarts what died. What happens is reported
// as events. It knows requests as JSON, and nothing about tasks, strategies or stores.
//
// Workers are here, or on nodes (pool_slots.h), which come and go: slots are added when a node joins, and stay when it
// leaves. Its requests are then lost without blame.
#pragma once

#include "tuner/job/job.h"
#include "tuner/pool/pool_spec.h"
#include "tuner/pool/worker.h"

enum { POOL_SETUP_TIMEOUT = 600 }; // s

#define POOL_HERE ((size_t)-1) // the node of a worker that the driver itself starts

enum gpu_state { GPU_DOWN, GPU_HELLO, GPU_JOB, GPU_READY };

struct pool_sent {
    int64_t id;
    json_t *request; // to hold the answer against
    double timeout;  // s, from when it is at the head
};

// A place for a worker: a compiler, which has one request at a time, or a GPU worker.
struct pool_slot {
    struct worker worker;
    bool compiles;
    size_t node; // its number, or POOL_HERE
    char *name;  // "gpu 0"
    size_t queued;
    struct pool_sent *queue;
    double deadline;   // of the set-up or of the head of the queue
    double stopped;    // s for which it was seen stopped (SIGSTOP) at its present request: they do not count
    int failed_starts; // in a row, weighted (pool_slots.h)
    bool dead;         // its pipe is closed: `death` says how
    struct error death;

    struct {
        bool greeting;   // busy with the question which compiler it is, before any request goes to its node
        size_t question; // that it answers, in pool_ask_compilers
    } compiler;

    // Of a GPU worker.
    char *device, *uuid; // "0"; uuid: of the device, once it was met
    char *disabled;      // why it is not started any more: it is of another kind, or does not work; NULL: it is
    enum gpu_state state;
    int64_t setup_id;
    bool begun;  // the worker has given a progress message for the head of the queue
    int64_t at;  // the trial that its newest progress message named, which it is working on; 0: none
    bool ending; // it answered that it ends ("crashed", "restart"): that is expected
};

struct pool_settings {
    const char *device;               // "0", "0,2", or "replay:FILE"
    int64_t compilers;                // 0: one a core
    bool counters;                    // GPU workers load what counts
    bool nvcc;                        // candidates are compiled by nvcc
    const struct pool_request *nodes; // NULL: workers are here
    const char *keep, *probe_file;    // for nodes: the compile cache, and a file by which they prove that they
                                      // see the driver's files
    void *user;                       // of all of these
    // What happens, and what workers write on stderr: `shown` to the user, or only logged. NULL: dropped.
    void (*report)(void *user, bool shown, const char *text);
    void (*progress)(void *user, const char *worker, const char *what, double share); // of a set-up; NULL: dropped
};

struct pool_node;

struct worker_pool {
    struct pool_settings settings;
    bool replay;
    bool lockstep; // a recording answers here: one thing after the other, the same way every time
    char *replay_file, *gpu_program, *compile_program;
    size_t gpu_count, compiler_count;
    struct pool_slot *gpus, *compilers;
    // The first workers' answers to hello; the texts are borrowed from `hello` and `compiler_hello`.
    struct {
        json_t *hello, *compiler_hello;
        const char *device_name, *arch, *driver, *compiler;
        const char *no_counters; // why the first GPU worker has no hardware counters; NULL: it has
        struct device_limits limits;
        int64_t memory; // free on the device, bytes
    } first;
    const json_t *recorded, *recording; // of a replay: the space's facts, and where they come from
    json_t *job_request;                // what every GPU worker is set up with
    double polled;                      // when workers were last polled; 0: never
    size_t first_gpu, first_compiler;   // that are asked while a run is set up
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

// Starts the first compiler and the first GPU worker and waits for their answers to hello. 0, or an exit status
// with a message. The caller releases in either case.
int pool_open(struct worker_pool *, const struct pool_settings *, struct error *);
// For a pool that was opened a while ago: reads the device's free memory again. -1 with a message if the GPU worker
// does not answer.
int pool_refresh(struct worker_pool *, struct error *);
// Compilers only, one per core, all called "compiler". None of them is started yet.
void pool_open_compilers(struct worker_pool *);
void pool_stop(struct worker_pool *, double seconds); // gives GPU workers this long to end by themselves
void pool_release(struct worker_pool *);              // kills all, frees

// Set-up: blocking questions to the first compiler and the first GPU worker. They take the request. NULL with a message
// when the worker died, was late (its worker.failure says which) or sent something invalid.
json_t *pool_ask_compiler(struct worker_pool *, json_t *request, double seconds, struct error *);
// Several at the same time, spread over the idle compilers, each to be answered within `seconds`. Takes the requests;
// answers[i] is a new reference. -1 with a message when one cannot be had: then there are no answers, what is still
// being compiled is given up, and *which is the number of the request to blame.
int pool_ask_compilers(struct worker_pool *, json_t *const *requests, size_t count, double seconds, json_t **answers,
                       size_t *which, struct error *);
json_t *pool_ask_gpu(struct worker_pool *, json_t *request, double seconds, struct error *);
// Sets the first GPU worker up for a job (takes the request), waits for its answer, and keeps the request for the
// others. 0, or an exit status with a message.
int pool_set_up(struct worker_pool *, json_t *request, json_t **answer, struct error *);

// Replaces the first GPU worker by one with the same set-up, and waits for it. 0, or an exit status with a message.
int pool_set_up_again(struct worker_pool *, struct error *);

// Whether requests can go to this compiler: its node is there, and compiles as the others do.
bool pool_compiler_usable(const struct worker_pool *, size_t compiler);
bool pool_gpu_usable(const struct worker_pool *, size_t gpu); // or will be, when its worker is set up
// A GPU is not used any more; says so.
void pool_gpu_disable(struct worker_pool *, size_t gpu, const char *why);
char *pool_gpu_host(const struct worker_pool *, size_t gpu); // where it is; malloc'ed
// Its slot's name, its uuid, its host and its node (null: the driver's own machine), for documents. A new reference.
json_t *pool_gpu_identity(const struct worker_pool *, size_t gpu);
// A compiler cannot work where it is (a full disk): its node compiles no more. False for one that is here.
bool pool_refuse_compiler(struct worker_pool *, size_t compiler, const char *reason);

// The name of a node, NULL for what the driver itself starts; whether the node is there.
const char *pool_node_name(const struct worker_pool *, size_t node);
bool pool_node_is_up(const struct worker_pool *, size_t node);
// Why a GPU is not used any more, or a node's compilers; NULL: it is. Borrowed.
const char *pool_gpu_disabled(const struct worker_pool *, size_t gpu);
const char *pool_compiler_disabled(const struct worker_pool *, size_t compiler);

// Starts every GPU worker that is not running: POOL_GPU_READY follows. -1 with a message.
int pool_start_gpus(struct worker_pool *, struct error *);

// Sends a request (takes it), to be answered within `seconds`. The GPU must be ready.
void slot_send(struct pool_slot *, json_t *request, double seconds);
// The same for a compiler, which must be idle. One that is not running is started first: -1 with a message when that
// fails.
int pool_send_compiler(struct worker_pool *, size_t compiler, json_t *request, double seconds, struct error *);
// Ends a worker, and with it what it has queued. pool_start_gpus and pool_send_compiler start another.
void slot_stop(struct pool_slot *);

enum pool_event_kind {
    POOL_GPU_READY,       // set up
    POOL_GPU_ANSWER,      // to the head of its queue
    POOL_GPU_LOST,        // killed or dead, its queue with it: pool_start_gpus starts another
    POOL_COMPILER_ANSWER, // to its request
    POOL_COMPILER_LOST,   // its request is lost with it; started again when it gets the next
    POOL_FAILED,          // workers cannot be started or set up, or do not fit together: the run has to end
};

struct pool_event {
    enum pool_event_kind kind;
    size_t worker;
    json_t *answer;   // new reference; NULL but for answers
    bool busy;        // LOST: it had a request
    bool late;        // LOST: it missed a deadline
    bool outside;     // LOST: its request may be retried: another process killed or stopped the worker, or it had not
                      // begun with the request
    bool begun;       // LOST: a GPU worker, while it worked on the head of its queue
    bool node;        // LOST: with its node: its requests may be retried
    bool announced;   // LOST: it had answered that it would end, so no request in its queue is to blame
    int64_t trial;    // LOST: the trial that it was working on, by its last progress message; 0: unknown
    int exit_status;  // FAILED
    struct error why; // LOST, FAILED
};

// Waits until a worker or a node can be read, at most so long, and reads it. Without `gpus`, answers of GPU
// workers are left for their callers.
void pool_wait(struct worker_pool *, bool gpus, int milliseconds);
// The next thing that happened; false when all workers were polled and there is nothing more. `now` is compared with
// deadlines.
bool pool_next(struct worker_pool *, double now, struct pool_event *);
