// The store: one SQLite file per job, in WAL mode, with every trial that ever finished.
//
// Rules: a trial is committed whole, alone or with others; nothing is overwritten. Counters are added later, in
// batches. Verdicts may be added later too; the newest one counts. A trial belongs to an *environment* (environment.h:
// everything that its result depends on), and only trials of the current environment count. After a change of the
// source, the old trials stay but do not count; when the change is reverted, they count again. Names are stored as
// text, so that a store does not depend on numbering.
//
// The schema (store_schema.c) has a version (PRAGMA user_version) and an application id. A store of
// another version, a file that is not a store, or a damaged store is refused with a message and not changed. New
// figures of trials need no new version: if a store lacks columns for fields of the table (tuner/trial/trial_field.h),
// they are added with the first trial that is stored, and are unknown until then. People read a store through its views
// (store_views.c), whose compatibility is promised separately (docs/store.md).
//
// Committed data survives kill -9 at any later time; a write in progress is stored completely or not at
// all. A power failure may lose the last commits, but never damages the file. When the disk is full, the call fails and
// everything before it is still there. One thread at a time. Do not fork while a store is open, unless the child execs.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/trial/environment.h"
#include "tuner/trial/trial.h"

enum { STORE_VERSION = 2 };

struct store;

// Opens the file. With `create`, the file and its folder are created if needed. Fails with a message if the file has
// another version, is damaged, or cannot be accessed. Without `create`, a store in a read-only folder is opened for
// reading.
int store_open(struct store **, const char *path, bool create, struct error *);
void store_close(struct store *);
// A store whose file is deleted or replaced while it is open is *lost*: the next commit notices this, writes all that
// the store holds to <store>.rescued, and fails, as does every later one. Returns the path of that file, or NULL if the
// store is not lost.
const char *store_rescued_copy(const struct store *);

// Refuses a second tuner on the same store: takes a lock that the system releases when the process dies. -1 with "...
// is being tuned by process 1234" if another tuner has it. Readers (status, header, compare, export) need no lock. Two
// things are locked: <store>.lock, which is next to the file that a symbolic link leads to and is not removed, and, for
// tuners on the same machine, a name made from the file's identity, which cannot be removed. store_close releases the
// lock.
int store_lock(struct store *, struct error *);
// The process that holds the lock; 0: none.
long store_holder(struct store *);

// Makes the environment current (inserts it when new). Later trials belong to it, and queries see only it.
// environment.key identifies it.
int store_use_environment(struct store *, const struct environment *, struct error *);
// The environment that a run used last (for status, header, compare, export, which have no device). Makes it current
// without writing anything. 1 when there is none. Strings live until the store is closed.
int store_last_environment(struct store *, struct environment *, struct error *);

// Makes an environment current without writing anything. 1 when there is none with this key.
int store_read_environment(struct store *, const char *key, struct error *);
// Calls visit for every environment, the one used last first. Stops and returns like store_each. Strings live during
// the call of visit, which must not use the store.
int store_each_environment(struct store *, int (*visit)(void *user, const struct environment *), void *user,
                           struct error *);

// Commits one finished trial in one transaction; sets trial->id. A second trial of the same configuration in the same
// environment is an error.
int store_add(struct store *, struct trial *, struct error *);
// Commits several trials in one transaction: all of them, or none.
int store_add_all(struct store *, struct trial *const *trials, size_t count, struct error *);
// Changes the verdict on a stored trial: from then on it has this status and reason wherever it is read, counted or
// ranked. The stored result stays, and counts again if a later verdict says so.
int store_add_verdict(struct store *, int64_t trial, enum trial_status, const char *reason, struct error *);
// Whether a later verdict on a trial has been stored. -1 with a message.
int store_decided(struct store *, int64_t trial, struct error *);
// Stores the second try of a trial (its `id`) that failed without figures: adds its figures, and a verdict with its
// status and reason. The row keeps the first status and reason.
int store_add_retry(struct store *, const struct trial *, struct error *);
// Adds counters to committed trials, in one transaction.
int store_add_counters(struct store *, int64_t trial, const struct trial_counter *, size_t count, struct error *);

// Looks up the trial of a configuration in the current environment. 0 found, 1 not found, -1 error. The trial and its
// data live until the next call of store_find, store_get or store_close.
int store_find(struct store *, const char *config, struct trial *, struct error *);
int store_get(struct store *, int64_t id, struct trial *, struct error *); // by id, in any environment
// Calls visit for every trial of the current environment: in order of id, or best objective first (`best`: only status
// ok); at most `limit`, 0 = all. Stops early when visit returns non-zero, and returns that. The trial lives during the
// call of visit, which may use the store. Of its lists, only those in `parts` are read; the others are empty, and
// without stages the facts are unknown.
enum store_parts { STORE_PROBLEMS = 1, STORE_STAGES = 2, STORE_COUNTERS = 4, STORE_WHOLE = 7 };
int store_each(struct store *, bool best, int64_t limit, unsigned parts, int (*visit)(void *user, const struct trial *),
               void *user, struct error *);
// Like store_each in order of id, but with only each trial's own figures, and in one query: a million trials take
// seconds. visit must not use the store.
int store_scan(struct store *, int (*visit)(void *user, const struct trial *), void *user, struct error *err);
// Calls visit for the best trials of the store's other environments (another device, problem or version of the source):
// first the best of each, then the second best ..., at most `limit`. A search starts with these configurations and must
// measure them again. Strings live during the call.
int store_each_elsewhere(struct store *, int64_t limit,
                         int (*visit)(void *user, const char *config, const char *device), void *user, struct error *);
// The number of trials by status in the current environment.
int store_counts(struct store *, int64_t counts[STATUS_COUNT], struct error *);
// Ids of ok trials that still lack counters, ascending, malloc'ed; *count < 0 with a message.
int64_t *store_uncounted(struct store *, int64_t *count, struct error *);

// JSON documents by kind, newest last; older ones stay. Documents of an environment: "run" and "workers" from a run's
// end, "baselines", "ceilings", "device" and "job" from its beginning, "final", "open_final" (interrupted, with its
// rounds), "builds" (NVRTC's against nvcc's), "gate". Documents of a trial: "profile", "findings", "limits",
// "sanitized", "binary".
// They belong to the environment that is current when they are stored, and are found only there. If no environment is
// current, they belong to the whole store and are found in every environment. Documents of one trial ("findings",
// "limits") are separate and are found by its number, which is 0 for the others.
int store_put_document(struct store *, int64_t trial, const char *kind, const json_t *, struct error *);
// The newest, with its Unix time in *when (`when` may be NULL). New reference. NULL with an empty message: there is
// none; NULL with a message: it cannot be read.
json_t *store_get_document(struct store *, int64_t trial, const char *kind, double *when, struct error *);
// Newest first, at most `limit` (0 = all). Stops and returns like store_each. A document that is not JSON is passed as
// NULL.
int store_each_document(struct store *, int64_t trial, const char *kind, int64_t limit,
                        int (*visit)(void *user, double when, json_t *document), void *user, struct error *);

// Blobs: bytes that are found by their content's hash, such as a finalist's cubin. The same bytes are stored once.
int store_put_blob(struct store *, const void *bytes, size_t size, char hash[HASH_TEXT_SIZE], struct error *);
// 1 when there is none; -1 with a message when the bytes do not match their hash. They live until
// the next call of store_get_blob.
int store_get_blob(struct store *, const char *hash, const void **bytes, size_t *size, struct error *);
// A trial's blob of a kind ("cubin"); a later one replaces it. 1 when it has none.
int store_set_trial_blob(struct store *, int64_t trial, const char *kind, const char *hash, struct error *);
int store_trial_blob(struct store *, int64_t trial, const char *kind, char hash[HASH_TEXT_SIZE], struct error *);

// SQLite's version.
const char *store_library_version(void);
