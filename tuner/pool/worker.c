// See worker.h.
#include "tuner/pool/worker.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/base/interrupt.h"
#include "tuner/base/protocol.h"
#include "tuner/pool/answer_check.h"
#include "tuner/pool/node_files.h"
#include "tuner/protocol/message.h"

enum { LONGEST_LINE = 256 << 20 }; // bytes; a longer line is invalid

bool worker_running(const struct worker *w)
{
    return w->child.pid > 0 || w->channel;
}

int worker_start(struct worker *w, const char *name, char *const argv[], struct error *err)
{
    w->name = name;
    byte_queue_clear(&w->input);
    byte_queue_clear(&w->output);
    w->words = (struct child_output){0};
    w->killed = w->lost = false;
    if (!w->link) return child_start(&w->child, argv, NULL, true, err);
    w->channel = node_link_open(w->link, argv, err);
    return w->channel ? 0 : -1;
}

int64_t worker_send(struct worker *w, json_t *request)
{
    int64_t id = ++w->next_id;
    message_set_id(request, id);
    if (w->channel) request = node_files_place(w->link, request);
    autofree char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(12));
    json_decref(request);
    size_t length = strlen(text);
    text[length] = '\n'; // in place of the NUL
    if (w->channel)
        node_channel_put(w->channel, FRAME_INPUT, text, length + 1);
    else
        byte_queue_add(&w->output, text, length + 1);
    return id;
}

int worker_poll(const struct worker *w, struct pollfd *p)
{
    return w->child.pid ? child_poll(&w->child, true, byte_queue_size(&w->output), p) : 0;
}

static void pass_on(void *user, const char *line)
{
    const struct worker *w = user;
    if (w->chatter) w->chatter(w->chatter_user, w, line);
}

static void read_stderr(struct worker *w)
{
    child_output_read(&w->words, &w->child.errors, pass_on, w);
}

static void describe_death(const struct worker *w, struct error *err)
{
    char how[96] = "closed its pipe, did not end, and was killed";
    if (byte_queue_size(&w->input) > LONGEST_LINE)
        snprintf(how, sizeof how, "sent a line of more than %d MiB, and was killed", LONGEST_LINE >> 20);
    else if (!w->killed)
        child_describe(w->exit_status, how, sizeof how);
    error_set(err, "worker '%s' %s%s%s", w->name, how, w->words.last[0] ? ": " : "", w->words.last);
}

// Handles the bytes that the link has received.
static int channel_io(struct worker *w, struct error *err)
{
    struct node_channel *c = w->channel;
    child_output_take(&w->words, byte_queue_first(&c->errors), byte_queue_size(&c->errors), pass_on, w);
    byte_queue_clear(&c->errors);
    bool endless = byte_queue_size(&c->output) > LONGEST_LINE;
    if (!c->ended && !c->lost && !endless) return 0;
    w->exit_status = c->status;
    w->killed = c->killed || endless;
    w->lost = c->lost;
    byte_queue_release(&w->input);
    w->input = c->output; // it can still be read
    c->output = (struct byte_queue){0};
    if (w->lost)
        error_set(err, "worker '%s' is lost with its node: %s", w->name, node_link_why(w->link));
    else
        describe_death(w, err);
    node_link_close(w->link, c);
    w->channel = NULL;
    return -1;
}

static int worker_io(struct worker *w, struct error *err)
{
    if (w->channel) return channel_io(w, err);
    if (!w->child.pid) return error_set(err, "worker '%s' is not running", w->name);
    bool open = w->child.to < 0 || byte_queue_write(&w->output, w->child.to);
    read_stderr(w);
    open &= byte_queue_read(&w->input, w->child.from, LONGEST_LINE) && byte_queue_size(&w->input) <= LONGEST_LINE;
    if (open) return 0;
    // A pipe is closed. Give the process a moment to end by itself, so that its own exit status is seen; then kill it.
    for (int i = 0; i < 200 && !child_ended(&w->child, &w->exit_status); i++) {
        if (i == 199) {
            w->killed = true;
            child_kill(&w->child, &w->exit_status);
        }
        usleep(1000);
    }
    read_stderr(w);
    describe_death(w, err);
    child_close_all(&w->child);
    return -1;
}

int worker_polled(struct worker *w, const struct pollfd **at, struct error *err)
{
    const struct node_channel *c = w->channel;
    struct pollfd ignored[CHILD_POLLED];
    bool news = c && (byte_queue_size(&c->output) || byte_queue_size(&c->errors) || c->ended || c->lost);
    for (int n = worker_poll(w, ignored); n > 0; n--, ++*at) news |= (*at)->revents != 0;
    return news ? worker_io(w, err) : 0;
}

bool worker_ended_from_outside(const struct worker *w)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
    int status = w->exit_status, number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - EXIT_SIGNAL;
    if (worker_running(w) || w->killed) return false;
    if (w->lost) return true;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (number == signals[i]) return true; // 128 + number, as reported by a wrapper program
    return false;
}

bool worker_stopped(const struct worker *w)
{
    return w->channel ? w->channel->stopped : child_stopped(&w->child);
}

int worker_receive(struct worker *w, json_t **answer, struct error *err)
{
    struct byte_queue *in = w->channel ? &w->channel->output : &w->input;
    char *line = byte_queue_line(in, NULL);
    if (!line) return 0;
    autojson json_t *message = json_parse(line, err);
    if (message && !json_is_object(message)) error_set(err, "not a JSON object: '%.80s'", line);
    if (!json_is_object(message)) return error_prefix(err, "worker '%s'", w->name);
    struct error why;
    if (w->link && node_files_found(w->link, message, &why)) { // take down the node with all its workers
        node_link_stop(w->link, true, "%s", why.message);
        byte_queue_clear(in);
        return 0;
    }
    *answer = json_incref(message);
    return 1;
}

void worker_kill(struct worker *w)
{
    if (w->child.pid) {
        child_kill(&w->child, &w->exit_status); // with its group, because a tool may wrap the worker
        read_stderr(w);
        child_close_all(&w->child);
    }
    if (w->channel) {
        node_link_close(w->link, w->channel);
        w->channel = NULL;
    }
    byte_queue_clear(&w->input);
    byte_queue_clear(&w->output);
}

void worker_stop(struct worker *w, double seconds)
{
    double limit = clock_now() + seconds;
    struct error ignored;
    if (w->channel) node_channel_put(w->channel, FRAME_END_INPUT, NULL, 0);
    while (w->channel && clock_now() < limit && !worker_io(w, &ignored)) node_links_wait(w->links, NULL, 0, 10);
    if (w->child.pid) {
        child_close(&w->child.to);
        while (clock_now() < limit && !child_ended(&w->child, &w->exit_status)) {
            read_stderr(w);
            usleep(2000);
        }
    }
    worker_kill(w);
    child_close_all(&w->child);
}

void worker_release(struct worker *w)
{
    worker_kill(w);
    byte_queue_release(&w->input);
    byte_queue_release(&w->output);
    *w = WORKER_NONE;
}

static json_t *give_up(struct worker *w, enum worker_failure why)
{
    w->failure = why;
    return NULL;
}

json_t *worker_ask(struct worker *w, json_t *request, double seconds, struct error *err)
{
    autojson json_t *kept = json_incref(request), *answer = worker_wait(w, worker_send(w, request), seconds, err);
    if (!answer || !answer_check(kept, answer, err)) return json_incref(answer);
    worker_kill(w);
    return give_up(w, WORKER_INVALID);
}

// Seconds to add to a worker's time limit because the worker or the driver was stopped for some of the `passed`
// seconds.
static double allowance(const struct worker *w, double passed, double *stopped)
{
    if (passed > WORKER_POLL + WORKER_OVERSLEPT) return passed; // the driver was stopped
    if (!worker_stopped(w)) return 0;
    *stopped += passed;
    return passed;
}

json_t *worker_wait(struct worker *w, int64_t id, double seconds, struct error *err)
{
    double polled = clock_now(), limit = polled + seconds, stopped = 0;
    bool dead = false;
    w->failure = WORKER_WORKS;
    for (;;) {
        json_t *answer;
        int got = worker_receive(w, &answer, err);
        if (got < 0) return give_up(w, WORKER_INVALID);
        if (got && message_id(answer) == id && !message_is_progress(answer)) return answer;
        if (got) {
            struct progress_message sign;
            autorelease(arena_release) struct arena memory = {NULL};
            bool alive = !record_read(&progress_record, answer, &sign, &memory, NULL);
            if (alive) limit = clock_now() + seconds;
            if (alive && *sign.what && w->progress) w->progress(w->chatter_user, w, sign.what, sign.share);
            json_decref(answer);
            continue;
        }
        if (dead) return give_up(w, WORKER_DIED); // err says how
        if (interrupt_count()) {
            error_set(err, "interrupted");
            return give_up(w, WORKER_INTERRUPTED);
        }
        double now = clock_now();
        if (now - polled >= WORKER_POLL) {
            limit += allowance(w, now - polled, &stopped);
            polled = now;
        }
        if (stopped >= WORKER_LONGEST_STOP) {
            worker_kill(w);
            error_set(err, "worker '%s' was stopped from outside, and killed after %d s", w->name, WORKER_LONGEST_STOP);
            return give_up(w, WORKER_DIED);
        }
        double left = limit - now;
        if (left <= 0) {
            error_set(err, "worker '%s' did not answer within %.0f s", w->name, seconds);
            return give_up(w, WORKER_LATE);
        }
        struct pollfd own[CHILD_POLLED];
        node_links_wait(w->links, own, worker_poll(w, own), left > 1 ? 1000 : (int)(left * 1000) + 1);
        if (worker_io(w, err)) dead = true;
    }
}
