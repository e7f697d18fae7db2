// From version 1 to version 2 of the store. Never changes: it describes version 1 and does not depend on later
// versions.
//
// What version 1 called gpu_wall is gpu_seconds. Documents may belong to a trial. Verdicts and blobs are new. An
// environment was known by the text of the worker's request: columns `entry` ("entry E;option O;define N=V;parameter
// P;"), `problems` and `settings` (JSON). Its settings are now lines of facts (tuner/trial/environment.h), and its key
// is their hash. Both are computed from exactly what version 1 had recorded, so that a run of the same job on the same
// device makes the same key and finds the trials.
#include <stdlib.h>
#include <string.h>

#include "tuner/base/memory.h"
#include "tuner/base/text.h"
#include "tuner/store/store_internal.h"

static const char tables[] =
    "ALTER TABLE trials RENAME COLUMN gpu_wall TO gpu_seconds;"
    "ALTER TABLE documents ADD COLUMN trial INTEGER REFERENCES trials(id);"
    "CREATE TABLE environments_2 ("
    " id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, job TEXT NOT NULL, source_hash TEXT NOT NULL,"
    " compiler TEXT NOT NULL, device TEXT NOT NULL, arch TEXT NOT NULL, driver TEXT NOT NULL, settings TEXT NOT NULL,"
    " used INTEGER NOT NULL);";

// SQLite's documented way to change a table that others refer to.
static const char exchange[] = "DROP TABLE environments; ALTER TABLE environments_2 RENAME TO environments;";

// The columns of version 1, in the order of the query below.
enum { ID, KEY, JOB, SOURCE_HASH, COMPILER, DEVICE, ARCH, DRIVER, USED, ENTRY, PROBLEMS, SETTINGS };

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

// Where the part that begins at `part` ends: at a ";" before another part or the end.
static size_t part_length(const char *part, const char *const *words)
{
    for (const char *end = part; (end = strchr(end, ';')); end++) {
        if (!end[1]) return (size_t)(end - part);
        for (size_t i = 0; words[i]; i++)
            if (!strncmp(end + 1, words[i], strlen(words[i]))) return (size_t)(end - part);
    }
    return strlen(part);
}

// "entry a;option b;define C=1;parameter D;" into the members that it stands for.
static void split_entry(const char *text, json_t *facts)
{
    static const char *const words[] = {"entry ", "operation ", "option ", "define ", "parameter ", NULL};
    static const char *const members[] = {"stages", "stages", "options", "defines", "parameters"};
    for (size_t length; *text; text += length + (text[length] == ';')) {
        size_t kind = 0;
        length = part_length(text, words);
        while (words[kind] && strncmp(text, words[kind], strlen(words[kind])) != 0) kind++;
        if (!words[kind]) continue;
        size_t skipped = kind < 2 ? 0 : strlen(words[kind]); // a stage says which of the two it is
        json_t *list = json_object_get(facts, members[kind]);
        if (!list) json_object_set_new(facts, members[kind], list = json_array());
        json_array_append_new(list, json_stringn(text + skipped, length - skipped));
    }
}

// The settings that the row's columns stand for, malloc'ed.
static char *settings_of(sqlite3_stmt *row, struct error *err)
{
    json_t *facts = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "job", text_of(row, JOB), "source",
                              text_of(row, SOURCE_HASH), "compiler", text_of(row, COMPILER), "device",
                              text_of(row, DEVICE), "arch", text_of(row, ARCH), "driver", text_of(row, DRIVER));
    json_t *problems = json_loads(text_of(row, PROBLEMS), 0, NULL), *rest = json_loads(text_of(row, SETTINGS), 0, NULL);
    if (!facts) {
        error_set(err, "an environment is not UTF-8");
        return NULL;
    }
    split_entry(text_of(row, ENTRY), facts);
    if (problems) json_object_set(facts, "problems", problems);
    if (json_is_object(rest)) {
        json_object_update(facts, rest);
        json_t *replayed = json_object_get(rest, "replay");
        if (replayed) json_object_set(facts, "replayed", replayed);
        json_object_del(facts, "replay");
    }
    char *text = environment_text(facts, false, err);
    json_decref(facts);
    json_decref(problems);
    json_decref(rest);
    return text;
}

static int move_environment(struct store *store, sqlite3_stmt *row, sqlite3_stmt *put, struct error *err)
{
    char key[HASH_TEXT_SIZE], *settings = settings_of(row, err);
    if (!settings) return -1;
    environment_key(settings, key);
    sqlite3_reset(put);
    sqlite3_bind_text(put, 1, key, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(put, 2, settings, -1, SQLITE_TRANSIENT);
    for (int column = JOB; column <= DRIVER; column++)
        sqlite3_bind_text(put, 3 + column - JOB, text_of(row, column), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(put, 9, sqlite3_column_int64(row, USED));
    sqlite3_bind_int64(put, 10, sqlite3_column_int64(row, ID));
    int code = sqlite3_step(put);
    if (code == SQLITE_CONSTRAINT) { // two environments that differ only in their old texts: the second keeps its old
                                     // key and is not used
        sqlite3_reset(put);
        sqlite3_bind_text(put, 1, text_of(row, KEY), -1, SQLITE_TRANSIENT);
        code = sqlite3_step(put);
    }
    free(settings);
    return code == SQLITE_DONE ? 0 : store_failed(store, err);
}

int store_step_1(struct store *store, struct error *err)
{
    sqlite3_stmt *row = NULL, *put = NULL;
    int status = -1, step;
    if (store_execute(store, tables, err) || store_execute(store, store_tables_of_version_2, err) ||
        store_prepare(
            store,
            "SELECT id, key, job, source_hash, compiler, device, arch, driver, used, entry, problems, settings"
            " FROM environments ORDER BY used DESC",
            &row, err) ||
        store_prepare(store,
                      "INSERT INTO environments_2 (key, settings, job, source_hash, compiler, device, arch, driver,"
                      " used, id) VALUES (?,?,?,?,?,?,?,?,?,?)",
                      &put, err))
        goto out;
    status = 0;
    while ((step = sqlite3_step(row)) == SQLITE_ROW && !status) status = move_environment(store, row, put, err);
    if (!status && step != SQLITE_DONE) status = store_failed(store, err);
out:
    sqlite3_finalize(row);
    sqlite3_finalize(put);
    if (!status) status = store_execute(store, exchange, err);
    return status;
}
