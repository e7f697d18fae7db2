// The memory of one problem: every buffer that the job names, each between guard bands, in one allocation. There are
// copies of this memory. The second copy holds data from another seed, so that results computed on one copy are of no
// use on the other. Further copies, which hold the data of either seed, are for timing many launches in a row, each on
// its own memory.
//
//     slot 0                                          slot 1
//     | front guard | row 0 | pad | row 1 | pad | ... | back guard | front guard | row 0 ...
//                   ^ data, 1024-byte aligned
//
// Guards, and the padding between a row's last element and its leading dimension, hold NaN, large positive or large
// negative numbers, which differ from copy to copy and from one verification pass to the next. A stray write changes a
// guard. A stray read changes the results, even if a maximum or minimum absorbs one of these three kinds. A back guard
// begins at the byte after the last element, whatever the type.
//
// Outputs and scratch without a fill hold arbitrary data before a launch. A key determines this data: each buffer in
// each copy gets a kind of content (enum content_kind), which is NaN or random bits in more than half of all launches.
#pragma once

#include "tuner/base/limits.h"
#include "tuner/gpu/device_image.h"
#include "tuner/gpu/support.h"
#include "tuner/protocol/problem_message.h"

enum { BUFFERS_MAX = JOB_MAX_BUFFERS, BUFFERS_COPIES_MAX = SUPPORT_COPIES_MAX, BUFFERS_SLABS_MAX = 16 };

// `count` addresses of places in buffer number `to` (-1: null pointers); see addresses.h.
struct device_address {
    int to;
    size_t place; // offset of the first address in the memory that holds them, in bytes
    uint64_t at, step;
    size_t count;
};

struct device_buffer {
    const char *name; // this and path are borrowed from the request
    struct operand view;
    enum direction direction;
    enum fill_kind fill;
    double low, high; // for offsets, `high` is the total
    struct {
        bool given;
        enum fill_kind fill;
        double low, high;
    } other;                          // how set 1 is filled, if that differs
    const char *path;                 // of an npy fill
    struct device_address *addresses; // of the fill "addresses"
    size_t address_count;
    struct {                   // how kernels see it, if not through a pointer
        bool symbol, optional; // as the module's variable with this name, which may be missing
        bool has_image;        // through texture or surface objects:
        struct device_image image;
    } seen;
    bool restored;        // an input that launches may change
    bool filled;          // scratch: the job has a fill for it, so the fill is part of the state before every launch
    uint64_t slot;        // address of the front guard
    size_t front;         // bytes of the front guard
    size_t bytes;         // of all rows with their padding
    uint64_t origin[2];   // by set of data: a pristine copy, if the buffer has initial contents and is written; or 0
    uint64_t content;     // of inputs: a checksum of the data in the set that was filled last
    uint64_t checksum[4]; // by set, under the workload's current key: of inputs as filled, or of origins
    struct {              // of an output
        struct part part; // the part that is compared
        int64_t compared; // elements of the part
        uint64_t near[CONTENT_NEAR_COUNT]; // numbers about as large as those expected (support_near)
        const struct bound *bound[4];      // by set: the expected values, if known, masked with mask_key
    } expected;
};

struct buffers_guards {
    struct region regions[3 * BUFFERS_MAX];
    size_t region_count;
    struct guard_contents held; // by copy
    unsigned written;           // how often they were written, so that the three kinds take turns
    bool padded;                // inputs have padding, which is a guard
};

struct buffers {
    struct cuda *cuda;
    struct support *support;
    size_t count;
    struct device_buffer list[BUFFERS_MAX];
    uint64_t memory, arena; // allocation; where the first copy begins in it
    uint64_t origins[2];    // allocations, by set of data
    size_t arena_bytes, origin_bytes;
    struct buffers_guards guards;
    uint64_t mask_key;
    uint64_t findings;                     // on the device: struct verify_finding[BUFFERS_MAX]
    unsigned sets;                         // of data: 1 or 2
    unsigned copy_count;                   // the first `sets` copies hold one set each
    int64_t shift[BUFFERS_COPIES_MAX];     // what to add to a buffer's address for a copy; a multiple of 1024
    unsigned char set[BUFFERS_COPIES_MAX]; // the set whose data a copy holds
    uint64_t second;                       // allocation of the second copy
    uint64_t slabs[BUFFERS_SLABS_MAX];     // allocations of further copies; never moved, as graphs hold their addresses
    unsigned slab_count;
};

// Reads a problem's buffers and allocates. The strings in `list` must outlive the buffers. The caller releases, even
// after a failure.
int buffers_open(struct buffers *, struct cuda *, struct support *, const struct buffer_request *list, size_t count,
                 size_t guard_bytes, struct error *err);
void buffers_release(struct buffers *);
// Device memory that buffers_open() would allocate, in bytes.
size_t buffers_bytes(const struct buffer_request *list, size_t count, size_t guard_bytes, struct error *err);
// Allocates memory for a second set of data. CUDA_MEMORY: there is not enough memory.
int buffers_second(struct buffers *, struct error *err);
// Frees the second set's memory, even after a failure; one set remains.
void buffers_single(struct buffers *);

int buffers_find(const struct buffers *, const char *name); // index or -1
static inline size_t buffer_elements(const struct device_buffer *b)
{
    return (size_t)b->view.rows * (size_t)b->view.cols;
}
// A buffer's contents in the first copy, with its padding: malloc'ed, to be freed even after a failure. Waits.
int buffer_download(struct cuda *, const struct device_buffer *, void **to, struct error *err);
// A buffer of addresses is not an input of a reference on the host.
static inline bool buffer_is_input(const struct device_buffer *b)
{
    return (b->direction == DIRECTION_IN && !b->address_count) || b->direction == DIRECTION_INOUT;
}
static inline bool buffer_is_output(const struct device_buffer *b)
{
    return b->direction == DIRECTION_OUT || b->direction == DIRECTION_INOUT;
}

// The same buffers at other addresses, as one copy: the data of buffer i is at address[i], with room for guards on both
// sides. Nothing is allocated, and nothing must be released.
void buffers_move(struct buffers *to, const struct buffers *from, const uint64_t address[BUFFERS_MAX],
                  size_t guard_bytes);

// Fills the first copy with guards and with the data that the seed gives for `set`, and keeps origins of this data.
// After references have been computed from set 1, buffers_keep() moves this set to its own copy. Set 0 is filled last,
// and stays in the first copy.
int buffers_fill(struct buffers *, unsigned set, uint64_t seed, struct error *err);
int buffers_keep(struct buffers *, unsigned set, struct error *err);
// Prepares n copies for a launch: outputs and scratch get contents that the key determines (scratch with a fill is
// filled), and inout buffers get their initial contents again. A key is either drawn by buffers_key() or an enum
// content_kind, which then applies to all buffers. Enqueued.
int buffers_restore(struct buffers *, const unsigned *copies, size_t n, uint64_t key, struct error *err);
// A key that no kernel can predict. LEAVE: scratch may keep what the last launch on the copy left in it. Timed launches
// do not use it, because a kernel could save time by reusing results kept there. TELLTALE: outputs hold NaN or random
// bits, so that unwritten elements can be counted.
enum { BUFFERS_LEAVE = 1, BUFFERS_TELLTALE = 2 };
uint64_t buffers_key(unsigned flags);
// What buffer i held in a copy after buffers_restore() with this key.
struct content buffers_content(const struct buffers *, size_t i, unsigned copy, uint64_t key);
enum { BUFFERS_ALL = -1 };
// Enqueues a check of the guards of one copy, or of all copies (BUFFERS_ALL). Adds to the findings, which the caller
// has zeroed.
int buffers_guards(struct buffers *, int copy, struct error *err);
// Enqueues writing new guards, which the key determines. The three kinds take turns from copy to copy. With the key
// CONTENT_NAN, all copies get the same guards, which never change.
int buffers_write_guards(struct buffers *, int copy, uint64_t key, struct error *err);

// Makes sure that there are `copies` copies, at distances that cannot be predicted. Existing copies stay.
// CUDA_MEMORY: there is no room.
int buffers_clone(struct buffers *, unsigned copies, struct error *err);
