// See byte_queue.h.
#include "tuner/base/byte_queue.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

size_t byte_queue_size(const struct byte_queue *q)
{
    return q->size - q->used;
}

char *byte_queue_first(const struct byte_queue *q)
{
    return q->bytes + q->used;
}

static void make_room(struct byte_queue *q, size_t size)
{
    if (q->used && (q->used == q->size || q->size + size > q->room)) {
        memmove(q->bytes, q->bytes + q->used, q->size - q->used);
        q->size -= q->used;
        q->used = 0;
    }
    q->bytes = memory_room(q->bytes, &q->room, q->size + size, 1);
}

char *byte_queue_extend(struct byte_queue *q, size_t size)
{
    make_room(q, size);
    q->size += size;
    return q->bytes + q->size - size;
}

void byte_queue_add(struct byte_queue *q, const void *bytes, size_t size)
{
    if (size) memcpy(byte_queue_extend(q, size), bytes, size);
}

void byte_queue_drop(struct byte_queue *q, size_t size)
{
    q->used += size;
    q->scanned = q->scanned > size ? q->scanned - size : 0;
}

void byte_queue_clear(struct byte_queue *q)
{
    byte_queue_drop(q, byte_queue_size(q));
}

char *byte_queue_line(struct byte_queue *q, size_t *length)
{
    size_t size = byte_queue_size(q), scanned = q->scanned;
    char *line = byte_queue_first(q), *end = size > scanned ? memchr(line + scanned, '\n', size - scanned) : NULL;
    q->scanned = size;
    if (!end) return NULL;
    *end = 0;
    q->scanned = 0;
    if (length) *length = (size_t)(end - line);
    byte_queue_drop(q, (size_t)(end - line) + 1);
    return line;
}

bool byte_queue_read(struct byte_queue *q, int fd, size_t most)
{
    do {
        make_room(q, PIECE);
        ssize_t n = read(fd, q->bytes + q->size, q->room - q->size);
        if (n > 0)
            q->size += (size_t)n;
        else if (n == 0 || errno != EINTR)
            return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    } while (byte_queue_size(q) <= most);
    return true;
}

bool byte_queue_write(struct byte_queue *q, int fd)
{
    while (byte_queue_size(q)) {
        ssize_t n = write(fd, byte_queue_first(q), byte_queue_size(q));
        if (n >= 0)
            byte_queue_drop(q, (size_t)n);
        else if (errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK;
    }
    return true;
}

void byte_queue_release(struct byte_queue *q)
{
    free(q->bytes);
    *q = (struct byte_queue){0};
}
