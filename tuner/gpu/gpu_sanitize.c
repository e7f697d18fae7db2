// The request "sanitize": launches a candidate under a tool of compute-sanitizer. Nothing is timed or compared.
//
// In a trial, all buffers of a problem are in one allocation that is filled before anything runs. There, a tool could
// not tell where a buffer ends, or which bytes were never written. Here each buffer is an allocation of exactly its
// size. Only buffers whose contents the job promises (inputs, inout buffers and filled scratch) are copied from the
// host, so that the tool considers them written. Outputs and other scratch are left as they were allocated.
#include "tuner/gpu/gpu_requests.h"

#include "tuner/base/protocol.h"
#include "tuner/gpu/addresses.h"
#include "tuner/gpu/pipeline.h"

// The second launch finds what the first one left in the module's variables.
enum { LAUNCHES = 2 };

// A buffer's own allocation, and its initial contents; `contents` is NULL if nothing is promised.
struct apart {
    uint64_t memory, home; // home: its address in the problem's memory
    void *contents;
};

struct sanitized {
    struct workload *w;
    struct device_problem *problem;
    struct apart apart[BUFFERS_MAX];
    unsigned sets; // the problem's usual number; here it has one set, since copies are at fixed distances from home
};

static bool has_contents(const struct device_buffer *b)
{
    return b->direction == DIRECTION_IN || b->direction == DIRECTION_INOUT ||
           (b->direction == DIRECTION_SCRATCH && b->filled);
}

static int move_apart(struct sanitized *s, size_t i, struct error *err)
{
    struct device_buffer *b = &s->problem->buffers.list[i];
    struct apart *a = &s->apart[i];
    int failed = has_contents(b) ? buffer_download(s->w->cuda, b, &a->contents, err) : 0;
    if (!failed) failed = cuda_alloc(b->bytes, &a->memory, err);
    if (failed) return failed;
    a->home = b->view.device;
    b->view.device = a->memory;
    return 0;
}

static int open_apart(struct sanitized *s, struct error *err)
{
    static const unsigned first = 0;
    struct buffers *all = &s->problem->buffers;
    int failed = buffers_restore(all, &first, 1, buffers_key(0), err); // filled scratch gets its contents
    s->sets = all->sets;
    all->sets = 1;
    for (size_t i = 0; i < all->count && !failed; i++) failed = move_apart(s, i, err);
    for (size_t i = 0; i < all->count && !failed; i++)
        addresses_write(all, all->list[i].addresses, all->list[i].address_count, 0, s->apart[i].contents);
    return failed;
}

static void close_apart(struct sanitized *s, bool lost)
{
    for (size_t i = 0; i < s->problem->buffers.count; i++) {
        struct apart *a = &s->apart[i];
        if (a->home) s->problem->buffers.list[i].view.device = a->home;
        if (!lost) cuda_free(a->memory);
        free(a->contents);
    }
    s->problem->buffers.sets = s->sets;
}

static int write_contents(struct sanitized *s, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < s->problem->buffers.count && !failed; i++) {
        const struct apart *a = &s->apart[i];
        if (a->contents)
            failed = cuda_upload(s->w->cuda, a->memory, a->contents, s->problem->buffers.list[i].bytes, err);
    }
    return failed;
}

static int launch(struct sanitized *s, const struct candidate *candidate, size_t number, struct error *err)
{
    struct pipeline pipeline;
    int failed = pipeline_open(&pipeline, s->w, candidate, err);
    for (int i = 0; i < LAUNCHES && !failed; i++) {
        failed = write_contents(s, err);
        if (!failed) failed = symbol_bindings_copy(&pipeline.parts[number].symbol_bindings, 0, false, err);
        if (!failed) failed = pipeline_enqueue(&pipeline.parts[number], 0, err);
        int ended = failed == CUDA_CRASHED ? 0 : cuda_sync(s->w->cuda, failed ? NULL : err);
        if (ended) failed = ended;
    }
    if (failed != CUDA_CRASHED) pipeline_release(&pipeline);
    return failed;
}

int gpu_sanitize_run(struct workload *w, const struct candidate *candidate, struct answer_head *answer,
                     struct arena *memory, struct error *err)
{
    struct sanitized s = {.w = w};
    int number = candidate->problem_count ? candidate->problems[0].problem : -1;
    if (number < 0 || (size_t)number >= w->problem_count) return error_set(err, "no problem %d", number);
    s.problem = &w->problems[number];
    int failed = open_apart(&s, err);
    if (!failed) failed = launch(&s, candidate, (size_t)number, err);
    close_apart(&s, failed == CUDA_CRASHED);
    bool refused = failed == CUDA_REFUSED;
    if (failed && !refused) return failed;
    answer->status = status_name(refused ? STATUS_LAUNCH_ERROR : STATUS_OK);
    answer->reason = arena_copy(memory, refused ? err->message : "");
    return 0;
}
