// The store: one SQLite file per job, in WAL mode, with every trial that ever finished.
//
// Rules: A trial is committed completely, by itself or with others, and nothing is overwritten. Counters are added
// later, in batches. Verdicts may also be added later; the newest one counts. A trial belongs to an *environment*
// (environment.h: everything on which its result depends), and only trials of the current environment count. After a
// change of the source, the old trials stay but do not count; when the change is reverted, they count again. Names are
// stored as text, so that a store does not depend on any numbering.
//
// The schema (store_schema.c) has a version (PRAGMA user_version) and an application id. A store with another version,
// a damaged store, or a file that is not a store is refused with a message and not changed. New figures of trials need
// no new version. If a store lacks columns for fields of the table (tuner/trial/trial_field.h), the columns are added
// with the first trial that is stored. Until then, the figures are unknown. People read a store through its views
// (store_views.c), whose compatibility is promised separately (docs/store.md).
//
// Committed data survives kill -9 at any later time; a write in progress is stored completely or not at all. A power
// failure may lose the last commits, but never damages the file. When the disk is full, the call fails, and everything
// that was committed before is preserved. Only one thread may use a store at a time. Do not fork while a store is open,
// unless the child execs.
#pragma once

#include "tuner/base/hash.h"
#include "tuner/base/json.h"
#include "tuner/trial/environment.h"
#include "tuner/trial/trial.h"

enum { STORE_VERSION = 2 };

struct store;

// Opens the file. With `create`, the file and its folder are created if needed. Fails with a message if the file has
// another version, is damaged, or cannot be accessed. Without `create`, a store in a read-only folder is opened only
// for reading.
int store_open(struct store **, const char *path, bool create, struct error *);
void store_close(struct store *);
// A store whose file is deleted or replaced while it is open is *lost*. The next commit notices this, writes the
// store's whole content to <store>.rescued, and fails. Every later commit fails too. Returns the path of that file, or
// NULL if the store is not lost.
const char *store_rescued_copy(const struct store *);

// Refuses a second tuner on the same store: takes a lock that the system releases when the process dies. -1 with "...
// is being tuned by process 1234" if another tuner holds the lock. Readers (status, header, compare, export) need no
// lock. Two things are locked: the file <store>.lock, and a name made from the identity of the store's file.
// <store>.lock is next to the store's file (not next to a symbolic link to it) and is left there. The name keeps out
// only tuners on the same machine, but it cannot be removed. store_close releases the lock.
int store_lock(struct store *, struct error *);
// The id of the process that holds the lock; 0: none.
long store_holder(struct store *);

// Makes the environment current, and stores it if it is new. From then on, new trials belong to this environment, and
// queries see only its trials. environment.key identifies it.
int store_use_environment(struct store *, const struct environment *, struct error *);
// Finds the environment that was last used by a run, and makes it current without writing anything. This is for status,
// header, compare and export, which have no device. Returns 1 if the store has no environment. Strings are valid until
// the store is closed.
int store_last_environment(struct store *, struct environment *, struct error *);

// Makes the environment with this key current without writing anything. Returns 1 if there is none.
int store_read_environment(struct store *, const char *key, struct error *);
// Calls visit for every environment, most recently used first. Stops and returns like store_each. Strings are valid
// only during the call to visit, which must not use the store.
int store_each_environment(struct store *, int (*visit)(void *user, const struct environment *), void *user,
                           struct error *);

// Commits one finished trial in one transaction; sets trial->id. A second trial of the same configuration in the same
// environment is an error.
int store_add(struct store *, struct trial *, struct error *);
// Commits several trials in one transaction: all of them, or none.
int store_add_all(struct store *, struct trial *const *trials, size_t count, struct error *);
// Changes the verdict on a stored trial: from then on, the trial has this status and reason wherever it is read,
// counted or ranked. The stored result is kept, and counts again if a later verdict says so.
int store_add_verdict(struct store *, int64_t trial, enum trial_status, const char *reason, struct error *);
// Whether a later verdict on a trial has been stored. -1 with a message.
int store_decided(struct store *, int64_t trial, struct error *);
// Stores the second attempt at the trial with this `id`, whose first attempt failed without figures. Adds the figures,
// and a verdict with the new status and reason. The row keeps the first status and reason.
int store_add_retry(struct store *, const struct trial *, struct error *);
// Adds counters to committed trials, in one transaction.
int store_add_counters(struct store *, int64_t trial, const struct trial_counter *, size_t count, struct error *);

// Looks up the trial of a configuration in the current environment. Returns 0 if it is found, 1 if not, and -1 on
// errors. The trial and its data are valid until the next call to store_find, store_get or store_close.
int store_find(struct store *, const char *config, struct trial *, struct error *);
int store_get(struct store *, int64_t id, struct trial *, struct error *); // by id, in any environment
// Calls visit for every trial of the current environment, in order of id; with `best`, only for trials with status ok,
// best objective first. Visits at most `limit` trials; 0: all. Stops early when visit returns non-zero, and returns
// that value. The trial is valid only during the call to visit; visit may use the store. Of a trial's lists, only those
// in `parts` are read, and the others are empty. Without STORE_STAGES, the facts are unknown.
enum store_parts { STORE_PROBLEMS = 1, STORE_STAGES = 2, STORE_COUNTERS = 4, STORE_WHOLE = 7 };
int store_each(struct store *, bool best, int64_t limit, unsigned parts, int (*visit)(void *user, const struct trial *),
               void *user, struct error *);
// Like store_each in order of id, but reads only the trials' own figures. A single query reads all trials, so reading a
// million of them takes only seconds. visit must not use the store.
int store_scan(struct store *, int (*visit)(void *user, const struct trial *), void *user, struct error *err);
// Calls visit for the best trials of the store's other environments (another device, problem or version of the source):
// first the best trial of each, then the second best, and so on; at most `limit`. A search starts with these
// configurations and must measure them again. Strings are valid only during the call.
int store_each_elsewhere(struct store *, int64_t limit,
                         int (*visit)(void *user, const char *config, const char *device), void *user, struct error *);
// How many trials of the current environment have each status.
int store_counts(struct store *, int64_t counts[STATUS_COUNT], struct error *);
// The ids of ok trials that have no counters yet, ascending, malloc'ed; *count < 0 with a message.
int64_t *store_uncounted(struct store *, int64_t *count, struct error *);

// JSON documents by kind, newest last; older ones are kept. An environment has "run" and "workers" (stored when a run
// ends), "baselines", "ceilings", "device" and "job" (stored when it begins), "final", "open_final" (interrupted, with
// its rounds), "builds" (NVRTC's compared with nvcc's), and "gate". A trial has "profile", "findings", "limits",
// "sanitized", "binary".
// Documents belong to the environment that is current when they are stored, and are found only there. If no environment
// is current, they belong to the whole store and are found in every environment. A trial's documents are separate, and
// are found by the trial's number. For all other documents, `trial` is 0.
int store_put_document(struct store *, int64_t trial, const char *kind, const json_t *, struct error *);
// The newest document, with its Unix time in *when (`when` may be NULL). New reference. Returns NULL with an empty
// message if there is none, and NULL with a message if it cannot be read.
json_t *store_get_document(struct store *, int64_t trial, const char *kind, double *when, struct error *);
// Visits documents, newest first, at most `limit` (0: all). Stops and returns like store_each. A document that is not
// JSON is passed as NULL.
int store_each_document(struct store *, int64_t trial, const char *kind, int64_t limit,
                        int (*visit)(void *user, double when, json_t *document), void *user, struct error *);

// Blobs: bytes that are found by a hash of their content, such as a finalist's cubin. Equal blobs are stored once.
int store_put_blob(struct store *, const void *bytes, size_t size, char hash[HASH_TEXT_SIZE], struct error *);
// Returns 1 if there is no such blob, and -1 with a message if the bytes do not match their hash. The bytes are valid
// until the next call to store_get_blob.
int store_get_blob(struct store *, const char *hash, const void **bytes, size_t *size, struct error *);
// A trial's blob of a kind ("cubin"); a later blob replaces it. Returns 1 if the trial has none.
int store_set_trial_blob(struct store *, int64_t trial, const char *kind, const char *hash, struct error *);
int store_trial_blob(struct store *, int64_t trial, const char *kind, char hash[HASH_TEXT_SIZE], struct error *);

// SQLite's version.
const char *store_library_version(void);
