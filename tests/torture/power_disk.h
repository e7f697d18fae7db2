// The disk after a power failure, from the journal of a run (power_cut.c).
//
// The model: a file's content at its last sync is on the disk. Any part of the later writes may have reached it: none,
// any subset of whole writes, or any subset of 512-byte sectors. Changes of names (create, link, rename, unlink) reach
// the disk in order, as in journaling file systems, and a sync of anything in the folder includes all earlier changes
// of names.
#pragma once

#include <stddef.h>

#include "search/space/random.h"

enum loss {
    LOSE_NOTHING, // the power stayed on
    LOSE_ALL,     // everything that was not synced
    LOSE_LATEST,  // a random tail of the unsynced writes; the first lost one is torn
    LOSE_WRITES,  // a random choice of whole writes
    LOSE_SECTORS, // a random choice of sectors
    LOSS_COUNT
};

struct power_disk;

// Reads a journal. NULL if there is no such file or the file is not a journal.
struct power_disk *power_disk_read(const char *path);
void power_disk_free(struct power_disk *);
size_t power_disk_operations(const struct power_disk *);
// Looks for the last sync of this file among the first `operations`. Returns the number of operations up to and
// including this sync, or 0 if there is none.
size_t power_disk_synced(const struct power_disk *, const char *file, size_t operations);
// Writes the files into an empty folder in their state after this many operations and a loss of this kind.
void power_disk_write(const struct power_disk *, size_t operations, enum loss, struct random *, const char *folder);
