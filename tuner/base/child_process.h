// A child process with pipes for its stdin, stdout and stderr: a worker, or what stands before an agent. It is started
// by fork and exec, dies with its parent (PR_SET_PDEATHSIG), and leads a process group of its own, so that Ctrl-C on a
// terminal does not reach it and a tool that stands before it is killed with it. Starting one raises this process's
// limit on open files as far as the system allows.
#pragma once

#include "tuner/base/base.h"
#include <poll.h>
#include <sys/types.h>

struct child {
    pid_t pid;            // 0: none
    int to, from, errors; // our ends, not blocking; -1: closed
    unsigned mark;        // of its orphans; 0: they are left alone
};

#define CHILD_NONE ((struct child){.to = -1, .from = -1, .errors = -1})

// Starts argv[0] (NULL-terminated argv) in a folder (NULL: this one). `alone`: nothing that it starts may outlive it,
// provided that this process adopts orphans. -1 with a message.
int child_start(struct child *, char *const argv[], const char *folder, bool alone, struct error *);
// Whether it has ended by itself; *status is waitpid's. It is reaped, has no pid then, and its group is killed.
bool child_ended(struct child *, int *status);
// SIGKILL for its group, and reaps it. Its pipes stay open, so that its last output can be read.
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

// Output of a child process outside its protocol (on stderr, or before a greeting), line by line: for the log, and to
// say why it ended. Long lines are cut, and what would control a terminal is replaced. Of a child that does not stop
// only the first CHILD_OUTPUT_MOST bytes are passed on, so that no log fills a disk, and only so much is read at a time
// that others are heard.
enum { CHILD_OUTPUT_LINE = 512, CHILD_OUTPUT_MOST = 256 << 10 };

struct child_output {
    char last[CHILD_OUTPUT_LINE]; // the last line that was not empty
    char line[CHILD_OUTPUT_LINE]; // one that is begun
    size_t size;                  // bytes of it
    size_t heard;                 // all bytes so far
};

typedef void child_output_visitor(void *user, const char *line);

// Passes whole lines on, without carriage returns, and none that is empty. `visit` may be NULL.
void child_output_take(struct child_output *, const char *bytes, size_t size, child_output_visitor *visit, void *user);
// Takes what a pipe has (not blocking), up to 64 KiB; closes it at its end.
void child_output_read(struct child_output *, int *fd, child_output_visitor *visit, void *user);

// Orphans are children of a child that are still there when it ends, also those that left its process
// group (setsid) too. A process that adopts becomes their parent (prctl's subreaper) and can end them. They are
// recognised by a mark in their environment, because other orphans come too and must live: the master connection of
// an ssh, which serves other connections.
enum { CHILDREN_MOST = 4096 };

struct children {
    size_t count;
    pid_t pids[CHILDREN_MOST];
};

// From now on this process adopts the orphans of its children.
void orphans_adopt(void);
// The children of this process. None where the kernel does not list them, or where there are CHILDREN_MOST or more.
void orphans_list(struct children *);
// Kills and reaps the chosen children of this process, again until there are none: each may leave others.
void orphans_end(bool (*chosen)(pid_t, const void *user), const void *user);
