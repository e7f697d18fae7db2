// Checks that commits are in the file that has the store's name. A file that is deleted or replaced while it is open
// still accepts commits, but it has no name and is lost when the process ends. A truncated file or write-ahead log also
// accepts commits. SQLite makes a store shorter only when another program vacuums it. After each commit, the check
// calls stat four times and reads three times from the log. Each call takes about 2 us.
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/store/store_internal.h"

enum { NAMES_MOST = 1000 }; // names that are tried for a rescued copy

// Writes the whole content to a new store.
static int write_copy(struct store *store, const char *path, struct error *err)
{
    sqlite3_stmt *copy = NULL;
    if (store_prepare(store, "VACUUM INTO ?", &copy, err)) return -1;
    sqlite3_bind_text(copy, 1, path, -1, SQLITE_STATIC);
    int status = sqlite3_step(copy) == SQLITE_DONE ? 0 : store_failed(store, err);
    sqlite3_finalize(copy);
    sqlite3 *db = NULL;
    if (!status && sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
        sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL); // without it, the copy is complete, but slower
    sqlite3_close(db);
    return status;
}

// Writes the copy next to the store or, if that fails, in the current folder.
static int rescue(struct store *store, struct error *err)
{
    autofree char *folder = text_directory(store->path);
    autofree char *base =
        access(folder, W_OK) ? text_format("./%s", text_file_name(store->path)) : text_copy(store->path);
    char *path = text_format("%s.rescued", base);
    for (int i = 2; i < NAMES_MOST && !access(path, F_OK); i++) {
        free(path);
        path = text_format("%s.rescued-%d", base, i);
    }
    int status = write_copy(store, path, err);
    if (status)
        free(path);
    else
        store->rescued = path;
    return status;
}

// Whether these bytes of the log are there and not all 0.
static bool log_has(sqlite3_file *log, void *bytes, int size, sqlite3_int64 offset)
{
    static const unsigned char none[STORE_LOG_HEADER];
    int read = log->pMethods->xRead(log, bytes, size, offset);
    return read == SQLITE_OK ? memcmp(bytes, none, (size_t)size) != 0 : read != SQLITE_IOERR_SHORT_READ;
}

// Whether the write-ahead log was cut off. After that, SQLite writes on at the old end, so that zeros precede its
// newest frames. A log that SQLite begins again or empties (PRAGMA wal_checkpoint) gets another header.
static bool log_is_cut(struct store *store)
{
    // SQLite's file format, section 4.1: a header with 8 page size, then frames of 24 bytes and a page. A frame begins
    // with the page's number, which is not 0.
    unsigned char header[STORE_LOG_HEADER] = {0}, page[4];
    sqlite3_file *log = NULL;
    sqlite3_int64 size = 0;
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (!log || !log->pMethods || log->pMethods->xFileSize(log, &size) != SQLITE_OK || !size) return false;
    if (!log_has(log, header, sizeof header, 0)) return store->log_frame;
    bool same = !memcmp(header, store->log_header, sizeof header);
    bool cut = same && store->log_frame && !log_has(log, page, sizeof page, store->log_frame);
    int64_t frame = 24 + ((int64_t)header[8] << 24 | header[9] << 16 | header[10] << 8 | header[11]),
            frames = (size - STORE_LOG_HEADER) / frame, last = STORE_LOG_HEADER + (frames - 1) * frame;
    store->log_frame = frames > 0 && log_has(log, page, sizeof page, last) ? last : 0;
    memcpy(store->log_header, header, sizeof header);
    return cut;
}

static bool moved(struct store *store)
{
    int has_moved = 0;
    const char *name = sqlite3_db_filename(store->db, "main");
    if (!name || !*name) return false; // a temporary copy
    sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    bool log = !access(sqlite3_filename_wal(name), F_OK);
    has_moved |= store->has_log && !log;
    store->has_log |= log;
    struct stat file = {0};
    has_moved |= !stat(name, &file) && file.st_size < store->size;
    store->size = file.st_size;
    return log_is_cut(store) || has_moved;
}

static int say_lost(const struct store *store, struct error *err)
{
    if (!store->rescued)
        return error_set(err, "the store '%s' was deleted, replaced or cut off while it was in use", store->path);
    return error_set(
        err,
        "the store '%s' was deleted, replaced or cut off while it was in use; all that it held is in '%s': rename "
        "that file to resume with it",
        store->path, store->rescued);
}

int store_check_presence(struct store *store, struct error *err)
{
    if (store->lost) return say_lost(store, err);
    if (!moved(store)) return store_keep_lock(store, err);
    struct error why;
    store->lost = true;
    if (!rescue(store, &why)) return say_lost(store, err);
    return error_set(err,
                     "the store '%s' was deleted, replaced or cut off while it was in use, and cannot be saved: %s",
                     store->path, why.message);
}
