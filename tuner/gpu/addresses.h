// Addresses as data: buffers, and structs by value, that hold the addresses of buffers. Each copy of the memory holds
// those of its own buffers, and so does the placement; so they are written here, and never copied with other data.
#pragma once

#include "tuner/gpu/buffers.h"

// Resolves the addresses that lie in `bytes` bytes: those of buffer number `self`, or of a struct (self -1). *out is
// malloc'ed, also after a failure: a buffer or a place is not there.
int addresses_read(const struct buffers *, int self, const struct address_request *, size_t count, size_t bytes,
                   struct device_address **out, struct error *err);
// Writes them to host memory, for launches on buffers that lie `shift` further.
void addresses_write(const struct buffers *, const struct device_address *, size_t count, int64_t shift, void *to);
// Writes those in the buffers of a copy to the device. Waits.
int addresses_store(const struct buffers *, unsigned copy, struct error *err);
// Names the first buffer of a copy whose addresses are not those written; NULL: there is none. Waits.
int addresses_check(const struct buffers *, unsigned copy, const char **changed, struct error *err);
