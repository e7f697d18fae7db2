// Stores of older versions: a chain of steps, each from one version to the next.
//
// A file that may be written is copied aside first (with what its log holds), then all steps run in one transaction. So
// a kill or a full disk leaves the old store unchanged, and the next try starts over. A file that is only read is not
// changed: the steps run on a copy that SQLite keeps in a temporary file and removes. The views are written in the same
// transaction, after the steps.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/text.h"
#include "tuner/store/store_internal.h"

static int (*const steps[STORE_VERSION])(struct store *, struct error *) = {
    [1] = store_step_1,
};

int store_version(struct store *store, int *version, struct error *err)
{
    sqlite3_stmt *query = NULL;
    int result = -1;
    if (store_prepare(store, "PRAGMA user_version", &query, err)) return -1;
    if (sqlite3_step(query) == SQLITE_ROW) {
        *version = sqlite3_column_int(query, 0);
        result = 0;
        if (*version < 1 || *version > STORE_VERSION)
            result = error_set(err, "the store '%s' has version %d, but this sweetspot reads versions 1 to %d",
                               store->path, *version, STORE_VERSION);
    } else {
        store_failed(store, err);
    }
    sqlite3_finalize(query);
    return result;
}

static int run_steps(struct store *store, int version, struct error *err)
{
    char mark[64];
    snprintf(mark, sizeof mark, "PRAGMA user_version = %d", STORE_VERSION);
    if (store_begin(store, err)) return -1;
    int status = 0;
    for (int v = version; v < STORE_VERSION && !status; v++) status = steps[v](store, err);
    if (!status) status = store_find_columns(store, err);
    if (!status) status = store_write_views(store, err);
    if (!status) status = store_execute(store, mark, err);
    return store_end(store, status, err);
}

// Copies all pages of a database into another, in the state of the last commit.
static int copy_pages(sqlite3 *from, sqlite3 *to, struct error *err)
{
    sqlite3_backup *backup = to ? sqlite3_backup_init(to, "main", from, "main") : NULL;
    int code = backup ? sqlite3_backup_step(backup, -1) : SQLITE_ERROR;
    if (backup) sqlite3_backup_finish(backup);
    if (code == SQLITE_DONE) return 0;
    int why = to ? sqlite3_system_errno(to) : 0;
    bool full = (code & 0xff) == SQLITE_FULL || why == ENOSPC || why == EDQUOT || why == EFBIG;
    return error_set(err, "%s", full ? "the disk is full" : why ? strerror(why) : sqlite3_errstr(code));
}

// Copies the store to "<store>.v<version>", or with ".2", ".3" ... behind it where there is one. store->kept is its
// name.
static int copy_aside(struct store *store, int version, struct error *err)
{
    char *temporary = text_format("%s.new-%ld", store->path, (long)getpid()), *name = NULL;
    sqlite3 *copy = NULL;
    int result = 1;
    store_remove_file(temporary);
    if (sqlite3_open_v2(temporary, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        result = error_set(err, "%s", copy ? sqlite3_errmsg(copy) : "out of memory");
    else if (copy_pages(store->db, copy, err))
        result = -1;
    sqlite3_close(copy);
    for (int number = 1; result > 0; number++) {
        free(name);
        name = number == 1 ? text_format("%s.v%d", store->path, version)
                           : text_format("%s.v%d.%d", store->path, version, number);
        result = store_publish(temporary, name, err);
    }
    store_remove_file(temporary);
    free(temporary);
    if (result) {
        free(name);
        return error_prefix(err, "cannot make a backup copy of it");
    }
    store->kept = name;
    return 0;
}

int store_migrate(struct store *store, int version, struct error *err)
{
    if (store_lock(store, err) || store_version(store, &version, err)) return -1;
    if (version == STORE_VERSION) return 0; // another process was faster
    int status = copy_aside(store, version, err);
    if (!status && (status = run_steps(store, version, err))) unlink(store->kept);
    if (status)
        return error_prefix(err, "cannot migrate the store '%s' from version %d to %d; it was not changed", store->path,
                            version, STORE_VERSION);
    // Moves the log into the file, so that its first page has the version. A failure here does no harm.
    sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return 0;
}

int store_migrate_copy(struct store *store, int version, struct error *err)
{
    sqlite3 *copy = NULL;
    int status = -1;
    if (sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
        error_set(err, "%s", copy ? sqlite3_errmsg(copy) : "out of memory");
    else
        status = copy_pages(store->db, copy, err);
    if (!status) {
        sqlite3_close(store->db);
        store->db = copy;
        copy = NULL;
        status = run_steps(store, version, err) || store_execute(store, "PRAGMA query_only = ON", err) ? -1 : 0;
    }
    sqlite3_close(copy);
    if (status)
        error_prefix(err, "cannot read the store '%s' (version %d) through a temporary copy", store->path, version);
    return status;
}
