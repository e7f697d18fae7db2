// The image of a buffer that kernels see by texture or surface objects: read from the request and, where it lies in an
// array, allocated. The array has no copies and no guards: a launch works on the one, which is written before it from a
// copy of the buffer and, after it, read back (symbol_bindings.h).
#pragma once

#include "kernels/operation.h"
#include "tuner/base/image.h"
#include "tuner/libraries/cuda_image.h"
#include "tuner/protocol/problem_message.h"

struct device_image {
    struct image_layout about;
    struct cuda_array *array;  // NULL: textures lie over the buffer's own memory
    uint64_t texture, surface; // of the array
};

// Reads the image of a buffer of this shape.
int device_image_read(struct device_image *, const struct image_request *, const struct operand *, struct error *err);
// Holds it against the device and makes the array and its objects. The caller releases, also after a failure.
int device_image_open(struct device_image *, struct cuda *, enum element, struct error *err);
void device_image_release(struct device_image *);
// Bytes of device memory that it takes.
size_t device_image_bytes(const struct device_image *, enum element);
