// See integrity.h.
#include "tuner/gpu/integrity.h"

#include "tuner/base/entropy.h"
#include "tuner/gpu/addresses.h"
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

// All pieces of one check, in the order of their sums on the device. Each has two sums, under an old key and a new one.
struct pieces {
    struct workload *w;
    struct piece *list;
    size_t count;
    struct error *err;
    int failed;
};

static void add(struct pieces *all, struct piece p)
{
    struct piece *grown = all->list;
    if (!p.address || all->failed) return;
    if (!(all->count & (all->count - 1))) // there is room for as many as the next power of two
        grown = memory_try_grow(grown, all->count ? 2 * all->count : 1, sizeof *grown, all->err);
    if (!grown) {
        all->failed = -1;
        return;
    }
    all->list = grown;
    all->list[all->count++] = p;
}

// Adds the inputs of one copy of `in`, which are the problem's own buffers or those of the placement. With `origins`,
// also adds the origins of one set.
static void add_inputs(struct pieces *all, size_t k, unsigned set, const struct buffers *in, unsigned copy,
                       bool origins)
{
    struct buffers *own = &all->w->problems[k].buffers;
    for (size_t i = 0; i < own->count; i++) {
        struct device_buffer *b = &own->list[i];
        struct piece p = {.known = &b->checksum[set], .bytes = b->bytes, .problem = k, .buffer = i};
        if (b->address_count) continue; // they differ from copy to copy: check_addresses()
        if (b->direction == DIRECTION_IN && !b->restored)
            p.address = in->list[i].view.device + (uint64_t)in->shift[copy], p.kind = INPUT;
        else if (origins && set < SET_MIXED && b->origin[set])
            p.address = b->origin[set], p.kind = ORIGIN;
        add(all, p);
    }
}

static void add_expected(struct pieces *all, size_t k, unsigned set)
{
    struct device_problem *problem = &all->w->problems[k];
    struct data_set *s = &problem->set[set];
    for (size_t i = 0; i < problem->buffers.count; i++) {
        size_t n = buffer_elements(&problem->buffers.list[i]);
        add(all, (struct piece){s->bound[i].expected, n * 8, &s->checksum[i][0], k, i, EXPECTED});
        add(all, (struct piece){bound_scale(&s->bound[i]), n * sizeof(float), &s->checksum[i][1], k, i, SCALE});
    }
}

static void add_all(struct pieces *all)
{
    struct workload *w = all->w;
    for (size_t k = 0; k < w->problem_count; k++) {
        struct buffers *b = &w->problems[k].buffers;
        for (unsigned c = 0; c < b->copy_count; c++) add_inputs(all, k, b->set[c], b, c, c < b->sets);
        for (unsigned set = 0; set < b->sets; set++) add_expected(all, k, set);
        for (unsigned m = 0; m < w->problems[k].mixed.known; m++) add_expected(all, k, SET_MIXED + m);
    }
    const struct placement *p = w->placement;
    if (!p || p->holds == p->problem_count) return;
    const struct buffers *in = &p->placed[p->holds];
    if (in->set[0] >= SET_MIXED) return; // its sums are known only under the key that was current when it was made
    add_inputs(all, p->holds, in->set[0], in, 0, false);
}

static int make_room(struct workload *w, size_t pieces, struct error *err)
{
    void *host = NULL;
    int failed;
    if (pieces <= w->checksums.room) return 0;
    cuda_free(w->checksums.sums);
    cuda_host_free(w->checksums.host);
    w->checksums.sums = 0;
    w->checksums.host = NULL;
    w->checksums.room = 0;
    if ((failed = cuda_alloc(4 * pieces * sizeof(uint64_t), &w->checksums.sums, err)) ||
        (failed = cuda_host_alloc(4 * pieces * sizeof(uint64_t), &host, err)))
        return failed;
    w->checksums.host = host;
    w->checksums.room = 2 * pieces;
    return 0;
}

// Computes all sums under two keys and enqueues copying them to w->checksums.host.
static int compute(const struct pieces *all, uint64_t old_key, uint64_t new_key, struct error *err)
{
    struct workload *w = all->w;
    struct checked list;
    int failed = all->failed ? all->failed : make_room(w, all->count, err);
    for (size_t first = 0, n; first < all->count && !failed; first += n) {
        n = all->count - first < SUPPORT_CHECKED_MAX ? all->count - first : SUPPORT_CHECKED_MAX;
        for (size_t i = 0; i < n; i++) {
            list.address[i] = all->list[first + i].address;
            list.bytes[i] = all->list[first + i].bytes;
        }
        failed = support_checksums(w->support, &list, n, old_key, new_key,
                                   w->checksums.sums + 2 * first * sizeof(uint64_t), err);
    }
    if (failed || !all->count) return failed;
    return cuda_download(w->cuda, w->checksums.host, w->checksums.sums, 2 * all->count * sizeof(uint64_t), err);
}

// From now on, the sums under the new key are the known ones.
static void keep(const struct pieces *all)
{
    for (size_t i = 0; i < all->count; i++) *all->list[i].known = all->w->checksums.host[2 * i + 1];
}

// Takes the sums of pieces of the set that is in the first copy of a problem.
static int take(struct pieces *all, struct error *err)
{
    int failed = compute(all, 0, all->w->checksums.key, err);
    if (!failed) failed = cuda_sync(all->w->cuda, err);
    if (!failed) keep(all);
    return failed;
}

int integrity_take_inputs(struct workload *w, size_t number, struct error *err)
{
    struct pieces all = {.w = w, .err = err};
    struct buffers *b = &w->problems[number].buffers;
    add_inputs(&all, number, b->set[0], b, 0, true);
    int failed = take(&all, err);
    for (size_t i = 0; i < all.count && !failed; i++) // the sum under the old key identifies the contents
        b->list[all.list[i].buffer].content = w->checksums.host[2 * i];
    free(all.list);
    return failed;
}

int integrity_take_expected(struct workload *w, size_t number, struct error *err)
{
    struct pieces all = {.w = w, .err = err};
    add_expected(&all, number, w->problems[number].buffers.set[0]);
    int failed = take(&all, err);
    free(all.list);
    return failed;
}

// The first damaged piece, preferably a piece of the verifier's memory. NULL: no piece is damaged.
static const struct piece *find_damage(const struct pieces *all)
{
    const struct piece *found = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct piece *p = &all->list[i];
        if (all->w->checksums.host[2 * i] != *p->known && (!found || p->kind > found->kind)) found = p;
    }
    return found;
}

// Whether a problem's findings say that something was written outside its buffers.
static bool is_stray(const struct workload *w, size_t k, struct error *reason)
{
    for (size_t i = 0; i < w->problems[k].buffers.count; i++) {
        const struct verify_finding *f = &w->judged.findings[2 * k][i];
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
    if ((failed = cuda_zero(w->cuda, b->findings, sizeof w->judged.findings[0], err)) ||
        (failed = buffers_guards(b, 0, err)) ||
        (failed = cuda_fetch(w->cuda, w->judged.findings[2 * number], b->findings, sizeof w->judged.findings[0], err)))
        return failed;
    return is_stray(w, number, &reason) ? error_set(err, "the reference: %s", reason.message) : 0;
}

// Enqueues the check. The checksums of inputs include their padding, so the padding is then written again, as it was
// when the checksums were taken.
static int check_guards(struct buffers *b, struct error *err)
{
    int failed = buffers_guards(b, BUFFERS_ALL, err);
    return failed || !b->guards.padded ? failed : buffers_write_guards(b, BUFFERS_ALL, CONTENT_NAN, err);
}

// The verdict, once the device has finished its part.
static enum trial_status judge(const struct pieces *all, struct error *reason)
{
    const struct workload *w = all->w;
    const struct piece *damaged = find_damage(all);
    for (size_t k = 0; k < w->problem_count; k++) // first: stray writes are the most likely, and their place is known
        if (is_stray(w, k, reason)) return STATUS_OUT_OF_BOUNDS;
    if (!damaged) return STATUS_OK;
    const struct device_problem *p = &w->problems[damaged->problem];
    const char *name = p->buffers.list[damaged->buffer].name;
    if (damaged->kind == INPUT) {
        error_set(reason, "problem %s: changed the input %s, which direction = \"restored\" would allow", p->name,
                  name);
        return STATUS_WRONG;
    }
    error_set(reason, "problem %s: wrote into memory that is not the kernel's: the %s of %s", p->name,
              damaged->kind == ORIGIN ? "first contents" : "expected values", name);
    return STATUS_OUT_OF_BOUNDS;
}

static int check_addresses(const struct workload *w, enum trial_status *status, struct error *reason, struct error *err)
{
    const struct placement *p = w->placement;
    int failed = 0;
    for (size_t k = 0; k < w->problem_count; k++) {
        const struct buffers *own = &w->problems[k].buffers, *placed = p && p->holds == k ? &p->placed[k] : NULL;
        for (unsigned c = 0; c < own->copy_count + (placed != NULL) && !failed && *status == STATUS_OK; c++) {
            const char *changed;
            failed = c < own->copy_count ? addresses_check(own, c, &changed, err)
                                         : addresses_check(placed, 0, &changed, err);
            if (failed || !changed) continue;
            error_set(reason, "problem %s: changed the input %s, which holds addresses", w->problems[k].name, changed);
            *status = STATUS_WRONG;
        }
    }
    return failed;
}

int integrity_check(struct workload *w, enum trial_status *status, struct error *reason, struct error *err)
{
    struct pieces all = {.w = w, .err = err};
    uint64_t next = entropy_draw();
    int failed = 0;
    *status = STATUS_OK;
    for (size_t k = 0; k < w->problem_count && !failed; k++) {
        struct buffers *b = &w->problems[k].buffers;
        failed = cuda_zero(w->cuda, b->findings, sizeof w->judged.findings[0], err);
        if (!failed) failed = check_guards(b, err);
        if (!failed && w->placement && w->placement->holds == k) failed = check_guards(&w->placement->placed[k], err);
        if (!failed)
            failed = cuda_download(w->cuda, w->judged.findings[2 * k], b->findings, sizeof w->judged.findings[0], err);
    }
    add_all(&all);
    if (!failed) failed = compute(&all, w->checksums.key, next, err);
    int ended = cuda_sync(w->cuda, failed ? NULL : err);
    if (ended) failed = ended;
    if (!failed) *status = judge(&all, reason);
    if (!failed) failed = check_addresses(w, status, reason, err);
    if (!failed && *status == STATUS_OK) { // otherwise everything is filled again, and then all sums are taken
        keep(&all);
        w->checksums.key = next;
    }
    free(all.list);
    return failed;
}
