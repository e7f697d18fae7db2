// What the store's files share. SQLite is included here, for this folder's store files alone.
#ifndef SWEETSPOT_STORE_INTERNAL_H
#define SWEETSPOT_STORE_INTERNAL_H

#include <sqlite3.h>

#include "tuner/base/arena.h"
#include "tuner/store/store.h"

// Statements are prepared once, at their first use (preparing costs more than running them).
enum statement {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_ADD_TRIAL,
    STATEMENT_ADD_PROBLEM,
    STATEMENT_ADD_STAGE,
    STATEMENT_ADD_COUNTER,
    STATEMENT_SET_COUNTED,
    STATEMENT_FIND,
    STATEMENT_GET,
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
    STATEMENT_COUNT
};

struct store {
    sqlite3 *db;
    char *path, *lock_path;
    int lock;            // file descriptor while we hold the lock, else -1
    int64_t environment; // row of the current one; 0: none
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct arena found, document, session; // what store_find, store_get_document, store_last_environment gave out
};

// Turns SQLite's last failure into a message that names the store and, where there is one, the way out. Returns -1.
int store_failed(struct store *, struct error *);

// The statement, reset and without bindings; NULL with a message.
sqlite3_stmt *store_statement(struct store *, enum statement, struct error *);
// Runs a statement that gives no rows. 0, or -1 with a message.
int store_run(struct store *, sqlite3_stmt *, struct error *);

int store_begin(struct store *, struct error *);
// Commits when status is 0; otherwise, or when that fails, rolls back. Returns 0 or -1.
int store_end(struct store *, int status, struct error *);

// The file itself (store_schema.c): writes a new, empty store, unless there is one already; and tells from the file's
// first bytes, without SQLite and so without any change to it, whether it can be a store of this version.
int store_create(const char *path, struct error *);
int store_inspect(const char *path, struct error *);

#endif
