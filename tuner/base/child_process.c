// See child_process.h.
#include "tuner/base/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/orphans.h"

enum {
    FILES_MOST = 1 << 16, // not more: some programs close all that they could have open, one by one
    FILES_SPARE = 64      // no pipe takes the last ones, which the store and the log need
};

void child_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void child_close_all(struct child *c)
{
    child_close(&c->to);
    child_close(&c->from);
    child_close(&c->errors);
}

int child_poll(const struct child *c, bool reads, bool writes, struct pollfd *p)
{
    int n = 0;
    if (c->from >= 0 && reads) p[n++] = (struct pollfd){.fd = c->from, .events = POLLIN};
    if (c->errors >= 0 && reads) p[n++] = (struct pollfd){.fd = c->errors, .events = POLLIN};
    if (c->to >= 0 && writes) p[n++] = (struct pollfd){.fd = c->to, .events = POLLOUT};
    return n;
}

// Three pipes for each of many children are more than the usual 1024 files. Children get the limit that was there.
static struct rlimit files_before, files_now;

static void make_room(void)
{
    if (files_now.rlim_max || getrlimit(RLIMIT_NOFILE, &files_before)) return;
    files_now = files_before;
    if (files_now.rlim_cur < FILES_MOST)
        files_now.rlim_cur = files_now.rlim_max < FILES_MOST ? files_now.rlim_max : FILES_MOST;
    if (setrlimit(RLIMIT_NOFILE, &files_now)) files_now = files_before;
}

// Whether pipes that end with this descriptor leave enough of the others.
static bool leaves_spare(int descriptor)
{
    rlim_t all = files_now.rlim_cur, spare = all / 8 < FILES_SPARE ? all / 8 : FILES_SPARE;
    if ((rlim_t)descriptor + spare < all) return true;
    errno = EMFILE;
    return false;
}

int child_start(struct child *c, char *const argv[], const char *folder, bool alone, struct error *err)
{
    static unsigned marks;
    int in[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1};
    *c = CHILD_NONE;
    make_room();
    if (strchr(argv[0], '/') && access(argv[0], X_OK))
        return error_set(err, "cannot run '%s': %s", argv[0], strerror(errno));
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC) || !leaves_spare(errors[1])) {
        error_set(err, "cannot create a pipe: %s%s", strerror(errno),
                  errno == EMFILE ? "; `ulimit -n` says how many are allowed" : "");
        goto fail;
    }
    if (alone) marks++;
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        error_set(err, "cannot start '%s': %s", argv[0], strerror(errno));
        goto fail;
    }
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        setpgid(0, 0);
        if (files_now.rlim_max) setrlimit(RLIMIT_NOFILE, &files_before);
        if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0 || dup2(errors[1], STDERR_FILENO) < 0)
            _exit(127);
        signal(SIGINT, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        if (alone) orphans_mark(parent, marks);
        if (!folder || !chdir(folder)) execvp(argv[0], argv);
        fprintf(stderr, "cannot run '%s': %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    setpgid(pid, pid); // in both processes: either may come first
    close(in[0]);
    close(out[1]);
    close(errors[1]);
    *c = (struct child){pid, in[1], out[0], errors[0], alone ? marks : 0};
    for (int i = 0; i < 3; i++) {
        int fd = i == 0 ? c->to : i == 1 ? c->from : c->errors;
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    return 0;
fail:
    for (int i = 0; i < 2; i++) {
        child_close(&in[i]);
        child_close(&out[i]);
        child_close(&errors[i]);
    }
    return -1;
}

void child_kill(struct child *c, int *status)
{
    if (!c->pid) return;
    // Orphans first, while they can be told by their mark and reaped. The group has those that dropped it.
    if (c->mark || kill(-c->pid, SIGKILL)) kill(c->pid, SIGKILL);
    while (waitpid(c->pid, status, 0) < 0 && errno == EINTR) {
    }
    if (c->mark) orphans_end(c->mark);
    kill(-c->pid, SIGKILL);
    c->pid = 0;
}

bool child_ended(struct child *c, int *status)
{
    siginfo_t info = {0};
    if (!c->pid || waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid) return false;
    child_kill(c, status); // what is left of its group; its own status stays
    return true;
}

bool child_stopped(const struct child *c)
{
    char path[64], state = 0;
    if (!c->pid) return false;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)c->pid);
    FILE *file = fopen(path, "r");
    // "pid (name) state ...", and our programs' names have no parenthesis.
    if (file && fscanf(file, "%*d %*[^)]) %c", &state) != 1) state = 0;
    if (file) fclose(file);
    return state == 'T' || state == 't';
}

void child_describe(int status, char *out, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(out, size, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out, size, "ended with status %d", WEXITSTATUS(status));
}
