// See child_process.h.
#include "tuner/base/child_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FILES_MOST = 1 << 16, // not higher, because some programs close every possible descriptor, one by one
    FILES_SPARE = 64,     // not used for pipes, because the store and the log need them
    AT_A_TIME = 64 << 10, // bytes of output
    ROUNDS = 100,         // of killing orphans
    MARK_SIZE = 64,
};

#define VARIABLE "_SWEETSPOT_CHILD"

void orphans_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

// Linux lists the children of each thread in a file under /proc.
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

// Called in a new process before exec. Puts the orphans' mark, which is made of `parent` and `mark`, into the
// environment, where all processes that the new process starts inherit it.
static void orphans_mark(pid_t parent, unsigned mark)
{
    char value[MARK_SIZE];
    write_mark(value, parent, mark);
    setenv(VARIABLE, value, 1);
}

static bool has_mark(pid_t pid, const void *mark)
{
    const char *value = mark;
    char path[64];
    autofree char *entry = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    FILE *file = fopen(path, "re");
    while (file && !found && getdelim(&entry, &room, 0, file) > 0)
        found = !strncmp(entry, VARIABLE "=", sizeof VARIABLE) && !strcmp(entry + sizeof VARIABLE, value);
    if (file) fclose(file);
    return found;
}

void orphans_end(bool (*chosen)(pid_t, const void *user), const void *user)
{
    struct children all;
    size_t ended = 1;
    for (int round = 0; ended && round < ROUNDS; round++) {
        ended = 0;
        orphans_list(&all);
        for (size_t i = 0; i < all.count; i++) {
            if (!chosen(all.pids[i], user)) continue;
            kill(all.pids[i], SIGKILL);
            ended += waitpid(all.pids[i], NULL, 0) == all.pids[i];
        }
    }
}

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

// With many children, three pipes for each child can exceed the usual limit of 1024 files. Children get the original
// limit.
static struct rlimit files_before, files_now;

static void make_room(void)
{
    if (files_now.rlim_max || getrlimit(RLIMIT_NOFILE, &files_before)) return;
    files_now = files_before;
    if (files_now.rlim_cur < FILES_MOST)
        files_now.rlim_cur = files_now.rlim_max < FILES_MOST ? files_now.rlim_max : FILES_MOST;
    if (setrlimit(RLIMIT_NOFILE, &files_now)) files_now = files_before;
}

// Whether enough descriptors are left if this is the highest descriptor that the pipes use.
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
                  errno == EMFILE ? "; `ulimit -n` shows how many are allowed" : "");
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
    setpgid(pid, pid); // in both processes, because either may come first
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
    // If there is a mark, the orphans that have it are killed and reaped before the group is killed, because a dead
    // process can no longer be recognised by its mark. Orphans that dropped the mark are killed with the group.
    if (c->mark || kill(-c->pid, SIGKILL)) kill(c->pid, SIGKILL);
    while (waitpid(c->pid, status, 0) < 0 && errno == EINTR) {
    }
    if (c->mark) {
        char value[MARK_SIZE];
        write_mark(value, getpid(), c->mark);
        orphans_end(has_mark, value);
    }
    kill(-c->pid, SIGKILL);
    c->pid = 0;
}

bool child_ended(struct child *c, int *status)
{
    siginfo_t info = {0};
    if (!c->pid || waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid) return false;
    child_kill(c, status); // kills the rest of its group; its own status is kept
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

static void end_line(struct child_output *w, child_output_visitor *visit, void *user)
{
    w->line[w->size] = 0;
    if (w->size == sizeof w->line - 1) memcpy(w->line + w->size - 3, "...", 3);
    w->size = 0;
    if (!w->line[0]) return;
    memcpy(w->last, w->line, sizeof w->last);
    if (visit && w->heard < CHILD_OUTPUT_MOST) visit(user, w->last);
}

void child_output_take(struct child_output *w, const char *bytes, size_t size, child_output_visitor *visit, void *user)
{
    for (size_t i = 0; i < size; i++) {
        if (++w->heard == CHILD_OUTPUT_MOST && visit) visit(user, "(output beyond 256 KiB is not logged)");
        if (bytes[i] == '\n')
            end_line(w, visit, user);
        else if (bytes[i] != '\r' && w->size < sizeof w->line - 1)
            w->line[w->size++] = bytes[i] != '\t' && iscntrl((unsigned char)bytes[i]) ? '?' : bytes[i];
    }
}

void child_output_read(struct child_output *w, int *fd, child_output_visitor *visit, void *user)
{
    char bytes[4096];
    for (size_t taken = 0; *fd >= 0 && taken < AT_A_TIME;) {
        ssize_t n = read(*fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return;
        if (n == 0) {
            end_line(w, visit, user);
            child_close(fd); // otherwise poll would always return at once
            return;
        }
        child_output_take(w, bytes, (size_t)n, visit, user);
        taken += (size_t)n;
    }
}
