// See mixed_data.h.
#include "tuner/gpu/mixed_data.h"

#include "tuner/base/entropy.h"

// Whether the elements of a fill are drawn one by one, or all of them at once; else they are the same in both sets.
enum variety { VARIETY_NONE, VARIETY_EACH, VARIETY_ALL };

static enum variety variety_of(const struct device_buffer *b)
{
    static const enum variety of[] = {
        [FILL_UNIFORM] = VARIETY_EACH,    [FILL_NORMAL] = VARIETY_EACH, [FILL_INTEGER] = VARIETY_EACH,
        [FILL_NONFINITE] = VARIETY_EACH,  [FILL_ZEROS] = VARIETY_EACH,  [FILL_SORTED] = VARIETY_ALL,
        [FILL_PERMUTATION] = VARIETY_ALL, [FILL_OFFSETS] = VARIETY_ALL,
    };
    if (b->direction == DIRECTION_OUT || (b->direction == DIRECTION_SCRATCH && !b->filled)) return VARIETY_NONE;
    return (size_t)b->fill < sizeof of / sizeof *of ? of[b->fill] : VARIETY_NONE;
}

// Inputs, and dense buffers whose first contents are restored before a launch.
static bool may_be_mixed(const struct device_buffer *b)
{
    bool restored = b->restored || b->direction == DIRECTION_INOUT;
    return variety_of(b) != VARIETY_NONE && (restored ? b->view.ld == b->view.cols : b->direction == DIRECTION_IN);
}

bool mixed_data_draw(struct device_problem *p)
{
    size_t inputs[BUFFERS_MAX], count = 0, varied = 0;
    for (size_t i = 0; i < p->buffers.count; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        varied += variety_of(b) != VARIETY_NONE;
        if (may_be_mixed(b)) inputs[count++] = i;
    }
    if (!count) return false;
    size_t drawn = inputs[entropy_below(count)];
    const struct device_buffer *b = &p->buffers.list[drawn];
    size_t size = element_size(b->view.type), cells = b->bytes / size;
    p->mixed.buffer = drawn;
    p->mixed.offset = 0;
    p->mixed.bytes = b->bytes;
    if (variety_of(b) == VARIETY_ALL || cells < 4) return varied > 1;
    size_t some = cells / 4 + (size_t)entropy_below(cells / 4);
    p->mixed.offset = (size_t)entropy_below(cells - some) * size;
    p->mixed.bytes = some * size;
    return true;
}

// Makes the first copy, which holds set 0, set 1 but for the piece.
static int turn(struct workload *w, struct device_problem *p, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        const uint64_t to = b->view.device;
        const uint64_t from = b->origin[1] ? b->origin[1] : to + (uint64_t)p->buffers.shift[1];
        const bool piece = i == p->mixed.buffer;
        const size_t first = piece ? p->mixed.offset : b->bytes, end = piece ? first + p->mixed.bytes : b->bytes;
        if (b->direction != DIRECTION_IN && !b->origin[1]) continue;
        if (first) failed = cuda_copy(w->cuda, to, from, first, err);
        if (!failed && end < b->bytes) failed = cuda_copy(w->cuda, to + end, from + end, b->bytes - end, err);
    }
    return failed;
}

int mixed_data_restored(const struct device_problem *p, const struct buffers *in, unsigned copy, struct error *err)
{
    const unsigned set = in->set[copy];
    const struct device_buffer *b = &in->list[p->mixed.buffer];
    const uint64_t from = set >= SET_MIXED ? b->origin[!(set & 1)] : 0;
    if (!from) return 0;
    return cuda_copy(in->cuda, b->view.device + (uint64_t)in->shift[copy] + p->mixed.offset, from + p->mixed.offset,
                     p->mixed.bytes, err);
}

int mixed_data_fill(struct workload *w, struct device_problem *p, unsigned set, uint64_t seed, struct error *err)
{
    const struct device_buffer *b = &p->buffers.list[p->mixed.buffer];
    const uint64_t at = b->view.device + p->mixed.offset;
    int failed = buffers_fill(&p->buffers, 0, seed, err);
    p->buffers.set[0] = (unsigned char)set; // until set 0 is filled again
    if (!failed && set != SET_MIXED) return turn(w, p, err);
    if (!failed && !b->origin[1])
        failed = cuda_copy(w->cuda, at, at + (uint64_t)p->buffers.shift[1], p->mixed.bytes, err);
    return failed ? failed : mixed_data_restored(p, &p->buffers, 0, err);
}
