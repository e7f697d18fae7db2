// See placement.h.
#include "tuner/gpu/placement.h"

#include "tuner/base/buffer_kind.h"
#include "tuner/base/entropy.h"
#include "tuner/gpu/addresses.h"

// SLACK: the room within which an address is drawn.
enum { SLACK = 4096, IMAGE_ALIGNMENT = 1024 };
static const uint64_t hole = 4ull << 30;

static size_t room_of(const struct placement *p, const struct workload *w, size_t i)
{
    size_t most = 0;
    for (size_t k = 0; k < w->problem_count; k++) {
        const struct buffers *b = &w->problems[k].buffers;
        if (i < b->count && b->list[i].bytes > most) most = b->list[i].bytes;
    }
    return round_up(SLACK + p->guard + most + p->guard, SLACK) + SLACK;
}

// Textures over a buffer's memory need more alignment than is promised for pointers, and an object for each address.
static bool is_fixed(const struct workload *w, size_t i)
{
    for (size_t k = 0; k < w->problem_count; k++) {
        const struct buffers *b = &w->problems[k].buffers;
        if (i < b->count && b->list[i].seen.has_image && !b->list[i].seen.image.array) return true;
    }
    return false;
}

// Reserves memory for the slots in random order, divided into pieces at random places between slots.
static int reserve(struct placement *p, struct workload *w, struct error *err)
{
    size_t order[BUFFERS_MAX], piece_of[BUFFERS_MAX] = {0}, offset[BUFFERS_MAX] = {0},
                               bytes[CUDA_MAPPING_PIECES_MAX] = {0};
    uint64_t apart[CUDA_MAPPING_PIECES_MAX] = {0};
    size_t pieces = p->count < CUDA_MAPPING_PIECES_MAX ? p->count : CUDA_MAPPING_PIECES_MAX;
    entropy_order(order, p->count);
    for (size_t i = 0; i < p->count; i++) { // each piece has at least one
        size_t piece = i < pieces ? i : (size_t)entropy_below(pieces);
        piece_of[order[i]] = piece;
        offset[order[i]] = bytes[piece];
        bytes[piece] += room_of(p, w, order[i]);
    }
    for (size_t i = 1; i < pieces; i++) apart[i] = hole + entropy_below(hole);
    int failed = cuda_mapping_open(&p->memory, w->cuda, bytes, apart, pieces, err);
    for (size_t i = 0; i < p->count; i++) p->slot[i] = p->memory.address[piece_of[i]] + offset[i];
    return failed;
}

int placement_open(struct placement **out, struct workload *w, struct error *err)
{
    struct placement *p = memory_try(1, sizeof *p, err);
    *out = NULL;
    if (!p) return CUDA_MEMORY;
    p->alignment = (size_t)promised_alignment(cuda_info(w->cuda)->arch);
    p->guard = round_up((size_t)w->settings.verify.guard_bytes, IMAGE_ALIGNMENT);
    for (size_t k = 0; k < w->problem_count; k++)
        if (w->problems[k].buffers.count > p->count) p->count = w->problems[k].buffers.count;
    p->problem_count = w->problem_count;
    p->placed = memory_try(w->problem_count, sizeof *p->placed, err);
    int failed = p->placed ? 0 : CUDA_MEMORY;
    if (!failed) failed = reserve(p, w, err);
    if (failed) {
        placement_close(p);
        return failed;
    }
    placement_draw(p, w, 0);
    *out = p;
    return 0;
}

void placement_close(struct placement *p)
{
    if (!p) return;
    cuda_mapping_close(&p->memory);
    free(p->placed);
    free(p);
}

// Each buffer gets a pattern of four bits, one for each turn, which say whether its address is then an odd multiple of
// the alignment. At least one of the first two bits is set, and two buffers have the same pattern only if there are
// more than PATTERNS buffers.
static void draw_patterns(struct placement *p)
{
    enum { PATTERNS = 12 };
    size_t order[BUFFERS_MAX];
    entropy_order(order, p->count > PATTERNS ? p->count : PATTERNS);
    for (size_t i = 0; i < p->count; i++)
        p->odd[i] = (unsigned char)(1 + order[i] % 3 + (order[i] % PATTERNS / 3 << 2));
}

void placement_draw(struct placement *p, const struct workload *w, unsigned turn)
{
    uint64_t address[BUFFERS_MAX];
    if (turn % PLACEMENT_TURNS == 0) draw_patterns(p);
    for (size_t i = 0; i < p->count; i++) {
        uint64_t first = round_up(p->slot[i], IMAGE_ALIGNMENT) + p->guard;
        uint64_t multiple = 2 * entropy_below(SLACK / 4 / p->alignment) + (p->odd[i] >> turn % PLACEMENT_TURNS & 1);
        address[i] = is_fixed(w, i) ? first : first + p->alignment * multiple;
    }
    for (size_t k = 0; k < p->problem_count; k++)
        buffers_move(&p->placed[k], &w->problems[k].buffers, address, (size_t)w->settings.verify.guard_bytes);
    p->holds = p->problem_count;
}

int placement_fill(struct placement *p, const struct workload *w, size_t problem, unsigned set, struct error *err)
{
    const struct device_problem *from = &w->problems[problem];
    struct buffers *to = &p->placed[problem];
    const unsigned base = set & 1;
    int failed = 0;
    if (p->holds == problem && to->set[0] == set) return 0;
    for (size_t i = 0; i < to->count && !failed; i++) {
        const struct device_buffer *b = &to->list[i];
        uint64_t at = from->buffers.list[i].view.device;
        if (b->direction != DIRECTION_IN || b->restored) continue;
        failed = cuda_copy(w->cuda, b->view.device, at + (uint64_t)from->buffers.shift[base], b->bytes, err);
        const size_t offset = from->mixed.piece[base].offset;
        if (!failed && set >= SET_MIXED && i == from->mixed.piece[base].buffer)
            failed = cuda_copy(w->cuda, b->view.device + offset, at + (uint64_t)from->buffers.shift[!base] + offset,
                               from->mixed.piece[base].bytes, err);
    }
    if (!failed) failed = addresses_store(to, 0, err);
    p->holds = failed ? p->problem_count : problem;
    to->set[0] = (unsigned char)set;
    return failed;
}
