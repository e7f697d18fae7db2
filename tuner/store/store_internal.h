// Shared by the store's files. SQLite is included here, only for this folder's files.
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

struct store {
    sqlite3 *db;
    char *path;
    char *lock_path; // NULL until it is needed
    bool *present;   // by field: the file has a column for it
    bool incomplete; // it lacks some
    char *rescued;   // where the content went when the file was deleted or replaced; else NULL
    bool lost;       // it was: nothing more is written
    bool has_log;    // its write-ahead log was seen
    int (*committed)(struct store *, struct error *); // called after every commit, whose failure it can be; or NULL
    int lock, lock_name;                              // file and socket while we hold the lock, else -1
    int64_t environment;                              // row of the current one; 0: none
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct arena found, session, blob; // what store_find, store_last_environment, store_get_blob gave out
    bool reading;                      // a transaction of store_begin_reading is open
    char *rows;                        // room for the rows of a trial while they are read
    size_t row_room;                   // bytes of it
};

// errno of the last failure: of the connection or, where SQLite noted none, of the database's or the log's file.
int store_system_error(sqlite3 *);
// SQLite's primary code of it; SQLITE_FULL also for a quota and for a limit on the size of files.
int store_error_code(sqlite3 *);
// Turns SQLite's last failure into a message that names the store and, if there is one, a remedy. Returns -1.
int store_failed(struct store *, struct error *err);

// The statement, reset and without bindings; NULL with a message.
sqlite3_stmt *store_statement(struct store *, enum statement, struct error *err);
// A statement that is used once: prepared here, finalized by the caller.
int store_prepare(struct store *, const char *text, sqlite3_stmt **statement, struct error *err);
// For autorelease: of a statement of store_statement, and of one that is used once.
static inline void store_reset(sqlite3_stmt **statement)
{
    sqlite3_reset(*statement);
    if (*statement) sqlite3_clear_bindings(*statement);
}
static inline void store_finalize(sqlite3_stmt **statement)
{
    sqlite3_finalize(*statement);
}
// Runs a statement that gives no rows. 0, or -1 with a message.
int store_run(struct store *, sqlite3_stmt *, struct error *err);
// The next row of a query: 1, 0 when there is none, -1 with a message.
int store_step(struct store *, sqlite3_stmt *, struct error *err);
// Runs SQL without parameters and rows.
int store_execute(struct store *, const char *text, struct error *err);

int store_begin(struct store *, struct error *err);
// Commits when status is 0; otherwise, or when that fails, rolls back. Returns 0 or -1.
int store_end(struct store *, int status, struct error *err);

// A transaction around several queries, so that they take one lock and see one state. None within another transaction.
int store_begin_reading(struct store *, struct error *err);
void store_end_reading(struct store *);

// Whether what was just committed is in the file that has the store's name (store_presence.c); the store's `committed`.
// -1 with a message when the file was deleted, replaced, or taken by another tuner: what the store held is then in a
// new file next to it.
int store_check_presence(struct store *, struct error *err);
// Locks <store>.lock again where it was removed; -1 where another tuner was faster (store_lock.c).
int store_keep_lock(struct store *, struct error *err);
void store_unlock(struct store *);
// What SQLite's "busy" means: another program has locked the store, or its file system has no locks, which SQLite does
// not tell apart. Asks for a lock of <store>.lock, since only SQLite may open the store's own file. Returns -1.
int store_busy(struct store *, struct error *err);

// The table of fields as SQL (store_fields.c) -------------------------------------------------------------------------

// A trial with its newest verdict, and its status by that.
#define STORE_JUDGED_TRIALS                                          \
    "trials t LEFT JOIN verdicts v ON v.trial = t.id AND NOT EXISTS" \
    " (SELECT 1 FROM verdicts n WHERE n.trial = v.trial AND n.id > v.id)"
#define STORE_JUDGED_STATUS "coalesce(v.status, t.status)"

// "name TYPE, name TYPE, ..." of a level's fields, for CREATE TABLE. malloc'ed.
char *store_column_definitions(enum field_level);
// Finds which columns the file has; adds missing ones, in a separate transaction.
int store_find_columns(struct store *, struct error *err);
int store_add_columns(struct store *, struct error *err);
// Binds a record's fields to the parameters from *parameter on, and sets *parameter to the one after the last.
void store_bind_fields(sqlite3_stmt *, int *parameter, enum field_level, const void *record);
// The status that a stored word stands for, or -1. Earlier versions stored "screened" for a candidate that was
// certainly too slow on a cheaper problem, and has no time. It is read as slow.
int store_status(const char *);
// Reads a record's fields from the columns from *column on. -1 with a message when a status is unknown.
int store_read_fields(struct store *, sqlite3_stmt *, int *column, enum field_level, void *record, struct arena *memory,
                      struct error *err);

// The views (store_views.c): the statements that make them in a new store, malloc'ed.
char *store_view_definitions(void);
// Writes those that are missing or were written by an older program: within the caller's transaction, or in one of its
// own where there are any.
int store_write_views(struct store *, struct error *err);
int store_renew_views(struct store *, struct error *err);

// The file itself -----------------------------------------------------------------------------------------------------

enum { STORE_APPLICATION_ID = 0x73777370, STORE_BUSY_MS = 10000 }; // "swsp"; how long to wait for another program

// store_schema.c: writes a new, empty store, unless there is one already; sees that there is a regular file; and tells
// from its first bytes, before SQLite looks at it and without any change to it, whether it can be a store of this
// version.
int store_create(const char *path, struct error *err);
int store_find_file(const char *path, struct error *err);
int store_inspect(sqlite3 *, const char *path, struct error *err);
