// See judge_server.h.
#include "tuner/cli/judge_server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tuner/base/installation.h"
#include "tuner/base/interrupt.h"
#include "tuner/base/protocol.h"
#include "tuner/base/run_program.h"
#include "tuner/cli/judge_request.h"
#include "tuner/cli/options.h"
#include "tuner/pool/worker.h"

enum {
    CLIENTS_MOST = 64,
    WAITING_MOST = 64,
    LINE_MOST = 1 << 20,    // bytes
    UNREAD_MOST = 16 << 20, // bytes of answers; clients that leave more unread are disconnected
    WAIT = 1000,            // ms
};

struct client {
    int from, to;
    bool ended, gone; // ended: the client sends no more, but may still read
    struct byte_queue input, output;
    size_t open; // requests not answered yet
};

struct asked {
    struct client *client; // NULL: none
    json_t *message, *id;
    double seconds;
};

// A process `sweetspot judge -`. It is handled like a worker that gets one line and answers with one line.
struct judging_process {
    struct worker worker;
    char folder[PATH_MAX]; // for temporary files; "": no process is running
};

static struct server {
    const char *device, *cache;
    char *program, *temporary; // $TMPDIR or NULL
    int listener;              // -1: none
    size_t client_count, waiting;
    struct client *clients[CLIENTS_MOST];
    struct asked queue[WAITING_MOST];
    struct judging_process spare, busy;
    struct asked asked; // the busy process's request; its client is NULL once it has been answered
    double deadline;
} server;

// Processes ----------------------------------------------------------------------------------------------------------

// Whether an ended process left a child behind. This process has no children of its own except the two judging
// processes.
static bool is_left(pid_t pid, const void *user)
{
    const struct server *s = user;
    return pid != s->spare.worker.child.pid && pid != s->busy.worker.child.pid;
}

static void process_end(const struct server *s, struct judging_process *p)
{
    if (!*p->folder) return;
    worker_release(&p->worker);
    orphans_end(is_left, s);
    work_folder_remove(p->folder);
    *p->folder = 0;
}

static int spare_start(struct server *s, struct error *err)
{
    char *device = (char *)(uintptr_t)s->device, *cache = (char *)(uintptr_t)s->cache,
         *argv[] = {s->program, "judge", "-", "--device", device, cache ? "--cache" : NULL, cache, NULL};
    struct judging_process *p = &s->spare;
    if (*p->folder) return 0;
    p->worker = WORKER_NONE;
    if (work_folder_make("judge", p->folder, err)) return *p->folder = 0, -1;
    setenv("TMPDIR", p->folder, 1);
    int failed = worker_start(&p->worker, "judge", argv, err);
    s->temporary ? setenv("TMPDIR", s->temporary, 1) : unsetenv("TMPDIR");
    if (failed) process_end(s, p);
    return failed;
}

// Requests -----------------------------------------------------------------------------------------------------------

static void answer(struct client *c, const json_t *id, const json_t *judgement, const char *why)
{
    autojson json_t *said = judgement ? json_incref((json_t *)(uintptr_t)judgement) : json_string(why);
    autofree char *number = json_dumps(id ? id : json_null(), JSON_COMPACT | JSON_ENCODE_ANY),
                  *text = json_dumps(said, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)),
                  *line = text_format("{\"id\":%s,\"%s\":%s}\n", number, judgement ? "judgement" : "error", text);
    byte_queue_add(&c->output, line, strlen(line));
    c->gone |= byte_queue_size(&c->output) > UNREAD_MOST;
}

// Answers a request, unless its client has disconnected, and forgets the request.
static void asked_end(struct asked *a, const json_t *judgement, const char *why)
{
    if (!a->client->gone) answer(a->client, a->id, judgement, why);
    a->client->open--;
    json_decref(a->message);
    json_decref(a->id);
    *a = (struct asked){0};
}

static void take_line(struct server *s, struct client *c, const char *line)
{
    struct error err;
    struct judge_request r = {0};
    autorelease(arena_release) struct arena memory = {NULL};
    autojson json_t *message = json_parse(line, &err);
    if (!message || judge_request_read(message, &r, &memory, &err)) {
        answer(c, r.id, NULL, err.message);
        return;
    }
    s->queue[s->waiting++] = (struct asked){c, json_incref(message), json_incref((json_t *)(uintptr_t)r.id), r.time};
    c->open++;
}

static void take_lines(struct server *s, struct client *c)
{
    char *line = NULL;
    size_t length = 0;
    while (s->waiting < WAITING_MOST && !c->gone && length <= LINE_MOST && (line = byte_queue_line(&c->input, &length)))
        if (line[strspn(line, " \t\r")] && length <= LINE_MOST) take_line(s, c, line);
    if (length <= LINE_MOST && (line || byte_queue_size(&c->input) <= LINE_MOST || s->waiting == WAITING_MOST)) return;
    answer(c, NULL, NULL, "a line of more than 1 MiB");
    c->ended = true;
    byte_queue_clear(&c->input);
}

static void begin_next(struct server *s)
{
    struct error err;
    int failed = spare_start(s, &err); // does nothing if there is a spare
    s->asked = s->queue[0];
    memmove(s->queue, s->queue + 1, --s->waiting * sizeof *s->queue);
    if (failed) {
        asked_end(&s->asked, NULL, err.message);
        return;
    }
    s->busy = s->spare;
    *s->spare.folder = 0;
    s->deadline = clock_now() + s->asked.seconds;
    worker_send(&s->busy.worker, json_incref(s->asked.message));
    spare_start(s, &err); // a failure is reported for the next request
}

static void serve_processes(struct server *s, const struct pollfd *at)
{
    struct error err = {""};
    json_t *received = NULL;
    if (*s->spare.folder && worker_polled(&s->spare.worker, &at, &err)) process_end(s, &s->spare);
    if (!*s->busy.folder) return;
    int ended = worker_polled(&s->busy.worker, &at, &err), got = worker_receive(&s->busy.worker, &received, &err);
    autojson json_t *document = received;
    bool late = clock_now() > s->deadline;
    if (s->asked.client && got > 0) asked_end(&s->asked, document, NULL);
    if (!ended && got >= 0 && !late) return;
    if (*s->busy.worker.words.last) error_set(&err, "%s", s->busy.worker.words.last);
    if (late) error_set(&err, "no verdict within %.3g s", s->asked.seconds);
    if (s->asked.client) asked_end(&s->asked, NULL, err.message);
    process_end(s, &s->busy);
}

// Clients ------------------------------------------------------------------------------------------------------------

static void client_add(struct server *s, int from, int to)
{
    struct client *c = memory_new(1, sizeof *c);
    *c = (struct client){.from = from, .to = to};
    fcntl(from, F_SETFL, fcntl(from, F_GETFL) | O_NONBLOCK);
    fcntl(to, F_SETFL, fcntl(to, F_GETFL) | O_NONBLOCK);
    s->clients[s->client_count++] = c;
}

static void client_serve(struct server *s, struct client *c, const struct pollfd *at)
{
    c->gone |= (at[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    if (at[0].revents && !byte_queue_read(&c->input, c->from, LINE_MOST)) {
        c->ended = true;
        byte_queue_add(&c->input, "\n", 1); // the last line may lack its newline
    }
    take_lines(s, c);
    c->gone |= !byte_queue_write(&c->output, c->to);
    c->gone |= c->ended && !c->open && !byte_queue_size(&c->input) && !byte_queue_size(&c->output);
}

// Removes a client and forgets its requests.
static void client_drop(struct server *s, struct client *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->waiting; i++)
        if (s->queue[i].client == c)
            asked_end(&s->queue[i], NULL, NULL);
        else
            s->queue[kept++] = s->queue[i];
    s->waiting = kept;
    if (s->asked.client == c) {
        asked_end(&s->asked, NULL, NULL);
        process_end(s, &s->busy);
    }
    if (s->listener >= 0) close(c->from);
    byte_queue_release(&c->input);
    byte_queue_release(&c->output);
    free(c);
}

static void drop_gone(struct server *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->client_count; i++)
        if (s->clients[i]->gone)
            client_drop(s, s->clients[i]);
        else
            s->clients[kept++] = s->clients[i];
    s->client_count = kept;
}

// Performs one step of the loop: polls the listener, two entries for each client, the spare process and the busy
// process.
static void serve(struct server *s)
{
    struct pollfd polled[1 + 2 * CLIENTS_MOST + 2 * CHILD_POLLED];
    int n = 1, wait = *s->busy.folder ? (int)fmin(WAIT, fmax(0, 1e3 * (s->deadline - clock_now())) + 1) : WAIT;
    polled[0] = (struct pollfd){.fd = s->client_count < CLIENTS_MOST ? s->listener : -1, .events = POLLIN};
    for (size_t i = 0; i < s->client_count; i++) {
        const struct client *c = s->clients[i];
        bool reads = !c->ended && byte_queue_size(&c->input) <= LINE_MOST;
        polled[n++] = (struct pollfd){.fd = reads ? c->from : -1, .events = POLLIN};
        polled[n++] = (struct pollfd){.fd = c->to, .events = byte_queue_size(&c->output) ? POLLOUT : 0};
    }
    const struct pollfd *processes = polled + n;
    if (*s->spare.folder) n += worker_poll(&s->spare.worker, polled + n);
    if (*s->busy.folder) n += worker_poll(&s->busy.worker, polled + n);
    if (poll(polled, (nfds_t)n, wait) < 0) return; // interrupted
    for (size_t i = 0; i < s->client_count; i++) client_serve(s, s->clients[i], polled + 1 + 2 * i);
    serve_processes(s, processes);
    // cppcheck-suppress nullPointer
    int fd = polled[0].revents ? accept4(s->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    if (fd >= 0) client_add(s, fd, fd);
    drop_gone(s);
    while (s->waiting && !*s->busy.folder) begin_next(s);
}

// Opens the socket. 0, or an exit status after a message. If a server was killed, its socket file is replaced.
static int open_socket(int *listener, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct sockaddr *to = (const struct sockaddr *)&address;
    struct stat there;
    if (strlen(path) >= sizeof address.sun_path)
        return command_refuse("the path of a socket has at most %zu characters", sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (!lstat(path, &there)) {
        int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool stale = S_ISSOCK(there.st_mode) && connect(probe, to, sizeof address) && errno == ECONNREFUSED;
        close(probe);
        if (!stale) return command_refuse("'%s' is in use: a server listens on it, or it is not a socket", path);
        unlink(path);
    }
    *listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(0177);
    int failed = bind(*listener, to, sizeof address) || listen(*listener, CLIENTS_MOST);
    umask(before);
    if (!failed) return 0;
    complain(EXIT_ENVIRONMENT, "cannot listen on '%s': %s", path, strerror(errno));
    child_close(listener);
    return EXIT_ENVIRONMENT;
}

int judge_server_run(const char *socket, const char *device, const char *cache)
{
    struct server *s = &server;
    struct error err;
    bool piped = !socket || !strcmp(socket, "-");
    int flags[2] = {fcntl(STDIN_FILENO, F_GETFL), fcntl(STDOUT_FILENO, F_GETFL)};
    *s = (struct server){.device = device, .cache = cache, .listener = -1};
    int status = piped ? 0 : open_socket(&s->listener, socket);
    if (status) return status;
    s->program = installation_program("sweetspot");
    s->temporary = getenv("TMPDIR") ? text_copy(getenv("TMPDIR")) : NULL;
    interrupt_watch();
    if (piped) client_add(s, STDIN_FILENO, STDOUT_FILENO);
    spare_start(s, &err); // a failure is reported for the first request
    while (!interrupt_count() && (s->client_count || !piped)) serve(s);
    for (size_t i = 0; i < s->client_count; i++) s->clients[i]->gone = true;
    drop_gone(s);
    process_end(s, &s->spare);
    process_end(s, &s->busy);
    for (int i = 0; i < 2 && piped; i++) fcntl(i, F_SETFL, flags[i]);
    if (!piped) unlink(socket);
    child_close(&s->listener);
    free(s->program);
    free(s->temporary);
    return interrupt_count() ? interrupt_status() : EXIT_DONE;
}
