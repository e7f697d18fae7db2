// A child process with pipes for its stdin, stdout and stderr: a worker, or the command that starts an agent. It is
// started by fork and exec and dies with its parent (PR_SET_PDEATHSIG). It leads its own process group, so Ctrl-C on a
// terminal does not reach it, and killing the group also ends a tool that wraps the worker. Starting a child raises
// this process's limit on open files as far as the system allows.
#pragma once

#include "tuner/base/base.h"
#include <poll.h>
#include <sys/types.h>

struct child {
    pid_t pid;            // 0: none
    int to, from, errors; // our ends, not blocking; -1: closed
    unsigned mark;        // identifies its orphans; 0: they are not killed
};

#define CHILD_NONE ((struct child){.to = -1, .from = -1, .errors = -1})

// Starts argv[0] (argv is NULL-terminated) in a folder (NULL: the current one). `alone`: if this process adopts
// orphans, no process that the child starts may outlive the child. -1 with a message.
int child_start(struct child *, char *const argv[], const char *folder, bool alone, struct error *);
// Whether the child has ended by itself. If so, reaps it, kills its group, and sets its pid to 0 and *status to the
// status from waitpid.
bool child_ended(struct child *, int *status);
// Kills the child's group (SIGKILL) and reaps the child. Its pipes stay open, so that its last output can be read.
void child_kill(struct child *, int *status);
// Whether the process is stopped (SIGSTOP) at this moment.
bool child_stopped(const struct child *);
// Fills in poll(2) entries for the child's pipes, and returns their number, at most CHILD_POLLED. `reads`: whether the
// child's output is wanted. `writes`: whether there is input for the child.
enum { CHILD_POLLED = 3 };
int child_poll(const struct child *, bool reads, bool writes, struct pollfd *);
void child_close(int *fd); // one of the pipes
void child_close_all(struct child *);
// How a process with this status ended: "was killed by signal 9 (Killed)", "ended with status 1".
void child_describe(int status, char *out, size_t size);

// Output of a child process outside its protocol (on stderr, or before a greeting), line by line, for the log and for
// messages about why it ended. Long lines are truncated, and control characters are replaced. Only the first
// CHILD_OUTPUT_MOST bytes are passed on, so that the log cannot fill a disk. Only a limited amount is read at a time,
// so that other children get their turn.
enum { CHILD_OUTPUT_LINE = 512, CHILD_OUTPUT_MOST = 256 << 10 };

struct child_output {
    char last[CHILD_OUTPUT_LINE]; // the last line that was not empty
    char line[CHILD_OUTPUT_LINE]; // the current, incomplete line
    size_t size;                  // the length of `line`
    size_t heard;                 // bytes received so far
};

typedef void child_output_visitor(void *user, const char *line);

// Passes whole lines on, without carriage returns. Empty lines are skipped. `visit` may be NULL.
void child_output_take(struct child_output *, const char *bytes, size_t size, child_output_visitor *visit, void *user);
// Takes the available bytes of a non-blocking pipe, up to 64 KiB, and closes the pipe at its end.
void child_output_read(struct child_output *, int *fd, child_output_visitor *visit, void *user);

// Orphans are children of a child that are still running when it ends, including those that left its process group
// (setsid). A process that adopts orphans becomes their parent (prctl's subreaper) and can end them. Some adopted
// orphans must keep running, such as the master connection of ssh, which serves other connections. So the orphans to
// end are recognised by a mark in their environment.
enum { CHILDREN_MOST = 4096 };

struct children {
    size_t count;
    pid_t pids[CHILDREN_MOST];
};

// From now on this process adopts the orphans of its children.
void orphans_adopt(void);
// Lists the children of this process. The list is empty if Linux does not list them, or if there are CHILDREN_MOST or
// more.
void orphans_list(struct children *);
// Kills and reaps the chosen children of this process until no such child is left, since each may leave orphans itself.
void orphans_end(bool (*chosen)(pid_t, const void *user), const void *user);
