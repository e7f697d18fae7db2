// Reads a whole file.
#ifndef SWEETSPOT_GPU_FILE_H
#define SWEETSPOT_GPU_FILE_H

#include <stddef.h>

#include "tuner/base/error.h"

// *data is malloc'ed, with a zero byte after the end; the caller frees it. `size` may be NULL.
int file_read(const char *path, char **data, size_t *size, struct error *err);

#endif
