// A child process with pipes for its stdin, stdout and stderr: a worker, or what stands before an agent. It is started
// by fork and exec, dies with its parent (PR_SET_PDEATHSIG), and leads a process group of its own, so that Ctrl-C on a
// terminal does not reach it and a tool that stands before it is killed with it. Starting one raises this process's
// limit on open files as far as the system allows.
#ifndef SWEETSPOT_CHILD_PROCESS_H
#define SWEETSPOT_CHILD_PROCESS_H

#include "tuner/base/base.h"
#include <poll.h>
#include <sys/types.h>

struct child {
    pid_t pid;            // 0: none
    int to, from, errors; // our ends, not blocking; -1: closed
    unsigned mark;        // of its orphans (orphans.h); 0: they are left alone
};

#define CHILD_NONE ((struct child){.to = -1, .from = -1, .errors = -1})

// Starts argv[0] (NULL-terminated argv) in a folder (NULL: this one). `alone`: nothing that it starts may outlive it,
// provided that this process adopts orphans. -1 with a message.
int child_start(struct child *, char *const argv[], const char *folder, bool alone, struct error *);
// Whether it has ended by itself; *status is waitpid's. It is reaped, has no pid then, and its group is killed.
bool child_ended(struct child *, int *status);
// SIGKILL for its group, and reaps it. Its pipes stay open, so that its last words can be read.
void child_kill(struct child *, int *status);
// Whether the process is stopped (SIGSTOP) at this moment.
bool child_stopped(const struct child *);
// poll(2) entries of its pipes, at most CHILD_POLLED; returns how many were filled. `reads`, `writes`: whether what it
// says is wanted, and whether there is anything for it.
enum { CHILD_POLLED = 3 };
int child_poll(const struct child *, bool reads, bool writes, struct pollfd *);
void child_close(int *fd); // one of the pipes
void child_close_all(struct child *);
// How a process with this status ended: "was killed by signal 9 (Killed)", "ended with status 1".
void child_describe(int status, char *out, size_t size);

#endif
