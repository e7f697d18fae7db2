// See run_program.h.
#include "tuner/base/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/child_process.h"
#include "tuner/base/clock.h"

enum { STEP = 50 }; // ms between checks whether it has ended

// Runs in the new process: gives it its own group, so that its children die with it, and makes it die with this worker.
static void become(const struct program_run *c, int out, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    if (c->temporary) setenv("TMPDIR", c->temporary, 1);
    unsetenv("NVCC_PREPEND_FLAGS");
    unsetenv("NVCC_APPEND_FLAGS");
    if (dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) _exit(127);
    // dup2 of a descriptor onto itself would not clear FD_CLOEXEC, so exec would close it.
    if (c->file && (c->file == PROGRAM_FILE ? fcntl(c->file, F_SETFD, 0) : dup2(c->file, PROGRAM_FILE)) < 0) _exit(127);
    if (c->folder && chdir(c->folder)) {
        dprintf(STDERR_FILENO, "cannot enter '%s': %s\n", c->folder, strerror(errno));
        _exit(127);
    }
    execv(c->argv[0], c->argv);
    dprintf(STDERR_FILENO, "cannot run '%s': %s\n", c->argv[0], strerror(errno));
    _exit(127);
}

// Reads what has arrived; false at the end of the output. Output that does not fit is dropped.
static bool read_some(int from, char *output, size_t *size)
{
    char chunk[4096];
    ssize_t n = read(from, chunk, sizeof chunk);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    size_t room = PROGRAM_OUTPUT_MOST - *size, kept = (size_t)n < room ? (size_t)n : room;
    memcpy(output + *size, chunk, kept);
    *size += kept;
    return n > 0;
}

// Whether a child is new: it is not in the earlier list `before`.
static bool is_new(pid_t pid, const void *before)
{
    const struct children *all = before;
    for (size_t i = 0; i < all->count; i++)
        if (all->pids[i] == pid) return false;
    return true;
}

// Waits until the program has ended, or until the deadline. Then kills its orphans and reads the rest of the output.
static void follow(const struct program_run *c, pid_t pid, int from, double limit, struct program_end *end,
                   const struct children *before)
{
    size_t size = 0;
    double reported = clock_now();
    bool open = true, ended = false;
    while (!ended) {
        struct pollfd p = {.fd = open ? from : -1, .events = POLLIN};
        int ready = poll(&p, 1, STEP);
        if (ready > 0) open = read_some(from, end->output, &size);
        ended = waitpid(pid, &end->status, WNOHANG) == pid;
        if (c->watch && clock_now() - reported >= PROGRAM_QUIET) {
            reported = clock_now();
            c->watch(c->user);
        }
        if (ended || clock_now() <= limit) continue;
        end->late = ended = true;
        kill(-pid, SIGKILL);
        waitpid(pid, &end->status, 0);
    }
    // Kills the processes of its group, and those that left the group (setsid) and became children of this process when
    // their parent ended.
    kill(-pid, SIGKILL);
    orphans_end(is_new, before);
    for (struct pollfd p = {.fd = from, .events = POLLIN}; open && poll(&p, 1, STEP) > 0;)
        open = read_some(from, end->output, &size);
    end->output[size] = 0;
}

int run_program(const struct program_run *c, struct program_end *end, struct error *err)
{
    int pipes[2];
    double start = clock_now();
    *end = (struct program_end){.output = memory_try(PROGRAM_OUTPUT_MOST + 1, 1, err)};
    if (!end->output) return -1;
    pid_t self = getpid(), pid = -1;
    struct children before;
    int reaper = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &reaper);
    orphans_list(&before);
    orphans_adopt(); // so that no process of the program is missed
    bool piped = !pipe2(pipes, O_CLOEXEC);
    if (piped) pid = fork();
    if (!pid) become(c, pipes[1], self);
    int why = errno;
    if (piped) close(pipes[1]);
    if (pid < 0) {
        if (piped) close(pipes[0]);
        prctl(PR_SET_CHILD_SUBREAPER, reaper);
        free(end->output);
        end->output = NULL;
        return error_set(err, "cannot start '%s': %s", c->argv[0], strerror(why));
    }
    setpgid(pid, pid); // in both processes, because either may come first
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    follow(c, pid, pipes[0], c->deadline > 0 ? start + c->deadline : 1e300, end, &before);
    prctl(PR_SET_CHILD_SUBREAPER, reaper);
    close(pipes[0]);
    end->seconds = clock_now() - start;
    return 0;
}

char *program_in_folder(const char *folder, size_t length, const char *name)
{
    char *path = text_format("%.*s/%s", (int)length, folder, name);
    if (length && !access(path, X_OK)) return path;
    free(path);
    return NULL;
}

char *program_on_path(const char *name)
{
    char *found = NULL;
    for (const char *at = getenv("PATH"); at && *at && !found; at += strspn(at, ":")) {
        size_t length = strcspn(at, ":");
        found = program_in_folder(at, length, name);
        at += length;
    }
    return found;
}

char *program_of_toolkit(const char *home, const char *name)
{
    autofree char *folder = text_join_path(home, "bin");
    return program_in_folder(folder, strlen(folder), name);
}

int work_folder_make(const char *what, char path[PATH_MAX], struct error *err)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/sweetspot-%s-XXXXXX", temporary && *temporary ? temporary : "/tmp", what);
    return mkdtemp(path) ? 0 : error_set(err, "cannot create a folder '%s': %s", path, strerror(errno));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void work_folder_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
