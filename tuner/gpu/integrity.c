// See integrity.h.
#include "tuner/gpu/integrity.h"

#include <string.h>

#include "tuner/base/entropy.h"
#include "tuner/gpu/host_copy.h"
#include "tuner/gpu/placement.h"
#include "tuner/gpu/verify.h"

enum piece_kind { INPUT, ORIGIN, EXPECTED, SCALE };

// One piece of memory, and where its checksum is kept.
struct piece {
    uint64_t address, bytes;
    uint64_t *known;
    size_t problem, buffer;
    enum piece_kind kind;
};

typedef void visitor(void *user, const struct piece *);

// Inputs of one copy, which may lie in the placement, and origins of one set.
static void each_input(struct workload *w, size_t k, unsigned set, const struct buffers *in, unsigned copy,
                       bool origins, visitor *visit, void *user)
{
    struct buffers *all = &w->problems[k].buffers;
    for (size_t i = 0; i < all->count; i++) {
        struct device_buffer *b = &all->list[i];
        struct piece p = {.known = &b->checksum[set], .bytes = b->bytes, .problem = k, .buffer = i};
        if (b->direction == DIRECTION_IN && !b->restored)
            p.address = in->list[i].view.device + (uint64_t)in->shift[copy], p.kind = INPUT;
        else if (origins && set != SET_MIXED && b->origin[set])
            p.address = b->origin[set], p.kind = ORIGIN;
        if (p.address) visit(user, &p);
    }
}

static void each_expected(struct workload *w, size_t k, unsigned set, visitor *visit, void *user)
{
    struct device_problem *problem = &w->problems[k];
    struct data_set *s = &problem->set[set];
    for (size_t i = 0; i < problem->buffers.count; i++) {
        size_t n = host_elements(&problem->buffers.list[i]);
        struct piece p = {s->bound[i].expected, n * 8, &s->checksum[i][0], k, i, EXPECTED};
        if (p.address) visit(user, &p);
        p = (struct piece){bound_scale(&s->bound[i]), n * sizeof(float), &s->checksum[i][1], k, i, SCALE};
        if (p.address) visit(user, &p);
    }
}

static void each_piece(struct workload *w, visitor *visit, void *user)
{
    for (size_t k = 0; k < w->problem_count; k++) {
        struct buffers *b = &w->problems[k].buffers;
        for (unsigned c = 0; c < b->copy_count; c++) each_input(w, k, b->set[c], b, c, c < b->sets, visit, user);
        for (unsigned set = 0; set < b->sets; set++) each_expected(w, k, set, visit, user);
        if (w->problems[k].mixed.known) each_expected(w, k, SET_MIXED, visit, user);
    }
    const struct placement *p = w->placement;
    if (!p || p->holds == p->problem_count) return;
    const struct buffers *in = &p->placed[p->holds];
    if (in->set[0] == SET_MIXED) return; // which is only known under the key of the time when it was made
    each_input(w, p->holds, in->set[0], in, 0, false, visit, user);
}

// Pieces on their way to the device, SUPPORT_CHECKED_MAX at a time. Without `sums` they are only counted.
struct batch_of_pieces {
    struct workload *w;
    uint64_t old_key, new_key;
    struct checked list;
    size_t filled, count; // of the list; of all
    bool counting;
    int failed;
    struct error *err;
};

static void send(struct batch_of_pieces *b)
{
    uint64_t to = b->w->sums + 2 * (b->count - b->filled) * sizeof(uint64_t);
    if (b->filled && !b->failed)
        b->failed = support_checksums(b->w->support, &b->list, b->filled, b->old_key, b->new_key, to, b->err);
    b->filled = 0;
}

static void add(void *user, const struct piece *p)
{
    struct batch_of_pieces *b = user;
    b->count++;
    if (b->counting) return;
    b->list.address[b->filled] = p->address;
    b->list.bytes[b->filled++] = p->bytes;
    if (b->filled == SUPPORT_CHECKED_MAX) send(b);
}

static int make_room(struct workload *w, size_t pieces, struct error *err)
{
    void *host = NULL;
    int failed;
    if (pieces <= w->sums_room) return 0;
    cuda_free(w->sums);
    cuda_host_free(w->host_sums);
    w->sums = 0;
    w->host_sums = NULL;
    w->sums_room = 0;
    if ((failed = cuda_alloc(4 * pieces * sizeof(uint64_t), &w->sums, err)) ||
        (failed = cuda_host_alloc(4 * pieces * sizeof(uint64_t), &host, err)))
        return failed;
    w->host_sums = host;
    w->sums_room = 2 * pieces;
    return 0;
}

// The pieces of one set of one problem that are known at this point, or (walk_all) all there are.
struct piece_walk {
    struct workload *w;
    size_t problem;
    bool all, expected;
};

static void walk(const struct piece_walk *how, visitor *visit, void *user)
{
    struct device_problem *p = &how->w->problems[how->problem];
    unsigned set = p->buffers.set[0];
    if (how->all)
        each_piece(how->w, visit, user);
    else if (how->expected)
        each_expected(how->w, how->problem, set, visit, user);
    else
        each_input(how->w, how->problem, set, &p->buffers, 0, true, visit, user);
}

// Computes all sums of a walk under two keys and enqueues their way to the host.
static int compute(const struct piece_walk *how, uint64_t old_key, uint64_t new_key, struct error *err)
{
    struct workload *w = how->w;
    struct batch_of_pieces b = {.w = w, .old_key = old_key, .new_key = new_key, .counting = true, .err = err};
    walk(how, add, &b);
    int failed = make_room(w, b.count, err);
    if (failed || !b.count) return failed;
    b.counting = false;
    b.count = 0;
    walk(how, add, &b);
    send(&b);
    return b.failed ? b.failed : cuda_download(w->cuda, w->host_sums, w->sums, 2 * b.count * sizeof(uint64_t), err);
}

struct sum_reader {
    struct workload *w;
    const uint64_t *sums;
    bool content; // of inputs: the sum under the old key identifies them
    bool damaged;
    struct piece first; // the first damaged piece; of several, one of the judge's memory
};

static void keep(void *user, const struct piece *p)
{
    struct sum_reader *r = user;
    if (r->content) r->w->problems[p->problem].buffers.list[p->buffer].content = r->sums[0];
    *p->known = r->sums[1];
    r->sums += 2;
}

static int take(struct workload *w, size_t number, bool expected, struct error *err)
{
    const struct piece_walk how = {.w = w, .problem = number, .expected = expected};
    struct sum_reader r = {.w = w, .content = !expected};
    int failed = compute(&how, 0, w->check_key, err);
    if (!failed) failed = cuda_sync(w->cuda, err);
    r.sums = w->host_sums;
    if (!failed) walk(&how, keep, &r);
    return failed;
}

int integrity_take_inputs(struct workload *w, size_t number, struct error *err)
{
    return take(w, number, false, err);
}

int integrity_take_expected(struct workload *w, size_t number, struct error *err)
{
    return take(w, number, true, err);
}

static void compare(void *user, const struct piece *p)
{
    struct sum_reader *r = user;
    if (r->sums[0] != *p->known && (!r->damaged || p->kind > r->first.kind)) r->first = *p, r->damaged = true;
    r->sums += 2;
}

// Whether something was written outside the buffers of a problem, by its findings.
static bool is_stray(const struct workload *w, size_t k, struct error *reason)
{
    for (size_t i = 0; i < w->problems[k].buffers.count; i++) {
        const struct verify_finding *f = &w->findings[2 * k][i];
        if (!f->guard_bad) continue;
        verify_stray_text(&w->problems[k].buffers.list[i], f, reason);
        error_prefix(reason, "problem %s", w->problems[k].name);
        return true;
    }
    return false;
}

int integrity_check_reference(struct workload *w, size_t number, struct error *err)
{
    struct buffers *b = &w->problems[number].buffers;
    struct error reason;
    int failed;
    if ((failed = cuda_zero(w->cuda, b->findings, sizeof w->findings[0], err)) ||
        (failed = buffers_guards(b, 0, err)) ||
        (failed = cuda_download(w->cuda, w->findings[2 * number], b->findings, sizeof w->findings[0], err)) ||
        (failed = cuda_sync(w->cuda, err)))
        return failed;
    return is_stray(w, number, &reason) ? error_set(err, "the reference: %s", reason.message) : 0;
}

// Enqueued; then the padding of inputs, which their checksums include, is what it was when these were taken.
static int check_guards(struct buffers *b, struct error *err)
{
    int failed = buffers_guards(b, BUFFERS_ALL, err);
    return failed || !b->padded ? failed : buffers_write_guards(b, BUFFERS_ALL, CONTENT_NAN, err);
}

int integrity_check(struct workload *w, enum trial_status *status, struct error *reason, struct error *err)
{
    const struct piece_walk all = {.w = w, .all = true};
    uint64_t next = entropy_draw();
    int failed = 0;
    *status = STATUS_OK;
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        struct buffers *b = &w->problems[k].buffers;
        failed = cuda_zero(w->cuda, b->findings, sizeof w->findings[0], err);
        if (!failed) failed = check_guards(b, err);
        if (!failed && w->placement && w->placement->holds == k) failed = check_guards(&w->placement->placed[k], err);
        if (!failed) failed = cuda_download(w->cuda, w->findings[2 * k], b->findings, sizeof w->findings[0], err);
    }
    if (!failed) failed = compute(&all, w->check_key, next, err);
    int ended = cuda_sync(w->cuda, failed ? NULL : err);
    if (failed || ended) return ended ? ended : failed;
    struct sum_reader r = {.w = w, .sums = w->host_sums};
    walk(&all, compare, &r);
    bool stray = false; // first: a stray write is the likeliest damage, and its place is known
    for (size_t k = 0; k < w->problem_count && !stray; k++) stray = is_stray(w, k, reason);
    if (stray) {
        *status = STATUS_OUT_OF_BOUNDS;
    } else if (r.damaged) {
        const struct device_problem *p = &w->problems[r.first.problem];
        const char *name = p->buffers.list[r.first.buffer].name;
        if (r.first.kind == INPUT) {
            *status = STATUS_WRONG;
            error_set(reason, "problem %s: changed the input %s, which restore = true would allow", p->name, name);
        } else {
            *status = STATUS_OUT_OF_BOUNDS;
            error_set(reason, "problem %s: wrote into memory that is not the kernel's: the %s of %s", p->name,
                      r.first.kind == ORIGIN ? "first contents" : "expected values", name);
        }
    }
    if (*status != STATUS_OK) return 0; // everything is filled again, and then all sums are taken
    r = (struct sum_reader){.w = w, .sums = w->host_sums};
    walk(&all, keep, &r);
    w->check_key = next;
    return 0;
}
