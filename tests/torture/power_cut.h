// The journal of what a driver did to the files of its run, as the layer power_cut.c writes it and power_disk.c reads
// it: a header, the file's path in the folder, and the bytes or the other path.
#pragma once

#include <stdint.h>

enum power_op { POWER_CREATE, POWER_WRITE, POWER_TRUNCATE, POWER_SYNC, POWER_RENAME, POWER_LINK, POWER_UNLINK };

struct power_record {
    uint32_t op;
    uint32_t path; // its length
    uint64_t offset;
    uint64_t size; // of what follows the path
};
