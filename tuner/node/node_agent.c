// See node_agent.h. One thread around one poll(2). Nothing here depends on the node's clock agreeing with another's.
#include "tuner/node/node_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tuner/base/clock.h"
#include "tuner/base/input_file.h"
#include "tuner/base/memory.h"
#include "tuner/base/orphans.h"
#include "tuner/base/output_file.h"
#include "tuner/base/protocol.h"
#include "tuner/base/text.h"
#include "tuner/node/node_file.h"
#include "tuner/node/node_identity.h"
#include "tuner/node/node_worker.h"

enum {
    WAITING_MOST = 16 << 20, // bytes that wait for a slow driver; beyond, workers wait
    TOLD_FROM = 1 << 20,     // files from this size on are told at the beginning, so that they are not sent again
    LONGEST_SLEEP = 1000,    // ms
};
// Bytes of the files that are told: they are read before, since only those with the right content are told.
static const int64_t REPORTED_MOST = (int64_t)4 << 30;
static const double poll_every = 1; // s between looks for workers that are stopped

struct agent {
    char *cache, *folder; // folder: in which workers run; NULL before the welcome
    bool private, shared;
    double heartbeat, timeout; // s between beats; s of silence after which the driver is gone
    double heard, heartbeat_at, polled;
    struct byte_queue in;
    struct frame_writer out;
    struct node_arrival arrival;
    size_t worker_count;
    struct node_worker *workers;
    json_t *sent; // files of this node that the driver has: path -> hash
    bool over;
};

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

static char *node_agent_cache(void)
{
    const char *home = getenv("XDG_CACHE_HOME"), *temporary = getenv("TMPDIR");
    if (home && *home) return text_format("%s/sweetspot-node", home);
    return text_format("%s/sweetspot-node-%ld", temporary && *temporary ? temporary : "/tmp", (long)getuid());
}

// The node cannot go on: the driver is told why, and ends the agent.
static void tell_trouble(struct agent *a, const char *reason)
{
    frame_put_json(&a->out, FRAME_TROUBLE, 0, json_pack("{s:s}", "reason", reason));
}

// What is in the folder runs here. In /tmp another user could have made it, as a link to anywhere.
static int make_cache(const char *path, struct error *err)
{
    struct stat about;
    if (output_make_folders(path, err)) return -1;
    if (mkdir(path, 0700) && errno != EEXIST)
        return error_set(err, "cannot make the node's cache '%s': %s", path, strerror(errno));
    if (lstat(path, &about)) return error_set(err, "cannot look at the node's cache '%s': %s", path, strerror(errno));
    if (S_ISLNK(about.st_mode))
        return error_set(err, "the node's cache '%s' is a symbolic link; name the folder itself", path);
    if (!S_ISDIR(about.st_mode) || access(path, W_OK))
        return error_set(err, "cannot write to the node's cache '%s'", path);
    if (about.st_uid != getuid()) return error_set(err, "the node's cache '%s' belongs to another user", path);
    if (about.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(err, "other users can write to the node's cache '%s'; chmod 700 it, or remove it", path);
    return 0;
}

// The welcome --------------------------------------------------------------------------------------------------------

// Whether a file below "files/" has the content that its name says.
static bool is_right(const char *path)
{
    char hash[HASH_TEXT_SIZE];
    int64_t size;
    const char *name = strrchr(path, '/') + 1;
    return !node_file_hash(path, hash, &size, NULL) && !strncmp(name, hash, HASH_TEXT_SIZE - 1);
}

static json_t *reported; // nftw has no argument for it
static size_t reported_after;
static int64_t reported_bytes;

static int tell_file(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)where;
    if (kind != FTW_F || about->st_size < TOLD_FROM) return 0;
    if (json_array_size(reported) == NODE_FILES_REPORTED || (reported_bytes += about->st_size) > REPORTED_MOST)
        return 1;
    if (is_right(path))
        json_array_append_new(reported, json_string(path + reported_after));
    else
        unlink(path); // damaged: it is sent again
    return 0;
}

static json_t *list_files(const struct agent *a)
{
    char *files = text_format("%s/files", a->cache);
    reported = json_array();
    reported_after = strlen(a->cache) + 1;
    reported_bytes = 0;
    nftw(files, tell_file, 16, FTW_PHYS);
    free(files);
    return reported;
}

// Whether the driver's files are seen here under the same paths.
static bool sees_all(const json_t *probes)
{
    const json_t *probe;
    size_t i;
    json_array_foreach(probes, i, probe)
    {
        char hash[HASH_TEXT_SIZE];
        int64_t size;
        if (node_file_hash(json_get_string(probe, "path", ""), hash, &size, NULL) ||
            strcmp(hash, json_get_string(probe, "hash", "")))
            return false;
    }
    return i > 0;
}

static void take_environment(const json_t *env)
{
    static const char prefix[] = "SWEETSPOT_";
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)env, name, value)
    {
        if (!strncmp(name, prefix, sizeof prefix - 1) && json_is_string(value))
            setenv(name, json_string_value(value), 1);
    }
}

static void take_welcome(struct agent *a, const json_t *welcome)
{
    struct stat about;
    const char *folder = json_get_string(welcome, "folder", "");
    a->heartbeat = json_get_number(welcome, "beat", a->heartbeat);
    a->timeout = json_get_number(welcome, "patience", a->timeout);
    take_environment(json_object_get(welcome, "env"));
    a->shared =
        !a->private && !stat(folder, &about) && S_ISDIR(about.st_mode) && sees_all(json_object_get(welcome, "probes"));
    free(a->folder);
    a->folder = text_copy(a->shared ? folder : a->cache);
    frame_put_json(&a->out, FRAME_READY, 0,
                   json_pack("{s:b, s:s, s:o}", "shared", (int)a->shared, "cache", a->cache, "have",
                             a->shared ? json_array() : list_files(a)));
}

// Files --------------------------------------------------------------------------------------------------------------

// A name below the cache's folder, without a way out of it.
static bool name_is_good(const char *name)
{
    bool below = !strncmp(name, "files/", 6) || !strncmp(name, "trees/", 6);
    return below && !strstr(name, "/../") && !(strlen(name) > 2 && !strcmp(name + strlen(name) - 3, "/.."));
}

static void begin_file(struct agent *a, const json_t *file)
{
    struct error err;
    const char *name = json_get_string(file, "name", "");
    char *path = text_format("%s/%s", a->cache, name);
    if (!name_is_good(name)) {
        tell_trouble(a, "a file is to be written outside of the cache");
    } else if (node_arrival_begin(&a->arrival, path, json_get_string(file, "hash", ""),
                                  json_get_integer(file, "size", -1), &err) ||
               node_arrival_end(&a->arrival, &err) < 0) {
        tell_trouble(a, err.message);
    }
    free(path);
}

static void take_data(struct agent *a, const struct frame *f)
{
    struct error err;
    if (!a->arrival.path) return; // it is refused already
    if (node_arrival_take(&a->arrival, f->data, f->size, &err) || node_arrival_end(&a->arrival, &err) < 0)
        tell_trouble(a, err.message);
}

// A file that a compiler's answer names, which the driver gets before the line. It is kept under its content's name,
// too, where a GPU worker of this node finds it.
static void send_result(struct agent *a, const char *path)
{
    char hash[HASH_TEXT_SIZE];
    int64_t size;
    struct error err;
    int fd = input_file_open(path, NULL);
    if (fd < 0) return;
    if (node_file_hash_open(fd, hash, &size, NULL) || !strcmp(json_get_string(a->sent, path, ""), hash)) {
        close(fd);
        return;
    }
    char *name = node_file_name(path, hash), *kept = text_format("%s/%s", a->cache, name);
    if (!access(kept, R_OK) && !is_right(kept)) unlink(kept);
    if (access(kept, R_OK) && !output_make_folders(kept, NULL) && link(path, kept) && errno != EEXIST)
        tell_trouble(a, "cannot link what was compiled into the node's cache");
    json_object_set_new(a->sent, path, json_string(hash));
    if (node_file_send(&a->out, fd, "path", path, hash, size, &err)) tell_trouble(a, err.message);
    free(name);
    free(kept);
}

static void send_results(void *user, const char *line)
{
    static const char *const members[] = {"cubin", "library"};
    if (!strstr(line, "\"cubin\"") && !strstr(line, "\"library\"")) return;
    json_t *answer = json_parse(line, NULL);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *path = json_get_string(answer, members[i], NULL);
        if (path) send_result(user, path);
    }
    json_decref(answer);
}

// Workers ------------------------------------------------------------------------------------------------------------

static struct node_worker *find(struct agent *a, uint32_t channel)
{
    for (size_t i = 0; i < a->worker_count; i++)
        if (a->workers[i].channel == channel && !a->workers[i].dying) return &a->workers[i];
    return NULL;
}

static void start(struct agent *a, uint32_t channel, const json_t *order)
{
    struct error err;
    const json_t *argv = json_object_get(order, "argv");
    struct node_worker w;
    if (!a->folder || find(a, channel) || node_worker_start(&w, channel, argv, a->folder, &err)) {
        char *line = text_format("%s\n", a->folder ? err.message : "there was no welcome");
        frame_put(&a->out, FRAME_ERRORS, channel, line, strlen(line));
        frame_put_json(&a->out, FRAME_EXIT, channel,
                       json_pack("{s:i, s:b}", "status", EXIT_ENVIRONMENT << 8, "killed", 0));
        free(line);
        return;
    }
    w.lines = !a->shared;
    a->workers = memory_grow(a->workers, a->worker_count + 1, sizeof *a->workers);
    a->workers[a->worker_count++] = w;
}

static void drop_ended(struct agent *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->worker_count; i++) {
        if (a->workers[i].ended)
            node_worker_release(&a->workers[i]);
        else
            a->workers[kept++] = a->workers[i];
    }
    a->worker_count = kept;
}

static void take_frame(struct agent *a, const struct frame *f)
{
    struct node_worker *w = f->channel ? find(a, f->channel) : NULL;
    json_t *object =
        f->type == FRAME_WELCOME || f->type == FRAME_START || f->type == FRAME_FILE ? json_parse(f->data, NULL) : NULL;
    switch (f->type) {
    case FRAME_WELCOME:
        take_welcome(a, object);
        break;
    case FRAME_START:
        start(a, f->channel, object);
        break;
    case FRAME_INPUT:
        if (w) node_worker_input(w, f->data, f->size);
        break;
    case FRAME_END_INPUT:
        if (w) node_worker_end_input(w);
        break;
    case FRAME_KILL:
        if (w) node_worker_kill(w);
        break;
    case FRAME_FILE:
        begin_file(a, object);
        break;
    case FRAME_DATA:
        take_data(a, f);
        break;
    default: // a beat
        break;
    }
    json_decref(object);
}

// The loop -----------------------------------------------------------------------------------------------------------

static void hear(struct agent *a, double now)
{
    struct frame f;
    struct error err;
    bool open = frame_read(&a->in, STDIN_FILENO);
    int got;
    a->heard = now;
    while ((got = frame_next(&a->in, &f, &err)) > 0) take_frame(a, &f);
    if (got < 0) fprintf(stderr, "sweetspot-node: %s\n", err.message);
    if (got < 0 || !open) a->over = true; // what was cut is not a frame
}

static void keep_time(struct agent *a, double now)
{
    if (now - a->heartbeat_at >= a->heartbeat) {
        frame_put_first(&a->out, FRAME_BEAT);
        a->heartbeat_at = now;
    }
    if (now - a->polled >= poll_every) {
        for (size_t i = 0; i < a->worker_count; i++) node_worker_check(&a->workers[i], &a->out);
        a->polled = now;
    }
    if (now - a->heard < a->timeout) return;
    fprintf(stderr, "sweetspot-node: the driver has been silent for %.0f s\n", now - a->heard);
    a->over = true;
}

static void turn(struct agent *a)
{
    struct pollfd *polled = memory_new(3 * a->worker_count + 2, sizeof *polled);
    bool reads = a->out.waiting < WAITING_MOST;
    int n = 0, sleep = LONGEST_SLEEP;
    polled[n++] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
    if (frame_pending(&a->out)) polled[n++] = (struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT};
    for (size_t i = 0; i < a->worker_count; i++) {
        n += node_worker_poll(&a->workers[i], reads, polled + n);
        if (a->workers[i].closed_at > 0 || a->workers[i].dying) sleep = 10;
    }
    double before = clock_now();
    if (a->heartbeat < 1) sleep = (int)fmin(sleep, 1e3 * a->heartbeat);
    poll(polled, (nfds_t)n, sleep);
    double now = clock_now();
    // Time for which the agent itself was suspended is not the driver's silence.
    if (now - before > 2e-3 * LONGEST_SLEEP) a->heard += now - before;
    if (polled[0].revents) hear(a, now);
    free(polled);
    for (size_t i = 0; i < a->worker_count; i++) node_worker_io(&a->workers[i], &a->out, reads, now, send_results, a);
    drop_ended(a);
    keep_time(a, now);
    if (frame_flush(&a->out, STDOUT_FILENO) || signalled) a->over = true;
}

static int greet(const struct agent *a)
{
    // A newline first: a banner may have ended without one.
    char *line = node_identity_line(a->cache), *text = text_format("\n%s\n", line);
    size_t done = 0, size = strlen(text);
    while (done < size) {
        ssize_t n = write(STDOUT_FILENO, text + done, size - done);
        if (n < 0 && errno != EINTR) break;
        if (n > 0) done += (size_t)n;
    }
    free(text);
    free(line);
    return done == size ? 0 : -1;
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int node_agent(const struct node_agent_options *options)
{
    struct error err;
    struct agent a = {.private = options->private, .heartbeat = 5, .timeout = 600, .arrival = {.fd = -1}};
    char *wanted = options->cache ? text_copy(options->cache) : node_agent_cache();
    a.cache = text_join_path(".", wanted);
    free(wanted);
    watch_signals();
    orphans_adopt();
    int status = EXIT_ENVIRONMENT;
    a.heard = a.heartbeat_at = a.polled = clock_now();
    if (make_cache(a.cache, &err)) {
        fprintf(stderr, "sweetspot-node: %s\n", err.message);
    } else if (!greet(&a)) {
        status = EXIT_DONE;
        a.sent = json_object();
        fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
        fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
        while (!a.over) turn(&a);
    }
    for (size_t i = 0; i < a.worker_count; i++) node_worker_kill(&a.workers[i]); // all before one is waited for
    for (size_t i = 0; i < a.worker_count; i++) node_worker_release(&a.workers[i]);
    free(a.workers);
    node_arrival_drop(&a.arrival);
    byte_queue_release(&a.in);
    frame_writer_release(&a.out);
    json_decref(a.sent);
    free(a.cache);
    free(a.folder);
    return status;
}
