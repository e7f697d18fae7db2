// Driver and agent write frames to each other over the one pipe between them, after the agent's greeting
// (node_message.h). A frame has a type, the number of a worker (a channel; 0: the agent itself) and bytes. A frame
// counts when all of it has arrived, so that what a dying connection cuts is never taken for a whole message.
//
// Frames keep their order, files among them: a request that is sent after the files that it names finds them. Only a
// beat goes before everything that waits. Files go in pieces, so that a large one delays a beat by one piece.
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
    FRAME_END_INPUT = 'e', // its stdin is closed
    FRAME_USE = 'u',       // JSON: a file that the agent has, and the next frame names
    FRAME_KILL = 'k',      // the worker and its group; nothing more is sent of it
    // From the agent.
    FRAME_READY = 'r',   // JSON: the answer to the welcome
    FRAME_OUTPUT = 'o',  // bytes of a worker's stdout
    FRAME_ERRORS = 'm',  // of its stderr
    FRAME_EXIT = 'x',    // JSON; after all that it wrote
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

// Reads what is available, up to a limit, so that it is processed before more is read. False when the pipe is at its
// end.
bool frame_read(struct byte_queue *, int fd);
// The next whole frame: 1; 0 none yet; -1 what came is not a frame.
int frame_next(struct byte_queue *, struct frame *, struct error *);
// The next line, before there are frames: 1 with a text that lives until the next call; 0 none yet; -1 without end.
int frame_next_line(struct byte_queue *, char **line);

struct frame_item;

struct frame_writer {
    struct byte_queue ready;
    struct frame_item *first, *last; // frames that wait after them
    size_t waiting;                  // bytes of it that are in memory
};

void frame_put(struct frame_writer *, enum frame_type, uint32_t channel, const void *data, size_t size);
void frame_put_first(struct frame_writer *, enum frame_type); // before all that waits
// The bytes of a file as FRAME_DATA: copied, or read when their turn comes from a descriptor, which is taken.
void frame_put_data(struct frame_writer *, const void *data, size_t size);
void frame_put_descriptor(struct frame_writer *, int fd, size_t size);
bool frame_pending(const struct frame_writer *);
// Writes what the pipe takes. -1 when the pipe is closed.
int frame_flush(struct frame_writer *, int fd);
void frame_writer_release(struct frame_writer *);
