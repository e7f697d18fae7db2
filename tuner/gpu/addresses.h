// Addresses as data: buffers, and structs passed by value, may hold the addresses of buffers. In each copy of the
// memory, and in the placement, these are the addresses of that copy's own buffers. So addresses are written by this
// module, and never copied with other data.
#pragma once

#include "tuner/gpu/buffers.h"

// Resolves the addresses in the `bytes` bytes of buffer number `self` or, if `self` is -1, of a struct. Fails if a
// buffer or a place does not exist. *out is malloc'ed, even after a failure.
int addresses_read(const struct buffers *, int self, const struct address_request *, size_t count, size_t bytes,
                   struct device_address **out, struct error *err);
// Writes the addresses to host memory, for launches on buffers that are shifted by `shift` bytes.
void addresses_write(const struct buffers *, const struct device_address *, size_t count, int64_t shift, void *to);
// Writes the addresses in a copy's buffers to the device. Waits.
int addresses_store(const struct buffers *, unsigned copy, struct error *err);
// Finds the first buffer in a copy whose stored addresses have changed. *changed: its name, or NULL if there is none.
// Waits.
int addresses_check(const struct buffers *, unsigned copy, const char **changed, struct error *err);
