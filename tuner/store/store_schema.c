// The store's file: its schema, how it is created, and how a file is recognised before SQLite touches it.
//
//     environments --< trials --< trial_problems     one row per problem: time, interval, samples, error
//          |              |-----< trial_stages       one row per launch: registers, spills, occupancy
//          |              |-----< trial_counters     one row per problem, stage and counter
//          |              |-----< verdicts           later verdicts; the newest counts
//          |              |-----< trial_blobs >-- blobs     bytes by their hash: a finalist's cubin
//          |              `-----< documents          findings and limits of one trial: JSON
//          `---------< documents                     finals, baselines, runs, devices: JSON
//
// The table of fields (tuner/trial/trial_field.c) defines the figures of trials, problems and stages. Durations are in
// seconds, points in time are Unix times, sizes are in bytes; NULL is unknown. Statuses, counters and kinds are words,
// and configurations are stored as "BLOCK_M=128,REDUCTION=shuffle". So a store can be read with the sqlite3 shell, and
// does not depend on the program's numbering.
//
// Invariant: a store's file is either absent or complete. It is written under a temporary name and then gets its final
// name, so that neither kill -9 nor a full disk leaves half a schema. Its first page has the version and the
// application id before the first WAL exists, so that store_inspect needs only the main file.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/store/store_internal.h"

enum { HEADER_SIZE = 100 };

static const char schema[] =
    "CREATE TABLE environments ("
    " id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE," // key: hash of the settings
    " job TEXT NOT NULL, source_hash TEXT NOT NULL, compiler TEXT NOT NULL, device TEXT NOT NULL, arch TEXT NOT NULL,"
    " driver TEXT NOT NULL, settings TEXT NOT NULL,"
    " used INTEGER NOT NULL);" // grows with every change of environment; the one used last has the largest
    "CREATE TABLE trials ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, environment INTEGER NOT NULL REFERENCES environments(id),"
    " %s, UNIQUE (environment, config));"
    "CREATE INDEX trials_uncounted ON trials (environment, id) WHERE status = 'ok' AND counted = 0;"
    "CREATE TABLE trial_problems ("
    " trial INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL, %s,"
    " PRIMARY KEY (trial, position)) WITHOUT ROWID;"
    "CREATE TABLE trial_stages ("
    " trial INTEGER NOT NULL REFERENCES trials(id), position INTEGER NOT NULL, %s,"
    " PRIMARY KEY (trial, position)) WITHOUT ROWID;"
    "CREATE TABLE trial_counters ("
    " trial INTEGER NOT NULL REFERENCES trials(id), problem INTEGER NOT NULL, stage INTEGER NOT NULL,"
    " key TEXT NOT NULL, value REAL, PRIMARY KEY (trial, problem, stage, key)) WITHOUT ROWID;"
    "CREATE TABLE documents (" // environment NULL: for the whole store; trial NULL: for no trial
    " id INTEGER PRIMARY KEY AUTOINCREMENT, environment INTEGER REFERENCES environments(id),"
    " kind TEXT NOT NULL, written REAL NOT NULL, json TEXT NOT NULL, trial INTEGER REFERENCES trials(id));"
    "CREATE INDEX documents_by_kind ON documents (kind, id);"
    "CREATE INDEX documents_by_trial ON documents (trial, kind, id) WHERE trial IS NOT NULL;"
    "CREATE TABLE verdicts ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, trial INTEGER NOT NULL REFERENCES trials(id), status TEXT NOT NULL,"
    " reason TEXT NOT NULL, written REAL NOT NULL);"
    "CREATE INDEX verdicts_by_trial ON verdicts (trial, id);"
    "CREATE TABLE blobs (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL);"
    "CREATE TABLE trial_blobs ("
    " trial INTEGER NOT NULL REFERENCES trials(id), kind TEXT NOT NULL, hash TEXT NOT NULL REFERENCES blobs(hash),"
    " PRIMARY KEY (trial, kind)) WITHOUT ROWID;";

char *store_sqlite_path(const char *path)
{
    return text_format("%s%s", *path == '/' ? "" : "./", path);
}

static int write_schema(const char *path, struct error *err)
{
    sqlite3 *db = NULL;
    autofree char *trials = store_column_definitions(FIELD_TRIAL), *problems = store_column_definitions(FIELD_PROBLEM),
                  *stages = store_column_definitions(FIELD_STAGE),
                  *tables = text_format(schema, trials, problems, stages), *views = store_view_definitions(),
                  *file = store_sqlite_path(path);
    autofree char *text =
        text_format("PRAGMA synchronous = FULL; BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;"
                    "%s %s COMMIT; PRAGMA journal_mode = WAL;",
                    STORE_APPLICATION_ID, STORE_VERSION, tables, views);
    int result = 0;
    if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK ||
        sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK) {
        int why = db ? store_system_error(db) : 0;
        bool full = db && store_error_code(db) == SQLITE_FULL;
        result = error_set(err, "%s",
                           full  ? "the disk is full"
                           : why ? strerror(why)
                           : db  ? sqlite3_errmsg(db)
                                 : "out of memory");
    }
    sqlite3_close(db);
    return result;
}

// Gives a file its final name by a hard link, or by renameat2 on file systems without hard links. Returns 1 if a file
// with the final name exists already, or -1 with a message.
static int store_publish(const char *temporary, const char *path, struct error *err)
{
    if (!link(temporary, path)) return 0;
    if (errno != EEXIST && !renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE)) return 0;
    return errno == EEXIST ? 1 : error_set(err, "%s", strerror(errno));
}

// Removes a store's file and the files that SQLite creates for it.
static void store_remove_file(const char *path)
{
    static const char *const remains[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof remains / sizeof *remains; i++) {
        autofree char *name = text_format("%s%s", path, remains[i]);
        unlink(name);
    }
}

int store_create(const char *path, struct error *err)
{
    if (!access(path, F_OK)) return 0;
    autofree char *folder = text_directory(path), *temporary = text_format("%s.new-%ld", path, (long)getpid());
    if (mkdir(folder, 0777) && errno != EEXIST)
        return error_set(err, "cannot create the folder '%s': %s", folder, strerror(errno));
    int fd = open(temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); // to get errno, which SQLite hides
    if (fd < 0) return error_set(err, "cannot create the store '%s': %s", path, strerror(errno));
    close(fd);
    int result = write_schema(temporary, err);
    if (!result && store_publish(temporary, path, err) < 0) result = -1; // another process may have been faster
    if (result) error_prefix(err, "cannot create the store '%s'", path);
    store_remove_file(temporary);
    return result;
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Whether the write-ahead log has commits that are not in the main file yet, because a tuner is running or was killed.
static bool has_log(const char *path)
{
    autofree char *log = text_format("%s-wal", path);
    struct stat info;
    return !stat(log, &info) && info.st_size > 0;
}

int store_find_file(const char *path, struct error *err)
{
    struct stat info;
    if (stat(path, &info) && errno == ENOENT) return error_set(err, "there is no store '%s'", path);
    if (stat(path, &info)) return error_set(err, "cannot open the store '%s': %s", path, strerror(errno));
    if (S_ISDIR(info.st_mode)) return error_set(err, "cannot open the store '%s': %s", path, strerror(EISDIR));
    return S_ISREG(info.st_mode) ? 0 : error_set(err, "the store '%s' is not a regular file", path);
}

// Uses SQLite's own descriptor. Closing another descriptor of the file would drop the locks of all of this process's
// connections to it, and the next process that closes the store would delete the log to which we write.
int store_inspect(sqlite3 *db, const char *path, struct error *err)
{
    // SQLite's file format, section 1.3: 16 page size, 28 pages, 60 user_version, 68 application_id.
    unsigned char header[HEADER_SIZE];
    sqlite3_file *file = NULL;
    sqlite3_int64 length = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file || !file->pMethods ||
        file->pMethods->xFileSize(file, &length) != SQLITE_OK ||
        (length >= HEADER_SIZE && file->pMethods->xRead(file, header, sizeof header, 0) != SQLITE_OK))
        return error_set(err, "cannot read the store '%s'", path);
    if (length < HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0)
        return error_set(err, "'%s' is not a sweetspot store%s and was not changed: give another --store", path,
                         length ? "" : " (it is empty)");
    if (big_endian(header + 68) != STORE_APPLICATION_ID)
        return error_set(err, "'%s' is the database of another program and was not changed: give another --store",
                         path);
    uint32_t version = big_endian(header + 60);
    if (version != STORE_VERSION)
        return error_set(err,
                         "the store '%s' has version %u, but this sweetspot reads only version %d; it was not "
                         "changed: use the sweetspot that wrote it, or another --store",
                         path, (unsigned)version, STORE_VERSION);
    uint64_t page = (uint64_t)header[16] << 8 | header[17];
    if (page == 1) page = 65536;
    uint64_t wanted = page * big_endian(header + 28);
    if ((uint64_t)length < wanted && !has_log(path))
        return error_set(err,
                         "the store '%s' is damaged: it has %lld of %llu bytes; it was not changed: restore a copy",
                         path, (long long)length, (unsigned long long)wanted);
    return 0;
}
