// Expected values that took the CPU long to compute, kept in files: a job that is resumed, or whose final fills the
// same data again, reads them. A file's name is a hash of all that the values depend on: the operation, this
// program, the shapes, sizes and scalars, and the checksums of the inputs' data as they lie on the device.
#pragma once

#include "tuner/gpu/workload_data.h"

enum { REFERENCE_CACHE_PATH_MAX = 4096 };

// The file for this problem's values. False if they are not to be kept: no folder in the request, data that has no
// checksum (inout), or too much of it.
bool reference_cache_path(const struct workload *, const struct device_problem *, char path[REFERENCE_CACHE_PATH_MAX]);

// Reads the expected values of all output roles into the host arrays of `expected`, allocated by the caller. False if
// there is no such file, or it is not what was written: it ends in the hash of what it has.
bool reference_cache_read(const char *path, const struct workload *, const struct device_problem *,
                          struct operation_expected *expected);

// Writes them to a temporary name and renames it. A failure is ignored: the values are computed again.
void reference_cache_write(const char *path, const struct workload *, const struct device_problem *,
                           struct operation_expected *expected);

// The same for arrays of plain values, of which some may be NULL; too many are not kept.
bool reference_cache_read_arrays(const char *path, void *const *data, const size_t *bytes, size_t count);
void reference_cache_write_arrays(const char *path, void *const *data, const size_t *bytes, size_t count);
