// Images on the device: CUDA arrays, and the texture and surface objects through which kernels see arrays or linear
// memory. An object is 8 bytes and is passed to a kernel like any other argument. Functions fail as in cuda.h.
#pragma once

#include "tuner/base/image.h"
#include "tuner/libraries/cuda.h"

struct cuda_array;

// This device's limits for images.
void cuda_image_limits(struct cuda *, struct image_limits *);

// Creates an array for an image whose texels have `channels` elements of the type. The type must be one that textures
// support, of 8 to 32 bits.
int cuda_array_create(const struct image_layout *, enum element, struct cuda_array **out, struct error *err);
void cuda_array_destroy(struct cuda_array *); // NULL is fine
// Enqueues copying from the whole array to linear memory or, with `write`, in the other direction. In linear memory,
// rows are image.pitch bytes apart.
int cuda_array_copy(struct cuda *, struct cuda_array *, const struct image_layout *, enum element, uint64_t linear,
                    bool write, struct error *err);

// Creates a texture over the array or, for an image in linear memory, over the address. CUDA_REFUSED with the driver's
// message.
int cuda_texture_create(const struct image_layout *, enum element, struct cuda_array *, uint64_t address,
                        uint64_t *object, struct error *err);
void cuda_texture_destroy(uint64_t object); // 0 is fine
int cuda_surface_create(struct cuda_array *, uint64_t *object, struct error *err);
void cuda_surface_destroy(uint64_t object); // 0 is fine
