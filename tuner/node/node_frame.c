// See node_frame.h. A frame begins with 12 bytes: "sn", the type, 0, the channel and the size, in little-endian order.
#include "tuner/node/node_frame.h"

#include <errno.h>
#include <unistd.h>

enum {
    HEADER = 12,
    PIECE = 64 << 10,         // bytes of data in one frame
    ON_THEIR_WAY = 4 * PIECE, // most bytes that are queued for the pipe ahead of a heartbeat
    LONGEST_LINE = 1 << 20,   // most bytes in a line of a banner
    LONGEST_FRAME = 8 << 20,  // longer data is sent in pieces; the longest frame is a node's list of files
};

struct frame_item {
    struct frame_item *next;
    enum frame_type type;
    uint32_t channel;
    char *bytes; // NULL: read from `fd`
    int fd;
    size_t size, done;
};

// Reading ------------------------------------------------------------------------------------------------------------

bool frame_read(struct byte_queue *q, int fd)
{
    return byte_queue_read(q, fd, ON_THEIR_WAY);
}

static uint32_t number_at(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int frame_next(struct byte_queue *q, struct frame *out, struct error *err)
{
    char *at = byte_queue_first(q);
    if (byte_queue_size(q) < HEADER) return 0;
    size_t size = number_at(at + 8);
    if (at[0] != 's' || at[1] != 'n' || at[3] || size > LONGEST_FRAME)
        return error_set(err, "the data received is not part of the protocol: something else writes to the same pipe");
    if (byte_queue_size(q) < HEADER + size) return 0;
    *out = (struct frame){
        .type = (enum frame_type)at[2], .channel = number_at(at + 4), .data = at + HEADER - 1, .size = size};
    memmove(at + HEADER - 1, at + HEADER, size); // to make room for the NUL
    at[HEADER - 1 + size] = 0;
    byte_queue_drop(q, HEADER + size);
    return 1;
}

int frame_next_line(struct byte_queue *q, char **line)
{
    *line = byte_queue_line(q, NULL);
    return *line ? 1 : byte_queue_size(q) > LONGEST_LINE ? -1 : 0;
}

// Writing ------------------------------------------------------------------------------------------------------------

static void set_number(char *bytes, size_t number)
{
    for (int i = 0; i < 4; i++) bytes[i] = (char)(number >> 8 * i & 255);
}

// Adds a frame with its header to the output; the caller fills in the returned bytes.
static char *begin(struct frame_writer *w, enum frame_type type, uint32_t channel, size_t size)
{
    char *at = byte_queue_extend(&w->ready, HEADER + size);
    memcpy(at, (char[4]){'s', 'n', (char)type, 0}, 4);
    set_number(at + 4, channel);
    set_number(at + 8, size);
    return at + HEADER;
}

static struct frame_item *wait_after(struct frame_writer *w, struct frame_item item)
{
    struct frame_item *added = memory_new(1, sizeof *added);
    *added = item;
    if (w->last)
        w->last->next = added;
    else
        w->first = added;
    return w->last = added;
}

void frame_put(struct frame_writer *w, enum frame_type type, uint32_t channel, const void *data, size_t size)
{
    char *bytes = memory_new(size + 1, 1);
    if (size) memcpy(bytes, data, size);
    wait_after(w, (struct frame_item){.type = type, .channel = channel, .bytes = bytes, .fd = -1, .size = size});
    w->waiting += size;
}

void frame_put_first(struct frame_writer *w, enum frame_type type)
{
    begin(w, type, 0, 0);
}

void frame_put_data(struct frame_writer *w, const void *data, size_t size)
{
    if (size) frame_put(w, FRAME_DATA, 0, data, size);
}

void frame_put_descriptor(struct frame_writer *w, int fd, size_t size)
{
    wait_after(w, (struct frame_item){.type = FRAME_DATA, .fd = fd, .size = size});
}

bool frame_pending(const struct frame_writer *w)
{
    return byte_queue_size(&w->ready) || w->first;
}

static void drop_first(struct frame_writer *w)
{
    autofree struct frame_item *item = w->first;
    w->first = item->next;
    if (!w->first) w->last = NULL;
    if (item->fd >= 0) close(item->fd);
    free(item->bytes);
}

// A file that has become shorter is padded. The receiver then reports that the hash does not match.
static void read_piece(int fd, char *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, out + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    memset(out + done, 0, size - done);
}

// Data that may be split anywhere is sent in pieces, everything else as one frame.
static void make_ready(struct frame_writer *w)
{
    while (w->first && byte_queue_size(&w->ready) < ON_THEIR_WAY) {
        struct frame_item *item = w->first;
        bool cut = item->type == FRAME_DATA || item->type == FRAME_INPUT || item->type == FRAME_OUTPUT;
        size_t left = item->size - item->done, piece = cut && left > PIECE ? PIECE : left;
        char *to = begin(w, item->type, item->channel, piece);
        if (item->bytes) {
            memcpy(to, item->bytes + item->done, piece);
            w->waiting -= piece;
        } else {
            read_piece(item->fd, to, piece);
        }
        item->done += piece;
        if (item->done == item->size) drop_first(w);
    }
}

int frame_flush(struct frame_writer *w, int fd)
{
    make_ready(w);
    return byte_queue_write(&w->ready, fd) ? 0 : -1;
}

void frame_writer_release(struct frame_writer *w)
{
    while (w->first) drop_first(w);
    byte_queue_release(&w->ready);
    *w = (struct frame_writer){0};
}
