// Processes that a child leaves behind: its children that are still there when it ends, those that left its process
// group (setsid) too. A process that adopts becomes their parent (prctl's subreaper) and can end them. They are
// recognised by a mark in their environment, because other orphans come too and must live: the master connection of
// an ssh, which serves other connections.
#ifndef SWEETSPOT_ORPHANS_H
#define SWEETSPOT_ORPHANS_H

#include <stddef.h>
#include <sys/types.h>

enum { CHILDREN_MOST = 4096 };

struct children {
    size_t count;
    pid_t pids[CHILDREN_MOST];
};

// From now on this process adopts what its children leave behind.
void orphans_adopt(void);
// The children of this process. None where the kernel does not list them, or where there are CHILDREN_MOST or more.
void orphans_list(struct children *);
// In a new process, before exec: it and all that it starts have mark number `mark` of the process `parent`.
void orphans_mark(pid_t parent, unsigned mark);
// Kills and reaps the children of this process that have this mark, again until there are none: each may leave others.
void orphans_end(unsigned mark);

#endif
