// The disk after a power failure, from the journal of a run (power_cut.c).
//
// The model: what a file held when it was last synced is there. Of what was written to it since, anything may be there:
// nothing, whole writes in any choice, or single sectors of 512 bytes in any choice. Names (create, link, rename,
// unlink) reach the disk in their order, as journaling file systems have it, and a sync of anything in the folder takes
// all earlier ones along.
#pragma once

#include <stddef.h>

#include "search/space/random.h"

enum loss {
    LOSE_NOTHING, // the power stayed on
    LOSE_ALL,     // all that was not synced
    LOSE_LATEST,  // a random tail of it, the first lost write torn
    LOSE_WRITES,  // a random choice of whole writes
    LOSE_SECTORS, // a random choice of sectors
    LOSS_COUNT
};

struct power_disk;

// Reads a journal. NULL: there is none, or it is not one.
struct power_disk *power_disk_read(const char *path);
void power_disk_free(struct power_disk *);
size_t power_disk_operations(const struct power_disk *);
// The number of operations up to and including the last sync of this file among the first `operations`; 0: none.
size_t power_disk_synced(const struct power_disk *, const char *file, size_t operations);
// Writes the files as they are after so many operations and a loss of this kind into an empty folder.
void power_disk_write(const struct power_disk *, size_t operations, enum loss, struct random *, const char *folder);
