// The memory of one problem: every buffer that the job names, in one allocation, each between guard bands. There are
// copies of it: the second holds other data (another seed's), so that results computed for one are of no use for the
// other; further copies, of either data, are for timing many launches in a row, each on its own memory.
//
//     slot 0                                          slot 1
//     | front guard | row 0 | pad | row 1 | pad | ... | back guard | front guard | row 0 ...
//                   ^ data, 1024-byte aligned
//
// Guards, and the padding between a row's last element and its leading dimension, hold NaN, large positive or large
// negative numbers, drawn for each copy and each pass of verification: a stray write shows in a guard, and a stray
// read changes what is computed from it, also where a maximum or minimum absorbs one of the three. A back guard begins
// at the byte after the last element, whatever the type.
//
// Outputs and scratch without a fill hold arbitrary data before a launch. What it is, a key decides: for each buffer in
// each copy a kind of content is drawn (enum content_kind), in more than half of all launches NaN or random bits.
#pragma once

#include "tuner/base/limits.h"
#include "tuner/gpu/device_image.h"
#include "tuner/gpu/support.h"
#include "tuner/protocol/problem_message.h"

enum { BUFFERS_MAX = JOB_MAX_BUFFERS, BUFFERS_COPIES_MAX = SUPPORT_COPIES_MAX, BUFFERS_SLABS_MAX = 16 };

// `count` addresses of places in buffer number `to`, -1 for null: see addresses.h.
struct device_address {
    int to;
    size_t place; // bytes before the first in the memory that holds them
    uint64_t at, step;
    size_t count;
};

struct device_buffer {
    const char *name; // this and path are borrowed from the request
    struct operand view;
    enum direction direction;
    enum fill_kind fill;
    double low, high; // of offsets also the total
    struct {
        bool given;
        enum fill_kind fill;
        double low, high;
    } other;                          // what set 1 holds, where that is something else
    const char *path;                 // of an npy fill
    struct device_address *addresses; // of the fill "addresses"
    size_t address_count;
    struct {                   // by kernels, where it is no pointer
        bool symbol, optional; // a variable of the module of this name, which may be missing
        bool has_image;        // by objects:
        struct device_image image;
    } seen;
    bool restored;        // an input that launches may change
    bool filled;          // scratch: the job has a fill for it, so the fill is part of the state before every launch
    uint64_t slot;        // address of the front guard
    size_t front;         // bytes of the front guard
    size_t bytes;         // of all rows with their padding
    uint64_t origin[2];   // by set of data, for what begins with contents and is written: a pristine copy; else 0
    uint64_t content;     // of inputs: a checksum of what the set that was filled last holds
    uint64_t checksum[4]; // by set, under the workload's present key: of inputs as filled, or of origins
    struct {              // of an output
        struct part part; // what is compared
        int64_t compared; // elements of the part
        uint64_t near[CONTENT_NEAR_COUNT]; // numbers of the size of those expected (support_near)
        const struct bound *bound[4];      // by set: what is expected, where it is known, masked with mask_key
    } expected;
};

struct buffers_guards {
    struct region regions[3 * BUFFERS_MAX];
    size_t region_count;
    struct guard_contents held; // by copy
    unsigned written;           // how often, so that the three kinds take turns
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
    unsigned copy_count;                   // the first `sets` copies are one of each set
    int64_t shift[BUFFERS_COPIES_MAX];     // what to add to a buffer's address for a copy; a multiple of 1024
    unsigned char set[BUFFERS_COPIES_MAX]; // whose data a copy holds
    uint64_t second;                       // allocation of the second copy
    uint64_t slabs[BUFFERS_SLABS_MAX];     // and of the others; never moved, since graphs hold their addresses
    unsigned slab_count;
};

// Reads a problem's buffers and allocates. The texts of `list` must outlive the buffers. The caller releases, also
// after a failure.
int buffers_open(struct buffers *, struct cuda *, struct support *, const struct buffer_request *list, size_t count,
                 size_t guard_bytes, struct error *err);
void buffers_release(struct buffers *);
// Device memory that open() would take.
size_t buffers_bytes(const struct buffer_request *list, size_t count, size_t guard_bytes, struct error *err);
// Makes room for a second set of data. CUDA_MEMORY: there is no room.
int buffers_second(struct buffers *, struct error *err);
// Gives that room back, also after a failure: one set remains.
void buffers_single(struct buffers *);

int buffers_find(const struct buffers *, const char *name); // index or -1
static inline size_t buffer_elements(const struct device_buffer *b)
{
    return (size_t)b->view.rows * (size_t)b->view.cols;
}
// A buffer as it lies in the first copy, with its padding: malloc'ed, to be freed also after a failure. Waits.
int buffer_download(struct cuda *, const struct device_buffer *, void **to, struct error *err);
// Addresses are no input of a reference on the host.
static inline bool buffer_is_input(const struct device_buffer *b)
{
    return (b->direction == DIRECTION_IN && !b->address_count) || b->direction == DIRECTION_INOUT;
}
static inline bool buffer_is_output(const struct device_buffer *b)
{
    return b->direction == DIRECTION_OUT || b->direction == DIRECTION_INOUT;
}

// The same buffers at other addresses, as one copy: data of buffer i at address[i], with room for guards on both sides.
// Nothing is allocated, and nothing must be released.
void buffers_move(struct buffers *to, const struct buffers *from, const uint64_t address[BUFFERS_MAX],
                  size_t guard_bytes);

// Fills the first copy with guards and with data from the seed, which are to be those of `set`, and keeps their
// origins. When references have been computed from them, buffers_keep() moves set 1 to its place; set 0 stays, and is
// filled last.
int buffers_fill(struct buffers *, unsigned set, uint64_t seed, struct error *err);
int buffers_keep(struct buffers *, unsigned set, struct error *err);
// Makes n copies ready for a launch: outputs and scratch get contents by the key (scratch with a fill gets that), inout
// buffers their first contents again. A key is a draw of buffers_key() or, for the same in all of them, an enum
// content_kind. Enqueued.
int buffers_restore(struct buffers *, const unsigned *copies, size_t n, uint64_t key, struct error *err);
// A key that no kernel can foresee. LEAVE: scratch may keep what the last launch on the copy left there; not for timed
// launches, which answers kept there would make fast. TELLTALE: outputs hold NaN or random bits, so that elements which
// are not written can be counted.
enum { BUFFERS_LEAVE = 1, BUFFERS_TELLTALE = 2 };
uint64_t buffers_key(unsigned flags);
// What buffer i held in a copy after buffers_restore() with this key.
struct content buffers_content(const struct buffers *, size_t i, unsigned copy, uint64_t key);
enum { BUFFERS_ALL = -1 };
// Enqueues the checks of the guards of one copy, or of all (BUFFERS_ALL), into the findings, which must have been
// zeroed.
int buffers_guards(struct buffers *, int copy, struct error *err);
// Enqueues writing other ones by the key, for each copy the next of three kinds; CONTENT_NAN: the same in all, which
// never change.
int buffers_write_guards(struct buffers *, int copy, uint64_t key, struct error *err);

// Makes sure that there are `copies` copies, at distances that cannot be foreseen. Existing ones stay.
// CUDA_MEMORY: there is no room.
int buffers_clone(struct buffers *, unsigned copies, struct error *err);
