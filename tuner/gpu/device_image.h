// The image of a buffer that kernels see through texture or surface objects. This module reads the image from the
// request and, if it is in a CUDA array, allocates the array, which has no copies and no guards. All launches use the
// same array: it is written from a copy of the buffer before a launch, and read back after it (symbol_bindings.h).
#pragma once

#include "kernels/operation.h"
#include "tuner/base/image.h"
#include "tuner/libraries/cuda_image.h"
#include "tuner/protocol/problem_message.h"

struct device_image {
    struct image_layout about;
    struct cuda_array *array;  // NULL: textures use the buffer's own memory
    uint64_t texture, surface; // of the array
};

// Reads the image of a buffer of this shape.
int device_image_read(struct device_image *, const struct image_request *, const struct operand *, struct error *err);
// Checks the image against the device's limits, and creates the array and its objects. The caller releases, also after
// a failure.
int device_image_open(struct device_image *, struct cuda *, enum element, struct error *err);
void device_image_release(struct device_image *);
// Bytes of device memory that the image needs.
size_t device_image_bytes(const struct device_image *, enum element);
