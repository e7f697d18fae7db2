// See orphans.h.
#include "tuner/base/orphans.h"

#include "tuner/base/base.h"
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "_SWEETSPOT_CHILD"
enum { ROUNDS = 100, MARK_SIZE = 64 };

void orphans_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// A file of the kernel's lists the children of each thread.
void orphans_list(struct children *all)
{
    all->count = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *one; threads && (one = readdir(threads));) {
        char path[300], number[32];
        snprintf(path, sizeof path, "/proc/self/task/%s/children", one->d_name);
        FILE *file = fopen(path, "re");
        while (file && all->count < CHILDREN_MOST && fscanf(file, "%31s", number) == 1)
            all->pids[all->count++] = (pid_t)strtol(number, NULL, 10);
        if (file) fclose(file);
    }
    if (threads) closedir(threads);
    if (all->count == CHILDREN_MOST) all->count = 0;
}

static void write_mark(char out[MARK_SIZE], pid_t parent, unsigned mark)
{
    snprintf(out, MARK_SIZE, "%ld.%u", (long)parent, mark);
}

void orphans_mark(pid_t parent, unsigned mark)
{
    char value[MARK_SIZE];
    write_mark(value, parent, mark);
    setenv(VARIABLE, value, 1);
}

static bool has_mark(pid_t pid, const char *value)
{
    char path[64], *entry = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    FILE *file = fopen(path, "re");
    while (file && !found && getdelim(&entry, &room, 0, file) > 0)
        found = !strncmp(entry, VARIABLE "=", sizeof VARIABLE) && !strcmp(entry + sizeof VARIABLE, value);
    if (file) fclose(file);
    free(entry);
    return found;
}

void orphans_end(unsigned mark)
{
    struct children all;
    char value[MARK_SIZE];
    size_t ended = 1;
    write_mark(value, getpid(), mark);
    for (int round = 0; ended && round < ROUNDS; round++) {
        ended = 0;
        orphans_list(&all);
        for (size_t i = 0; i < all.count; i++) {
            if (!has_mark(all.pids[i], value)) continue;
            kill(all.pids[i], SIGKILL);
            ended += waitpid(all.pids[i], NULL, 0) == all.pids[i];
        }
    }
}
