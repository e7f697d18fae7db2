// The base of the store: SQLite's failures as messages, transactions, and the lock of a tuning run.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/store/store_internal.h"

// The errno of the failure: of the connection or, if SQLite kept none, of the write-ahead log's file.
static int system_error(sqlite3 *db)
{
    int why = sqlite3_system_errno(db);
    sqlite3_file *log = NULL;
    if (!why && sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log &&
        log->pMethods)
        log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &why);
    return why;
}

int store_failed(struct store *store, struct error *err)
{
    int code = sqlite3_errcode(store->db) & 0xff;
    int why = code == SQLITE_IOERR || code == SQLITE_CANTOPEN ? system_error(store->db) : 0;
    if (code == SQLITE_IOERR && (why == ENOSPC || why == EDQUOT || why == EFBIG)) code = SQLITE_FULL;
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
        return error_set(err, "cannot write the store '%s': it is read-only%s", store->path,
                         sqlite3_db_filename(store->db, "main") && *sqlite3_db_filename(store->db, "main")
                             ? ""
                             : ", because it has an older version; `sweetspot tune` migrates it");
    case SQLITE_BUSY:
        return error_set(err, "the store '%s' has been locked by another program for %d s", store->path,
                         STORE_BUSY_MS / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(
            err, "the store '%s' is damaged (%s) and was not changed: `sqlite3 FILE .recover` may save its contents",
            store->path, sqlite3_errmsg(store->db));
    default:
        return error_set(err, "store '%s': %s", store->path, sqlite3_errmsg(store->db));
    }
}

int store_run(struct store *store, sqlite3_stmt *statement, struct error *err)
{
    int result = sqlite3_step(statement) == SQLITE_DONE ? 0 : store_failed(store, err);
    sqlite3_reset(statement);
    return result;
}

int store_execute(struct store *store, const char *text, struct error *err)
{
    return sqlite3_exec(store->db, text, NULL, NULL, NULL) == SQLITE_OK ? 0 : store_failed(store, err);
}

int store_begin(struct store *store, struct error *err)
{
    return store_execute(store, "BEGIN IMMEDIATE", err);
}

int store_end(struct store *store, int status, struct error *err)
{
    if (!status) status = store_execute(store, "COMMIT", err);
    // SQLite itself rolls back when the disk is full.
    if (status && !sqlite3_get_autocommit(store->db)) store_execute(store, "ROLLBACK", NULL);
    return status;
}

int store_prepare(struct store *store, const char *text, sqlite3_stmt **statement, struct error *err)
{
    return sqlite3_prepare_v2(store->db, text, -1, statement, NULL) == SQLITE_OK ? 0 : store_failed(store, err);
}

int store_lock(struct store *store, struct error *err)
{
    if (store->lock >= 0) return 0;
    int fd = open(store->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return error_set(err, "cannot open '%s': %s", store->lock_path, strerror(errno));
    for (int attempt = 0; attempt < 10; attempt++) { // the holder may go between two calls
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (!fcntl(fd, F_SETLK, &whole)) {
            if (ftruncate(fd, 0) || dprintf(fd, "%ld\n", (long)getpid()) < 0) {
            } // for people who look into the file; the lock itself needs no content
            store->lock = fd;
            return 0;
        }
        if (errno != EACCES && errno != EAGAIN) {
            error_set(err, "cannot lock '%s': %s", store->lock_path, strerror(errno));
            close(fd);
            return -1;
        }
        if (fcntl(fd, F_GETLK, &whole) || whole.l_type == F_UNLCK) continue;
        close(fd);
        if (whole.l_pid > 0)
            return error_set(err, "the store '%s' is being tuned by process %ld", store->path, (long)whole.l_pid);
        break; // the holder is in another container or on another machine
    }
    return error_set(err, "the store '%s' is being tuned by another process", store->path);
}
