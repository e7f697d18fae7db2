// The journal of a driver's operations on the files of its run, which the layer power_cut.c writes and power_disk.c
// reads. An entry has a header, the file's path in the folder, and the bytes or the second path.
#pragma once

#include <stdint.h>

enum power_op { POWER_CREATE, POWER_WRITE, POWER_TRUNCATE, POWER_SYNC, POWER_RENAME, POWER_LINK, POWER_UNLINK };

struct power_record {
    uint32_t op;
    uint32_t path; // length of the path
    uint64_t offset;
    uint64_t size; // length of the data after the path
};
