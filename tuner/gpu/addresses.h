// Addresses as data: buffers, and structs by value, that hold the addresses of buffers. Each copy of the memory, and
// the placement, holds the addresses of its own buffers. So addresses are written by this module, and never copied with
// other data.
#pragma once

#include "tuner/gpu/buffers.h"

// Resolves the addresses that are stored in `bytes` bytes: in buffer number `self`, or in a struct (self -1). Fails if
// a buffer or a place does not exist. *out is malloc'ed, also after a failure.
int addresses_read(const struct buffers *, int self, const struct address_request *, size_t count, size_t bytes,
                   struct device_address **out, struct error *err);
// Writes the addresses to host memory, for launches on buffers that are shifted by `shift` bytes.
void addresses_write(const struct buffers *, const struct device_address *, size_t count, int64_t shift, void *to);
// Writes the addresses in a copy's buffers to the device. Waits.
int addresses_store(const struct buffers *, unsigned copy, struct error *err);
// Names the first buffer of a copy whose addresses have changed since they were written; NULL: there is none. Waits.
int addresses_check(const struct buffers *, unsigned copy, const char **changed, struct error *err);
