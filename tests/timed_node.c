// The agent of a node whose GPUs compute nothing and only wait. It implements sweetspot-node's part of the protocol
// (node_frame.h). It starts no workers but answers for all of them (timed_answers.h), in one process and one thread.
// tests/measure/width.sh uses 32 of these agents for 256 GPUs. The agent accepts sweetspot-node's arguments and ignores
// them.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/timed_answers.h"
#include "tuner/base/clock.h"
#include "tuner/base/protocol.h"
#include "tuner/node/node_message.h"

// A worker. Its index in `locations` is its number in timed_answers.h. Compilers have such a number as well.
struct location {
    uint32_t channel; // 0: free
    char *input;      // its lines, the last of which may be incomplete
    size_t size;
};

struct timed_node {
    struct timed_answers answers;
    struct location *locations;
    size_t count, room;
    struct byte_queue in;
    struct frame_writer out;
    double beat, beaten;
};

static struct location *find(struct timed_node *n, uint32_t channel)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->locations[i].channel == channel) return &n->locations[i];
    return NULL;
}

static void start(struct timed_node *n, uint32_t channel)
{
    struct location *p = find(n, 0);
    if (!p) {
        n->locations = memory_grow(n->locations, n->count + 1, sizeof *n->locations);
        p = &n->locations[n->count++];
    }
    *p = (struct location){.channel = channel};
    timed_start(&n->answers, (size_t)(p - n->locations));
}

static void end(struct timed_node *n, struct location *p)
{
    timed_forget(&n->answers, (size_t)(p - n->locations));
    free(p->input);
    *p = (struct location){0};
}

static void take_input(struct timed_node *n, struct location *p, const struct frame *f)
{
    p->input = memory_grow(p->input, p->size + f->size, 1);
    memcpy(p->input + p->size, f->data, f->size);
    p->size += f->size;
    timed_take_lines(&n->answers, (size_t)(p - n->locations), p->input, &p->size, clock_now());
}

static void take_frame(struct timed_node *n, const struct frame *f)
{
    struct location *p = f->channel ? find(n, f->channel) : NULL;
    switch (f->type) {
    case FRAME_WELCOME: {
        autojson json_t *welcome = json_parse(f->data, NULL);
        n->beat = json_get_number(welcome, "beat", n->beat);
        node_message_put(&n->out, FRAME_READY, 0, &(struct node_ready){.shared = true, .cache = "."});
        break;
    }
    case FRAME_START:
        if (!p && f->channel) start(n, f->channel);
        break;
    case FRAME_INPUT:
        if (p) take_input(n, p, f);
        break;
    case FRAME_END_INPUT:
        node_message_put(&n->out, FRAME_EXIT, f->channel, &(struct node_exit){0});
        if (p) end(n, p);
        break;
    case FRAME_KILL:
        if (p) end(n, p);
        break;
    default: // a heartbeat; files are never needed
        break;
    }
}

static void send_answers(struct timed_node *n, double now)
{
    size_t location;
    json_t *answer;
    while ((answer = timed_due(&n->answers, now, &location))) {
        autofree char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(12)),
                      *line = text_format("%s\n", text);
        frame_put(&n->out, FRAME_OUTPUT, n->locations[location].channel, line, strlen(line));
        json_decref(answer);
    }
    if (now - n->beaten < n->beat) return;
    frame_put_first(&n->out, FRAME_BEAT);
    n->beaten = now;
}

// False if the pipe has ended or an invalid frame arrives.
static bool turn(struct timed_node *n)
{
    struct pollfd polled[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = STDOUT_FILENO, .events = POLLOUT}};
    double left = fmax(0, fmin(timed_next(&n->answers), n->beaten + n->beat) - clock_now());
    poll(polled, frame_pending(&n->out) ? 2 : 1, (int)ceil(1e3 * left));
    struct frame f;
    struct error err;
    int got = 0;
    bool open = !polled[0].revents || frame_read(&n->in, STDIN_FILENO);
    while (polled[0].revents && (got = frame_next(&n->in, &f, &err)) > 0) take_frame(n, &f);
    if (got < 0) fprintf(stderr, "timed_node: %s\n", err.message);
    send_answers(n, clock_now());
    return got >= 0 && open && !frame_flush(&n->out, STDOUT_FILENO);
}

int main(void)
{
    struct timed_node n = {.beat = 5, .beaten = clock_now()};
    autofree char *line = node_identity_line();
    timed_init(&n.answers);
    if (printf("\n%s\n", line) < 0 || fflush(stdout)) return EXIT_ENVIRONMENT;
    fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    while (turn(&n)) continue;
    for (size_t i = 0; i < n.count; i++) free(n.locations[i].input);
    free(n.locations);
    timed_release(&n.answers);
    byte_queue_release(&n.in);
    frame_writer_release(&n.out);
    return EXIT_DONE;
}
