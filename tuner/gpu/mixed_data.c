// See mixed_data.h.
#include "tuner/gpu/mixed_data.h"

#include "tuner/base/entropy.h"

// How the two sets differ in a fill's elements. EACH: each element is drawn on its own. ALL: all are drawn together.
// NONE: they are the same in both sets.
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

// Inputs, and dense buffers whose initial contents are restored before a launch.
static bool may_be_mixed(const struct device_buffer *b)
{
    bool restored = b->restored || b->direction == DIRECTION_INOUT;
    return variety_of(b) != VARIETY_NONE && (restored ? b->view.ld == b->view.cols : b->direction == DIRECTION_IN);
}

bool mixed_data_draw(struct device_problem *p)
{
    size_t inputs[BUFFERS_MAX], count = 0, varied = 0;
    for (size_t i = 0; i < p->buffers.count; i++) {
        varied += variety_of(&p->buffers.list[i]) != VARIETY_NONE;
        if (may_be_mixed(&p->buffers.list[i])) inputs[count++] = i;
    }
    bool differ = count > 0;
    for (size_t k = 0; k < sizeof p->mixed.piece / sizeof *p->mixed.piece && count; k++) {
        size_t drawn = inputs[entropy_below(count)];
        const struct device_buffer *b = &p->buffers.list[drawn];
        size_t size = element_size(b->view.type), cells = b->bytes / size, half = cells / 2;
        bool whole = variety_of(b) == VARIETY_ALL || cells < 4;
        // The size of the piece is log-uniform, up to half of the buffer. A small piece is likely to miss the few
        // samples that a kernel may look at, and a large one changes results by more than their bounds.
        size_t some = whole ? cells : (size_t)pow((double)half, entropy_unit());
        p->mixed.piece[k].buffer = drawn;
        p->mixed.piece[k].offset = (size_t)entropy_below(cells - some + 1) * size;
        p->mixed.piece[k].bytes = whole ? b->bytes : some * size;
        differ &= !whole || varied > 1;
    }
    return differ;
}

// Turns the first copy, which holds set 0, into set 1 except for the piece.
static int turn(struct workload *w, struct device_problem *p, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < p->buffers.count && !failed; i++) {
        const struct device_buffer *b = &p->buffers.list[i];
        const uint64_t to = b->view.device;
        const uint64_t from = b->origin[1] ? b->origin[1] : to + (uint64_t)p->buffers.shift[1];
        const bool piece = i == p->mixed.piece[1].buffer;
        const size_t first = piece ? p->mixed.piece[1].offset : b->bytes;
        const size_t end = piece ? first + p->mixed.piece[1].bytes : b->bytes;
        if ((b->direction != DIRECTION_IN && !b->origin[1]) || b->address_count) continue;
        if (first) failed = cuda_copy(w->cuda, to, from, first, err);
        if (!failed && end < b->bytes) failed = cuda_copy(w->cuda, to + end, from + end, b->bytes - end, err);
    }
    return failed;
}

int mixed_data_restored(const struct device_problem *p, const struct buffers *in, unsigned copy, struct error *err)
{
    const unsigned set = in->set[copy], base = set & 1;
    const size_t offset = p->mixed.piece[base].offset;
    const struct device_buffer *b = &in->list[p->mixed.piece[base].buffer];
    const uint64_t from = set >= SET_MIXED ? b->origin[!base] : 0;
    if (!from) return 0;
    return cuda_copy(in->cuda, b->view.device + (uint64_t)in->shift[copy] + offset, from + offset,
                     p->mixed.piece[base].bytes, err);
}

int mixed_data_fill(struct workload *w, struct device_problem *p, unsigned set, uint64_t seed, struct error *err)
{
    const struct device_buffer *b = &p->buffers.list[p->mixed.piece[0].buffer];
    const uint64_t at = b->view.device + p->mixed.piece[0].offset;
    int failed = buffers_fill(&p->buffers, 0, seed, err);
    p->buffers.set[0] = (unsigned char)set; // until set 0 is filled again
    if (!failed && set != SET_MIXED) return turn(w, p, err);
    if (!failed && !b->origin[1])
        failed = cuda_copy(w->cuda, at, at + (uint64_t)p->buffers.shift[1], p->mixed.piece[0].bytes, err);
    return failed ? failed : mixed_data_restored(p, &p->buffers, 0, err);
}
