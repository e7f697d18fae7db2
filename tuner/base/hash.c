// See hash.h. xxhash.h is compiled in: its code is in the header.
#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

#include "tuner/base/hash.h"

#include "tuner/base/base.h"

struct hash {
    XXH3_state_t state;
};

struct hash *hash_new(void)
{
    struct hash *h = aligned_alloc(64, round_up(sizeof *h, 64));
    if (!h) error_abort("out of memory");
    XXH3_128bits_reset(&h->state);
    return h;
}

void hash_bytes(struct hash *h, const void *data, size_t size)
{
    XXH3_128bits_update(&h->state, data, size);
}

void hash_text(struct hash *h, const char *text)
{
    size_t size = text ? strlen(text) : 0;
    hash_bytes(h, &size, sizeof size);
    if (size) hash_bytes(h, text, size);
}

void hash_finish(struct hash *h, char out[HASH_TEXT_SIZE])
{
    XXH128_hash_t digest = XXH3_128bits_digest(&h->state);
    snprintf(out, HASH_TEXT_SIZE, "%016llx%016llx", (unsigned long long)digest.high64,
             (unsigned long long)digest.low64);
    free(h);
}

void hash_content(const void *data, size_t size, char out[HASH_TEXT_SIZE])
{
    struct hash *h = hash_new();
    hash_bytes(h, data, size);
    hash_finish(h, out);
}
