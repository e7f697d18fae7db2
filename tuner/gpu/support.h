// The worker's own kernels (kernels/support.cu) as functions. Everything is enqueued on the context's stream; functions
// wait only where they say so. The structs finding and region have the same layout as in support.cu.
#pragma once

#include "kernels/operation.h"
#include "tuner/base/buffer_kind.h"
#include "tuner/libraries/cuda.h"

// Findings about one buffer in one run; see support.cu. Places are stored complemented: ~x, and 0 for none.
struct verify_finding {
    uint64_t bad, unwritten, worst, differ, first_differ, guard_bad, guard_first;
    double sum_squares, max_scaled, got, want, allowed;
    int64_t place;
};

// The contents of memory before a launch, where the job promises nothing. They are made from a key
// (support_memory.cuh). NEAR: numbers about as large as those expected; in scratch buffers of integers, numbers of few
// or many bits. HIGH and LOW: extreme numbers of one sign, for guards. LEFT: what the previous launch left. CLOSE:
// expected values, disturbed by support_disturb().
enum content_kind {
    CONTENT_ZEROS,
    CONTENT_NAN, // in integers: random bits
    CONTENT_RANDOM,
    CONTENT_INFINITE, // in integers: the largest or the smallest
    CONTENT_EXTREME,
    CONTENT_NEAR,
    CONTENT_HIGH,
    CONTENT_LOW,
    CONTENT_LEFT,
    CONTENT_CLOSE,
    CONTENT_PROMISED // a constant, or the data of an origin
};

// Masks for the parts of an element, repeated over 8 bytes. Integers have no exponent. Unsigned integers have no sign,
// and their highest bit is in none of the masks. `high`: the bits that are set in extreme numbers.
struct element_format {
    uint64_t sign, exponent, fraction, high;
};
struct element_format support_format(enum element);

// The contents of one buffer in one copy. CONTENT_NEAR writes values close to the elements in `near`, each of which is
// repeated over 8 bytes.
enum { CONTENT_NEAR_COUNT = 4 };
struct content {
    uint64_t key, kind;
    struct element_format format;
    uint64_t near[CONTENT_NEAR_COUNT];
};
// support_repeat() repeats the bits of an element over 8 bytes. support_near() gives the bits that CONTENT_NEAR uses in
// place of an expected value; the two values are never equal.
uint64_t support_repeat(enum element, uint64_t bits);
uint64_t support_near(enum element, uint64_t bits);

// A run of guard bytes: `rows` pieces of `bytes` bytes, `pitch` apart. It starts `offset` bytes into the slot of
// `buffer`, and the buffer's data begins at `data`.
struct region {
    uint64_t address, rows, bytes, pitch, offset, buffer, data;
    struct element_format format;
};

// Which elements of an output are compared, by their number in row-major order: those before `leading` and, with a
// rank, those whose index in each dimension is in [first, end). support.cu has the same struct.
enum { PART_RANK_MAX = 5 };
struct part {
    int64_t rank, leading, size[PART_RANK_MAX], first[PART_RANK_MAX], end[PART_RANK_MAX];
};

// allowed error = per_scale*scale + per_value*|expected| + floor; see operation.h.
struct bound {
    uint64_t expected, scale; // 0: nothing to compare with; no scale
    double per_scale, per_value, floor;
    bool bits;               // -0 and 0 are different
    const struct part *part; // what is compared; NULL: all elements
};

// The address of the scales if the bound uses them, otherwise 0.
static inline uint64_t bound_scale(const struct bound *b)
{
    return b->per_scale > 0 ? b->scale : 0;
}
// Whether the compared elements must be equal.
static inline bool bound_is_exact(const struct bound *b)
{
    return b->expected && !(b->per_scale > 0) && !(b->per_value > 0) && !(b->floor > 0);
}

enum previous_mode { PREVIOUS_NONE, PREVIOUS_STORE, PREVIOUS_COMPARE };

// The largest lengths of these lists in one launch. The lists are passed by value, because a candidate can change
// device memory.
enum { SUPPORT_CHECKED_MAX = 128, SUPPORT_COPIES_MAX = 128, SUPPORT_REGIONS_MAX = 16, SUPPORT_RESTORED_MAX = 8 };

// Pieces of memory at 8-byte aligned addresses.
struct checked {
    uint64_t address[SUPPORT_CHECKED_MAX], bytes[SUPPORT_CHECKED_MAX];
};

// Copies of a problem's memory. For each copy, `shift` is its distance from the first one, a multiple of 1024, plus the
// number of the data set (0 or 1) that it holds.
struct copies {
    int64_t shift[SUPPORT_COPIES_MAX];
};

// A writable buffer: `rows` pieces of `bytes` bytes, `pitch` apart. A dense buffer is one piece. CONTENT_PROMISED: a
// buffer with origins (one for each set of data) gets the origin's data at the same offset. A buffer without origins is
// filled with near[0]. Each copy has its own key and kind (struct restored_kinds). The key in `content` is added to the
// copy's key, so that buffers differ. The kind in `content` is not used.
struct restored {
    uint64_t address, rows, bytes, pitch, origin[2];
    struct content content;
};
// For each copy: a key, and the kind of content of each restored buffer in 4 bits, with the first buffer in the lowest
// bits.
struct restored_kinds {
    uint64_t key[SUPPORT_COPIES_MAX];
    uint32_t kinds[SUPPORT_COPIES_MAX];
};

// The guards of each copy.
struct guard_contents {
    uint64_t key[SUPPORT_COPIES_MAX];
    unsigned char kind[SUPPORT_COPIES_MAX];
};

struct support;

// `image` is support.cu's cubin, compiled for the element types of all operands that will be used; other types are
// refused with a message that names the type. Allocates the memory used to flush the L2. The caller must close it, even
// after a failure.
int support_open(struct support **out, struct cuda *, const void *image, struct error *err);
void support_close(struct support *); // NULL is fine

int support_fill(struct support *, const struct operand *, enum fill_kind, double low, double high, uint64_t seed,
                 struct error *err);
// Computes checksums of the first `count` pieces under two keys, in sums[2 * i] and sums[2 * i + 1] at a device
// address. These are set to zero first.
int support_checksums(struct support *, const struct checked *, size_t count, uint64_t old_key, uint64_t new_key,
                      uint64_t sums, struct error *err);
// XORs 8-byte words with a mask made from `key`.
int support_mask(struct support *, uint64_t address, size_t words, uint64_t key, struct error *err);
// Restores the contents of writable buffers in `copy_count` copies. At most SUPPORT_RESTORED_MAX buffers per call.
int support_restore(struct support *, const struct restored *, size_t count, const struct copies *,
                    const struct restored_kinds *, size_t copy_count, struct error *err);
// Overwrites the shared memory of every multiprocessor.
int support_poison(struct support *, uint32_t value, struct error *err);
// Checks any number of guard regions in `copy_count` copies, and adds to findings[region.buffer]. If `findings` is 0,
// it writes the guards instead.
int support_guards(struct support *, const struct region *regions, size_t count, const struct copies *,
                   const struct guard_contents *, size_t copy_count, uint64_t findings, struct error *err);
// `previous`: dense memory for a copy of the output, for the modes that need it. `before`: what the output held before
// the launch. Expected values and `previous` are masked with `key`.
int support_compare(struct support *, const struct operand *, const struct bound *, uint64_t previous,
                    enum previous_mode, const struct content *before, uint64_t key, uint64_t finding,
                    struct error *err);
// Fills an output with expected values, each of which is disturbed by a few times the allowed error, depending on a
// key.
int support_disturb(struct support *, const struct operand *, const struct bound *, uint64_t mask_key, uint64_t key,
                    struct error *err);
// Called after the last compare into a finding: names the worst element.
int support_verify(struct support *, const struct operand *, const struct bound *, uint64_t key, uint64_t finding,
                   struct error *err);
// Zeroes the 64-bit words of elements that are not compared: nothing is known about them.
int support_drop(struct support *, uint64_t words, int64_t n, const struct part *, struct error *err);
// A dense copy in fp64 or, with `exact`, in 64-bit integers. This function and the next are described in
// kernels/operation.h.
int support_widen(struct support *, const struct operand *, enum widened, bool exact, uint64_t to, struct error *err);
int support_narrow_up(struct support *, double factor, uint64_t from, uint64_t squares, int64_t n, uint64_t to,
                      struct error *err);
int support_to_integer(struct support *, uint64_t from, int64_t n, uint64_t to, struct error *err);
// One product (batch 1) of dense fp64 operands, as if computed in twice the working precision.
int support_product(struct support *, const struct device_gemm *, struct error *err);
// Computes the root mean square of all finite numbers in an fp64 array. If `sizes` is not 0, the root mean square of
// each row is written there, as a float for each element of the row. This function and the next wait for their result.
int support_row_sizes(struct support *, uint64_t from, int64_t rows, int64_t cols, uint64_t sizes, double *result,
                      struct error *err);
int support_sums(struct support *, const struct operand *, struct device_sums *, struct error *err);
// Other work on the device. Launches between support_load_begin() and support_load_end() run at the same time as this
// work. They are delayed by SUPPORT_LOAD_LEAD ns and up to SUPPORT_LOAD_DELAY ns more. Work enqueued later waits for
// these launches and for the other work. One of three kinds of other work is drawn:
// - a random number of blocks of random size read memory and end one by one, after up to SUPPORT_LOAD_TIME << 5 ns;
// - the same blocks all end together: until then a launch has only the free part of the device;
// - blocks without work fill the device except for the place of one block of the launch, whose blocks then run one
//   after another. This lasts `longest` ns at most. A kernel that waits for other blocks, but gives up after some time,
//   then produces wrong results.
enum { SUPPORT_LOAD_SHARED = 40 << 10, SUPPORT_LOAD_LEAD = 5000, SUPPORT_LOAD_DELAY = 20000 };
enum { SUPPORT_LOAD_TIME = 16000, SUPPORT_LOAD_DOUBLINGS = 6 }; // ns of the longest block: 16 to 512 us
struct support_launch {
    unsigned threads; // of a block of the concurrent launch
    int registers;    // of a thread of that launch
    uint32_t longest;
};
int support_load_begin(struct support *, const struct support_launch *, struct error *err);
int support_load_end(struct support *, struct error *err);
// Evicts everything from the L2, including lines that a kernel has marked as persisting.
int support_flush(struct support *, struct error *err);
