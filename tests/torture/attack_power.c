// Power cuts. A run keeps a journal of its operations on files. For random moments in it, the disk is reconstructed as
// a power failure would leave it. The store must be intact. If it has n trials, they must be the first n that were
// committed. All trials that were committed before the last sync of the log must be among them, as SQLite promises for
// synchronous = NORMAL.
#include "tests/torture/attacks.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/torture/files.h"
#include "tests/torture/power_disk.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

enum { CUTS_IN_A_SCENE = 24, GONE_ON_WITH = 12 };

static const char *const loss_text[LOSS_COUNT] = {"nothing", "all unsynced", "the latest", "some writes",
                                                  "some sectors"};

// Whether the first row of a query is "ok", or there is no row.
static bool is_sound(const char *path, const char *query, char *message, size_t size)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *check = NULL;
    bool sound = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                 sqlite3_prepare_v2(db, query, -1, &check, NULL) == SQLITE_OK;
    int step = sound ? sqlite3_step(check) : SQLITE_ERROR;
    const char *answer = step == SQLITE_ROW ? (const char *)sqlite3_column_text(check, 0) : NULL;
    sound = step == SQLITE_DONE || (answer && !strcmp(answer, "ok"));
    if (!sound) snprintf(message, size, "%s: %s", query, answer ? answer : sqlite3_errmsg(db));
    sqlite3_finalize(check);
    sqlite3_close(db);
    return sound;
}

// Reads the trials on the disk after a loss. False, with a failure, if the store is damaged.
static bool read_disk(struct scene *s, const struct power_disk *disk, size_t operations, enum loss loss,
                      struct known_trials *known)
{
    char message[FAILURE_MAX / 2], *folder = text_format("%s/cut", s->folder), *path = text_format("%s/job.db", folder);
    file_remove_folder(folder);
    file_make_folder(folder);
    power_disk_write(disk, operations, loss, &s->random, folder);
    *known = (struct known_trials){0};
    bool sound = access(path, F_OK) ||
                 (is_sound(path, "PRAGMA integrity_check", message, sizeof message) &&
                  is_sound(path, "SELECT 'row ' || rowid FROM pragma_foreign_key_check", message, sizeof message) &&
                  known_read(known, path, message, sizeof message));
    if (!sound)
        scene_fail(s, "after operation %zu, losing %s, the store is not whole: %s", operations, loss_text[loss],
                   message);
    free(path);
    free(folder);
    return sound;
}

// Checks that the trials on the disk are the first ones that were committed, and that all synced trials are among them.
static void compare(struct scene *s, size_t operations, enum loss loss, const struct known_trials *before,
                    const struct known_trials *synced, const struct known_trials *left)
{
    if (left->count < synced->count)
        scene_fail(s, "after operation %zu, losing %s, %zu trials are left of %zu that were synced", operations,
                   loss_text[loss], left->count, synced->count);
    for (size_t i = 0; i < left->count; i++) {
        const struct known_trial *one = &left->all[i], *was = known_find(before, one->config);
        if (!was || was->id != one->id || was->objective != one->objective || was->problems != one->problems ||
            was->status != one->status)
            scene_fail(s, "after operation %zu, losing %s, trial %lld is not what was committed", operations,
                       loss_text[loss], (long long)one->id);
        if (one->id > (int64_t)left->count)
            scene_fail(s, "after operation %zu, losing %s, trial %lld is there and an earlier one is not", operations,
                       loss_text[loss], (long long)one->id);
    }
}

// Runs the same command on the disk that the power failure left.
static void go_on(struct scene *s, const struct power_disk *disk, size_t operations, enum loss loss)
{
    file_remove_folder(s->run);
    file_make_folder(s->run);
    power_disk_write(disk, operations, loss, &s->random, s->run);
    scene_write_job(s);
    char *path = text_format("%s/measured", s->folder);
    unlink(path);
    free(path);
    path = text_format("%s/events", s->folder);
    unlink(path);
    free(path);
    known_free(&s->known);
    s->noted = 0;
    if (scene_check(s)) scene_complete(s);
}

static void cut(struct scene *s, const struct power_disk *disk, bool on)
{
    size_t operations = 1 + (size_t)random_below(&s->random, power_disk_operations(disk)),
           synced = power_disk_synced(disk, "job.db-wal", operations);
    enum loss loss = (enum loss)(1 + random_below(&s->random, LOSS_COUNT - 1));
    struct known_trials before = {0}, after_sync = {0}, left = {0};
    if (read_disk(s, disk, operations, LOSE_NOTHING, &before) &&
        (!synced || read_disk(s, disk, synced, LOSE_NOTHING, &after_sync)) &&
        read_disk(s, disk, operations, loss, &left))
        compare(s, operations, loss, &before, &after_sync, &left);
    int lost = (int)before.count - (int)left.count;
    s->details[0] += lost > 0;
    if (lost > s->worst) s->worst = lost;
    known_free(&before);
    known_free(&after_sync);
    known_free(&left);
    if (!on || *s->failure) return;
    go_on(s, disk, operations, loss);
    s->details[1]++;
}

void attack_power(struct scene *s)
{
    scene_layer(s, "power_cut.so");
    if (random_next(&s->random) & 1) { // interrupted once, then resumed: the log is checkpointed twice
        pid_t driver = scene_start(s, -1);
        if (!scene_sleep(driver, expected_ends[s->job].seconds * random_unit(&s->random))) kill(driver, SIGTERM);
        int status = scene_wait(s, driver);
        bool begun = WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM; // before it handles the signal
        if (!begun && (!WIFEXITED(status) || (WEXITSTATUS(status) && WEXITSTATUS(status) != EXIT_SIGNAL + SIGTERM)))
            scene_fail(s, "interrupted, it ended with status %d", status);
    }
    if (!scene_complete(s)) return;
    scene_give(s, NULL);
    autofree char *path = text_format("%s/journal", s->folder);
    struct power_disk *disk = power_disk_read(path);
    if (!disk || !power_disk_operations(disk)) scene_fail(s, "it kept no journal");
    for (int i = 0; i < CUTS_IN_A_SCENE && !*s->failure; i++) {
        cut(s, disk, i % GONE_ON_WITH == GONE_ON_WITH - 1);
        s->passed += !*s->failure;
    }
    power_disk_free(disk);
}
