// The store: opening and environments. Trials are in store_trials.c, documents and blobs in store_documents.c, the
// schema in store_schema.c; all of them use store_sql.c and store_fields.c.
//
// Invariant: between calls no transaction is open and no statement is in progress. So a reader never keeps the log from
// being checkpointed, and a kill -9 between calls leaves nothing to undo. With synchronous = NORMAL, a commit in WAL
// mode is a write() without fsync. It survives the death of the process, as the page cache does. For all rows of a
// trial it takes 0.1 ms; with FULL it would wait milliseconds for the disk.
#include "tuner/store/store.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tuner/store/store_internal.h"

// A file: URI for a store that cannot be written, or NULL when the store can be written. If a read-only store has no
// log, it cannot change (immutable), and SQLite needs no shared-memory file.
static char *read_only_uri(const char *path)
{
    autofree char *folder = text_directory(path), *log = text_format("%s-wal", path);
    if (!access(path, W_OK) && !access(folder, W_OK)) return NULL;
    size_t used = 0;
    autofree char *escaped = memory_new(3 * strlen(path) + 1, 1);
    for (const char *p = path; *p; p++)
        used += (size_t)sprintf(escaped + used, strchr("%?#", *p) ? "%%%02X" : "%c", (unsigned)(unsigned char)*p);
    return text_format("file:%s?%s", escaped, access(log, F_OK) ? "immutable=1" : "mode=ro");
}

// Readers do not check stores that are larger than this: the check would take longer than reading the data that they
// show.
static const off_t checked_for_readers = (off_t)256 << 20;

// Checks every page and the order of the rows: 0.12 s for 40 MB (50,000 trials), 1.3 s for a million. A run must not
// fail after hours because of a damaged page that a check at its start would have found.
static int check_damage(struct store *store, bool writing, struct error *err)
{
    autorelease(store_finalize) sqlite3_stmt *check = NULL;
    struct stat about;
    if (!writing && !stat(store->path, &about) && about.st_size > checked_for_readers) return 0;
    if (store_prepare(store, "PRAGMA quick_check(1)", &check, err)) return -1;
    if (sqlite3_step(check) != SQLITE_ROW) return store_failed(store, err);
    const char *answer = (const char *)sqlite3_column_text(check, 0);
    if (answer && !strcmp(answer, "ok")) return 0;
    return error_set(
        err, "the store '%s' is damaged (%s) and was not changed: `sqlite3 FILE .recover` may save its contents",
        store->path, answer ? answer : "no answer");
}

static int open_database(struct store *store, bool create, struct error *err)
{
    const char *path = store->path;
    if ((create && store_create(path, err)) || store_find_file(path, err)) return -1;
    autofree char *uri = create ? NULL : read_only_uri(path), *file = store_sqlite_path(path);
    if (sqlite3_open_v2(uri ? uri : file, &store->db,
                        uri ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return store->db ? store_failed(store, err) : error_set(err, "out of memory");
    if (store_inspect(store->db, path, err)) return -1;
    // Until the store has been checked, closing it must not move the log into the file.
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_extended_result_codes(store->db, 0);
    sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
    if (check_damage(store, create, err) ||
        store_execute(store, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", err) ||
        store_find_columns(store, err) || (create && store_renew_views(store, err)))
        return -1;
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return 0;
}

int store_open(struct store **out, const char *path, bool create, struct error *err)
{
    struct store *store = *out = memory_new(1, sizeof *store);
    *store = (struct store){.path = text_copy(path), .lock = -1, .lock_name = -1, .committed = store_check_presence};
    if (!open_database(store, create, err)) return 0;
    store_close(store);
    *out = NULL;
    return -1;
}

void store_close(struct store *store)
{
    if (!store) return;
    for (size_t i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->db);
    store_unlock(store);
    arena_release(&store->found);
    arena_release(&store->session);
    arena_release(&store->blob);
    free(store->present);
    free(store->rows);
    free(store->lock_path);
    free(store->rescued);
    free(store->path);
    free(store);
}

const char *store_rescued_copy(const struct store *store)
{
    return store->rescued;
}

// Finds the row of an environment, or 0. *last: whether it is the most recently used environment.
static int find_environment(struct store *store, const char *key, int64_t *row, bool *last, struct error *err)
{
    autorelease(store_finalize) sqlite3_stmt *query = NULL;
    if (store_prepare(store, "SELECT id, used = (SELECT max(used) FROM environments) FROM environments WHERE key = ?",
                      &query, err))
        return -1;
    sqlite3_bind_text(query, 1, key, -1, SQLITE_STATIC);
    int step = store_step(store, query, err);
    *row = step > 0 ? sqlite3_column_int64(query, 0) : 0;
    if (step > 0) *last = sqlite3_column_int(query, 1);
    return step < 0 ? -1 : 0;
}

#define COLUMNS "key, job, source_hash, compiler, device, arch, driver, settings"
enum { COLUMN_COUNT = 8 };

static const char **column(struct environment *e, int i)
{
    const char **columns[COLUMN_COUNT] = {&e->key,    &e->job,  &e->source_hash, &e->compiler,
                                          &e->device, &e->arch, &e->driver,      &e->settings};
    return columns[i];
}

int store_use_environment(struct store *store, const struct environment *environment, struct error *err)
{
    int64_t row;
    bool last = false;
    if (find_environment(store, environment->key, &row, &last, err)) return -1;
    if (!last) {
        autorelease(store_finalize) sqlite3_stmt *change = NULL;
        struct environment e = *environment;
        if (store_prepare(store,
                          "INSERT INTO environments (" COLUMNS
                          ", used) VALUES (?,?,?,?,?,?,?,?, (SELECT coalesce(max(used), 0) + 1 FROM environments))"
                          " ON CONFLICT (key) DO UPDATE SET used = excluded.used",
                          &change, err))
            return -1;
        for (int i = 0; i < COLUMN_COUNT; i++)
            sqlite3_bind_text(change, i + 1, *column(&e, i) ? *column(&e, i) : "", -1, SQLITE_STATIC);
        if (store_run(store, change, err) || find_environment(store, environment->key, &row, &last, err)) return -1;
    }
    store->environment = row;
    return 0;
}

int store_read_environment(struct store *store, const char *key, struct error *err)
{
    int64_t row;
    bool last;
    if (find_environment(store, key, &row, &last, err)) return -1;
    if (row) store->environment = row;
    return row ? 0 : 1;
}

int store_each_environment(struct store *store, int (*visit)(void *user, const struct environment *), void *user,
                           struct error *err)
{
    autorelease(store_finalize) sqlite3_stmt *query = NULL;
    if (store_prepare(store, "SELECT " COLUMNS " FROM environments ORDER BY used DESC", &query, err)) return -1;
    int step = 0, stopped = 0;
    while (!stopped && (step = store_step(store, query, err)) > 0) {
        struct environment e;
        for (int i = 0; i < COLUMN_COUNT; i++) *column(&e, i) = (const char *)sqlite3_column_text(query, i);
        stopped = visit(user, &e);
    }
    return stopped ? stopped : step;
}

struct kept_environment {
    struct environment *kept;
    struct arena *memory;
};

static int keep_environment(void *user, const struct environment *e)
{
    struct kept_environment *k = user;
    *k->kept = environment_copy(k->memory, e);
    return 1;
}

int store_last_environment(struct store *store, struct environment *environment, struct error *err)
{
    *environment = (struct environment){"", "", "", "", "", "", "", ""};
    int found =
        store_each_environment(store, keep_environment, &(struct kept_environment){environment, &store->session}, err);
    return found > 0 ? store_read_environment(store, environment->key, err) : found ? -1 : 1;
}

const char *store_library_version(void)
{
    return sqlite3_libversion();
}
