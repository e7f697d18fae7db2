// The memory of one problem: every buffer that the job names, in one allocation, each between guard bands.
//
//     slot 0                                          slot 1
//     | front guard | row 0 | pad | row 1 | pad | ... | back guard | front guard | row 0 ...
//                   ^ data, 1024-byte aligned
//
// Guards, and the padding between a row's last element and its leading dimension, hold BUFFERS_GUARD, whose 16-bit
// pattern is a NaN in every floating-point type: a stray write is seen by looking, and a stray read poisons what is
// computed from it. A back guard begins at the byte after the last element, whatever the type.
#ifndef SWEETSPOT_GPU_BUFFERS_H
#define SWEETSPOT_GPU_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "tuner/base/json.h"
#include "tuner/base/limits.h"
#include "tuner/gpu/support.h"

enum { BUFFERS_MAX = JOB_MAX_BUFFERS };
enum { BUFFERS_GUARD = 0xfffd };

struct device_buffer {
    const char *name; // this and path are borrowed from the list that buffers_open() read
    struct operand view;
    enum direction direction;
    enum fill_kind fill;
    double low, high;
    const char *path;  // of an npy fill
    bool filled;       // scratch: the fill was asked for, so it is repeated before every verified run
    uint64_t slot;     // address of the front guard
    size_t front;      // bytes of the front guard
    size_t bytes;      // of all rows with their padding
    uint64_t origin;   // inout: pristine copy
    uint64_t checksum; // in: of the data as filled
};

struct buffers {
    struct cuda *cuda;
    struct support *support;
    size_t count;
    struct device_buffer list[BUFFERS_MAX];
    uint64_t arena, origins;
    size_t arena_bytes, origin_bytes;
    uint64_t regions; // on the device: struct region[region_count]
    size_t region_count;
    uint64_t findings; // on the device: struct verify_finding[count]
    bool inout;        // whether any buffer is
    uint64_t clones;   // further copies of the arena, for timing with a cold cache
    unsigned clone_count;
};

// Reads a problem's "buffers" and allocates. `list` must outlive the buffers. The caller releases, also after a
// failure.
int buffers_open(struct buffers *, struct cuda *, struct support *, const json_t *list, size_t guard_bytes,
                 struct error *err);
void buffers_release(struct buffers *);
// Device memory that open() would take.
size_t buffers_bytes(const json_t *list, size_t guard_bytes, struct error *err);

int buffers_find(const struct buffers *, const char *name); // index or -1
static inline bool buffer_is_output(const struct device_buffer *b)
{
    return b->direction == DIRECTION_OUT || b->direction == DIRECTION_INOUT;
}

// Writes guards and fills from the seed, and takes the inputs' checksums. Waits.
int buffers_fill(struct buffers *, uint64_t seed, struct error *err);
// Makes ready for a run: outputs and scratch get `pattern`, inout buffers their first contents again.
int buffers_reset(struct buffers *, uint16_t pattern, struct error *err);
// Enqueues the checks of guards and of inputs into the findings, which must have been zeroed.
int buffers_check(struct buffers *, struct error *err);

// Makes sure that there are copies - 1 copies of the whole arena with its present contents. They serve timing only:
// nobody checks them.
int buffers_clone(struct buffers *, unsigned copies, struct error *err);
// What to add to a buffer's address for copy i; copy 0 is the original.
static inline int64_t buffers_clone_shift(const struct buffers *b, unsigned i)
{
    return i == 0 ? 0 : (int64_t)(b->clones + (i - 1) * b->arena_bytes - b->arena);
}

#endif
