// See node_worker.h.
#include "tuner/node/node_worker.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "tuner/base/installation.h"

enum { LONGEST_LINE = 4 << 20 }; // bytes of a line that is examined

static const double end_timeout = 0.2; // s that a worker has to end after it closed its stdout

// The only programs that an agent starts.
static const struct {
    const char *name, *variable;
} programs[] = {
    {"sweetspot-compile", "SWEETSPOT_COMPILE_WORKER"},
    {"sweetspot-gpu", "SWEETSPOT_GPU_WORKER"},
    {"sweetspot-replay", "SWEETSPOT_REPLAY_WORKER"},
};

int node_worker_start(struct node_worker *w, uint32_t channel, const struct node_start *order, const char *folder,
                      struct error *err)
{
    const char *name = order->argv_count ? order->argv[0] : "";
    autofree char *path = NULL;
    *w = (struct node_worker){.channel = channel, .child = CHILD_NONE};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(name, programs[i].name)) path = installation_worker(programs[i].variable, name);
    if (!path) return error_set(err, "'%s' is not one of the programs of an agent", name);
    autofree const char **words = memory_new(order->argv_count + 1, sizeof *words);
    memcpy(words, order->argv, order->argv_count * sizeof *words);
    words[0] = path;
    return child_start(&w->child, (char *const *)words, folder, true, err);
}

static void write_input(struct node_worker *w)
{
    if (w->child.to >= 0 && !byte_queue_write(&w->input, w->child.to)) child_close(&w->child.to);
    if (w->child.to < 0) byte_queue_release(&w->input);
    if (w->end_input && !byte_queue_size(&w->input)) child_close(&w->child.to);
}

// Forwards complete lines; an incomplete line waits. A line that is too long for an answer with files is forwarded as
// it arrives; the driver decides whether it is too long altogether.
static void carry_lines(struct node_worker *w, struct frame_writer *out, const char *bytes, size_t size,
                        node_line_visitor *visit, void *user)
{
    byte_queue_add(&w->line, bytes, size);
    size_t length;
    for (char *line; (line = byte_queue_line(&w->line, &length)); w->passing = false) {
        if (!w->passing) visit(user, line);
        line[length] = '\n';
        frame_put(out, FRAME_OUTPUT, w->channel, line, length + 1);
    }
    w->passing |= byte_queue_size(&w->line) > LONGEST_LINE;
    if (!w->passing) return;
    frame_put(out, FRAME_OUTPUT, w->channel, byte_queue_first(&w->line), byte_queue_size(&w->line));
    byte_queue_clear(&w->line);
}

// Forwards the output of one of the worker's pipes, and closes the pipe at its end.
static void carry(struct node_worker *w, int *fd, enum frame_type type, struct frame_writer *out,
                  node_line_visitor *visit, void *user)
{
    char bytes[1 << 16];
    ssize_t n = 0;
    for (int i = 0; i < 16 && *fd >= 0; i++) { // other workers must not wait
        n = read(*fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n <= 0)
            child_close(fd);
        else if (w->lines && type == FRAME_OUTPUT)
            carry_lines(w, out, bytes, (size_t)n, visit, user);
        else
            frame_put(out, type, w->channel, bytes, (size_t)n);
    }
}

static void tell_exit(struct node_worker *w, struct frame_writer *out, int status, bool killed)
{
    carry(w, &w->child.errors, FRAME_ERRORS, out, NULL, NULL);
    node_message_put(out, FRAME_EXIT, w->channel, &(struct node_exit){status, killed});
    w->ended = true;
}

void node_worker_io(struct node_worker *w, struct frame_writer *out, bool reads, double now, node_line_visitor *visit,
                    void *user)
{
    int status;
    if (w->ended) return;
    if (w->dying) {
        w->ended = child_ended(&w->child, &status);
        return;
    }
    write_input(w);
    if (!reads) return;
    carry(w, &w->child.from, FRAME_OUTPUT, out, visit, user);
    carry(w, &w->child.errors, FRAME_ERRORS, out, visit, user);
    if (w->child.from >= 0) return;
    if (w->closed_at <= 0) w->closed_at = now;
    if (child_ended(&w->child, &status)) {
        tell_exit(w, out, status, false);
    } else if (now - w->closed_at > end_timeout) {
        child_kill(&w->child, &status);
        tell_exit(w, out, status, true);
    }
}

void node_worker_check(struct node_worker *w, struct frame_writer *out)
{
    bool stopped = child_stopped(&w->child);
    if (stopped == w->stopped || w->ended || w->dying) return;
    w->stopped = stopped;
    node_message_put(out, FRAME_STATE, w->channel, &(struct node_state){stopped});
}

void node_worker_kill(struct node_worker *w)
{
    if (w->child.pid && kill(-w->child.pid, SIGKILL)) kill(w->child.pid, SIGKILL);
    child_close_all(&w->child);
    w->dying = true;
    byte_queue_release(&w->input);
}

void node_worker_release(struct node_worker *w)
{
    int status;
    child_kill(&w->child, &status);
    child_close_all(&w->child);
    byte_queue_release(&w->input);
    byte_queue_release(&w->line);
    *w = (struct node_worker){.child = CHILD_NONE};
}
