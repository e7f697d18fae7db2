// See addresses.h.
#include "tuner/gpu/addresses.h"

enum { ADDRESS_BYTES = 8 };

static int find(const struct buffers *s, const char *name)
{
    size_t i = 0;
    while (i < s->count && strcmp(s->list[i].name, name) != 0) i++;
    return i < s->count ? (int)i : -1;
}

// Whether all places, beginning at `from`, are within `bytes` bytes.
static bool within(int64_t from, int64_t step, int64_t count, int64_t size, size_t bytes)
{
    int64_t last;
    return from >= 0 && step >= 0 && count >= 1 && !__builtin_mul_overflow(step, count - 1, &last) &&
           !__builtin_add_overflow(last, from, &last) && !__builtin_add_overflow(last, size, &last) &&
           (uint64_t)last <= bytes;
}

int addresses_read(const struct buffers *s, int self, const struct address_request *list, size_t count, size_t bytes,
                   struct device_address **out, struct error *err)
{
    struct device_address *all = *out = memory_try(count + 1, sizeof *all, err);
    if (!all) return -1;
    for (size_t i = 0; i < count; i++) {
        const struct address_request *from = &list[i];
        int to = *from->to ? find(s, from->to) : -1;
        if (*from->to && (to < 0 || to == self)) return error_set(err, "no buffer '%s' to lead to", from->to);
        if (!within(from->place, ADDRESS_BYTES, from->count, ADDRESS_BYTES, bytes) ||
            (to >= 0 && !within(from->at, from->step, from->count, 1, s->list[to].bytes)))
            return error_set(err, "addresses of '%s' that are not within their buffers", from->to);
        all[i] = (struct device_address){to, (size_t)from->place, (uint64_t)from->at, (uint64_t)from->step,
                                         (size_t)from->count};
    }
    return 0;
}

void addresses_write(const struct buffers *s, const struct device_address *list, size_t count, int64_t shift, void *to)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < list[i].count; k++) {
            const struct device_address *a = &list[i];
            uint64_t value = a->to < 0 ? 0 : s->list[a->to].view.device + (uint64_t)shift + a->at + k * a->step;
            memcpy((char *)to + a->place + k * ADDRESS_BYTES, &value, ADDRESS_BYTES);
        }
}

// The contents of a buffer of addresses in a copy, malloc'ed.
static void *contents(const struct buffers *s, const struct device_buffer *b, unsigned copy, struct error *err)
{
    void *host = memory_try(b->bytes, 1, err);
    if (host) addresses_write(s, b->addresses, b->address_count, s->shift[copy], host);
    return host;
}

int addresses_store(const struct buffers *s, unsigned copy, struct error *err)
{
    int failed = 0;
    for (size_t i = 0; i < s->count && !failed; i++) {
        const struct device_buffer *b = &s->list[i];
        autofree void *host = b->address_count ? contents(s, b, copy, err) : NULL;
        if (!b->address_count) continue;
        failed = host ? cuda_store(s->cuda, b->view.device + (uint64_t)s->shift[copy], host, b->bytes, err) : -1;
    }
    return failed;
}

int addresses_check(const struct buffers *s, unsigned copy, const char **changed, struct error *err)
{
    int failed = 0;
    *changed = NULL;
    for (size_t i = 0; i < s->count && !failed && !*changed; i++) {
        const struct device_buffer *b = &s->list[i];
        autofree void *host = b->address_count ? contents(s, b, copy, err) : NULL,
                      *now = host ? memory_try(b->bytes, 1, err) : NULL;
        if (!b->address_count) continue;
        failed = now ? cuda_fetch(s->cuda, now, b->view.device + (uint64_t)s->shift[copy], b->bytes, err) : -1;
        if (!failed && memcmp(now, host, b->bytes) != 0) *changed = b->name;
    }
    return failed;
}
