// Memory whose pieces lie as far apart as one likes, which allocations do not promise: a reservation of addresses, in
// which each piece is mapped by itself. Nothing is mapped between them.
#ifndef SWEETSPOT_CUDA_MAPPING_H
#define SWEETSPOT_CUDA_MAPPING_H

#include "tuner/libraries/cuda.h"

enum { CUDA_MAPPING_PIECES_MAX = 4 };

struct cuda_mapping {
    uint64_t reserved, reserved_bytes; // the reservation
    size_t count;
    uint64_t address[CUDA_MAPPING_PIECES_MAX];
    size_t bytes[CUDA_MAPPING_PIECES_MAX]; // that are mapped; 0: none yet
};

// Each piece at the given distance or a little more from the end of the one before it (the first: from the
// reservation's beginning). CUDA_REFUSED where the device cannot map memory, CUDA_MEMORY where there is no room. The
// caller closes, also after a failure.
int cuda_mapping_open(struct cuda_mapping *, struct cuda *, const size_t *bytes, const uint64_t *apart, size_t count,
                      struct error *err);
void cuda_mapping_close(struct cuda_mapping *); // once nothing uses it

#endif
