// Shared by the store's files. Includes SQLite, so only the files of this folder may include it.
#pragma once

#include <sqlite3.h>

#include "tuner/store/store.h"
#include "tuner/trial/trial_field.h"

// Statements are prepared once, at their first use (preparing costs more than running them).
enum statement {
    STATEMENT_ADD_TRIAL,
    STATEMENT_ADD_PROBLEM,
    STATEMENT_ADD_STAGE,
    STATEMENT_RETRY_TRIAL,
    STATEMENT_ADD_COUNTER,
    STATEMENT_ADD_VERDICT,
    STATEMENT_VERDICTS,
    STATEMENT_SET_COUNTED,
    STATEMENT_FIND,
    STATEMENT_GET,
    STATEMENT_SCAN,
    STATEMENT_PROBLEMS,
    STATEMENT_STAGES,
    STATEMENT_COUNTERS,
    STATEMENT_IDS,
    STATEMENT_BEST_IDS,
    STATEMENT_COUNTS,
    STATEMENT_ELSEWHERE,
    STATEMENT_UNCOUNTED,
    STATEMENT_PUT_DOCUMENT,
    STATEMENT_DOCUMENTS,
    STATEMENT_TRIAL_DOCUMENTS,
    STATEMENT_PUT_BLOB,
    STATEMENT_GET_BLOB,
    STATEMENT_SET_TRIAL_BLOB,
    STATEMENT_TRIAL_BLOB,
    STATEMENT_COUNT
};

enum { STORE_LOG_HEADER = 32 }; // bytes at the beginning of the write-ahead log

struct store {
    sqlite3 *db;
    char *path;
    char *lock_path; // NULL until it is needed
    bool *present;   // by field: whether the file has a column for it
    bool incomplete; // some columns are missing from the file
    char *rescued;   // where the content was saved when the file was deleted or replaced; otherwise NULL
    bool lost;       // the file was deleted or replaced, so nothing more is written
    bool has_log;    // its write-ahead log was seen
    int64_t size;    // of the file, in bytes, at the last commit
    unsigned char log_header[STORE_LOG_HEADER];       // of the write-ahead log at the last commit
    int64_t log_frame;                                // where its last frame began; 0: it had none
    int (*committed)(struct store *, struct error *); // checks every commit after it is made; may be NULL
    int lock, lock_name;                              // file and socket while we hold the lock, otherwise -1
    int64_t environment;                              // row of the current one; 0: none
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct arena found, session, blob; // results of store_find, store_last_environment, store_get_blob
    bool reading;                      // a transaction of store_begin_reading is open
    char *rows;                        // room for the rows of a trial while they are read
    size_t row_room;                   // the size of `rows` in bytes
};

// errno of the last failure, taken from the connection or, if SQLite noted no errno there, from the database's file or
// the log.
int store_system_error(sqlite3 *);
// SQLite's primary code for that failure; SQLITE_FULL also if a quota or a limit on the size of files is exceeded.
int store_error_code(sqlite3 *);
// Turns SQLite's last failure into a message that names the store and, if there is one, a remedy. Returns -1.
int store_failed(struct store *, struct error *err);

// The statement, reset and without bindings; NULL with a message.
sqlite3_stmt *store_statement(struct store *, enum statement, struct error *err);
// Prepares a statement that is used once; the caller finalizes it.
int store_prepare(struct store *, const char *text, sqlite3_stmt **statement, struct error *err);
// For autorelease: store_reset for a statement from store_statement, store_finalize for a statement that is used once.
static inline void store_reset(sqlite3_stmt **statement)
{
    sqlite3_reset(*statement);
    if (*statement) sqlite3_clear_bindings(*statement);
}
static inline void store_finalize(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}
// Runs a statement that returns no rows. 0, or -1 with a message.
int store_run(struct store *, sqlite3_stmt *, struct error *err);
// Steps to the next row of a query. Returns 1, 0 if there is none, or -1 with a message.
int store_step(struct store *, sqlite3_stmt *, struct error *err);
// Runs SQL that has no parameters and returns no rows.
int store_execute(struct store *, const char *text, struct error *err);

int store_begin(struct store *, struct error *err);
// Commits when status is 0; otherwise, or when that fails, rolls back. Returns 0 or -1.
int store_end(struct store *, int status, struct error *err);

// A transaction around several queries, so that they take one lock and see one state. Within another transaction, these
// functions begin no new transaction.
int store_begin_reading(struct store *, struct error *err);
void store_end_reading(struct store *);

// The store's `committed`: checks that the last commit is in the file that has the store's name (store_presence.c). -1
// with a message when the file was deleted, replaced, or taken by another tuner; the store's content is then in a new
// file next to the old path.
int store_check_presence(struct store *, struct error *err);
// Locks <store>.lock again if it was removed; -1 if another tuner has locked it first (store_lock.c).
int store_keep_lock(struct store *, struct error *err);
void store_unlock(struct store *);
// Writes the message for SQLite's "busy", which can mean that another program has locked the store, or that its file
// system has no locks. Determines the cause by locking <store>.lock, because only SQLite may open the store's own file.
// Returns -1.
int store_busy(struct store *, struct error *err);

// The table of fields as SQL (store_fields.c) -------------------------------------------------------------------------

// A trial joined with its newest verdict, and the trial's status according to that verdict.
#define STORE_JUDGED_TRIALS                                          \
    "trials t LEFT JOIN verdicts v ON v.trial = t.id AND NOT EXISTS" \
    " (SELECT 1 FROM verdicts n WHERE n.trial = v.trial AND n.id > v.id)"
#define STORE_JUDGED_STATUS "coalesce(v.status, t.status)"

// "name TYPE, name TYPE, ..." with a level's fields, for CREATE TABLE. malloc'ed.
char *store_column_definitions(enum field_level);
// store_find_columns finds which columns the file has. store_add_columns adds the missing ones in a separate
// transaction.
int store_find_columns(struct store *, struct error *err);
int store_add_columns(struct store *, struct error *err);
// Binds a record's fields to the parameters from *parameter on, and sets *parameter to the first unused parameter.
void store_bind_fields(sqlite3_stmt *, int *parameter, enum field_level, const void *record);
// Returns the status for a stored word, or -1. Earlier versions stored "screened" for a candidate that was certainly
// too slow on a cheaper problem and therefore has no time. This word is read as slow.
int store_status(const char *);
// Reads a record's fields from the columns from *column on. -1 with a message when a status is unknown.
int store_read_fields(struct store *, sqlite3_stmt *, int *column, enum field_level, void *record, struct arena *memory,
                      struct error *err);

// The statements that create the views (store_views.c) in a new store, malloc'ed.
char *store_view_definitions(void);
// These functions write the views that are missing or were written by an older program. store_write_views does so
// within the caller's transaction. store_renew_views uses its own transaction, and begins it only if there are such
// views.
int store_write_views(struct store *, struct error *err);
int store_renew_views(struct store *, struct error *err);

// The file itself -----------------------------------------------------------------------------------------------------

enum { STORE_APPLICATION_ID = 0x73777370, STORE_BUSY_MS = 10000 }; // "swsp"; how long to wait for another program

// The path for SQLite, which reads "file:x" and ":memory:" as something other than a file. malloc'ed. (store_schema.c)
char *store_sqlite_path(const char *path);
// store_schema.c: store_create writes a new, empty store, unless there is one already. store_find_file checks that
// there is a regular file. store_inspect checks the first bytes, before SQLite reads or changes the file, to see
// whether it can be a store of this version.
int store_create(const char *path, struct error *err);
int store_find_file(const char *path, struct error *err);
int store_inspect(sqlite3 *, const char *path, struct error *err);
