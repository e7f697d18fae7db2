// Expected values that took long to compute on the CPU are kept in files. They are read if the job is resumed, or if
// its final fills the same data again. A file's name is a hash of everything that the values depend on: the operation,
// this program, the shapes, sizes and scalars, and the checksums of the inputs' data on the device.
#pragma once

#include "tuner/gpu/workload_data.h"

enum { REFERENCE_CACHE_PATH_MAX = 4096 };

// The file for this problem's values. False if they are not to be kept: the request has no folder, some data has no
// checksum (inout), or there is too much data.
bool reference_cache_path(const struct workload *, const struct device_problem *, char path[REFERENCE_CACHE_PATH_MAX]);

// Reads the expected values of all output roles into the host arrays of `expected`, allocated by the caller. False if
// there is no such file, or if its contents do not match the hash at its end.
bool reference_cache_read(const char *path, const struct workload *, const struct device_problem *,
                          struct operation_expected *expected);

// Writes the values to a temporary file and renames it. A failure is ignored: the values will be computed again.
void reference_cache_write(const char *path, const struct workload *, const struct device_problem *,
                           struct operation_expected *expected);

// The same for arrays of plain values, some of which may be NULL. If there is too much data, it is not kept.
bool reference_cache_read_arrays(const char *path, void *const *data, const size_t *bytes, size_t count);
void reference_cache_write_arrays(const char *path, void *const *data, const size_t *bytes, size_t count);
