// Attacks on files: operations that fail, a full disk, and a wall clock that jumps.
#include "tests/torture/attacks.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/torture/files.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"

enum { FAULTS_IN_A_SCENE = 8, JUMPING_RUNS = 3, FOR_EVER = 1000000 };

// Possible faults of each operation, in the order of file_op_text.
static const char *const faults[FILE_OP_COUNT][5] = {
    {"ENOSPC", "EIO", "EINTR", "short", NULL}, {"EIO", "ENOSPC", NULL}, {"EIO", "ENOSPC", "EINTR", NULL},
    {"EIO", "ENOSPC", "EINTR", NULL},          {"EIO", "ENOSPC", NULL}, {"EIO", NULL},
};

// Checks a disturbed run that ended by itself: it must give a reason, or have every trial if its exit status is 0.
static bool check_end(struct scene *s, int status)
{
    autofree char *said = file_read(s->folder, "stderr");
    if (!WIFEXITED(status))
        scene_fail(s, "signal %d ended it", WTERMSIG(status));
    else if (WEXITSTATUS(status) && (!said || !*said))
        scene_fail(s, "it ended with exit status %d and said nothing", WEXITSTATUS(status));
    else if (WEXITSTATUS(status) > EXIT_ENVIRONMENT)
        scene_fail(s, "it ended with exit status %d: %.800s", WEXITSTATUS(status), said);
    if (!scene_check(s)) return false;
    if (!WEXITSTATUS(status) && s->known.count != expected_ends[s->job].trials.count)
        return scene_fail(s, "exit status 0 with %zu of %zu trials", s->known.count,
                          expected_ends[s->job].trials.count);
    return true;
}

// If a run finished in spite of a fault, starts a new run, so that every fault meets a run that has work left.
static bool begin_again(struct scene *s)
{
    autofree char *path = text_format("%s/measured", s->folder);
    scene_give(s, NULL);
    bool fine = scene_complete(s);
    unlink(path);
    file_remove_folder(s->run);
    file_make_folder(s->run);
    scene_write_job(s);
    known_free(&s->known);
    s->noted = 0;
    return fine;
}

// Each fault affects a single operation or, at random, also all operations after it. Some faults do no harm, and some
// end the run.
void attack_io(struct scene *s)
{
    for (int i = 0; i < FAULTS_IN_A_SCENE; i++) {
        int op = (int)random_below(&s->random, FILE_OP_COUNT), kinds = 0;
        while (faults[op][kinds]) kinds++;
        const char *kind = faults[op][random_below(&s->random, (uint64_t)kinds)];
        long most = expected_ends[s->job].operations[op];
        if (!most) continue;
        uint64_t below = random_next(&s->random) & 1 ? (uint64_t)most : 1 + random_below(&s->random, (uint64_t)most);
        bool lasts = strcmp(kind, "EINTR") && random_next(&s->random) & 1;
        scene_layer(s, "io_fault.so");
        scene_give(s, text_format("IO_FAULT=%s:%s:%ld:%d", file_op_text[op], kind,
                                  1 + (long)random_below(&s->random, below), lasts ? FOR_EVER : 1));
        int status = scene_wait(s, scene_start(s, -1));
        autofree char *reported = file_read(s->folder, "told");
        bool hit = reported && strstr(reported, "struck");
        if (!check_end(s, status)) return;
        s->passed += hit;
        s->details[WEXITSTATUS(status) != 0] += hit;
        scene_give(s, NULL);
        autofree char *path = text_format("%s/told", s->folder);
        unlink(path);
        if (!WEXITSTATUS(status) && !begin_again(s)) return;
    }
    scene_complete(s);
}

// Mounts a file system of `bytes` bytes for the run. Only this process and its children see it.
static bool mount_small(const struct scene *s, size_t bytes)
{
    char options[64];
    snprintf(options, sizeof options, "size=%zu", bytes);
    if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWNS | CLONE_NEWUSER)) return false;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("torture", s->run, "tmpfs", 0, options))
        return false;
    scene_write_job(s);
    return true;
}

// The disk fills up during the run. Then it is enlarged, and the same command resumes. In every third run, and if
// nothing can be mounted, a limit on the size of files is used instead.
void attack_disk(struct scene *s)
{
    size_t bytes = 32768 + (size_t)random_below(&s->random, 700000);
    bool mounted = random_below(&s->random, 3) && mount_small(s, bytes);
    if (!mounted) s->file_limit = bytes;
    int status = scene_wait(s, scene_start(s, -1));
    s->file_limit = 0;
    if (mounted && mount(NULL, s->run, NULL, MS_REMOUNT, "size=64m")) scene_fail(s, "cannot enlarge the disk");
    bool fine = check_end(s, status) && scene_complete(s);
    if (mounted) umount2(s->run, MNT_DETACH);
    s->passed += fine;
    s->details[!mounted] += fine;
}

// The wall clock jumps by up to two years in driver and workers; the first runs are also killed. Jumps must not trigger
// a run's time limit, which is ten minutes.
void attack_clock(struct scene *s)
{
    for (int i = 0; i < JUMPING_RUNS && !*s->failure; i++) {
        scene_layer(s, "clock_jump.so");
        scene_give(s, text_format("CLOCK_JUMPS=%llu", (unsigned long long)random_next(&s->random)));
        if (i == JUMPING_RUNS - 1) {
            s->passed += scene_complete(s);
            break;
        }
        pid_t driver = scene_start(s, -1);
        if (!scene_sleep(driver, expected_ends[s->job].seconds * random_unit(&s->random))) kill(driver, SIGKILL);
        scene_wait(s, driver);
        scene_give(s, NULL);
        s->passed += scene_check(s);
    }
}
