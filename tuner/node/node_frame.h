// After the agent's greeting (node_message.h), driver and agent write frames to each other over the pipe between them.
// A frame has a type, the number of a worker (a channel; 0: the agent itself) and bytes. A frame is processed only when
// it is complete, so a message that is truncated by a lost connection is never mistaken for a complete one.
//
// Frames, including those of files, keep their order, so a request that is sent after its files finds them. Only a
// heartbeat overtakes waiting frames. Files are sent in pieces, so that a large file delays a heartbeat by one piece at
// most.
#pragma once

#include "tuner/base/byte_queue.h"
#include "tuner/base/json.h"

// JSON: the frame holds a struct of node_message.h.
enum frame_type {
    FRAME_BEAT = 'b', // a heartbeat
    // From the driver.
    FRAME_WELCOME = 'w',   // JSON
    FRAME_START = 's',     // JSON: the channel's worker
    FRAME_INPUT = 'i',     // bytes for its stdin
    FRAME_END_INPUT = 'e', // close its stdin
    FRAME_USE = 'u',       // JSON: a file that the agent has and that the next frame names
    FRAME_KILL = 'k',      // kill the worker and its group; nothing more is sent from it
    // From the agent.
    FRAME_READY = 'r',   // JSON: the answer to the welcome
    FRAME_OUTPUT = 'o',  // bytes of a worker's stdout
    FRAME_ERRORS = 'm',  // bytes of its stderr
    FRAME_EXIT = 'x',    // JSON; after all of its output
    FRAME_STATE = 't',   // JSON
    FRAME_TROUBLE = '!', // JSON: the node cannot continue
    // From both: a file, whose bytes follow as FRAME_DATA.
    FRAME_FILE = 'f', // JSON
    FRAME_DATA = 'd',
};

struct frame {
    enum frame_type type;
    uint32_t channel;
    const char *data; // a NUL follows; lives until the next call
    size_t size;
};

// Reads the available bytes, up to a limit, so that they are processed before more are read. Returns false at the end
// of the pipe.
bool frame_read(struct byte_queue *, int fd);
// Gets the next complete frame. Returns 1, 0 if there is none yet, or -1 if the bytes are not a frame.
int frame_next(struct byte_queue *, struct frame *, struct error *);
// Gets the next line before the first frame. Returns 1 with a string that lives until the next call, 0 if there is none
// yet, or -1 if the line is too long.
int frame_next_line(struct byte_queue *, char **line);

struct frame_item;

struct frame_writer {
    struct byte_queue ready;
    struct frame_item *first, *last; // frames that wait behind those in `ready`
    size_t waiting;                  // bytes of these in memory
};

void frame_put(struct frame_writer *, enum frame_type, uint32_t channel, const void *data, size_t size);
void frame_put_first(struct frame_writer *, enum frame_type); // before all waiting frames
// These queue the bytes of a file as FRAME_DATA. frame_put_data copies the bytes. frame_put_descriptor takes ownership
// of the descriptor, and reads the bytes when their turn comes.
void frame_put_data(struct frame_writer *, const void *data, size_t size);
void frame_put_descriptor(struct frame_writer *, int fd, size_t size);
bool frame_pending(const struct frame_writer *);
// Writes as much as the pipe accepts. Returns -1 when the pipe is closed.
int frame_flush(struct frame_writer *, int fd);
void frame_writer_release(struct frame_writer *);
