// See child.h.
#include "tuner/compile/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/memory.h"

enum { STEP = 50 }; // ms between looks at whether it has ended

// In the new process: joins a new group, so that its children die with it, and it with this worker.
static void become(char *const argv[], const char *folder, int out, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    setenv("TMPDIR", folder, 1);
    unsetenv("NVCC_PREPEND_FLAGS");
    unsetenv("NVCC_APPEND_FLAGS");
    if (dup2(nothing, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) _exit(127);
    execv(argv[0], argv);
    dprintf(STDERR_FILENO, "cannot run '%s': %s\n", argv[0], strerror(errno));
    _exit(127);
}

// Reads what has arrived; false at the end of the output. What does not fit is read and dropped.
static bool read_some(int from, char *output, size_t *size)
{
    char chunk[4096];
    ssize_t n = read(from, chunk, sizeof chunk);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    size_t room = CHILD_OUTPUT_MOST - *size, kept = (size_t)n < room ? (size_t)n : room;
    memcpy(output + *size, chunk, kept);
    *size += kept;
    return n > 0;
}

// Waits until it has ended and its output is read, or until the deadline.
static void follow(pid_t pid, int from, double limit, struct child_end *end)
{
    size_t size = 0;
    bool open = true, ended = false;
    while (open || !ended) {
        struct pollfd p = {.fd = open ? from : -1, .events = POLLIN};
        int ready = poll(&p, 1, STEP);
        if (ready > 0) open = read_some(from, end->output, &size);
        if (!ended) ended = waitpid(pid, &end->status, WNOHANG) == pid;
        if (clock_now() <= limit) continue;
        end->late = true;
        kill(-pid, SIGKILL);
        if (!ended) waitpid(pid, &end->status, 0);
        break;
    }
    end->output[size] = 0;
}

int child_run(char *const argv[], const char *folder, double deadline, struct child_end *end, struct error *err)
{
    int pipes[2];
    double start = clock_now();
    *end = (struct child_end){.output = memory_try(CHILD_OUTPUT_MOST + 1, 1, err)};
    if (!end->output) return -1;
    pid_t self = getpid(), pid = -1;
    bool piped = !pipe2(pipes, O_CLOEXEC);
    if (piped) pid = fork();
    if (!pid) become(argv, folder, pipes[1], self);
    int why = errno;
    if (piped) close(pipes[1]);
    if (pid < 0) {
        if (piped) close(pipes[0]);
        free(end->output);
        end->output = NULL;
        return error_set(err, "cannot start '%s': %s", argv[0], strerror(why));
    }
    setpgid(pid, pid); // in both processes: either may come first
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    follow(pid, pipes[0], deadline > 0 ? start + deadline : 1e300, end);
    close(pipes[0]);
    end->seconds = clock_now() - start;
    return 0;
}
