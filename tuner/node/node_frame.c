// See node_frame.h. A frame begins with 12 bytes: "sn", the type, 0, the channel and the size, least byte first.
#include "tuner/node/node_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/base/memory.h"

enum {
    HEADER = 12,
    PIECE = 64 << 10,         // of data in one frame
    ON_THEIR_WAY = 4 * PIECE, // bytes that are made ready for the pipe ahead of a beat
    LONGEST_LINE = 1 << 20,   // of a banner
    LONGEST_FRAME = 8 << 20,  // what is longer goes in pieces; the longest is the list of files that a node has
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

static void uncover(struct frame_reader *r)
{
    if (r->covered) r->bytes[r->used] = r->kept;
    r->covered = false;
}

int frame_read(struct frame_reader *r, int fd)
{
    uncover(r);
    if (r->used) memmove(r->bytes, r->bytes + r->used, r->size - r->used);
    r->size -= r->used;
    r->used = 0;
    for (;;) {
        r->bytes = memory_room(r->bytes, &r->room, r->size + PIECE + 1, 1);
        ssize_t n = read(fd, r->bytes + r->size, r->room - r->size - 1);
        if (n > 0)
            r->size += (size_t)n;
        else if (n == 0)
            return 0;
        else if (errno != EINTR)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        if (r->size > ON_THEIR_WAY) return 1; // the rest at the next look: what came is seen to first
    }
}

static uint32_t number_at(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

int frame_next(struct frame_reader *r, struct frame *out, struct error *err)
{
    uncover(r);
    size_t left = r->size - r->used;
    if (left < HEADER) return 0;
    const char *at = r->bytes + r->used;
    size_t size = number_at(at + 8);
    if (at[0] != 's' || at[1] != 'n' || at[3] || size > LONGEST_FRAME)
        return error_set(err, "what arrives is not of the protocol: something else writes to the same pipe");
    if (left < HEADER + size) return 0;
    *out =
        (struct frame){.type = (enum frame_type)at[2], .channel = number_at(at + 4), .data = at + HEADER, .size = size};
    r->used += HEADER + size;
    r->kept = r->bytes[r->used];
    r->bytes[r->used] = 0;
    r->covered = true;
    return 1;
}

int frame_next_line(struct frame_reader *r, char **line)
{
    uncover(r);
    size_t left = r->size - r->used;
    *line = left ? r->bytes + r->used : NULL;
    char *end = left ? memchr(*line, '\n', left) : NULL;
    if (!end) return left > LONGEST_LINE ? -1 : 0;
    *end = 0;
    r->used += (size_t)(end + 1 - *line);
    return 1;
}

void frame_reader_release(struct frame_reader *r)
{
    free(r->bytes);
    *r = (struct frame_reader){0};
}

// Writing ------------------------------------------------------------------------------------------------------------

static void set_number(char *bytes, size_t number)
{
    for (int i = 0; i < 4; i++) bytes[i] = (char)(number >> 8 * i & 255);
}

// Room for a frame on its way, with its header; the caller fills in what is returned.
static char *begin(struct frame_writer *w, enum frame_type type, uint32_t channel, size_t size)
{
    w->bytes = memory_room(w->bytes, &w->room, w->size + HEADER + size, 1);
    char *at = w->bytes + w->size;
    memcpy(at, (char[4]){'s', 'n', (char)type, 0}, 4);
    set_number(at + 4, channel);
    set_number(at + 8, size);
    w->size += HEADER + size;
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

void frame_put_json(struct frame_writer *w, enum frame_type type, uint32_t channel, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    frame_put(w, type, channel, text, strlen(text));
    free(text);
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
    return w->size || w->first;
}

static void drop_first(struct frame_writer *w)
{
    struct frame_item *item = w->first;
    w->first = item->next;
    if (!w->first) w->last = NULL;
    if (item->fd >= 0) close(item->fd);
    free(item->bytes);
    free(item);
}

// A file that is shorter than it was is filled up: its hash will not be right, and the receiver says so.
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

// Bytes that may be cut anywhere go in pieces, everything else as one frame.
static void make_ready(struct frame_writer *w)
{
    while (w->first && w->size < ON_THEIR_WAY) {
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
    size_t done = 0;
    int result = 0;
    make_ready(w);
    while (done < w->size) {
        ssize_t n = write(fd, w->bytes + done, w->size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            result = errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
            break;
        }
        done += (size_t)n;
    }
    if (done) memmove(w->bytes, w->bytes + done, w->size - done);
    w->size -= done;
    return result;
}

void frame_writer_release(struct frame_writer *w)
{
    while (w->first) drop_first(w);
    free(w->bytes);
    *w = (struct frame_writer){0};
}
