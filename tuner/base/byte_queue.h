// Bytes on their way through a pipe that does not block: added at the end, taken from the beginning.
#pragma once

#include "tuner/base/base.h"

struct byte_queue {
    char *bytes; // those from `used` to `size` are in the queue
    size_t used, size, room;
    size_t scanned; // the first ones in the queue that have no newline
};

size_t byte_queue_size(const struct byte_queue *);
char *byte_queue_first(const struct byte_queue *); // the bytes in the queue, until something is added
// Room for so many more at the end, which the caller fills.
char *byte_queue_extend(struct byte_queue *, size_t size);
void byte_queue_add(struct byte_queue *, const void *bytes, size_t size);
void byte_queue_drop(struct byte_queue *, size_t size); // the first ones
void byte_queue_clear(struct byte_queue *);
// Takes the next whole line: NUL in place of its newline, until something is added. *length (if not NULL): without
// that. NULL: there is none yet.
char *byte_queue_line(struct byte_queue *, size_t *length);
// Reads what there is, but only once with more than `most` bytes in the queue. False at the end of the pipe.
bool byte_queue_read(struct byte_queue *, int fd, size_t most);
// Writes what the pipe takes. False when it is closed.
bool byte_queue_write(struct byte_queue *, int fd);
void byte_queue_release(struct byte_queue *);
