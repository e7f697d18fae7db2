// The store: one SQLite file a job, in WAL mode, that holds every trial ever finished.
//
// Rules: one transaction a trial; nothing is overwritten but a trial's counters (which come later, in batches); a trial
// belongs to an
// *environment* (source with includes, options, compiler, device model, driver, problems and measuring settings: all
// that its result depends on), and only trials of the current environment count. Change the source and the old trials
// stay, asleep; change it back and they count again. Text names everywhere, so that a store outlives a renumbering.
// The schema (store_schema.c) has a version (PRAGMA user_version) and an application id; a store from another version,
// or a file that is no store of ours, or a damaged one is refused with a message and left as it is.
//
// What a call has committed survives kill -9 at any later instant; what it was writing is either there whole or not at
// all. A power failure may take the last commits, never the file. When the disk is full, the call fails and everything
// before it is still there. One thread at a time. Do not fork while a store is open, unless the child execs.
#ifndef SWEETSPOT_STORE_H
#define SWEETSPOT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "search/strategy.h"
#include "tuner/base/error.h"
#include "tuner/base/protocol.h"

enum { STORE_VERSION = 1, STORE_MAX_SAMPLES = 10 };

// What a trial's result depends on, besides its configuration. All strings; "" where unknown. `key` is a hash of the
// rest.
struct environment {
    const char *key;         // 32 hex digits
    const char *job;         // job name
    const char *source_hash; // template and included files
    const char *entry;       // entries, options, defines: as text
    const char *compiler;    // "nvrtc 13.0"
    const char *device;      // "NVIDIA H200"
    const char *arch;        // "sm_90a"
    const char *driver;      // "580.159.04"
    const char *problems;    // JSON: names, sizes, roles
    const char *settings;    // JSON: verification and measuring settings that matter
};

struct trial_problem { // one a problem, tuned or only verified
    const char *name;  // "M=4096,N=4096,K=4096"
    bool tuned;
    double time, low, high; // s; NaN where not measured
    size_t sample_count;    // samples kept here, at most STORE_MAX_SAMPLES
    double samples[STORE_MAX_SAMPLES];
    int64_t samples_taken;
    double error; // worst element's error over its bound; NaN where not verified
};

struct trial_stage { // one a launch
    const char *name;
    int64_t registers, spill_loads, spill_stores, shared_static, shared_dynamic, stack, code_bytes; // -1 unknown
    double occupancy;     // theoretical, 0..1; NaN unknown
    const char *warnings; // ptxas C75xx etc., lines; ""
};

struct trial_counter {
    int problem, stage; // indices in the trial
    const char *key;    // "icache_misses"
    double value;       // NaN: not available
};

struct trial {
    int64_t id;         // given by the store; > 0
    const char *config; // canonical text, space_format
    enum trial_status status;
    const char *reason; // "" when ok
    double objective;   // s; NaN unless ok or slow
    double compile_seconds, gpu_busy, gpu_wall;
    const char *device_id;         // uuid
    double clock_mhz, temperature; // NaN unknown
    bool compile_cached;
    bool counted; // counters were taken (or found to be unavailable)
    size_t problem_count, stage_count, counter_count;
    const struct trial_problem *problems;
    const struct trial_stage *stages;
    const struct trial_counter *counters;
    double finished; // Unix time; filled in by the store when 0
};

struct store;

// Opens (and creates with its folder, when `create`) the file. Fails with a message on another version, damage, no
// permission. Without `create` a store in a folder that cannot be written is opened for reading.
int store_open(struct store **, const char *path, bool create, struct error *);
void store_close(struct store *);

// Refuses a second tuner on the same store: takes a lock that the system drops when the process dies. -1 with "... is
// being tuned by process 1234" otherwise. Readers (status, header, compare, export) need no lock.
// The lock is on <store>.lock, which stays behind, and goes with store_close at the latest.
int store_lock(struct store *, struct error *);
// The process that holds the lock: 0 when none does.
long store_holder(struct store *);

// Makes the environment current (inserts it when new). Later trials belong to it; queries answer for it alone.
// environment.key decides which one it is.
int store_use_environment(struct store *, const struct environment *, struct error *);
// The environment used last by a run (for status, header, compare, export, which have no device). 1 when there is none.
// Makes it current without writing anything. Strings live until the store is closed.
int store_last_environment(struct store *, struct environment *, struct error *);

// Commits one finished trial in one transaction; sets trial->id. A second trial of the same configuration in the same
// environment is an error.
int store_add(struct store *, struct trial *, struct error *);
// Adds counters to trials that were committed before, in one transaction.
int store_add_counters(struct store *, int64_t trial, const struct trial_counter *, size_t count, struct error *);

// Looks up a configuration of the current environment. 0 found, 1 not, -1 error. The trial and all that it points to
// live until the next call of store_find, store_get or store_close.
int store_find(struct store *, const char *config, struct trial *, struct error *);
int store_get(struct store *, int64_t id, struct trial *, struct error *); // by id, in whatever environment
// Calls visit for every trial of the current environment: in order of id, or best objective first (`best`: only status
// ok); at most `limit`, 0 = all. Stops early when visit returns non-zero, and returns that. The trial lives during the
// call of visit, which may use the store.
int store_each(struct store *, bool best, int64_t limit, int (*visit)(void *user, const struct trial *), void *user,
               struct error *);
// Calls visit for the best trials of the store's other environments (another device, problem or version of the source):
// first the best of each, then the second best ..., at most `limit`. A start for a search: to be measured again, never
// trusted. Strings live during the call.
int store_each_elsewhere(struct store *, int64_t limit,
                         int (*visit)(void *user, const char *config, const char *device), void *user, struct error *);
// Number of trials by status in the current environment.
int store_counts(struct store *, int64_t counts[STATUS_COUNT], struct error *);
// Ids of ok trials that still lack counters, ascending; returns how many were written (at most max) or -1.
int store_uncounted(struct store *, int64_t *ids, int max, struct error *);

// Baselines, finals and runs are JSON documents by kind ("run", "baselines", "final", "device"), newest last. They
// belong to the environment that is current when they are put (to the whole store when none is), and are found in that
// environment only (those of the whole store: in every one). The text lives until the next call for a document.
int store_put_document(struct store *, const char *kind, const char *json, struct error *);
int store_get_document(struct store *, const char *kind, const char **json, double *when,
                       struct error *); // newest; 1 when none
// Newest first, at most `limit` (0 = all). Stops and returns like store_each.
int store_each_document(struct store *, const char *kind, int64_t limit,
                        int (*visit)(void *user, double when, const char *json), void *user, struct error *);

#endif
