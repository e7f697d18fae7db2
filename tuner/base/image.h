// An image is memory that kernels access through a texture or a surface object instead of a pointer. This file defines
// the words that job files and the protocol use for images, and the sizes that devices support.
#pragma once

#include "tuner/base/base.h"

// ARRAY: a CUDA array, whose layout the device chooses. LINEAR: the buffer's own memory, as one row. PITCH: the same
// memory as several rows.
enum image_memory { IMAGE_ARRAY, IMAGE_LINEAR, IMAGE_PITCH };
enum image_filter { IMAGE_POINT, IMAGE_INTERPOLATED };
enum image_address { IMAGE_CLAMP, IMAGE_WRAP, IMAGE_MIRROR, IMAGE_BORDER };
enum image_read { IMAGE_ELEMENT, IMAGE_NORMALIZED };

enum { IMAGE_DIMENSIONS = 3, IMAGE_CHANNELS_MAX = 4 };

// The words, indexed by number and NULL-terminated.
extern const char *const image_memory_text[], *const image_filter_text[], *const image_address_text[],
                                                                              *const image_read_text[];

struct image_layout {
    enum image_memory memory;
    int rank, channels;                           // 1 to 3; 1, 2 or 4
    int64_t size[IMAGE_DIMENSIONS];               // texels, the contiguous dimension first; 1 beyond the rank
    int64_t pitch;                                // bytes from one row to the next
    bool surface;                                 // kernels can also access it as a surface
    enum image_filter filter;                     // this member and the next three say how textures read it
    enum image_address address[IMAGE_DIMENSIONS]; // in the order of `size`
    bool normalized;                              // coordinates from 0 to 1
    enum image_read read;
};

// The largest sizes, in texels, the contiguous dimension first.
struct image_limits {
    int64_t array[IMAGE_DIMENSIONS][IMAGE_DIMENSIONS];   // by rank - 1
    int64_t surface[IMAGE_DIMENSIONS][IMAGE_DIMENSIONS]; // the same for surfaces
    int64_t linear, pitch_size[2], pitch;                // pitch: bytes
    int64_t pitch_alignment;                             // bytes
};
// The limits of all devices from compute capability 7.5 to 12.0 (CUDA C++ Programming Guide 13.0, technical
// specifications by compute capability).
extern const struct image_limits image_limits_known;

// -1 with a message if the device does not support an image of this size.
int image_check(const struct image_layout *, const struct image_limits *, struct error *);
