// The store's file: committed data survives kill -9, a second tuner, a full disk, a file of another version and damage.
// Reading takes few locks.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/store_fixture.h"
#include "tests/stored_text.h"

static struct error err; // from the last call that failed

STORE_TEST(a_second_tuner_is_refused_with_the_pid_of_the_first)
{
    open_store();
    int ready[2], go[2];
    char byte = 0;
    close_store();
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t child = fork();
    if (!child) {
        struct store *mine;
        bool locked = !store_open(&mine, path, true, NULL) && !store_lock(mine, NULL);
        if (write(ready[1], locked ? "y" : "n", 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    struct store *store = open_store(); // other processes may read and write, but not tune
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)child);
    assert_int_equal(store_holder(store), child);
    assert_int_equal(store_lock(store, &err), -1);
    assert_contains(err.message, pid);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(store_holder(store), 0);
    assert_int_equal(store_lock(store, &err), 0); // the system dropped the lock
    assert_int_equal(store_holder(store), getpid());
    close_store();
    close(ready[0]), close(ready[1]), close(go[0]), close(go[1]);
}

static int whole(void *user, const struct trial *t)
{
    int *count = user;
    assert_int_equal(t->problem_count, 2);
    assert_int_equal(t->stage_count, 1);
    ++*count;
    return 0;
}

STORE_TEST(kill_9_loses_nothing_that_was_committed)
{
    int committed = 0;
    unsigned random = 12345;
    for (int round = 0; round < 60; round++) {
        int report[2];
        assert_int_equal(pipe(report), 0);
        pid_t child = fork();
        if (!child) {
            close(report[0]);
            struct store *store = open_store(); // the first rounds die while the store is created
            for (int i = committed + 1;; i++) {
                struct trial t;
                if (store_find(store, text_format("N=%d", i), &t, NULL) != 0) add(store, i, STATUS_OK);
                if (write(report[1], &i, sizeof i) != sizeof i) _exit(1);
            }
        }
        close(report[1]);
        random = random * 1664525 + 1013904223;
        if (round >= 10) { // at a random moment after the first report
            int reported;
            if (read(report[0], &reported, sizeof reported) == sizeof reported) committed = reported;
        }
        usleep(random >> 20);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (int reported; read(report[0], &reported, sizeof reported) == sizeof reported;) committed = reported;
        close(report[0]);
        struct store *store = open_store();
        int count = 0;
        if (store_each(store, false, 0, STORE_WHOLE, whole, &count, &err)) fail_msg("%s", err.message);
        assert_in_range(count, committed, committed + 1); // at most the one that was killed during its report
        close_store();
    }
    assert_true(committed >= 50); // each of the last 50 rounds added one
    char *command = test_text("ls %s/out | grep -v new- | sort | tr '\\n' ' '", folder), names[128] = "";
    FILE *list = popen(command, "r");
    assert_non_null(fgets(names, sizeof names, list));
    pclose(list);
    assert_string_equal(names, "sgemm.db ");
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

STORE_TEST(a_full_disk_is_an_error_and_costs_nothing)
{
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    limit_file_size(8192); // less than an empty store
    struct store *store;
    assert_int_equal(store_open(&store, path, true, &err), -1);
    assert_null(store);
    assert_contains(err.message, path);
    assert_int_equal(access(path, F_OK), -1);
    limit_file_size(RLIM_INFINITY);

    store = open_store();
    limit_file_size(256 << 10);
    int done = 0, result = 0;
    while (!result && done < 100000) {
        char config[32];
        snprintf(config, sizeof config, "N=%d", done + 1);
        struct trial_problem problems[2] = {{.name = "M=64"}, {.name = "M=63"}};
        struct trial_stage stage = {.name = "s", .warnings = ""};
        struct trial t = {.config = config,
                          .status = STATUS_OK,
                          .objective = 1,
                          .problem_count = 2,
                          .problems = problems,
                          .stage_count = 1,
                          .stages = &stage};
        result = store_add(store, &t, &err);
        done += !result;
    }
    assert_int_equal(result, -1);
    assert_in_range(done, 10, 99999);
    assert_contains(err.message, "full", path);
    limit_file_size(RLIM_INFINITY);
    int count = 0;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, whole, &count, &err), 0);
    assert_int_equal(count, done);
    add(store, done + 1, STATUS_OK); // there is room again
    store = open_store();
    count = 0;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, whole, &count, &err), 0);
    assert_int_equal(count, done + 1);
    close_store();
    signal(SIGXFSZ, before);
}

static void write_bytes(long offset, const void *bytes, size_t size)
{
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, offset), (ssize_t)size);
    close(fd);
}

static void version_9(void)
{
    write_bytes(60, "\0\0\0\x09", 4);
}
static void version_1(void)
{
    write_bytes(60, "\0\0\0\x01", 4);
}
static void other_program(void)
{
    write_bytes(68, "\0\0\0\0", 4);
}
static void text_file(void)
{
    write_bytes(0, "name = \"sgemm\"; ", 16);
}
static void truncated(void)
{
    assert_int_equal(truncate(path, 12288), 0);
}
static void few_bytes(void)
{
    assert_int_equal(truncate(path, 50), 0);
}
static void empty(void)
{
    assert_int_equal(truncate(path, 0), 0);
}
static void rubbish(void)
{
    struct stat info;
    char page[4096];
    stat(path, &info);
    memset(page, 0x5a, sizeof page);
    for (long at = 8192; at < info.st_size; at += 8192) write_bytes(at, page, sizeof page);
}
static void folder_in_its_place(void)
{
    assert_int_equal(unlink(path) | mkdir(path, 0777), 0);
}

STORE_TEST(a_damaged_or_foreign_store_is_refused_and_untouched)
{
    static const struct {
        void (*spoil)(void);
        const char *message;
    } cases[] = {
        {version_9, "has version 9, but this sweetspot reads only version 2; it was not changed"},
        {version_1, "has version 1, but this sweetspot reads only version 2; it was not changed"},
        {other_program, "another program"},
        {text_file, "not a sweetspot store"},
        {truncated, "is damaged: it has 12288 of"},
        {few_bytes, "not a sweetspot store"},
        {empty, "it is empty"},
        {rubbish, "is damaged"},
        {folder_in_its_place, "Is a directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store *store = open_store();
        for (int k = 0; k < 100; k++) add(store, k, STATUS_OK);
        close_store();
        cases[i].spoil();
        size_t size_before = 0, size_after = 0;
        char *before = test_owned(text_read_file(path, &size_before));
        for (int create = 0; create < 2; create++) {
            err.message[0] = 0;
            assert_int_equal(store_open(&store, path, create, &err), -1);
            assert_null(store);
            if (!strstr(err.message, cases[i].message) || !strstr(err.message, path))
                fail_msg("case %zu: %s", i, err.message);
        }
        char *after = test_owned(text_read_file(path, &size_after));
        assert_int_equal(size_before, size_after);
        if (before) assert_memory_equal(before, after, size_before);
        remove_folder();
        mkdir(folder, 0777);
    }
}

STORE_TEST(a_place_that_cannot_be_written_is_named)
{
    static const struct {
        const char *path;
        bool create;
        const char *message;
    } cases[] = {
        {"/proc/sgemm.db", true, "cannot create the store '/proc/sgemm.db': "},
        {"/dev/null/out/sgemm.db", true, "cannot create the folder '/dev/null/out': Not a directory"},
        {"/proc/sgemm.db", false, "there is no store '/proc/sgemm.db'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store *store;
        assert_int_equal(store_open(&store, cases[i].path, cases[i].create, &err), -1);
        assert_null(store);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0) fail_msg("%s", err.message);
    }
}

// Root ignores permissions unless the file system is mounted read-only, so this test is skipped for root.
STORE_TEST(a_store_in_a_read_only_folder_can_be_read)
{
    if (!geteuid()) skip();
    char *out = test_text("%s/out", folder);
    struct store *store = open_store();
    add(store, 1, STATUS_OK);
    close_store();
    assert_int_equal(chmod(path, 0444) | chmod(out, 0555), 0);
    int64_t counts[STATUS_COUNT];
    struct environment last;
    int result = store_open(&store, path, false, &err);
    if (!result) {
        assert_int_equal(store_last_environment(store, &last, &err), 0);
        assert_int_equal(store_counts(store, counts, &err), 0);
        assert_int_equal(counts[STATUS_OK], 1);
        assert_int_equal(put_text(store, 0, "run", "{}", &err), -1);
        assert_contains(err.message, "read-only");
        store_close(store);
    }
    chmod(out, 0777);
    assert_int_equal(result, 0);
}

static int calls, refused; // calls of fcntl for locks; the error with which each call fails

// Replaces the fcntl that SQLite and the store call.
int fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    bool lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    calls += lock;
    if (lock && refused) {
        errno = refused;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

static int sleep_no_time(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int count_trial(void *user, const struct trial *trial)
{
    *(size_t *)user += trial->problem_count;
    return 0;
}

STORE_TEST(a_trial_is_read_under_one_lock_and_many_trials_under_few)
{
    enum { TRIALS = 1000 };
    struct trial trial;
    size_t problems = 0;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)fcntl);
    struct store *store = open_store();
    for (int i = 1; i <= TRIALS; i++) add(store, i, STATUS_OK);
    calls = 0;
    assert_int_equal(store_get(store, 7, &trial, &err), 0);
    assert_in_range(calls, 1, 6);
    calls = 0;
    assert_int_equal(store_each(store, false, 0, STORE_WHOLE, count_trial, &problems, &err), 0);
    assert_int_equal(problems, 2 * TRIALS);
    assert_in_range(calls, 1, TRIALS / 10);
    close_store();
    vfs->xSetSystemCall(vfs, "fcntl", NULL);
}

STORE_TEST(a_file_system_without_locks_is_named)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int (*sleep_really)(sqlite3_vfs *, int) = vfs->xSleep;
    struct store *store = open_store();
    refused = ENOLCK;
    assert_int_equal(store_lock(store, &err), -1);
    assert_contains(err.message, "has no locks: give --store FILE on a local disk");
    refused = 0;
    close_store();
    vfs->xSetSystemCall(vfs, "fcntl", (sqlite3_syscall_ptr)fcntl);
    vfs->xSleep = sleep_no_time;
    refused = ENOLCK;
    assert_int_equal(store_open(&store, path, false, &err), -1);
    refused = 0;
    vfs->xSleep = sleep_really;
    vfs->xSetSystemCall(vfs, "fcntl", NULL);
    assert_contains(err.message, "has no locks: give --store FILE on a local disk");
}

// SQLite would keep ":memory:" in memory, and take a part of the other name for settings.
STORE_TEST(names_with_a_meaning_for_sqlite_are_files)
{
    static const char *const names[] = {":memory:", "file:x.db?mode=ro"};
    char *here = test_owned(getcwd(NULL, 0));
    struct store *store;
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; i < 4; i++) { // the second time it is there
        if (store_open(&store, names[i % 2], i < 2, &err)) fail_msg("%s", err.message);
        store_close(store);
        assert_int_equal(access(names[i % 2], R_OK), 0);
    }
    assert_int_equal(chdir(here), 0);
}

// Other programs may move the log's content into the store, empty the log, or leave the rest of one. Only a truncated
// log is a loss.
STORE_TEST(a_log_that_sqlite_has_emptied_was_not_cut_off)
{
    static const char *const orders[] = {"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint(RESTART)", "VACUUM"};
    open_store();
    autofree char *log = text_format("%s-wal", path);
    int number = 0;
    close_store();
    FILE *rest = fopen(log, "w");
    assert_true(rest && fwrite("fifteen letters", 16, 1, rest) == 1 && !fclose(rest));
    struct store *store = open_store();
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        sqlite3 *db;
        add(store, ++number, STATUS_OK);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, orders[i], NULL, NULL, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
        sqlite3_close(db);
        add(store, ++number, STATUS_OK);
        add(store, ++number, STATUS_OK);
    }
    assert_int_equal(truncate(log, 64), 0);
    struct trial t = {.config = "N=99"};
    assert_int_equal(store_add(store, &t, &err), -1);
    assert_contains(err.message, "was deleted, replaced or cut off while it was in use");
}

TEST_MAIN(make_folder, remove_folder)
