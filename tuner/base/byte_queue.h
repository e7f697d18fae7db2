// A queue of bytes for a pipe that does not block: bytes are added at the end and taken from the beginning.
#pragma once

#include "tuner/base/base.h"

struct byte_queue {
    char *bytes; // the bytes from `used` to `size` are in the queue
    size_t used, size, room;
    size_t scanned; // how many bytes at the beginning of the queue are known to contain no newline
};

size_t byte_queue_size(const struct byte_queue *);
char *byte_queue_first(const struct byte_queue *); // the first byte in the queue; valid until something is added
// Adds `size` bytes at the end and returns their address; the caller fills them.
char *byte_queue_extend(struct byte_queue *, size_t size);
void byte_queue_add(struct byte_queue *, const void *bytes, size_t size);
void byte_queue_drop(struct byte_queue *, size_t size); // the first `size` bytes
void byte_queue_clear(struct byte_queue *);
// Takes the next whole line, or returns NULL if there is none yet. The line is valid until something is added. A NUL
// replaces its newline, and *length (`length` may be NULL) does not count it.
char *byte_queue_line(struct byte_queue *, size_t *length);
// Reads the available bytes, at least once, and stops when the queue has more than `most`. False at the pipe's end.
bool byte_queue_read(struct byte_queue *, int fd, size_t most);
// Writes as many bytes as the pipe accepts. False when it is closed.
bool byte_queue_write(struct byte_queue *, int fd);
void byte_queue_release(struct byte_queue *);
