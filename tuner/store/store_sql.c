// The base of the store: SQLite's failures as messages, and transactions.
#include <errno.h>
#include <string.h>

#include "tuner/store/store_internal.h"

int store_system_error(sqlite3 *db)
{
    int why = sqlite3_system_errno(db);
    sqlite3_file *log = NULL;
    if (!why) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &why);
    if (!why && sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log &&
        log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &why);
    return why;
}

int store_error_code(sqlite3 *db)
{
    int code = sqlite3_errcode(db) & 0xff, why = code == SQLITE_IOERR ? store_system_error(db) : 0;
    return why == ENOSPC || why == EDQUOT || why == EFBIG ? SQLITE_FULL : code;
}

int store_failed(struct store *store, struct error *err)
{
    int code = store_error_code(store->db), why = 0;
    if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) why = store_system_error(store->db);
    switch (code) {
    case SQLITE_FULL:
        return error_set(err,
                         "the disk is full: cannot add to the store '%s', whose contents are safe; free some space",
                         store->path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return error_set(err, "cannot %s the store '%s': %s", code == SQLITE_IOERR ? "read or write" : "open",
                         store->path, why ? strerror(why) : sqlite3_errmsg(store->db));
    case SQLITE_READONLY:
        return error_set(err, "cannot write the store '%s': it is read-only", store->path);
    case SQLITE_BUSY:
        return store_busy(store, err);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(
            err, "the store '%s' is damaged (%s) and was not changed: `sqlite3 FILE .recover` may save its contents",
            store->path, sqlite3_errmsg(store->db));
    default:
        return error_set(err, "store '%s': %s", store->path, sqlite3_errmsg(store->db));
    }
}

static int tell_committed(struct store *store, struct error *err)
{
    return store->committed ? store->committed(store, err) : 0;
}

int store_run(struct store *store, sqlite3_stmt *statement, struct error *err)
{
    int result = sqlite3_step(statement) == SQLITE_DONE ? 0 : store_failed(store, err);
    sqlite3_reset(statement);
    // Outside of a transaction, the statement is now committed.
    if (!result && sqlite3_get_autocommit(store->db) && !sqlite3_stmt_readonly(statement))
        result = tell_committed(store, err);
    return result;
}

int store_step(struct store *store, sqlite3_stmt *statement, struct error *err)
{
    int step = sqlite3_step(statement);
    return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : store_failed(store, err);
}

int store_execute(struct store *store, const char *text, struct error *err)
{
    return sqlite3_exec(store->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_failed(store, err);
}

int store_begin(struct store *store, struct error *err)
{
    if (store->lost && tell_committed(store, err)) return -1; // the message says where the committed data are
    return store_execute(store, "BEGIN IMMEDIATE", err);
}

int store_end(struct store *store, int status, struct error *err)
{
    if (!status) status = store_execute(store, "COMMIT", err);
    // SQLite itself rolls back when the disk is full.
    if (status && !sqlite3_get_autocommit(store->db)) store_execute(store, "ROLLBACK", NULL);
    return status ? status : tell_committed(store, err);
}

int store_begin_reading(struct store *store, struct error *err)
{
    store->reading = sqlite3_get_autocommit(store->db);
    return store->reading ? store_execute(store, "BEGIN", err) : 0;
}

void store_end_reading(struct store *store)
{
    if (store->reading) store_execute(store, "COMMIT", NULL); // nothing was written
    store->reading = false;
}

int store_prepare(struct store *store, const char *text, sqlite3_stmt **statement, struct error *err)
{
    return sqlite3_prepare_v2(store->db, text, -1, statement, NULL) == SQLITE_OK ? 0 : store_failed(store, err);
}
